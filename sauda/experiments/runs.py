"""A run of training: its data, log, checkpoints and acceptance check, and what `verify` checks.

A run is of a player (`TrainingRun`) or of a role (`RoleRun`).
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sauda.records.kinds import ArtifactError, Check, Kind, register_kind
from sauda.records.schemas.base import Interval, Record, Row, Rows, Table
from sauda.records.store import Artifact, sha256

Tokens = list[dict[str, str | bool]]  # each with its "text", and whether it counts "in_loss"


class AcceptanceCheck(Row):
    """What the trained model writes on holdout prompts.

    An adapter of a player that fails is not published; no run of a role is dropped for it.
    """

    # share of completions that hold a move; of a role, that name the price they were told or none
    valid: float
    # share of moves of the teacher's kind; of a role, of those read as the act it was told
    same_kind: float
    # mean distance from the teacher's price, % of the limit; null without prices
    price_off: float | None = None
    accepted: float = None  # arena: share that the rules accept


class CheckpointEvaluation(Row):
    """Games played by the adapter of one checkpoint: the mean grade is its reward."""

    # bazaar: mean regret of its moves in five fixed positions per game, by the planner's values
    regret: Interval | None = None
    # mean distance of its offers there from the best price from the third turn on, % of the limit
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
