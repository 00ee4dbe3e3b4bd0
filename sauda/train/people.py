"""Fine-tuning of Sauda on deals with people, in which it says sentences of its own.

    python -m sauda train people

It goes on from an adapter that can bargain, and learns what `people_rows.py` makes.
"""

from dataclasses import dataclass
from typing import ClassVar

from sauda.train import people_rows, sft
from sauda.train.common import option

TOY = sft.TOY | {"init_adapter": ""}


@dataclass(frozen=True, kw_only=True)
class PeopleSettings(sft.SFTStageSettings, people_rows.PeopleRowSettings):
    """Settings in the names of TRL's SFTConfig, but for the deals that are learnt."""

    init_adapter: str = option("adapter to train further; '' for a new one", "sft")
    per_device_train_batch_size: int = 8
    learning_rate: float = 8e-4
    save_steps: int = 78
    eval_games: int = option("training games that every checkpoint plays", 0)
    stage: ClassVar[str] = "people"


SETTINGS = {"bazaar": PeopleSettings}
train = sft.train
