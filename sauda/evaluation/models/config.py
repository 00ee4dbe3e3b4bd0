"""What the model comparison plays in each game: tasks, stages of training, scripts, seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

from sauda.games import ARENA
from sauda.games import BAZAAR as BAZAAR_GAME
from sauda.games.adapter import Columns, Game
from sauda.games.bazaar_columns import OPEN_MARKET
from sauda.llm.model import SAUDA
from sauda.llm.registry import is_model, player_spec
from sauda.records.splits import SPLITS

Cells = Mapping[tuple[str, str], Columns]  # by task and policy

LEAVE = "leave"  # walks away at once: what no play at all is worth
TUNED = "tuned"  # a linear rule whose numbers were found by search on training games
PILOT = "pilot"  # the small network that sees only the numbers of the prompt
BELIEF = "belief"  # whose moves SFT learns: what a buyer can win that does not know its seller
ORACLE = "oracle"  # the best response to the very seller that it meets, which it knows
BAZAAR = OPEN_MARKET
CLASSIC = ("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic")
# Each stage of training, with the one whose adapter it trains further.
PARENTS = {
    "mini+sft": "mini",
    "mini+distill": "mini+sft",
    "mini+distill-seed1": "mini+sft",
    "mini+grpo-from-distill": "mini+distill",
    "mini+grpo": "mini+sft",
    "mini+dpo": "mini+grpo",
}
STAGES = ("mini", *PARENTS)  # one base, untrained and after each stage
OURS = f"mini+{SAUDA}"  # the stage that is served
OURS_WRAPPED = (f"{OURS}+honest", f"{OURS}+steering")  # it in the wrappers that visitors meet
SCRIPTS = ("linear", "conceder", "boulware", "tit_for_tat", "wait", "naive")
WRAPPED = ("constrained", "steering", "honest")
# Beside the model in the open market: wrappers without a model, scripts, and what can be won.
BESIDE = ("null", "null+steering", "null+honest", *SCRIPTS, LEAVE, TUNED, PILOT, BELIEF, ORACLE)


class Comparison(Protocol):
    """What is compared in one game."""

    batch: int  # games played together; also the most that a stopped run loses

    @property
    def game(self) -> Game:
        """The game of all tasks."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of training in order, the untrained base first."""

    @property
    def parents(self) -> Mapping[str, str]:
        """Each trained stage, with the one that it trains further."""

    @property
    def rivals(self) -> tuple[str, ...]:
        """The policies with which each trained stage is compared by seed."""

    @property
    def baseline(self) -> str:
        """The policy of the paired differences."""

    @property
    def goal(self) -> str:
        """The policy whose distance from the base training closes a share of; "" for none."""

    def cells(self) -> dict[tuple[str, str], range]:
        """The hold-out seeds of every task and policy; ValueError for what cannot be played."""

    def nested(self, episodes: Cells) -> dict[str, Any]:
        """The columns as the artifact holds them."""

    def flat(self, recorded: Mapping[str, Any]) -> Cells:
        """The columns of an artifact's "episodes" by task and policy."""


@dataclass(frozen=True)
class Part:
    """Some cells of the comparison: each of `policies` on each of `tasks`."""

    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    episodes: int  # a cell, from the first hold-out seed


@dataclass(frozen=True)
class Config:
    """The comparison in the bazaar; the defaults are the numbers we report."""

    parts: tuple[Part, ...] = (
        Part(BAZAAR, (*STAGES, *OURS_WRAPPED, *BESIDE), 400),
        Part(BAZAAR[:1], (*(f"{STAGES[0]}+{how}" for how in WRAPPED), f"{OURS}+constrained"), 100),
        Part(CLASSIC, (*STAGES, "null+steering", "expert", *SCRIPTS), 100),
    )
    batch: int = 50  # games played together; also the most that a stopped run loses
    baseline: str = "mini"  # of the paired differences: the bare base
    game = BAZAAR_GAME
    stages = STAGES
    parents = PARENTS
    rivals = ("linear", "conceder", "naive", LEAVE, "null+steering", TUNED, OURS, PILOT, BELIEF)
    goal = BELIEF

    def cells(self) -> dict[tuple[str, str], range]:
        """The hold-out seeds of every task and policy.

        Raises ValueError where there are too few, names do not fit, or a task has no baseline.
        """
        cells = {}
        for part in self.parts:
            seeds = _holdout_seeds(part.episodes, self.batch)
            for cell in product(part.tasks, part.policies):
                if is_model(cell[1]):
                    player_spec(cell[1])
                cells[cell] = seeds
        for task_name in {task_name for task_name, _ in cells}:
            most = max(len(seeds) for (name, _), seeds in cells.items() if name == task_name)
            if len(cells.get((task_name, self.baseline), ())) < most:
                raise ValueError(
                    f"{self.baseline!r} must be played on all {most} seeds of {task_name}"
                )
        return cells

    def nested(self, episodes: Cells) -> dict[str, Any]:
        """The columns by task, then by policy."""
        by_task: dict[str, Any] = {}
        for (task_name, name), columns in episodes.items():
            by_task.setdefault(task_name, {})[name] = columns
        return by_task

    def flat(self, recorded: Mapping[str, Any]) -> Cells:
        """The columns by task and policy."""
        return {
            (task_name, name): columns
            for task_name, by_policy in recorded.items()
            for name, columns in by_policy.items()
        }


@dataclass(frozen=True)
class ArenaConfig:
    """The comparison in the arena; the defaults are the numbers we report."""

    task: str = "arena/market_round"
    stages: tuple[str, ...] = ("mini", "mini+sft-arena", "mini+grpo-arena")  # bare
    policies: tuple[str, ...] = (
        "mini+constrained", "mini+grpo-arena+constrained", "planner", "autarky",
        "rule_based_expert", "always_accept", "greedy_hoarder", "random", "wait",
    )  # fmt: skip
    episodes: int = 50  # from the first hold-out seed
    batch: int = 50  # games played together; also the most that a stopped run loses
    game = ARENA
    rivals = ("planner", "autarky", "rule_based_expert")
    goal = ""

    @property
    def parents(self) -> Mapping[str, str]:
        """Each stage trains the one before."""
        return dict(zip(self.stages[1:], self.stages, strict=False))

    @property
    def baseline(self) -> str:
        """The bare base."""
        return self.stages[0]

    def cells(self) -> dict[tuple[str, str], range]:
        """The hold-out seeds of every policy; ValueError for too few or an unknown model."""
        seeds, names = _holdout_seeds(self.episodes, self.batch), (*self.stages, *self.policies)
        for name in filter(is_model, names):
            player_spec(name).seat(self.game)
        return {(self.task, name): seeds for name in names}

    def nested(self, episodes: Cells) -> dict[str, Any]:
        """The columns by policy: there is one task."""
        return {name: columns for (_, name), columns in episodes.items()}

    def flat(self, recorded: Mapping[str, Any]) -> Cells:
        """The columns by task and policy."""
        return {(self.task, name): columns for name, columns in recorded.items()}


CONFIGS = {"bazaar": Config, "arena": ArenaConfig}
FILES = {
    "bazaar": "evaluation/model-comparison.json",
    "arena": "evaluation/arena-model-comparison.json",
}


def _holdout_seeds(episodes: int, batch: int) -> range:
    if not 1 <= episodes <= len(SPLITS["holdout"]) or batch < 1:
        raise ValueError(
            f"a cell has at least 1 episode and a batch 1 game, not {episodes} and {batch}"
        )
    return SPLITS["holdout"][:episodes]
