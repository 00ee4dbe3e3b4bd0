"""Fine-tuning of Sauda on whole replies, after that on what to say.

    python -m sauda train settles

It goes on from the adapter of `heeds`, in whose loss what tells an argument weighed so much that
other words suffered: it took asks with "No". Here that weighs little more than other tokens, and an
ask is taken without a sentence, as the prompt says.
"""

from collections.abc import Mapping
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
    ends_with_words: ClassVar[bool] = False
    first_seed: int = option("training seeds run up from it", 43_500)
    learning_rate: float = 4e-4
    stage: ClassVar[str] = "settles"
    speech: ClassVar[Mapping[str, float]] = {"fresh": 3, "first": 0.3}


SETTINGS = {"bazaar": SettlesSettings}
