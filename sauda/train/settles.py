"""Fine-tuning of Sauda on whole replies, after that on what to say.

    python -m sauda train settles

It goes on from the adapter of `heeds`, in whose loss what tells an argument weighed so much that
other words suffered: it accepted with "No". Here that token weighs little more than others.
"""

from dataclasses import dataclass
from typing import ClassVar

from sauda.train import heeds
from sauda.train.common import option

TOY, train = heeds.TOY, heeds.train


@dataclass(frozen=True, kw_only=True)
class SettlesSettings(heeds.HeedsSettings):
    """Settings of `heeds`, but for the weight, fewer deals and a lower rate."""

    init_adapter: str = option("adapter to train further; '' for a new one", "heeds")
    rows: int = option("deals to learn from", 320)
    parts: ClassVar[float] = 4.0
    first_seed: int = option("training seeds run up from it", 43_500)
    learning_rate: float = 4e-4
    stage: ClassVar[str] = "settles"


SETTINGS = {"bazaar": SettlesSettings}
