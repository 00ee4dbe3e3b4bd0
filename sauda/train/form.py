"""The form of a move and nothing else: fine-tuning on legal moves that are drawn at random.

    python -m sauda train form

It is where a run from reward alone begins: its moves can be read, and it knows nothing about what
they are worth.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sauda.train import common, form_rows, sft, teacher_rows
from sauda.train.common import option
from sauda.train.model import LoRA, peft_config, read_base

TOY = {"rows": 32, "per_device_train_batch_size": 8, "save_steps": 2, "acceptance_prompts": 6,
       "eval_games": 2}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FormSettings(sft.SFTStageSettings, form_rows.FormRowSettings):
    """Settings in the names of TRL's SFTConfig, but for the games that are learnt."""

    per_device_train_batch_size: int = 8
    save_steps: int = 40
    eval_games: int = option("training games that every checkpoint plays", 100)
    stage: ClassVar[str] = "form"


SETTINGS = {"bazaar": FormSettings}


def train(settings: FormSettings, folder: Path | None = None, resume: bool = False) -> dict:
    """Run the stage to its end, as `start_run`, `train_to_end` and `save_run` do."""
    run = common.start_run(settings, folder, resume)
    file = run.folder / sft.ROWS
    rows = teacher_rows.load_rows(file, teacher_rows.Row, lambda: form_rows.make_rows(settings))
    lora = peft_config(LoRA(settings.lora_r, settings.lora_alpha))
    return sft.train_on(run, rows, read_base(run.base), lora)
