"""A sample of a recorded row, played again: its first episodes, every column beside the record.

`verify` plays whole artifacts; this plays enough of one row to be watched.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from env import Policy, Task, get_task, rollout
from sauda.evaluation.batches import first
from sauda.experiments.comparison import recorded_comparison
from sauda.experiments.evaluate import ORACLE, Cell, replay_cell
from sauda.games import game_of
from sauda.games.adapter import Columns
from sauda.llm.registry import is_model, player_spec
from sauda.policies.best_response import informed_policy
from sauda.records.splits import SPLITS
from sauda.records.store import Artifact


@dataclass(frozen=True)
class Sample:
    """The first episodes of a row as recorded and as played again; only columns of both."""

    cell: Cell
    seeds: Sequence[int]
    recorded: Columns
    again: Columns

    @property
    def differing(self) -> list[str]:
        """The names of the columns that differ; empty where all came out the same."""
        return [name for name in self.recorded if self.recorded[name] != self.again[name]]

    @property
    def digests(self) -> tuple[str, str]:
        """The digests of the recorded and of the played columns."""
        return digest(self.recorded), digest(self.again)


def digest(columns: Any) -> str:
    """SHA-256 of columns, or of anything else that is JSON, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(columns, sort_keys=True).encode()).hexdigest()


def cells(artifact: Artifact) -> dict[Cell, Columns]:
    """The recorded columns of an evaluation or a model comparison, by row.

    Raises ValueError for an artifact of another kind.
    """
    recorded = artifact.data.as_json()
    if artifact.kind.startswith(("model_comparison/", "arena_model_comparison/")):
        compared = recorded_comparison(artifact)
        others = compared.game.others["holdout"][0]
        flat = compared.flat(recorded["episodes"])
        return {Cell(others, task, policy): columns for (task, policy), columns in flat.items()}
    if not artifact.kind.startswith(("evaluation/", "arena/")):
        raise ValueError(f"{artifact.file} holds no rows of episodes that can be sampled")
    game = game_of(artifact.config["tasks"][0])
    by_others = recorded["episodes"]
    if not game.names_others:
        by_others = {game.others[artifact.config["split"]][0]: by_others}
    return {
        Cell(others, task, policy): columns
        for others, by_task in by_others.items()
        for task, by_policy in by_task.items()
        for policy, columns in by_policy.items()
    }


def needs_weights(policy: str) -> bool:
    """Whether a language model plays the row, which takes seconds a game."""
    return is_model(policy) and bool(player_spec(policy).weights)


def play_again(
    artifact: Artifact,
    cell: Cell,
    episodes: int,
    policy_of: Callable[[Task, str], Policy] | None = None,
) -> Sample:
    """Play the first `episodes` of a row again, one at a time.

    `policy_of` gives the policy of that name where another than the registry's is to play, such as
    a language model that a page has loaded. Raises KeyError for a row that is not recorded.
    """
    recorded = first(cells(artifact)[cell], episodes)
    count = len(recorded["grade"])
    seeds = SPLITS[artifact.config.get("split", "holdout")][:count]
    again = _played(cell, seeds, policy_of)
    common = [name for name in recorded if name in again]
    return Sample(cell, seeds, _only(recorded, common), _only(again, common))


def _played(
    cell: Cell, seeds: Sequence[int], policy_of: Callable[[Task, str], Policy] | None
) -> dict[str, Any]:
    if cell.policy != ORACLE and policy_of is None:
        return replay_cell(cell.others, cell.task, cell.policy, seeds)
    game = game_of(cell.task)
    task = game.against(get_task(cell.task), cell.others)
    episodes = []
    for seed in seeds:
        oracle = cell.policy == ORACLE
        policy = informed_policy(task, seed) if oracle else policy_of(task, cell.policy)
        episodes.append(rollout(task, policy, seed))
    return game.table.episode_columns(task, episodes)


def _only(columns: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Some of the columns, as JSON gives them back."""
    return json.loads(json.dumps({name: columns[name] for name in names}))
