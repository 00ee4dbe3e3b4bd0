"""The artifact of a training run of a player: its fields, its files, and what `verify` checks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, FiniteFloat

from sauda.experiments.roles import recompute_log
from sauda.records.kinds import Check, Kind, register_kind
from sauda.records.schemas.base import Interval, Record
from sauda.records.schemas.training import Hardware, RunAdapter, RunBase, SampleToken
from sauda.records.store import Artifact

StepMetric = FiniteFloat | None


class RunStep(Record):
    """One optimizer step; which metrics there are depends on the stage."""

    step: int = Field(description="optimizer step, from 1")
    num_tokens: int = Field(description="tokens seen so far")
    seconds: FiniteFloat = Field(description="seconds of training so far")
    loss: FiniteFloat = Field(description="training loss")
    learning_rate: FiniteFloat = Field(description="learning rate of the step")
    grad_norm: FiniteFloat = Field(description="gradient norm before clipping")
    mean_token_accuracy: StepMetric = Field(None, description="SFT, DPO: share of tokens predicted")
    entropy: StepMetric = Field(None, description="mean token entropy, nats")
    reward: StepMetric = Field(None, description="GRPO: mean grade of the step's games")
    reward_min: StepMetric = Field(None, description="GRPO: lowest grade")
    reward_max: StepMetric = Field(None, description="GRPO: highest grade")
    reward_group_std: StepMetric = Field(
        None, description="GRPO: mean standard deviation within groups"
    )
    frac_reward_zero_std: StepMetric = Field(
        None, description="GRPO: share of groups of equal grades"
    )
    valid_rate: StepMetric = Field(None, description="GRPO: share of replies that hold a move")
    agreement_rate: StepMetric = Field(None, description="GRPO: share of games that end in a deal")
    kl: StepMetric = Field(None, description="GRPO: KL from the initial adapter, nats per token")
    completions_mean_length: StepMetric = Field(
        None, alias="completions/mean_length", description="GRPO: trained tokens per game"
    )
    step_time: StepMetric = Field(None, description="GRPO: seconds of the step")
    rewards_margins: StepMetric = Field(
        None, alias="rewards/margins", description="DPO: mean margin of the implicit rewards"
    )
    rewards_accuracies: StepMetric = Field(
        None, alias="rewards/accuracies", description="DPO: share of pairs ranked as labelled"
    )
    rewards_chosen: StepMetric = Field(
        None, alias="rewards/chosen", description="DPO: implicit reward of chosen replies"
    )
    rewards_rejected: StepMetric = Field(
        None, alias="rewards/rejected", description="DPO: implicit reward of rejected replies"
    )


class CheckpointEvaluation(Record):
    """Games played by the adapter of one checkpoint."""

    step: int = Field(description="optimizer step of the checkpoint")
    n: int = Field(description="games")
    reward: FiniteFloat = Field(description="mean grade")
    low: FiniteFloat = Field(description="lower end of its 95 % interval")
    high: FiniteFloat = Field(description="upper end of its 95 % interval")
    regret: Interval | None = Field(
        None,
        description="bazaar: mean regret of its moves in five fixed positions per game, by the "
        "planner's values",
    )
    price_error: StepMetric = Field(
        None,
        description="mean distance of its offers there from the best price from the third turn "
        "on, % of the limit",
    )


class InitAdapter(Record):
    """The adapter that training continued from."""

    name: str = Field(description="name of the adapter")
    sha256: str = Field(description="digest of its weights file")


class SFTData(Record):
    """What SFT was trained on."""

    rows: int = Field(description="conversations")
    completions: int = Field(description="completions in the loss")
    moves: dict[str, int] = Field(description="completions by kind of move")
    kind: dict[str, int] = Field(description="completions by situation")
    task: dict[str, int] = Field(description="conversations by task")
    tokens: dict[str, int] = Field(description="tokens in all and in the loss")
    sha256: str = Field(description="digest of the rows")


class GRPOGames(Record):
    """The games that GRPO was trained on."""

    task: dict[str, int] = Field(description="groups by task")
    num_generations: int = Field(description="games of one instance")
    first_seed: int = Field(description="first seed played")
    last_seed: int = Field(description="last seed played")


class DPOPairs(Record):
    """The pairs of replies that DPO was trained on."""

    n: int = Field(description="pairs")
    task: dict[str, int] = Field(description="pairs by task")
    moves: dict[str, int] = Field(description="chosen replies by kind of move")
    gap: FiniteFloat = Field(description="mean difference of the two grades")
    judge: dict[str, FiniteFloat] | None = Field(description="an LLM judge's figures, or null")
    sha256: str = Field(description="digest of the pairs")
    seconds: FiniteFloat = Field(description="seconds that the search for pairs took")


class DistillRound(Record):
    """The deals that one round of distillation played and trained on."""

    teacher_turns: FiniteFloat = Field(description="share of the turns that were the teacher's")
    rows: int = Field(description="deals")
    completions: int = Field(description="labelled states")
    own: int = Field(description="turns that were the learner's")
    task: dict[str, int] = Field(description="deals by task")
    sha256: str = Field(description="digest of the deals with their labels")


class AcceptanceCheck(Record):
    """What the trained model writes on holdout prompts; an adapter that fails is not published."""

    n: int = Field(description="prompts")
    valid: FiniteFloat = Field(description="share of completions that hold a move")
    same_kind: FiniteFloat = Field(description="share of moves of the teacher's kind")
    price_off: FiniteFloat | None = Field(
        description="mean distance from the teacher's price, % of the limit; null without prices"
    )
    tokens: FiniteFloat = Field(description="mean tokens per completion")
    faults: list[str] = Field(description="what is wrong with completions, in words")
    completions: list[str] = Field(description="the first completions")
    passed: bool = Field(description="whether every demand is met")
    accepted: FiniteFloat = Field(None, description="arena: share that the rules accept")


class TrainingRun(Record):
    """One training stage: its data, log, adapter and acceptance check."""

    stage: str = Field(description="sft, distill, grpo or dpo")
    base: RunBase = Field(description="the base model")
    log: list[RunStep] = Field(description="one entry per optimizer step")
    resumed: list[int] = Field(description="steps from which the run was resumed")
    acceptance: AcceptanceCheck = Field(description="the acceptance check")
    hardware: Hardware = Field(description="the machine")
    seconds: FiniteFloat = Field(description="seconds of training")
    num_tokens: int = Field(description="tokens seen")
    rows: SFTData = Field(None, description="SFT: its data")
    rounds: list[DistillRound] = Field(None, description="distillation: its rounds")
    games: GRPOGames = Field(None, description="GRPO: its games")
    pairs: DPOPairs = Field(None, description="DPO: its pairs")
    sample: list[SampleToken] = Field(description="one training sequence, token by token")
    init_adapter: InitAdapter | None = Field(
        None, description="adapter that training continued from; null for a new one"
    )
    checkpoint_evaluations: list[CheckpointEvaluation] = Field(
        None, description="games played by the adapter of each checkpoint"
    )
    adapter: RunAdapter | None = Field(
        None, description="the adapter that the run wrote; null where all weights learnt"
    )


def recompute(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """Training is not repeated; the adapter must be the run's own, and its log complete."""
    return recompute_log(artifact.data.as_json(), root)


CHECK = Check(
    "checksum only", "every step of the log; the adapter's digest computed from its file", recompute
)
register_kind(Kind("training_run/1", TrainingRun, CHECK))
