"""What policies score on tasks of one game, over seeds of one split, with every episode.

The game's adapter says what is recorded of an episode and which figures a row has; see
`sauda/games/*_columns.py`. Bazaar: a career is one episode of several deals, which follow each
other in an array of deals. Arena: utilities in credits, grades and rewards as shares of the stake.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

from env import get_task
from sauda.games import game_of
from sauda.games.adapter import Columns, Evaluated, Game, Worlds
from sauda.played import Cell, Store, hashes, play_cell, play_cells, summarize_metric
from sauda.players import get_policy
from sauda.pool import Engine
from sauda.records.kinds import ArtifactError
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact

# The evaluation ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvaluationSpec:
    """What to evaluate: tasks of one game; the defaults are the bazaar's."""

    tasks: tuple[str, ...]
    policies: tuple[str, ...]
    split: str = "train"
    episodes: int = 1000  # per policy and task; gives intervals near 2 % of the mean
    baseline: str = "rule_based"  # of the paired differences

    def seeds(self) -> range:
        """The first `episodes` seeds of the split; ValueError where it has fewer."""
        return first_seeds(self.episodes, self.split)

    def game(self) -> Game:
        """The game of all tasks; ValueError where they are of several."""
        games = {game_of(name).name: game_of(name) for name in self.tasks}
        if len(games) > 1:
            apart = " is evaluated apart from the ".join(sorted(games))
            raise ValueError(f"the {apart}; name tasks of one of them")
        return next(iter(games.values()))

    def cells(self) -> list[Cell]:
        """Every (task, policy) pair in row order."""
        return [Cell(*cell) for cell in product(self.tasks, self.policies)]

    def check(self) -> None:
        """Raise ValueError for a name that does not exist or a baseline that is not evaluated."""
        self.game()
        for cell in self.cells():
            get_policy(get_task(cell.task), cell.policy)
        if self.baseline not in self.policies:
            raise ValueError(
                f"the baseline {self.baseline!r} must be one of the policies that are evaluated: "
                f"{', '.join(self.policies)}"
            )

    def as_json(self) -> dict[str, Any]:
        """What the artifact records as its config."""
        others = self.game().others
        return {**asdict(self), **({"others": [others]} if others else {})}


def cells_of(spec: EvaluationSpec) -> dict[Cell, range]:
    """The seeds of every cell, those that hold what is known of each task's instances first."""
    instances = [Cell(task, "") for task in spec.tasks]
    return dict.fromkeys((*instances, *spec.cells()), spec.seeds())


def evaluate(
    spec: EvaluationSpec, run: int | Engine = 2, store: Store | None = None
) -> dict[str, Any]:
    """The data of an evaluation artifact: rows and further tables, and the episodes under them.

    `run` and `store` say how its games are played, as in `play_cells`.
    """
    spec.check()
    columns = play_cells(play_cell, cells_of(spec), run, store=store)
    worlds = {task: columns.pop(Cell(task, "")) for task in spec.tasks}
    return tabulate(spec, worlds, columns)


def tabulate(
    spec: EvaluationSpec, worlds: Mapping[str, Worlds], columns: Mapping[Cell, Columns]
) -> dict[str, Any]:
    """The data of an evaluation artifact, computed from its instances by task and its columns."""
    game = spec.game()
    evaluated = Evaluated(spec.tasks, spec.policies, spec.seeds(), columns, worlds, get_policy)
    by_task = {task: {name: columns[task, name] for name in spec.policies} for task in spec.tasks}
    return {
        "ends": dict(game.columns.ENDS),
        "rows": [row(cell, columns, worlds[cell.task], spec.baseline) for cell in spec.cells()],
        **game.columns.tables(evaluated),
        "episodes": {game.others: by_task} if game.others else by_task,
    }


def row(
    cell: Cell, columns: Mapping[Cell, Columns], worlds: Worlds, baseline: str
) -> dict[str, Any]:
    """The figures of one (task, policy) pair, all computed from the recorded columns."""
    game, task = game_of(cell.task), get_task(cell.task)
    played, base = columns[cell], columns.get(cell._replace(policy=baseline))
    count = Counter(played["end"])
    return {
        **({"others": game.others} if game.others else {}),
        "task": cell.task,
        "policy": cell.policy,
        "n": len(played["grade"]),
        **{metric: summarize_metric(played, base, metric) for metric in game.columns.METRICS},
        **game.columns.figures(task, played, worlds),
        "ends": {meaning: count[letter] for letter, meaning in game.columns.ENDS.items()},
        "hashes": hashes(cell),
    }


# Verification -----------------------------------------------------------------------------------


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every episode played again, and every row and table computed again from them."""
    names, settings = [field.name for field in fields(EvaluationSpec)], artifact.settings()
    if missing := [name for name in names if name not in settings]:
        raise ArtifactError(f"{artifact.file} has no {', '.join(missing)} in its config")
    return evaluate(EvaluationSpec(*(settings[name] for name in names)), workers)
