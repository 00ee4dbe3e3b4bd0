"""Losses of role runs: over many dialogues, by checkpoint, and of two runs beside each other.

Two runs are compared on the hold-out dialogues that both have measured. The loss of a dialogue is
the mean over its learnt tokens; differences are paired by dialogue, and the interval resamples
dialogues.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sauda.records.kinds import ArtifactError
from sauda.records.schemas.base import Interval
from sauda.records.schemas.roles import DialogueLoss, RoleContrast, RoleRun
from sauda.records.store import ROOT, Artifact, digest, load, sha256
from sauda.statistics import paired_difference

FILE = "roles.json"
SPECIALISTS, GENERALIST = ("buyer", "seller"), "generalist"
CAUSES = {"cycles": "one-cycle", "layers": "one-rate"}  # of the schedule, with their controls
IN_WORDS = {
    "cycles": "Two cycles instead of one",
    "layers": "Rates by layer instead of one rate",
}
NAMES = (
    *(f"roles-{role}{end}" for role in (*SPECIALISTS, GENERALIST) for end in ("", "-control")),
    *(f"roles-{GENERALIST}-{control}" for control in CAUSES.values()),
)
Runs = Mapping[str, RoleRun]


def loss_and_perplexity(rows: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean loss of rows of "nats" and "tokens", every token alike, and its exponential."""
    rows = list(rows)
    loss = sum(row["nats"] for row in rows) / sum(row["tokens"] for row in rows)
    return {"loss": loss, "perplexity": math.exp(loss)}


def best_step(validations: Iterable[Mapping[str, Any]]) -> int:
    """The step of the checkpoint with the lowest validation loss; the first of equals.

    The base model, step 0, is none. Raises ValueError where no checkpoint was measured.
    """
    trained = [row for row in validations if row["step"] > 0]
    if not trained:
        raise ValueError("no checkpoint has a validation loss; start the run anew")
    return min(trained, key=lambda row: row["loss"])["step"]


def runs_at(root: Path = ROOT) -> dict[str, RoleRun]:
    """The eight runs by name. Raises ArtifactError, with the command, where one is missing."""
    return {name: load(f"training/{name}.json", root).data for name in NAMES}


def comparison(runs: Runs) -> dict[str, Any]:
    """The data of the artifact.

    Raises ValueError where two runs did not measure the same dialogues.
    """
    digests = {name: digest([row.as_json() for row in run.holdout]) for name, run in runs.items()}
    return {"runs": digests, "contrasts": list(_contrasts(runs))}


def schedule_verdict(contrasts: Sequence[RoleContrast]) -> str:
    """Whether the loss is lower with the schedule, cycles and rates by layer, by the intervals.

    "Yes" where it is in all comparisons, "No" where it is in none and higher in some.
    """
    rows = [row.difference for row in contrasts if row.question == "schedule"]
    lower, higher = (sum(row.high < 0 for row in rows), sum(row.low > 0 for row in rows))
    rest = len(rows) - lower - higher
    opening = "No" if higher else "Not shown"
    if lower:
        opening = "Partly" if higher or rest else "Yes"
    told = [f"lower in {_counted(lower, len(rows))}"] if lower else []
    told += [f"higher in {_counted(higher, len(rows))}"] if higher else []
    clauses = [f"with the schedule, the loss was {' and '.join(told)}"] if told else []
    clauses += [f"in {_counted(rest, len(rows))} the interval holds 0"] if rest else []
    return f"{opening}: {'; '.join(clauses)}."


def cause_sentences(contrasts: Sequence[RoleContrast]) -> list[str]:
    """A sentence for each cause in the schedule: by how much it changes the generalist's loss."""
    told = []
    for cause, words in IN_WORDS.items():
        found = [
            f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}] on the {row.role}'s turns"
            f" ({_direction(gap)})"
            for row in contrasts
            if row.question == cause
            for gap in [row.difference]
        ]
        if found:
            told.append(f"{words} change the loss of the generalist by {' and '.join(found)}.")
    return told


def _direction(gap: Interval) -> str:
    if gap.high < 0:
        return "lower"
    return "higher" if gap.low > 0 else "the interval holds 0"


def _counted(count: int, n: int) -> str:
    """So many of n comparisons, in words."""
    return f"{f'all {n}' if count == n else f'{count} of {n}'} comparisons with a control"


def recomputed(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """The comparison of the runs as they are, for `verify`."""
    return comparison(runs_at(root))


def _contrasts(runs: Runs) -> Iterator[dict[str, Any]]:
    for role in SPECIALISTS:
        yield contrast(runs, "schedule", f"roles-{role}", f"roles-{role}-control", role)
        yield contrast(runs, "schedule", "roles-generalist", "roles-generalist-control", role)
        for cause, control in CAUSES.items():
            yield contrast(runs, cause, "roles-generalist", f"roles-generalist-{control}", role)
    for role in SPECIALISTS:
        yield contrast(runs, "specialist", f"roles-{role}", "roles-generalist", role)
    for role, other in zip(SPECIALISTS, SPECIALISTS[::-1], strict=True):
        yield contrast(runs, "off_role", f"roles-{other}", f"roles-{role}", role)


def contrast(runs: Runs, question: str, run: str, baseline: str, role: str) -> dict[str, Any]:
    """One row: the loss of `run` on the turns of `role` less that of `baseline`, by dialogue.

    Raises ValueError where they did not measure the same dialogues.
    """
    ours, theirs = (_of_role(runs[name], role) for name in (run, baseline))
    if [(d.dialogue, d.tokens) for d in ours] != [(d.dialogue, d.tokens) for d in theirs]:
        raise ValueError(f"{run} and {baseline} did not measure the same dialogues of the {role}")
    losses, others = (np.array([d.nats / d.tokens for d in rows]) for rows in (ours, theirs))
    mean, low, high = paired_difference(losses, others)
    return {
        "question": question,
        "run": run,
        "baseline": baseline,
        "role": role,
        "n": len(ours),
        "tokens": sum(d.tokens for d in ours),
        "loss": float(losses.mean()),
        "baseline_loss": float(others.mean()),
        "difference": {"mean": mean, "low": low, "high": high},
    }


def _of_role(run: RoleRun, role: str) -> list[DialogueLoss]:
    return [row for row in run.holdout if row.role == role]


def recomputed_run(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Training is not repeated: what follows from its recorded losses, log and adapter is.

    Raises ArtifactError where the adapter is missing.
    """
    recorded = artifact.data.as_json()
    log = [{**row, "step": i} for i, row in enumerate(recorded["log"], 1)]
    validations = [
        row
        | {"perplexity": loss_and_perplexity([{"nats": row["loss"], "tokens": 1}])["perplexity"]}
        for row in recorded["validations"]
    ]
    data = {
        **recorded,
        "log": log,
        "validations": validations,
        "best_step": best_step(validations),
        **{name: log[-1][name] for name in ("seconds", "num_tokens")},
    }
    if adapter := recorded.get("adapter"):
        file = root / "adapters" / adapter["name"] / "adapter_model.safetensors"
        if not file.exists():
            raise ArtifactError(f"{file.relative_to(root)} is missing")
        data["adapter"] = {**adapter, "sha256": sha256(file), "bytes": file.stat().st_size}
    return data
