"""The pilot: the log of its training with its weights; the rule that is tuned by search."""

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, Record
from sauda.records.schemas.training import Hardware


class PilotEvaluation(Interval):
    """Mean grade on games that are the same at every checkpoint and none of the hold-out."""

    task: str = Field(description="name of the task")
    error: FiniteFloat = Field(description="standard deviation of the price error, % of the limit")
    n: int = Field(description="games")


class PilotRound(Record):
    """One round of training: a batch of games of each task, and an update from each."""

    step: int = Field(description="round, from 1")
    seconds: FiniteFloat = Field(description="CPU seconds of the round")
    error: FiniteFloat = Field(description="price error of the games, % of the limit")
    learning_rate: FiniteFloat = Field(description="learning rate of the pilot")
    reward: dict[str, FiniteFloat] = Field(description="mean grade of the games, by task")
    policy_loss: FiniteFloat = Field(description="clipped surrogate loss")
    approx_kl: FiniteFloat = Field(description="KL from the policy that played, nats per move")
    clip_fraction: FiniteFloat = Field(description="share of moves whose ratio was clipped")
    value_loss: FiniteFloat = Field(description="squared error of the critics")
    evaluations: list[PilotEvaluation] = Field(
        None, description="grades of the checkpoint, where one was kept"
    )


class PilotNetwork(Record):
    """The layers of one network, first to last."""

    weights: list[list[list[FiniteFloat]]] = Field(description="a matrix of outputs x inputs each")
    biases: list[list[FiniteFloat]] = Field(description="one number an output")


class PilotNetworks(Record):
    """The networks of the pilot."""

    deal: PilotNetwork = Field(description="plays a deal without a deadline")
    deadline: PilotNetwork = Field(description="plays a deal with a deadline")


class PilotRun(Record):
    """The pilot's training by PPO: every round, and the weights that came out."""

    log: list[PilotRound] = Field(description="one entry per round")
    resumed: list[int] = Field(description="rounds from which the run was resumed")
    final: list[PilotEvaluation] = Field(description="grades of the weights below")
    parameters: int = Field(description="numbers in each network")
    seconds: FiniteFloat = Field(description="CPU seconds of training")
    hardware: Hardware = Field(description="the machine")
    features: list[str] = Field(description="inputs of the networks, in order")
    networks: PilotNetworks = Field(description="the weights")
    sha256: str = Field(description="digest of the weights")


class SearchRound(Record):
    """One generation of the search for the tuned rule."""

    step: int = Field(description="generation, from 1")
    mean: FiniteFloat = Field(description="mean grade of all candidates on the generation's games")
    elite: FiniteFloat = Field(description="mean grade of the best, which the next one follows")


class TunedRule(Record):
    """A linear rule for the open market, its numbers found by the cross-entropy method."""

    price: dict[str, FiniteFloat] = Field(
        description="what the price is linear in, limits of the buyer, by feature"
    )
    walk: dict[str, FiniteFloat] = Field(
        description="what leaving is linear in, by feature; it leaves where the sum is above 0"
    )
    log: list[SearchRound] = Field(description="one entry per generation")
    seconds: FiniteFloat = Field(description="CPU seconds of the search")
