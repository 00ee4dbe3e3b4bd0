"""Fine-tuning of Sauda on deals with people, in which it says sentences of its own.

    python -m sauda train people

It goes on from an adapter that can bargain, and learns what `people_rows.py` makes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sauda.train import common, people_rows, sft, teacher_rows
from sauda.train.common import option
from sauda.train.model import trainable

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


def train(settings: PeopleSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    run = common.start_run(settings, folder, resume)
    file = run.folder / sft.ROWS
    rows = teacher_rows.load_rows(file, teacher_rows.Row, lambda: people_rows.make_rows(settings))
    return sft.train_on(run, rows, trainable(run.base, common.init_adapter(settings)))
