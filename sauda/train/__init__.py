"""Training of the language models with LoRA: players, and roles that put a move into words.

Players are trained by SFT, distillation, GRPO and DPO; roles by SFT. A stage is one file, from its
settings to its saved run, but that those after `people` stand with it; `common.py` holds what the
stages share, `checks.py` the acceptance check. `selector.py` trains what is no language model.
"""

from importlib import import_module
from types import ModuleType

STAGES = ("sft", "people", "talks", "grpo", "dpo")  # of a player, in the order of training
LIKE_PEOPLE = ("talks", "candid", "heeds", "settles")  # differ from `people` in their settings


def module_of(stage: str) -> ModuleType:
    """The module of a stage, imported: its `SETTINGS`, `TOY` and `train`."""
    return import_module(f"sauda.train.{'people' if stage in LIKE_PEOPLE else stage}")


def settings_of(stage: str) -> dict[str, type]:
    """The classes of a stage's settings by game."""
    return {each.game: each for each in module_of(stage).SETTINGS if each.stage == stage}
