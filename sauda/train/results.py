"""The artifact of a training run of a player: its fields, its files, and what `verify` checks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from sauda.experiments.roles import recompute_log
from sauda.records.kinds import Check, Kind, register_kind
from sauda.records.schemas.base import Interval, Record
from sauda.records.schemas.training import Hardware, RunAdapter, RunBase, SampleToken
from sauda.records.store import Artifact

StepMetric = float | None


class RunStep(Record):
    """One optimizer step; which metrics there are depends on the stage."""

    step: int  # optimizer step, from 1
    num_tokens: int  # tokens seen so far
    seconds: float  # seconds of training so far
    loss: float  # training loss
    learning_rate: float  # learning rate of the step
    grad_norm: float  # gradient norm before clipping
    mean_token_accuracy: StepMetric = None  # SFT, DPO: share of tokens predicted
    entropy: StepMetric = None  # mean token entropy, nats
    reward: StepMetric = None  # GRPO: mean grade of the step's games
    reward_min: StepMetric = None  # GRPO: lowest grade
    reward_max: StepMetric = None  # GRPO: highest grade
    reward_group_std: StepMetric = None  # GRPO: mean standard deviation within groups
    frac_reward_zero_std: StepMetric = None  # GRPO: share of groups of equal grades
    valid_rate: StepMetric = None  # GRPO: share of replies that hold a move
    agreement_rate: StepMetric = None  # GRPO: share of games that end in a deal
    kl: StepMetric = None  # GRPO: KL from the initial adapter, nats per token
    # GRPO: trained tokens per game
    completions_mean_length: StepMetric = Field(None, alias="completions/mean_length")
    step_time: StepMetric = None  # GRPO: seconds of the step
    # DPO: mean margin of the implicit rewards
    rewards_margins: StepMetric = Field(None, alias="rewards/margins")
    # DPO: share of pairs ranked as labelled
    rewards_accuracies: StepMetric = Field(None, alias="rewards/accuracies")
    # DPO: implicit reward of chosen replies
    rewards_chosen: StepMetric = Field(None, alias="rewards/chosen")
    # DPO: implicit reward of rejected replies
    rewards_rejected: StepMetric = Field(None, alias="rewards/rejected")


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
    price_error: StepMetric = None


class InitAdapter(Record):
    """The adapter that training continued from."""

    name: str  # name of the adapter
    sha256: str  # digest of its weights file


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


class AcceptanceCheck(Record):
    """What the trained model writes on holdout prompts; an adapter that fails is not published."""

    n: int  # prompts
    valid: float  # share of completions that hold a move
    same_kind: float  # share of moves of the teacher's kind
    # mean distance from the teacher's price, % of the limit; null without prices
    price_off: float | None
    tokens: float  # mean tokens per completion
    faults: list[str]  # what is wrong with completions, in words
    completions: list[str]  # the first completions
    passed: bool  # whether every demand is met
    accepted: float = None  # arena: share that the rules accept


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
    sample: list[SampleToken]  # one training sequence, token by token
    # adapter that training continued from; null for a new one
    init_adapter: InitAdapter | None = None
    # games played by the adapter of each checkpoint
    checkpoint_evaluations: list[CheckpointEvaluation] = None
    # the adapter that the run wrote; null where all weights learnt
    adapter: RunAdapter | None = None


def recompute(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Training is not repeated; the adapter must be the run's own, and its log complete."""
    return recompute_log(artifact.data.as_json(), root)


CHECK = Check(
    "checksum only", "every step of the log; the adapter's digest computed from its file", recompute
)
register_kind(Kind("training_run/1", TrainingRun, CHECK))
