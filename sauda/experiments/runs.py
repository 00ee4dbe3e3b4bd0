"""What follows from the log of a training run, for `verify`, and runs of roles compared.

`roles` says what the schedule, a specialist and its own role are worth in the loss of role runs:
two runs are compared on the hold-out dialogues that both have measured. The loss of a dialogue is
the mean over its supervised tokens; differences are paired by dialogue, and the interval resamples
dialogues.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.players import SPECIALISTS
from sauda.records.kinds import ArtifactError
from sauda.records.schemas.training import CAUSES, ROLE_RUNS, ROLES_FILE, RoleRun
from sauda.records.store import ROOT, Artifact, digest, load, sha256
from sauda.statistics import best_step, exact_interval, paired_difference

# What follows from a run -----------------------------------------------------------------------


def recompute_run(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """What follows of a run from its log and its adapter's file; training is not repeated.

    Raises ArtifactError where the adapter is missing.
    """
    recorded = artifact.data.as_json()
    log = [{**row, "step": i} for i, row in enumerate(recorded["log"], 1)]
    last = {name: log[-1][name] for name in ("seconds", "num_tokens")}
    if adapter := recorded.get("adapter"):
        file = root / "adapters" / adapter["name"] / "adapter_model.safetensors"
        if not file.exists():
            raise ArtifactError(f"{file.relative_to(root)} is missing")
        last["adapter"] = {**adapter, "sha256": sha256(file), "bytes": file.stat().st_size}
    return {**recorded, "log": log, **last}


def recompute_role(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The same of a run of a role, with what follows from its losses."""
    recorded = recompute_run(artifact, workers, root)
    validations = [{**row, "perplexity": math.exp(row["loss"])} for row in recorded["validations"]]
    return recorded | {"validations": validations, "best_step": best_step(validations)}


# Runs of roles, compared ------------------------------------------------------------------------

Runs = Mapping[str, RoleRun]


@experiment(ROLES_FILE)
def roles(runs: tuple[str, ...] = ROLE_RUNS, *, root: Path = ROOT) -> dict[str, Any]:
    """The data of the artifact from the recorded runs.

    Raises ArtifactError, with the command, where a run is missing, and ValueError where one is not
    named, or two did not measure the same dialogues.
    """
    if missing := [name for name in ROLE_RUNS if name not in runs]:
        raise ValueError(f"the comparison needs {', '.join(missing)} among the runs as well")
    return compare({name: load(f"training/{name}.json", root).data for name in runs})


def compare(runs: Runs) -> dict[str, Any]:
    """The comparison of the runs in ROLE_RUNS: a contrast per question, run and role."""
    asked = []
    for role in SPECIALISTS:
        asked.append(("schedule", f"roles-{role}", f"roles-{role}-control", role))
        asked.append(("schedule", "roles-generalist", "roles-generalist-control", role))
        for cause, control in CAUSES.items():
            asked.append((cause, "roles-generalist", f"roles-generalist-{control}", role))
    asked += [("specialist", f"roles-{role}", "roles-generalist", role) for role in SPECIALISTS]
    for role, other in zip(SPECIALISTS, [*SPECIALISTS][::-1], strict=True):
        asked.append(("off_role", f"roles-{other}", f"roles-{role}", role))
    digests = {name: digest([row.as_json() for row in run.holdout]) for name, run in runs.items()}
    return {"runs": digests, "contrasts": [contrast(runs, *contrasted) for contrasted in asked]}


def contrast(runs: Runs, question: str, run: str, baseline: str, role: str) -> dict[str, Any]:
    """One row: the loss of `run` on the turns of `role` less that of `baseline`, by dialogue.

    Raises ValueError where they did not measure the same dialogues.
    """
    ours, theirs = (
        [row for row in runs[name].holdout if row.role == role] for name in (run, baseline)
    )
    if [(d.dialogue, d.tokens) for d in ours] != [(d.dialogue, d.tokens) for d in theirs]:
        raise ValueError(f"{run} and {baseline} did not measure the same dialogues of the {role}")
    losses, others = (np.array([d.nats / d.tokens for d in rows]) for rows in (ours, theirs))
    return {
        "question": question,  # schedule, cycles, layers, specialist or off_role
        "run": run,
        "baseline": baseline,
        "role": role,  # whose turns are judged
        "n": len(ours),  # dialogues
        "tokens": sum(d.tokens for d in ours),
        "loss": float(losses.mean()),  # over dialogues, nats per token
        "baseline_loss": float(others.mean()),
        "difference": exact_interval(paired_difference(losses, others)),
    }
