"""A run of training: its data, log, checkpoints and acceptance check, and what `verify` checks.

A run is of a player (`TrainingRun`) or of a role (`RoleRun`).
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ConfigDict

from sauda.records.kinds import ArtifactError, Check, Kind, register_kind
from sauda.records.schemas.base import Interval, Record
from sauda.records.store import Artifact, sha256

Tokens = list[dict[str, str | bool]]  # each with its "text", and whether it counts "in_loss"


class RunBase(Record):
    """The base model that was trained."""

    name: str  # name of the model
    origin: str  # where its weights come from, with their version
    sha256: str  # digest of its weights
    precision: str  # number format of its weights


class InitAdapter(Record):
    """The adapter that training continued from."""

    name: str  # folder under adapters/
    sha256: str  # digest of its weights file


class RunAdapter(InitAdapter):
    """The adapter that the run wrote."""

    bytes: int  # size of its weights file


class Hardware(Record):
    """The machine of the run."""

    device: str  # GPU or CPU
    cores: int  # CPU cores
    threads: int  # threads used by PyTorch
    packages: dict[str, str]  # versions of the training libraries


class RunStep(Record):
    """One optimizer step; its other metrics depend on the stage, under the names of TRL's logs.

    GRPO's rewards are grades of the step's games, DPO's are implicit. Entropy and KL are in nats.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None]

    step: int  # optimizer step, from 1
    num_tokens: int  # tokens seen so far
    seconds: float  # seconds of training so far
    loss: float  # training loss
    learning_rate: float  # learning rate of the step
    grad_norm: float  # gradient norm before clipping


class AcceptanceCheck(Record):
    """What the trained model writes on holdout prompts.

    An adapter of a player that fails is not published; no run of a role is dropped for it.
    """

    n: int  # prompts
    # share of completions that hold a move; of a role, that name the price they were told or none
    valid: float
    # share of moves of the teacher's kind; of a role, of those read as the act it was told
    same_kind: float
    # mean distance from the teacher's price, % of the limit; null without prices
    price_off: float | None = None
    tokens: float  # mean tokens per completion
    faults: list[str]  # what is wrong with completions, in words
    completions: list[str] = None  # the first completions
    passed: bool  # whether every demand is met
    accepted: float = None  # arena: share that the rules accept


class CheckpointEvaluation(Record):
    """Games played by the adapter of one checkpoint."""

    step: int  # optimizer step of the checkpoint
    n: int  # games
    reward: float  # mean grade
    low: float  # lower end of its 95 % interval
    high: float  # upper end of its 95 % interval
    # bazaar: mean regret of its moves in five fixed positions per game, by the planner's values
    regret: Interval | None = None
    # mean distance of its offers there from the best price from the third turn on, % of the limit
    price_error: float | None = None


class SFTData(Record):
    """What SFT was trained on."""

    rows: int  # conversations
    completions: int  # completions in the loss
    moves: dict[str, int]  # completions by kind of move
    kind: dict[str, int]  # completions by situation
    task: dict[str, int]  # conversations by task
    tokens: dict[str, int]  # tokens in all and in the loss
    sha256: str  # digest of the rows


class GRPOGames(Record):
    """The games that GRPO was trained on."""

    task: dict[str, int]  # groups by task
    num_generations: int  # games of one instance
    first_seed: int  # first seed played
    last_seed: int  # last seed played


class DPOPairs(Record):
    """The pairs of replies that DPO was trained on."""

    n: int  # pairs
    task: dict[str, int]  # pairs by task
    moves: dict[str, int]  # chosen replies by kind of move
    gap: float  # mean difference of the two grades
    judge: dict[str, float] | None  # an LLM judge's figures, or null
    sha256: str  # digest of the pairs
    seconds: float  # seconds that the search for pairs took


class DistillRound(Record):
    """The deals that one round of distillation played and trained on."""

    teacher_turns: float  # share of the turns that were the teacher's
    rows: int  # deals
    completions: int  # labelled states
    own: int  # turns that were the learner's
    task: dict[str, int]  # deals by task
    sha256: str  # digest of the deals with their labels


