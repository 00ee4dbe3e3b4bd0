"""Training of roles: a run's log, its validation and hold-out losses."""

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Record
from sauda.records.schemas.training import Hardware, RunAdapter, RunBase, SampleToken


class RoleStep(Record):
    """One optimizer step."""

    step: int = Field(description="optimizer step, from 1")
    num_tokens: int = Field(description="tokens read so far")
    seconds: FiniteFloat = Field(description="seconds so far, validation included")
    step_time: FiniteFloat = Field(description="seconds of the step, without validation")
    loss: FiniteFloat = Field(description="mean loss of the step's learnt tokens, nats")
    loss_average: FiniteFloat = Field(description="debiased running mean of the loss")
    learning_rate: FiniteFloat = Field(description="learning rate of the highest layer")
    learning_rate_lowest: FiniteFloat = Field(description="learning rate of the lowest layer")
    grad_norm: FiniteFloat = Field(description="gradient norm before clipping")
    mean_token_accuracy: FiniteFloat = Field(description="share of tokens predicted")
    entropy: FiniteFloat = Field(description="mean token entropy, nats")
    memory: FiniteFloat = Field(
        description="GiB: the peak of the step on a GPU, the process after it on a CPU"
    )


class Taught(Record):
    """What a role was trained on."""

    dialogues: int = Field(description="training dialogues, each from one side")
    roles: dict[str, int] = Field(description="of these, by side")
    acts: dict[str, int] = Field(description="learnt turns by act")
    tokens: dict[str, int] = Field(description="tokens in all and in the loss")
    sha256: str = Field(description="digest of the chats")


class Validation(Record):
    """The loss of validation dialogues at one checkpoint."""

    step: int = Field(description="optimizer step; 0 is the base model")
    dialogues: int = Field(description="dialogues, one side of each")
    tokens: int = Field(description="tokens in the loss")
    loss: FiniteFloat = Field(description="mean loss over all tokens, nats")
    perplexity: FiniteFloat = Field(description="exponential of the loss")


class DialogueLoss(Record):
    """The loss of one hold-out dialogue from one side."""

    dialogue: str = Field(description="its id")
    role: str = Field(description="whose turns are in the loss")
    off_role: bool = Field(description="whether the run was not trained for this role")
    tokens: int = Field(description="tokens in the loss")
    nats: FiniteFloat = Field(description="sum of their losses")


class ActRead(Record):
    """An act of a dialogue."""

    intent: str = Field(description="what the words do")
    price: FiniteFloat | None = Field(description="amount put on the table, or null")


class RoleReply(Record):
    """What the model said at one hold-out turn."""

    dialogue: str = Field(description="id of the dialogue")
    turn: int = Field(description="turn in the dialogue, from 0")
    role: str = Field(description="the role it was asked to play")
    off_role: bool = Field(description="whether it was not trained for that role")
    intention: str = Field(description="what it was told to do, in words")
    text: str = Field(description="its reply")
    meant: ActRead = Field(description="the act it was told to say")
    read: ActRead | None = Field(description="the act that is read from the reply; null for none")
    tokens: int = Field(description="tokens of the reply")
    fault: str = Field(description="what is broken about the text; empty for nothing")


class RoleCheck(Record):
    """The acceptance check, over the replies in the run's own roles."""

    n: int = Field(description="replies")
    valid: FiniteFloat = Field(
        description="share that names the price it was told, or none if none"
    )
    same_kind: FiniteFloat = Field(description="share that is read as the act it was told")
    tokens: FiniteFloat = Field(description="mean tokens per reply")
    faults: list[str] = Field(description="what is wrong with replies, in words")
    passed: bool = Field(description="whether every demand is met; no run is dropped for it")


class RoleRun(Record):
    """Training of a role: its data, log, validation, and losses of hold-out dialogues."""

    stage: str = Field(description="roles")
    role: str = Field(description="buyer, seller or generalist")
    schedule: bool = Field(
        description="true only with cycles and rates by layer; false for controls"
    )
    base: RunBase = Field(description="the base model")
    taught: Taught = Field(description="its data")
    log: list[RoleStep] = Field(description="one entry per optimizer step")
    resumed: list[int] = Field(description="steps from which the run was resumed")
    validations: list[Validation] = Field(
        description="one entry per checkpoint, and the base model"
    )
    best_step: int = Field(description="the checkpoint with the lowest validation loss, kept")
    holdout: list[DialogueLoss] = Field(description="losses of the kept checkpoint")
    acceptance: RoleCheck = Field(description="the acceptance check")
    replies: list[RoleReply] = Field(description="what it said at hold-out turns")
    hardware: Hardware = Field(description="the machine")
    seconds: FiniteFloat = Field(description="seconds of training, validation included")
    num_tokens: int = Field(description="tokens read in training")
    sample: list[SampleToken] = Field(description="one training dialogue, token by token")
    adapter: RunAdapter | None = Field(
        None, description="the adapter that the run wrote; null for a control"
    )
