"""Plain words for what the arena calls by names of its code; each name stands in a tooltip."""

from collections.abc import Mapping

from env import arena
from panels.gpu_arena.names import (
    block_list,
    goods,
    job_names,
    lab_name,
    readable,
    with_names,
)
from panels.results.models import policy_label
from sauda.games.arena_columns import action_in_words
from sauda.llm.registry import is_model

GOAL = (
    "You run one of several AI labs. Your jobs pay credits for GPU-hours before their deadline;"
    f" later hours pay {arena.LATE:.0%}. Book your blocks of GPU time, and trade wherever a block"
    f" adds more to your jobs than it costs: {arena.ACTIONS_PER_ROUND} actions per round. You win"
    " by making more than your lab could make alone."
)
WATCH, WATCH_PUBLISHED = "Watch the rule-based expert", "Watch the published expert"
PLAYERS: Mapping[str, str] = {
    "broker": "Rule-based expert",
    "autarky": "Never trades",
    "rule_based_expert": "Published expert",
    "always_accept": "Takes any offer",
    "greedy_hoarder": "Hoarder",
    "naive_plea": "Pleader",
    "random": "Random moves",
    "wait": "Does nothing",
}
BLOCK_ALONE = {"reserve_capacity": "reserves", "release_capacity": "releases"}
ORDERS: Mapping[str, str] = {
    "offers": "offer", "answers": "answer", "accepts": "accept", "rejects": "turn down",
    "pitches": "argue in public", "reserves": "hold", "releases": "free", "seeks": "seek",
    "commits": "commit", "books": "book", "says": "say", "waits": "wait for the next round",
    "leaves": "leave the market", "withdraws": "withdraw",
}  # fmt: skip


def player_title(name: str) -> str:
    """A player of lab_0 in words: "Model: SFT as a lab"."""
    return f"Model: {policy_label(name)}" if is_model(name) else PLAYERS[name]


def deed(obs: arena.Observation, agent: str, action: arena.Action | arena.Malformed) -> str:
    """An action as a phrase with the page's names: "books Benchmark run with your block 2".

    Of another lab's booking it tells the blocks alone, because its jobs are its own.
    """
    if isinstance(action, arena.Malformed):
        return action_in_words(action)
    market, kind = obs.market, action.action_type
    if agent != obs.agent:
        action = action._replace(job_id=None)
    if kind in ("send_offer", "counter_offer"):
        words = _offer_in_words(obs, action)
    elif kind == "reject_offer" and _made_by(market, action.offer_id) == agent:
        words = f"withdraws {readable(obs, action.offer_id)}"
    elif kind in BLOCK_ALONE or (kind == "allocate_to_job" and agent != obs.agent):
        words = f"{BLOCK_ALONE.get(kind, 'books')} {block_list(market, action.block_ids)}"
    else:
        words = readable(obs, action_in_words(action._replace(message="")))
    if agent != obs.agent:
        words = words.replace(f"{lab_name(market, agent)}’s block", "its block")
    if not action.message:
        return words
    return f"{words}: “{with_names(market, action.message, job_names(obs.own.jobs))}”"


def _made_by(market: arena.Market, offer_id: str | None) -> str:
    """The lab that made an offer, open or closed; "" where there is none."""
    offer = market.offers.get(offer_id) or market.closed.get(offer_id)
    return offer.from_lab_id if offer else ""


def _offer_in_words(obs: arena.Observation, action: arena.Action) -> str:
    """An offer as a phrase: "offers Lab A 16.46 credits for its block 2"."""
    market, target = obs.market, action.target_lab_id or ""
    gives = goods(market, action.block_ids, action.payment)
    asks = goods(market, action.requested_block_ids, action.condition("ask", 0.0))
    terms = "".join(
        f", {name} {value}" for name, value in action.conditions if name not in arena.CONDITIONS
    )
    if action.action_type == "counter_offer":
        answered = readable(obs, action.offer_id or "an offer")
        return f"answers {answered} with other terms: {gives} for {asks}{terms}"
    whom = lab_name(market, target)
    if whom != "you":
        asks = asks.replace(f"{whom}’s block", "its block")
    return f"offers {whom} {gives} for {asks}{terms}"


def advised(obs: arena.Observation, action: arena.Action | arena.Malformed) -> str:
    """An action of the visitor's lab as an order: "offer Lab A 16.46 credits for its block 2"."""
    if isinstance(action, arena.Malformed):
        return f"no action; its reply holds none: {action.reason}"
    verb, _, rest = deed(obs, obs.agent, action).partition(" ")
    return f"{ORDERS.get(verb, verb)} {rest}".strip()
