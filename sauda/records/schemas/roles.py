"""Training of roles: a run's log, its validation and hold-out losses."""

from sauda.records.schemas.base import Record
from sauda.records.schemas.training import Hardware, RunAdapter, RunBase, SampleToken


class RoleStep(Record):
    """One optimizer step."""

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


class RoleCheck(Record):
    """The acceptance check, over the replies in the run's own roles."""

    n: int  # replies
    valid: float  # share that names the price it was told, or none if none
    same_kind: float  # share that is read as the act it was told
    tokens: float  # mean tokens per reply
    faults: list[str]  # what is wrong with replies, in words
    passed: bool  # whether every demand is met; no run is dropped for it


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
    acceptance: RoleCheck  # the acceptance check
    replies: list[RoleReply]  # what it said at hold-out turns
    hardware: Hardware  # the machine
    seconds: float  # seconds of training, validation included
    num_tokens: int  # tokens read in training
    sample: list[SampleToken]  # one training dialogue, token by token
    adapter: RunAdapter | None = None  # the adapter that the run wrote; null for a control
