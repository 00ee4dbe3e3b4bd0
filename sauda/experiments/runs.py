"""A run of training: its data, log, checkpoints and acceptance check, and what `verify` checks.

A run is of a player (`TrainingRun`) or of a role (`RoleRun`). `roles` says what the schedule, a
specialist and its own role are worth in the loss of role runs: two runs are compared on the
hold-out dialogues that both have measured. The loss of a dialogue is the mean over its supervised
tokens; differences are paired by dialogue, and the interval resamples dialogues.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.records.kinds import ArtifactError, Check, Kind, register_kind
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.store import ROOT, Artifact, digest, load, sha256
from sauda.statistics import best_step, exact_interval, paired_difference

Tokens = list[dict[str, str | bool]]  # each with its "text", and whether it counts "in_loss"


class AcceptanceCheck(Row):
    """What the trained model writes on holdout prompts.

    An adapter of a player that fails is not published; no run of a role is dropped for it.
    """

    # share of completions that hold a move; of a role, that name the price they were told or none
    valid: float
    # share of moves of the teacher's kind; of a role, of those read as the act it was told
    same_kind: float
    # mean distance from the teacher's price, % of the list price; null without prices
    price_off: float | None = None
    accepted: float = None  # arena: share that the rules accept


class CheckpointEvaluation(Row):
    """Games played by the adapter of one checkpoint: the mean grade is its reward."""

    # bazaar: mean regret of its moves in five fixed positions per game, by the planner's values
    regret: Interval | None = None
    # mean distance of its offers there from the best price, % of the list price, from turn 3 on
    price_error: float | None = None


class TrainingRun(Record):
    """One training stage: its data, log, adapter and acceptance check."""

    stage: str  # sft, distill, grpo or dpo
    base: Row  # the base model
    # One row per optimizer step, under the names of TRL's logs. GRPO's rewards are grades of the
    # step's games, DPO's are implicit. Entropy and KL are in nats. A metric may lack in some rows.
    log: list[Row]
    resumed: list[int]  # steps from which the run was resumed
    acceptance: AcceptanceCheck  # the acceptance check
    hardware: Row  # the machine
    seconds: float  # seconds of training
    num_tokens: int  # tokens seen
    rows: Row = None  # SFT: its data; counts of conversations, completions and tokens
    rounds: Rows = None  # distillation: deals played and trained on, one row per round
    games: Row = None  # GRPO: its games; groups by task
    pairs: Row = None  # DPO: its pairs of replies; counts, and the mean difference of their grades
    sample: Tokens  # one training sequence, token by token
    # adapter that training continued from; null for a new one
    init_adapter: Row | None = None
    # games played by the adapter of each checkpoint
    checkpoint_evaluations: Table[CheckpointEvaluation] = None
    # What made the regret and price error of the last checkpoint, where they were measured after
    # the run; those of the other checkpoints, whose weights are not kept, are then null.
    judged: Row | None = None
    # the adapter that the run wrote; null where all weights learnt
    adapter: Row | None = None


class RoleReply(Row):
    """What the model said at one hold-out turn."""

    meant: Row  # the act it was told to say: its intent and price, or null
    read: Row | None  # the act that is read from the reply; null for none


class RoleRun(Record):
    """Training of a role: its data, log, validation, and losses of hold-out dialogues."""

    stage: str  # roles
    role: str  # buyer, seller or generalist
    schedule: bool  # true only with cycles and rates by layer; false for controls
    base: Row  # the base model
    taught: Row  # its data
    # One row per optimizer step: losses and entropy in nats, seconds with and without validation,
    # the rates of the highest and the lowest layer, the peak of the memory in GiB.
    log: Rows
    resumed: list[int]  # steps from which the run was resumed
    validations: Rows  # one per checkpoint, and the base model as step 0
    best_step: int  # the checkpoint with the lowest validation loss, kept
    holdout: Rows  # sums of the losses of the kept checkpoint, one row per dialogue and side
    acceptance: AcceptanceCheck  # the acceptance check
    replies: Table[RoleReply]  # what it said at hold-out turns
    hardware: Row  # the machine
    seconds: float  # seconds of training, validation included
    num_tokens: int  # tokens read in training
    sample: Tokens  # one training dialogue, token by token
    adapter: Row | None = None  # the adapter that the run wrote; null for a control


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


PLAYER = Check(
    "checksum only",
    "every step of the log; the adapter's digest computed from its file",
    recompute_run,
)
ROLE = Check(
    "checksum only",
    "every step and loss; the best checkpoint, perplexities and the adapter's digest computed from "
    "them",
    recompute_role,
)
register_kind(Kind("training_run/1", TrainingRun, PLAYER))
register_kind(Kind("role_run/1", RoleRun, ROLE))


# Runs of roles, compared ------------------------------------------------------------------------

ROLES_FILE = "roles.json"
SPECIALISTS, GENERALIST = ("buyer", "seller"), "generalist"
CAUSES = {"cycles": "one-cycle", "layers": "one-rate"}  # of the schedule, with their controls
IN_WORDS = {"cycles": "Two cycles instead of one", "layers": "Rates by layer instead of one rate"}
NAMES = (
    *(f"roles-{role}{end}" for role in (*SPECIALISTS, GENERALIST) for end in ("", "-control")),
    *(f"roles-{GENERALIST}-{control}" for control in CAUSES.values()),
)
Runs = Mapping[str, RoleRun]


class RoleComparison(Record):
    """What the schedule, a specialist and its own role are worth, in loss on hold-out dialogues."""

    runs: dict[str, str]  # digest of the hold-out losses of each run, by name
    contrasts: Rows  # one per question, run and role


@experiment(
    ROLES_FILE,
    RoleComparison,
    method="recomputed",
    checks="every difference and interval, from the losses of the runs",
)
def roles(runs: tuple[str, ...] = NAMES, *, root: Path = ROOT) -> dict[str, Any]:
    """The data of the artifact from the recorded runs.

    Raises ArtifactError, with the command, where a run is missing, and ValueError where one is not
    named, or two did not measure the same dialogues.
    """
    if missing := [name for name in NAMES if name not in runs]:
        raise ValueError(f"the comparison needs {', '.join(missing)} among the runs as well")
    return compare({name: load(f"training/{name}.json", root).data for name in runs})


def compare(runs: Runs) -> dict[str, Any]:
    """The comparison of the runs in NAMES: a contrast per question, run and role."""
    asked = []
    for role in SPECIALISTS:
        asked.append(("schedule", f"roles-{role}", f"roles-{role}-control", role))
        asked.append(("schedule", "roles-generalist", "roles-generalist-control", role))
        for cause, control in CAUSES.items():
            asked.append((cause, "roles-generalist", f"roles-generalist-{control}", role))
    asked += [("specialist", f"roles-{role}", "roles-generalist", role) for role in SPECIALISTS]
    for role, other in zip(SPECIALISTS, SPECIALISTS[::-1], strict=True):
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


# In words ----------------------------------------------------------------------------------------


def schedule_verdict(contrasts: Sequence[Row]) -> str:
    """Whether the loss is lower with the schedule, cycles and rates by layer, by the intervals.

    "Yes" where it is in all comparisons, "No" where it is in none and higher in some.
    """
    rows = [row.difference for row in contrasts if row.question == "schedule"]
    lower, higher = (sum(row.high < 0 for row in rows), sum(row.low > 0 for row in rows))
    rest = len(rows) - lower - higher
    opening = "No" if higher else "Not shown"
    if lower:
        opening = "Partly" if higher or rest else "Yes"
    directions = [f"lower in {_count(lower, len(rows))}"] if lower else []
    directions += [f"higher in {_count(higher, len(rows))}"] if higher else []
    clauses = [f"with the schedule, the loss was {' and '.join(directions)}"] if directions else []
    clauses += [f"in {_count(rest, len(rows))} the interval holds 0"] if rest else []
    return f"{opening}: {'; '.join(clauses)}."


def cause_sentences(contrasts: Sequence[Row]) -> Iterator[str]:
    """A sentence for each cause in the schedule: by how much it changes the generalist's loss."""
    for cause, words in IN_WORDS.items():
        changes = [
            f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}] on the {row.role}'s turns"
            f" ({_direction(gap)})"
            for row in contrasts
            if row.question == cause
            for gap in [row.difference]
        ]
        if changes:
            yield f"{words} change the loss of the generalist by {' and '.join(changes)}."


def _direction(gap: Interval) -> str:
    if gap.high < 0:
        return "lower"
    return "higher" if gap.low > 0 else "the interval holds 0"


def _count(count: int, n: int) -> str:
    return f"{f'all {n}' if count == n else f'{count} of {n}'} comparisons with a control"
