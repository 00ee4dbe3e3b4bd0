"""Who can play lab_0: scripts, and the language model after each stage of training.

Every player has a row in an evaluation, and shows it; a model without a row cannot be picked.
What two of them make in the world that a visitor finds stands beside it.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup

from env import Policy, get_task, rollout
from panels.gpu_arena.words import EXPERT
from panels.measured import LAB_FILE
from panels.results import reproduce
from panels.results.evaluation import DRAWN
from panels.results.winners import ARENA_HOLDOUT, ARENA_QUESTION
from panels.ui.html import macros
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from panels.ui.terms import short
from sauda.fairness import Visitor
from sauda.games import ARENA
from sauda.llm.backends import in_page
from sauda.llm.server import Failed, Loading, ModelWorker
from sauda.llm.types import NotReady
from sauda.played import Cell
from sauda.players import is_model, player_spec, policy_label
from sauda.policies import LAB_LABELS, LABS
from sauda.records.schemas.evaluation import ArenaRow
from sauda.sessions.arena import LEARNER, ArenaGame

HTML = macros("arena")
SCRIPTS: Mapping[str, str] = {
    "broker": "Planner lab",
    "autarky": "Never trades",
    "rule_based_expert": "Published expert",
    "always_accept": "Takes any offer",
    "greedy_hoarder": "Hoarder",
    "naive_plea": "Pleader",
    "random": "Random moves",
    "wait": "Does nothing",
}
LOADS_SOON = 3.0  # seconds that an action waits for a model that has nearly loaded
# The first world: of the training seeds of TASK that `evaluation/arena-train.json` records, the one
# at which the expert's grade above autarky, which books its own best plan and never trades, is the
# median. A test computes it from the artifact.
TASK, SEED = "arena/market_round", 165
LONER = "autarky"


class StillLoading(NotReady):
    """The model of a player has not loaded yet; it moves once it has."""


@cache
def read_measured() -> Mapping[tuple[str, str], ArenaRow]:
    """The row of each player on the hold-out seeds of each task, by player and task."""
    scripts, models = (load_or_say(file)[0] for file in (ARENA_HOLDOUT, LAB_FILE))
    rows = [row for row in (scripts.data.rows if scripts else ()) if row.others == DRAWN]
    rows += [row for row in (models.data.rows if models else ()) if is_model(row.policy)]
    return {(row.policy, row.task): row for row in rows}


def players() -> list[str]:
    """The names of all players of lab_0."""
    return [*LABS, *dict.fromkeys(name for name, _ in read_measured() if is_model(name))]


def player_title(name: str) -> str:
    """A player of lab_0 in words: "Model: SFT as a lab"."""
    return f"Model: {policy_label(name)}" if is_model(name) else SCRIPTS[name]


def policy_of(name: str, visitor: Visitor) -> Policy:
    """The player as a policy; a model's requests stand in line as those of `visitor`.

    Raises ValueError on an unknown name, StillLoading, and NotReady where a model cannot be loaded.
    """
    if name not in players():
        raise ValueError(f"the policies of lab_0 are {', '.join(players())}")
    if name in LABS:
        return LABS[name]
    worker = _worker(name)
    stage = worker.wait(LOADS_SOON)
    if isinstance(stage, Loading):
        raise StillLoading(f"{player_title(name)} is still loading; it can move once it has loaded")
    if isinstance(stage, Failed):
        raise NotReady(f"{player_title(name)} cannot play: {stage.reason}")
    return replace(player_spec(name), generate=worker.for_visitor(visitor)).policy(ARENA)


def load(name: str) -> None:
    """Begin to load the player where it is a model."""
    if name in players() and name not in LABS:
        _worker(name).start()


def _worker(name: str) -> ModelWorker:
    return in_page(player_spec(name).weights)


def badge(name: str, task: str) -> Markup:
    """What the player is, its measured grade with interval and n, and a link to its row."""
    row = read_measured().get((name, task))
    about = LAB_LABELS.get(name)
    if about is None:
        about = "A small language model that chooses among the planner lab’s options"
        if row:
            about += f"; the rules took {row.valid:.0%} of its {row.actions:,} actions"
    query = {"tab": "results", "part": ARENA_QUESTION.name}
    again = query | {reproduce.AGAIN: reproduce.key(Cell(task, name))}
    queries = [urlencode(each, safe="/") for each in (query, again)]
    grade = with_interval(row.grade, "z.1%") if row else ""
    return HTML.badge(name, about, row, grade, short(task), *queries)


# The first world ---------------------------------------------------------------------------------


def why_this_world(game: ArenaGame) -> Markup:
    """What trading brings in the first world, and how it was chosen; empty in any other world."""
    if (game.task_name, game.play.seed) != (TASK, SEED):
        return Markup("")
    return HTML.why_this_world(EXPERT, made_by(EXPERT), LONER, made_by(LONER))


@cache
def made_by(name: str) -> float:
    """Credits that a player makes in the first world; plays its game."""
    played = rollout(get_task(TASK), LABS[name], SEED)
    return played.final.private[LEARNER].utility
