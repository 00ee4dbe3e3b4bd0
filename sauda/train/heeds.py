"""Fine-tuning of Sauda on what to say with each bid, by what its planner expects of it.

    python -m sauda train heeds

It goes on from the adapter of `listens`, which learnt what to begin with. Here every bid of a deal
is learnt as a distribution over all that could be said with it. The tokens that tell what will be
said are few, and count about three times as much as all others together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people, people_rows
from sauda.train.common import option

TOY, train = people.TOY, people.train


@dataclass(frozen=True, kw_only=True)
class HeedsSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt and how their words are."""

    init_adapter: str = option("adapter to train further; '' for a new one", "listens")
    rows: int = option("deals to learn from", 1_280)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["heeds"].items())
    temper: float = 0.02
    parts: ClassVar[float] = 64.0
    first_seed: int = option("training seeds run up from it", 39_500)
    save_steps: int = 50
    stage: ClassVar[str] = "heeds"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3}


SETTINGS = {"bazaar": HeedsSettings}
