"""Fine-tuning of Sauda on deals of many kinds: people, the open market, packages.

    python -m sauda train talks

It goes on from the adapter that met people, on rows of all tasks in which any words count.
"""

from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people, people_rows
from sauda.train.common import option

TOY, train = people.TOY, people.train


@dataclass(frozen=True, kw_only=True)
class TalkSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt."""

    init_adapter: str = option("adapter to train further; '' for a new one", "people")
    rows: int = option("deals to learn from", 1_900)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["talks"].items())
    stage: ClassVar[str] = "talks"


SETTINGS = {"bazaar": TalkSettings}