class TrainingRun(Record):
    """One training stage: its data, log, adapter and acceptance check."""

    stage: str  # sft, distill, grpo or dpo
    base: RunBase  # the base model
    log: list[RunStep]  # one entry per optimizer step
    resumed: list[int]  # steps from which the run was resumed
    acceptance: AcceptanceCheck  # the acceptance check
    hardware: Hardware  # the machine
    seconds: float  # seconds of training
    num_tokens: int  # tokens seen
    rows: SFTData = None  # SFT: its data
    rounds: list[DistillRound] = None  # distillation: its rounds
    games: GRPOGames = None  # GRPO: its games
    pairs: DPOPairs = None  # DPO: its pairs
    sample: Tokens  # one training sequence, token by token
    # adapter that training continued from; null for a new one
    init_adapter: InitAdapter | None = None
    # games played by the adapter of each checkpoint
    checkpoint_evaluations: list[CheckpointEvaluation] = None
    # the adapter that the run wrote; null where all weights learnt
    adapter: RunAdapter | None = None


class RoleStep(Record):
    """One optimizer step of a role."""

    step: int  # optimizer step, from 1
    num_tokens: int  # tokens read so far
    seconds: float  # seconds so far, validation included
    step_time: float  # seconds of the step, without validation
    loss: float  # mean loss of the step's learnt tokens, nats
    loss_average: float  # debiased running mean of the loss
    learning_rate: float  # learning rate of the highest layer
    learning_rate_lowest: float  # learning rate of the lowest layer
    grad_norm: float  # gradient norm before clipping
    mean_token_accuracy: float  # share of tokens predicted
    entropy: float  # mean token entropy, nats
    memory: float  # GiB: the peak of the step on a GPU, the process after it on a CPU


class Taught(Record):
    """What a role was trained on."""

    dialogues: int  # training dialogues, each from one side
    roles: dict[str, int]  # of these, by side
    acts: dict[str, int]  # learnt turns by act
    tokens: dict[str, int]  # tokens in all and in the loss
    sha256: str  # digest of the chats


class Validation(Record):
    """The loss of validation dialogues at one checkpoint."""

    step: int  # optimizer step; 0 is the base model
    dialogues: int  # dialogues, one side of each
    tokens: int  # tokens in the loss
    loss: float  # mean loss over all tokens, nats
    perplexity: float  # exponential of the loss


class DialogueLoss(Record):
    """The loss of one hold-out dialogue from one side."""

    dialogue: str  # its id
    role: str  # whose turns are in the loss
    off_role: bool  # whether the run was not trained for this role
    tokens: int  # tokens in the loss
    nats: float  # sum of their losses


class ActRead(Record):
    """An act of a dialogue."""

    intent: str  # what the words do
    price: float | None  # amount put on the table, or null


class RoleReply(Record):
    """What the model said at one hold-out turn."""

    dialogue: str  # id of the dialogue
    turn: int  # turn in the dialogue, from 0
    role: str  # the role it was asked to play
    off_role: bool  # whether it was not trained for that role
    intention: str  # what it was told to do, in words
    text: str  # its reply
    meant: ActRead  # the act it was told to say
    read: ActRead | None  # the act that is read from the reply; null for none
    tokens: int  # tokens of the reply
    fault: str  # what is broken about the text; empty for nothing


class RoleRun(Record):
    """Training of a role: its data, log, validation, and losses of hold-out dialogues."""

    stage: str  # roles
    role: str  # buyer, seller or generalist
    schedule: bool  # true only with cycles and rates by layer; false for controls
    base: RunBase  # the base model
    taught: Taught  # its data
    log: list[RoleStep]  # one entry per optimizer step
    resumed: list[int]  # steps from which the run was resumed
    validations: list[Validation]  # one entry per checkpoint, and the base model
    best_step: int  # the checkpoint with the lowest validation loss, kept
    holdout: list[DialogueLoss]  # losses of the kept checkpoint
    acceptance: AcceptanceCheck  # the acceptance check
    replies: list[RoleReply]  # what it said at hold-out turns
    hardware: Hardware  # the machine
    seconds: float  # seconds of training, validation included
    num_tokens: int  # tokens read in training
    sample: Tokens  # one training dialogue, token by token
    adapter: RunAdapter | None = None  # the adapter that the run wrote; null for a control


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
