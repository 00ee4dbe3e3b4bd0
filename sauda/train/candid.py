"""Fine-tuning of Sauda on deals in which no line says what the seller has just done.

    python -m sauda train candid

It goes on from the adapter of `talks`, which thanks for steps that were not made: to compare two
asks is more than the small model can, and nothing that it must say needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people, people_rows
from sauda.train.common import option

TOY, train = people.TOY, people.train


@dataclass(frozen=True, kw_only=True)
class CandidSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt and a lower rate."""

    init_adapter: str = option("adapter to train further; '' for a new one", "talks")
    rows: int = option("deals to learn from", 1_000)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["candid"].items())
    first_seed: int = option("training seeds run up from it", 38_000)
    learning_rate: float = 5e-4
    stage: ClassVar[str] = "candid"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3}


SETTINGS = {"bazaar": CandidSettings}
