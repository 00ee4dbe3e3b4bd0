"""Plain words for what the arena calls by names of its code; each name stands in a tooltip."""

from collections.abc import Iterable, Mapping

from env import arena
from panels.results.model_labels import policy_label
from sauda.games.arena.transcript import action_in_words
from sauda.llm.registry import is_model

GOAL = (
    "You run one of several AI labs. Your jobs pay credits for GPU-hours before their deadline;"
    f" later hours pay {arena.LATE:.0%}.",
    "Book your blocks of GPU time for your jobs. Buy, sell or swap blocks wherever that adds more"
    " to your jobs than it costs.",
    f"You have {arena.ACTIONS_PER_ROUND} actions a round. You win by ending above what your lab"
    " could make alone, without a single trade.",
)
PLAYERS: Mapping[str, str] = {
    "planner": "Planner",
    "autarky": "Never trades",
    "rule_based_expert": "Published expert",
    "always_accept": "Takes any offer",
    "greedy_hoarder": "Hoarder",
    "naive_plea": "Pleader",
    "random": "Random moves",
    "wait": "Does nothing",
}
ACTIONS: Mapping[str, str] = {
    "send_offer": "make an offer",
    "accept_offer": "accept an offer",
    "reject_offer": "turn an offer down",
    "counter_offer": "answer with other terms",
    "make_pitch": "argue in public",
    "counter_pitch": "answer an argument",
    "reserve_capacity": "hold a block",
    "release_capacity": "free a block",
    "form_coalition": "propose a pool",
    "commit_to_coalition": "put blocks into a pool",
    "allocate_to_job": "book blocks for a job",
    "send_message": "send a message",
    "wait": "wait for the next round",
    "finish": "leave the market",
}


def player_title(name: str) -> str:
    """A player of lab_0 in words: "Model: SFT as a lab"."""
    return f"Model: {policy_label(name)}" if is_model(name) else PLAYERS[name]


def job_names(jobs: Iterable[arena.Job]) -> dict[str, str]:
    """What each job is for, by its id; jobs of one kind are numbered: "Paper deadline 2"."""
    kinds = {job.job_id: job.private_notes.removeprefix("shock_") for job in jobs}
    names: dict[str, str] = {}
    for job_id, kind in kinds.items():
        alike = [other for other in kinds if kinds[other] == kind]
        number = f" {alike.index(job_id) + 1}" if len(alike) > 1 else ""
        names[job_id] = f"{(kind or 'job').replace('_', ' ').capitalize()}{number}"
    return names


def lab_name(market: arena.Market, lab_id: str) -> str:
    """A lab's public name within a sentence; the id itself where there is no such lab."""
    lab = market.labs.get(lab_id)
    name = lab.public_name if lab else lab_id
    return "you" if name == "You" else name


def listed(parts: Iterable[str]) -> str:
    """The parts as a list in a sentence; "nothing" for none."""
    *before, last = [*parts] or ["nothing"]
    return f"{', '.join(before)} and {last}" if before else last


def deed(obs: arena.Observation, agent: str, action: arena.Action | arena.Malformed) -> str:
    """An action as a phrase with the names that the page uses: "books Benchmark run with b_0_1".

    Of another lab's booking it tells the blocks alone, because its jobs are its own.
    """
    if isinstance(action, arena.Malformed):
        return action_in_words(action)
    if agent != obs.agent:
        if action.action_type == "allocate_to_job":
            return f"books {listed(action.block_ids)}"
        action = action._replace(job_id=None)
    if action.job_id is not None:
        names = job_names(obs.own.jobs)
        action = action._replace(job_id=names.get(action.job_id, action.job_id))
    if action.target_lab_id is not None:
        action = action._replace(target_lab_id=lab_name(obs.market, action.target_lab_id))
    return action_in_words(action)
