"""Names under which recorded runs hold settings and log figures, until they are migrated.

Configs and TRL's logs have the libraries' names; the artifacts of kind run/1, and the sampling of
recorded models, still have ours from before. Only this module knows both. TODO: delete it, and its
calls, once the artifacts under artifacts/ are migrated to the new names.
"""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

CONFIG = {  # new name: recorded name
    "init_adapter": "after",
    "num_train_epochs": "epochs",
    "max_steps": "steps",
    "per_device_train_batch_size": "at_once",
    "prompts_per_step": "groups",
    "num_generations": "group",
    "turns_per_game": "turns",
    "max_new_tokens": "longest",
    "warmup_steps": "warmup",
    "max_grad_norm": "clip",
    "save_steps": "checkpoint_every",
    "acceptance_prompts": "gate",
    "eval_games": "probe",
    "unseen_seller": "untaught",
}
DATA = {"unseen_seller": "untaught", "batch_size": "together", "min_gap": "gap"}  # config.data
LORA = {"r": "rank", "lora_alpha": "alpha", "target_modules": "targets"}  # config.lora
LOG = {  # TRL's name: recorded name
    "frac_reward_zero_std": "zero_advantage",
    "completions/mean_length": "length",
    "step_time": "step_seconds",
    "rewards/margins": "margin",
    "rewards/accuracies": "accuracy",
    "rewards/chosen": "chosen",
    "rewards/rejected": "rejected",
    "reward_min": "low",
    "reward_max": "high",
    "reward_group_std": "spread",
    "valid_rate": "format",
    "agreement_rate": "deals",
}


def recorded_config(config: Any) -> dict[str, Any]:
    """The settings of a stage as a run's artifact holds them.

    A recorded "batch" counts the rows of a step: those of a pass times the accumulated passes.
    """
    settings = asdict(config)
    accumulated = settings.pop("gradient_accumulation_steps", None)
    if accumulated is not None:
        settings["batch"] = accumulated * settings["per_device_train_batch_size"]
    for part, names in (("data", DATA), ("lora", LORA)):
        if part in settings:
            settings[part] = _renamed(settings[part], names)
    return _renamed(settings, CONFIG)


def recorded_log(figures: Mapping[str, float]) -> dict[str, float]:
    """One step's figures as a run's log holds them."""
    return _renamed(figures, LOG)


def recorded_sampling(sampling: Any) -> dict[str, Any]:
    """A `Sampling` as the artifacts hold it beside a model's name."""
    return _renamed(asdict(sampling), {"max_new_tokens": "tokens"})


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}
