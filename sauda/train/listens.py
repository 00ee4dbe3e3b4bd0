"""Fine-tuning of Sauda on which argument to make, by what its planner expects of each.

    python -m sauda train listens

It goes on from the adapter of `candid`. Which argument moves a seller only its words hint at, and
each can be said in many ways, so that one drawn sentence teaches little. So a bid is learnt as a
distribution over all that could be said with it (policy distillation, Rusu et al. 2015), and the
token that tells which argument it will be counts as much as the rest of a sentence.
"""

from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people, people_rows
from sauda.train.common import option

TOY, train = people.TOY, people.train


@dataclass(frozen=True, kw_only=True)
class ListensSettings(people.PeopleSettings):
    """Settings of `people`, but for the deals that are learnt and how their words are."""

    init_adapter: str = option("adapter to train further; '' for a new one", "candid")
    rows: int = option("deals to learn from", 2_400)
    shares: tuple[tuple[str, float], ...] = tuple(people_rows.SHARES["listens"].items())
    temper: float = 0.02
    first_seed: int = option("training seeds run up from it", 33_000)
    learning_rate: float = 8e-4
    save_steps: int = 50
    stage: ClassVar[str] = "listens"
    fresh: ClassVar[int] = 3


SETTINGS = {"bazaar": ListensSettings}
