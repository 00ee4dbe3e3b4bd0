"""Who can play lab_0: scripts, and the language model after each stage of training.

Every player has a row in an evaluation, and shows it; a model without a row cannot be picked.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from urllib.parse import urlencode

from markupsafe import Markup

from env import Policy
from panels.gpu_arena.reasons import EXPERT
from panels.gpu_arena.words import player_title
from panels.results import reproduce
from panels.results.arena import HOLDOUT
from panels.results.arena import NAME as RESULTS_PART
from panels.results.evaluation import DRAWN
from panels.results.models import LAB_FILE
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from panels.ui.terms import short, term
from sauda.experiments.evaluate import ArenaRow, Cell
from sauda.fairness import Visitor
from sauda.games import ARENA
from sauda.llm.backends import in_page
from sauda.llm.registry import is_model, player_spec
from sauda.llm.server import Failed, Loading, ModelWorker
from sauda.llm.types import NotReady
from sauda.policies import LAB_LABELS, LABS

FIRST_PLAYER = EXPERT
LOADS_SOON = 3.0  # seconds that an action waits for a model that has nearly loaded
FORM = "z.3f"  # of grades


class StillLoading(NotReady):
    """The model of a player has not loaded yet; it moves once it has."""


@cache
def script_rows() -> Mapping[tuple[str, str, str], ArenaRow]:
    """The measured rows of scripts on hold-out seeds by other labs, task and player."""
    artifact, _ = load_or_say(HOLDOUT)
    rows = artifact.data.rows if artifact else ()
    return {(row.others, row.task, row.policy): row for row in rows}


@cache
def model_rows() -> Mapping[tuple[str, str], ArenaRow]:
    """The measured rows of the language model as a lab, by task and player."""
    artifact, _ = load_or_say(LAB_FILE)
    rows = artifact.data.rows if artifact else ()
    return {(row.task, row.policy): row for row in rows if is_model(row.policy)}


def players() -> list[str]:
    """The names of all players of lab_0."""
    return [*LABS, *dict.fromkeys(name for _, name in model_rows())]


def choices() -> list[tuple[str, str]]:
    """All players as choices of a picker: in words, and by name."""
    return [(player_title(name), name) for name in players()]


def policy_of(name: str, visitor: Visitor) -> Policy:
    """The player as a policy; a model's requests stand in line as those of `visitor`.

    Raises ValueError on an unknown name, StillLoading, and NotReady where a model cannot be loaded.
    """
    if not isinstance(name, str) or name not in players():
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


def badge(name: str, task_name: str) -> Markup:
    """What the player is, its measured grade with interval and n, and a link to its row."""
    if name in LABS:
        about, row = LAB_LABELS[name], script_rows().get((DRAWN, task_name, name))
    else:
        about = "A small language model that chooses among the options that the broker computes"
        if row := model_rows().get((task_name, name)):
            about += f"; the rules took {row.valid:.0%} of its {row.actions:,} actions"
    shown = Markup("{}. ").format(term(about, name))
    if row is None:
        return Markup('<p class="sauda-note">{}It has not been measured here.</p>').format(shown)
    query = urlencode({"tab": "results", "part": RESULTS_PART, "row": name})
    return Markup(
        '<p class="sauda-note">{}{}: {} in {}, n = {} hold-out worlds. <a class="sauda-inpage"'
        ' href="?{}">{}</a> · {}</p>'
    ).format(
        shown,
        term("Measured grade", "what it ends with above what it could make alone, as a share of"
             " the full value of its jobs"),
        with_interval(row.grade, FORM),
        term(f"the {short(row.task)}", row.task),
        f"{row.n:,}",
        query,
        "Its row in Results",
        reproduce.link_to(RESULTS_PART, reproduce.key(Cell(row.task, name)), "Reproduce"),
    )  # fmt: skip
