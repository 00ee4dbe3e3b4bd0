"""The form of a move and nothing else: fine-tuning on legal moves that are drawn at random.

    python -m sauda train form

It is where a run from reward alone begins: its moves can be read, and it knows nothing about what
they are worth.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from sauda.train import form_rows, sft
from sauda.train.common import option

TOY = {"rows": 32, "per_device_train_batch_size": 8, "save_steps": 2, "acceptance_prompts": 6,
       "eval_games": 2}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FormSettings(sft.SFTStageSettings, form_rows.FormRowSettings):
    """Settings in the names of TRL's SFTConfig, but for the games that are learnt."""

    per_device_train_batch_size: int = 8
    save_steps: int = 110
    eval_games: int = option("training games that every checkpoint plays", 100)
    stage: ClassVar[str] = "form"


SETTINGS = {"bazaar": FormSettings}
train = partial(sft.train, make_rows=form_rows.make_rows)
