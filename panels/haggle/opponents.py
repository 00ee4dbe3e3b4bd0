"""Whom a visitor can play against: the served models, the stages of training, the scripts.

The stages and their figures come from the artifacts, so that a new stage with rows is offered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from markupsafe import Markup

from env import TYPES
from panels.haggle.words import Translate
from panels.results.models import FILE, buyer_name, policy_label
from panels.results.winners import HOLDOUT, Entry, contest
from panels.ui.provenance import load_or_say
from sauda.experiments.comparison import BASE, OURS
from sauda.llm.backends import SEATS, THIS_PAGE, find_backends
from sauda.llm.model import adapter_folder
from sauda.llm.registry import CONSTRAINED, is_model, player_spec, row_name
from sauda.llm.seller import PERSONAS
from sauda.llm.server import Failed, ModelWorker, Ready
from sauda.llm.wrappers import WRAPPERS
from sauda.policies import BUYERS
from sauda.sessions.bazaar import PLANNER

READY_SOON = 0.5  # seconds that a new game waits for a model that has nearly loaded
STAND_IN = "tit_for_tat"  # the scripted buyer that plays until the model has loaded


@cache
def models() -> dict[str, dict[str, ModelWorker]]:
    """The language models that the page serves by seat and backend; all visitors share them."""
    return find_backends()


def load_in_background() -> None:
    """Start to load the page's own buyer, so that the first visitor finds it ready."""
    models()["buyer"][THIS_PAGE].start()


def health_list(workers: Mapping[str, ModelWorker], translate: Translate) -> Markup:
    """One line a backend: whether it replies."""
    lines = [
        Markup("<li><b>{}</b>: {}</li>").format(name, health_of(model, translate))
        for name, model in workers.items()
    ]
    return Markup("<ul>{}</ul>").format(Markup("").join(lines))


def health_of(model: ModelWorker, translate: Translate) -> str:
    stage = model.stage
    if isinstance(stage, Ready):
        return f"{stage.source}, {translate('ready', seconds=f'{stage.seconds:.1f}')}"
    return stage.reason if isinstance(stage, Failed) else "…"


MARKET = "bazaar/open"  # the task whose rows the badges show
SERVED = tuple(f"{SEATS['buyer'].model}{how}" for how in ("+honest", "", "+steering"))
# A stage as it is, within the honest wrapper's guard rails, and under the grammar of legal moves.
RAILS = ("", "+honest", "+constrained")
SELLER_MODEL = SEATS["seller"].model
SELLER_MODELS = tuple(f"{SELLER_MODEL}:{persona}" for persona in PERSONAS)
ANY_SELLER = f"{SELLER_MODEL}:hidden"  # its type shows at the end


@dataclass(frozen=True)
class Rows:
    """The rows of the open market in Results, and the language models that they let play."""

    by_task: Mapping[str, Mapping[str, Entry]]  # then by policy
    compared: tuple[str, ...]  # the policies of the model comparison, in its order

    @cached_property
    def stages(self) -> tuple[str, ...]:
        """Every stage of training with a row of MARKET that can be loaded, the base first."""
        rows = self.by_task.get(MARKET, {})
        return tuple(name for name in self.compared if name in rows and _can_be_loaded(name))

    @cached_property
    def buyers(self) -> tuple[str, ...]:
        """The language models that buy: the one that the page serves first, then all others."""
        rows = self.by_task.get(MARKET, {})
        others = (stage + how for stage in self.stages if stage != OURS for how in RAILS)
        return (*SERVED, *(name for name in others if name in rows))


def _can_be_loaded(row: str) -> bool:
    """Whether a row is of the bare base, or of the base with an adapter that is there."""
    base, _, adapter = row.partition("+")
    return base == BASE and (not adapter or adapter_folder(adapter) is not None)


@cache
def rows() -> Rows:
    """The rows as Results shows them; none where no artifact can be read."""
    holdout, comparison = (load_or_say(file)[0] for file in (HOLDOUT, FILE))
    field = contest((holdout, comparison))
    by_task = {task: {row.policy: row for row in ranked} for task, ranked in field.items()}
    compared = dict.fromkeys(row.policy for row in comparison.data.rows) if comparison else ()
    return Rows(by_task, tuple(compared))


def measured(task_name: str = MARKET) -> Mapping[str, Entry]:
    """The rows of a task of the open market by policy."""
    return rows().by_task.get(task_name, {})


def bare_stages(task_name: str) -> tuple[str, ...]:
    """The stages, without a wrapper, that have a row of a task of the open market."""
    return tuple(stage for stage in rows().stages if stage in measured(task_name))


def buyer_models() -> tuple[str, ...]:
    """The language models that a visitor can sell to, the one that the page serves first."""
    return rows().buyers


def is_language_model(opponent: str) -> bool:
    """Whether a visitor can choose `opponent` and it is a language model, in either seat."""
    return opponent in (ANY_SELLER, *SELLER_MODELS) or opponent in buyer_models()


def scripted_buyers() -> tuple[str, ...]:
    """The buyers without a language model: the planner, then the scripts."""
    return (PLANNER, *BUYERS)


def weights_of(opponent: str) -> str:
    """The name under which the page loads the weights of a language model that buys."""
    return SEATS["buyer"].model if stage_of(opponent)[0] == OURS else player_spec(opponent).weights


def stage_of(opponent: str) -> tuple[str, str]:
    """The row of a buyer's stage, and the wrapper around it or "": ("mini+sft", "honest")."""
    row = row_name(opponent)
    stage, _, last = row.rpartition("+")
    return (stage, last) if last in (*WRAPPERS, CONSTRAINED) else (row, "")


def stage_name(opponent: str, translate: Translate) -> str:
    """The stage of training of a language model that buys, in words."""
    stage, _ = stage_of(opponent)
    return translate("untrained") if stage == BASE else buyer_name(stage)


def opponent_name(opponent: str, translate: Translate) -> str:
    """Any opponent in words, such as "SFT, guard rails off", "SmolLM2, firm" or "tit for tat"."""
    if opponent == ANY_SELLER:
        return translate("any_seller")
    if opponent in SELLER_MODELS:
        return f"SmolLM2, {translate(f'style_{persona_of(opponent)}')}"
    if opponent in TYPES:
        return translate(f"style_{opponent}")
    if opponent == PLANNER:
        return translate("planner")
    if not is_model(opponent):
        return policy_label(opponent)
    how = stage_of(opponent)[1] or "bare"
    return translate(f"how_{how}", stage=stage_name(opponent, translate))


def persona_of(opponent: str) -> str:
    """The type of seller that a model plays; "" for a model that buys."""
    return opponent.partition(":")[2]


def model_name(opponent: str, translate: Translate) -> str:
    """The short name of a language model, for a sentence about its replies."""
    if opponent in SELLER_MODELS:
        return "SmolLM2"
    return "Sauda" if stage_of(opponent)[0] == OURS else stage_name(opponent, translate)
