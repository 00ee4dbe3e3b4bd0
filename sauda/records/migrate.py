"""Renames keys and files of artifacts, and proves that nothing else in them changes.

Each step of `STEPS` leads from one kind to the next. A file whose seal does not hold is refused, as
is one in which a new key would stand beside an old one of the same name: then the way back, from
the new keys to the old ones, would not give the old content.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sauda.records.kinds import ArtifactError
from sauda.records.provenance import now
from sauda.records.seal import SEAL, broken, digest, sealed
from sauda.records.store import ROOT, dumps, parsed, read_json, write

EVERY = "*"  # any key of a mapping; lists are passed through
Names = Mapping[str, str]  # new key by the place of the old one, such as "log.low"


@dataclass(frozen=True)
class Step:
    """From one kind to the next: new keys of its config and data, and new files."""

    before: str
    after: str
    data: Names = field(default_factory=dict)
    config: Names = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    by_device: bool = False  # the batch of a step is counted in batches of one device from now on


SAMPLING = {"models.*.sampling.tokens": "max_new_tokens"}
COUNTS = {"rows.unparsed": "invalid_replies", "climbs": "stage_gains"}

STEPS = (
    Step(
        "ladder/1",
        "model_comparison/1",
        SAMPLING
        | COUNTS
        | {
            "ways": "gap_closed",
            "ways.part": "share",
            "episodes.*.*.unparsed": "invalid_replies",
        },
        files={"evaluation/ladder.json": "evaluation/model-comparison.json"},
    ),
    Step(
        "arena_ladder/1",
        "arena_model_comparison/1",
        SAMPLING | COUNTS | {"episodes.*.unparsed": "invalid_replies"},
        files={"evaluation/arena-ladder.json": "evaluation/arena-model-comparison.json"},
    ),
    Step("before_after/1", "before_after/2", SAMPLING),
    Step("seller_quality/1", "seller_quality/2", SAMPLING | {"games.floor": "reservation"}),
    Step("judged/1", "pitching/1", files={"judged.json": "pitching.json"}),
    Step("market/1", "market/2", {"careers.then": "policy"}, {"then": "policies"}),
    Step(
        "belief/1",
        "belief/2",
        {"uninformed.right": "accuracy", "calibration.types.right": "accuracy"},
    ),
    Step(
        "language/1",
        "language/2",
        {
            f"{part}{table}.{old}": new
            for part in ("", "blind.")
            for table, names in {
                "rows": {
                    "true": "true_positives",
                    "false": "false_positives",
                    "missed": "false_negatives",
                },
                "prices": {
                    "false": "false_positives",
                    "found": "exact_rate",
                    "invented": "false_positive_rate",
                },
            }.items()
            for old, new in names.items()
        },
    ),
    Step(
        "run/1",
        "training_run/1",
        {
            "gate": "acceptance",
            "probes": "checkpoint_evaluations",
            "after": "init_adapter",
            "tokens": "num_tokens",
            "games.group": "num_generations",
            "rows.learnt": "completions",
            "rows.register": "speech_register",
            "rows.tokens.learnt": "in_loss",
            "sample.learnt": "in_loss",
            "log.tokens": "num_tokens",
            "log.low": "reward_min",
            "log.high": "reward_max",
            "log.spread": "reward_group_std",
            "log.format": "valid_rate",
            "log.deals": "agreement_rate",
            "log.zero_advantage": "frac_reward_zero_std",
            "log.length": "completions/mean_length",
            "log.step_seconds": "step_time",
            "log.margin": "rewards/margins",
            "log.accuracy": "rewards/accuracies",
            "log.chosen": "rewards/chosen",
            "log.rejected": "rewards/rejected",
        },
        {
            "after": "init_adapter",
            "epochs": "num_train_epochs",
            "steps": "max_steps",
            "at_once": "per_device_train_batch_size",
            "batch": "gradient_accumulation_steps",
            "groups": "prompts_per_step",
            "group": "num_generations",
            "turns": "turns_per_game",
            "longest": "max_new_tokens",
            "warmup": "warmup_steps",
            "clip": "max_grad_norm",
            "checkpoint_every": "save_steps",
            "gate": "acceptance_prompts",
            "probe": "eval_games",
            "untaught": "unseen_seller",
            "data.untaught": "unseen_seller",
            "data.together": "batch_size",
            "data.gap": "min_gap",
            "lora.rank": "r",
            "lora.alpha": "lora_alpha",
            "lora.targets": "target_modules",
        },
        by_device=True,
    ),
)


def migrate(file: str, root: Path = ROOT, steps: tuple[Step, ...] = STEPS) -> str | None:
    """Bring `file` to its newest kind, sealed anew; its name now, None where nothing changed.

    `made.migrated` notes the kind before. An adapter whose `trained.json` holds the digest of the
    run's log gets the digest of the renamed log. Raises ArtifactError where the seal is broken or
    the renaming cannot be undone, and ValueError where the result is not of its kind.
    """
    content = read_json(root / file)
    step = next((step for step in steps if step.before == content["kind"]), None)
    if step is None:
        return None
    if SEAL not in content["made"] or (faults := broken(content)):
        fault = faults[0] if SEAL in content["made"] else "there is no seal"
        raise ArtifactError(f"{file} is not as it was sealed: {fault}")
    data = _proved(file, content["data"], step.data)
    config = _proved(file, _per_device(content["config"], step), step.config)
    parsed(step.after, data)
    note = {"kind": step.before, "created": now()}
    provenance = {**content["made"], "migrated": [*content["made"].get("migrated", []), note]}
    new = sealed(
        {**content, "kind": step.after, "made": provenance, "config": config, "data": data}
    )
    name = step.files.get(file, file)
    _follow(root, content["data"], data)
    write(root / name, dumps(new) + "\n")
    if name != file:
        (root / file).unlink()
    return name


def _proved(file: str, value: Any, names: Names) -> Any:
    """`value` with new names; ArtifactError unless the way back gives `value` again."""
    new = renamed(value, names)
    if dumps(renamed(new, undone(names))) != dumps(value):
        raise ArtifactError(f"{file} cannot be migrated: the old keys do not come back")
    return new


def _per_device(config: Mapping[str, Any], step: Step) -> Mapping[str, Any]:
    """`config` with its `batch` in batches of one device, as gradient accumulation counts them.

    Raises ArtifactError where it is no multiple of these.
    """
    if not step.by_device or "batch" not in config:
        return config
    batches, rest = divmod(config["batch"], config["at_once"])
    if rest:
        raise ArtifactError(f"a batch of {config['batch']} is no multiple of {config['at_once']}")
    return {**config, "batch": batches}


def renamed(value: Any, names: Names, place: tuple[str, ...] = ()) -> Any:
    """`value` with the keys that stand at a place of `names` renamed, in their order."""
    if isinstance(value, list):
        return [renamed(part, names, place) for part in value]
    if not isinstance(value, Mapping):
        return value
    return {
        _new_key((*place, key), names): renamed(part, names, (*place, key))
        for key, part in value.items()
    }


def _new_key(place: tuple[str, ...], names: Names) -> str:
    for pattern, new in names.items():
        parts = pattern.split(".")
        if len(parts) == len(place) and all(
            part in (EVERY, key) for part, key in zip(parts, place, strict=True)
        ):
            return new
    return place[-1]


def undone(names: Names) -> dict[str, str]:
    """The names that lead back: old key by the place of the new one."""
    back = {}
    for pattern, new in names.items():
        *parents, old = pattern.split(".")
        renamed_parents = [
            names.get(".".join(parents[: i + 1]), parent) for i, parent in enumerate(parents)
        ]
        back[".".join([*renamed_parents, new])] = old
    return back


def _follow(root: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Renew the digest of the log in the adapter of a training run, where it is that of the log."""
    if "adapter" not in before:
        return
    file = root / "adapters" / before["adapter"]["name"] / "trained.json"
    trained = read_json(file)
    if trained["log"] != digest(before["log"]):
        raise ArtifactError(f"{file.relative_to(root)} holds the digest of another log")
    new = renamed(trained | {"log": digest(after["log"])}, {"after": "init_adapter"})
    write(file, json.dumps(new, indent=1) + "\n")
