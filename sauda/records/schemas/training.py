"""Runs of training of a player, a role and the selector; what a role is worth; its dialogues."""

from sauda.records.schemas.base import Interval, ModelSource, Number, Record, Row, Rows, Table

ROLES_FILE = "roles.json"
CAUSES = {"cycles": "one-cycle", "layers": "one-rate"}  # of the schedule, with their controls
ROLE_RUNS = (
    *(f"roles-{r}{end}" for r in ("buyer", "seller", "generalist") for end in ("", "-control")),
    *(f"roles-generalist-{control}" for control in CAUSES.values()),
)
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


class RoleComparison(Record):
    """What the schedule, a specialist and its own role are worth, in loss on hold-out dialogues."""

    runs: dict[str, str]  # digest of the hold-out losses of each run, by name
    contrasts: Rows  # one per question, run and role


class SaidGames(Row):
    """The games of one model in one seat."""

    games: Rows  # one per scenario


class RolePlay(Record):
    """Models of roles in games: a script decides each move, the model says it."""

    rows: Rows  # one per model and seat
    # How much more often one model says the decided price than another in the same seat: specialist
    # less base, specialist less generalist, off role less own role.
    contrasts: Rows
    games: Table[SaidGames]  # every game with the model's words
    models: dict[str, ModelSource]  # weights and sampling, by model name


class SelectorEpisode(Record):
    """One training episode of the selector."""

    episode: int  # episode, from 0
    task: str
    seed: int
    policy: str  # the arm that was drawn
    reward: float  # its return, as a share of the stake
    expert: float  # return of rule_based_expert at the same seed
    baseline: float  # moving average of returns before the episode
    before: list[float]  # probability of each arm before the update
    after: list[float]  # probability of each arm after the update


class SelectorOutcome(Record):
    """The selector after training on one task, on holdout seeds."""

    task: str
    n: int  # holdout seeds
    policy: str  # the likeliest arm
    probabilities: list[float]  # final probability of each arm
    arms: dict[str, Interval]  # mean return, by arm
    less_expert: Interval  # the likeliest arm less the expert, paired by seed


class Selector(Record):
    """REINFORCE over scripted labs, 180 episodes: every probability and reward of the run."""

    arms: list[str]  # the scripted policies to choose from
    curve: list[SelectorEpisode]  # one entry per training episode
    final: list[SelectorOutcome]  # one entry per task


class AgentInfo(Record):
    """The two agents of a dialogue; each list has one entry per agent."""

    Role: list[str]  # buyer or seller
    Target: list[Number | None]  # private target price, or null
    Bottomline: list[str | None]  # private limit as digits, or None


class DialogueActs(Record):
    """The annotated acts; each list has one entry per event."""

    intent: list[str | None]  # name of the act; empty where not annotated
    price: list[Number | None]  # its price; -1 without one


class Posting(Record):
    """The item for sale; each list has one entry per agent."""

    Category: list[str]  # category of the item
    Title: list[str]  # title of the posting
    Description: list[str]  # text of the posting
    Price: list[Number]  # list price
    Images: list[str | None]  # names of pictures


class DialogueRow(Record):
    """One dialogue; an event without words is a pressed button."""

    agent_info: AgentInfo  # roles and private values
    agent_turn: list[int]  # index of the speaker, one per event
    utterance: list[str]  # words, one per event; empty for a button
    dialogue_acts: DialogueActs  # annotated acts
    items: Posting  # what is for sale


class Dialogues(Record):
    """Scripted buyers and the sellers of version 1 of the market in words, for training roles."""

    currency: str  # currency of all prices
    rows: list[DialogueRow]  # the dialogues
