"""Training of roles: a run's log, its validation and hold-out losses, and how runs compare."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, ModelSource, Record
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
    dialogues: int = Field(description="dialogues, a side of one each")
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
    tokens: FiniteFloat = Field(description="mean tokens a reply")
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
    log: list[RoleStep] = Field(description="one entry an optimizer step")
    resumed: list[int] = Field(description="steps from which the run was resumed")
    validations: list[Validation] = Field(description="one entry a checkpoint, and the base model")
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


class RoleContrast(Record):
    """Two runs on the same hold-out dialogues, paired by dialogue."""

    question: str = Field(description="schedule, cycles, layers, specialist or off_role")
    run: str = Field(description="name of the run")
    baseline: str = Field(description="the run that it is compared with")
    role: str = Field(description="whose turns are judged")
    n: int = Field(description="dialogues")
    tokens: int = Field(description="tokens in the loss")
    loss: FiniteFloat = Field(description="mean loss of the run over dialogues, nats a token")
    baseline_loss: FiniteFloat = Field(description="the same of the baseline")
    difference: Interval = Field(description="loss less that of the baseline; below 0 is better")


class RoleComparison(Record):
    """What the schedule, a specialist and its own role are worth, in loss on hold-out dialogues."""

    runs: dict[str, str] = Field(description="digest of the hold-out losses of each run, by name")
    contrasts: list[RoleContrast] = Field(description="one row a question, run and role")


class SaidGame(Record):
    """One game in which a model said a script's moves."""

    seed: int = Field(description="seed of the scenario")
    offers: int = Field(description="offers that the script decided")
    said: int = Field(description="of these, offers whose price was read from the words")
    unsaid: int = Field(description="offers whose words held no price: 1 forfeits the game")
    share: FiniteFloat = Field(description="the seat's share of the ZOPA; 0 without a deal")
    replies: list[str] = Field(description="the model's words, one text a move")


class SaidGames(Record):
    """The games of one model in one seat."""

    model: str = Field(description="name of the model")
    seat: Literal["buyer", "seller"] = Field(description="the seat for which it found the words")
    games: list[SaidGame] = Field(description="one row a scenario")


class SaidRow(Record):
    """How well a model says a script's moves in a seat, and what that costs the script."""

    model: str = Field(description="name of the model")
    seat: Literal["buyer", "seller"] = Field(description="the seat for which it found the words")
    off_role: bool = Field(description="whether it was trained for the other seat alone")
    n: int = Field(description="games")
    offers: int = Field(description="offers that the script decided")
    said: Interval = Field(description="share of offers said at their price; games resampled")
    wrong: int = Field(description="offers said at another price, which was then played")
    unsaid: int = Field(description="offers without a price in their words: the game is forfeited")
    share: Interval = Field(description="mean share of the ZOPA")
    script_share: Interval = Field(description="the same where the script says its own moves")
    difference: Interval = Field(description="mean share less the script's, paired by scenario")
    losses: int = Field(description="games with a deal below the seat's own limit")


class SaidContrast(Record):
    """How much more often one model says the decided price than another, in one seat."""

    question: Literal["base", "specialist", "off_role"] = Field(
        description="specialist less base, specialist less generalist, or off role less own role"
    )
    model: str = Field(description="name of the model")
    beside: str = Field(description="name of the model that it is compared with")
    seat: Literal["buyer", "seller"] = Field(description="the seat of both")
    n: int = Field(description="scenarios")
    difference: Interval = Field(description="difference of shares said, paired by scenario")


class RolePlay(Record):
    """Models of roles in games: a script decides each move, the model says it."""

    rows: list[SaidRow] = Field(description="one row a model and seat")
    contrasts: list[SaidContrast] = Field(description="differences between models")
    games: list[SaidGames] = Field(description="every game with the model's words")
    models: dict[str, ModelSource] = Field(description="weights and sampling, by model name")
