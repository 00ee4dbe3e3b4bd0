"""Which two stages of the model are compared: read from the artifacts.

The stage that is served follows `sauda.llm.model.SAUDA`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from panels.results.models import rows_by_policy
from sauda.experiments.comparison import BASE, ModelRow
from sauda.llm.registry import CONSTRAINED, row_name
from sauda.records.store import Artifact

MEASURED = "bazaar/open"  # the task of the scores
SERVED = "sauda-mini"  # the page's own name for it, so that its weights are loaded once


@dataclass(frozen=True)
class Stages:
    """The players of live duels, and the rows that measured them, by name."""

    untrained: str
    trained: str
    rows: Mapping[str, ModelRow]

    def is_trained(self, policy: str) -> bool:
        """Whether a player, recorded or live, is the served stage."""
        return row_name(policy) == row_name(self.trained)


def stages_of(comparison: Artifact) -> Stages:
    """The untrained base and the stage that is served.

    The base plays under the grammar of legal moves where that was measured and most of its games
    without it end with an invalid reply: else it would hardly ever make a move.
    """
    rows = rows_by_policy(comparison, MEASURED)
    bare, helped = rows[BASE], f"{BASE}+{CONSTRAINED}"
    is_mute = bare.invalid_replies > bare.n / 2
    return Stages(helped if is_mute and helped in rows else BASE, SERVED, rows)
