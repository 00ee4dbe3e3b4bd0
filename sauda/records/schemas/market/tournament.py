"""The tournament of buyers and sellers, and the profile of each buyer."""

from typing import Literal

from pydantic import Field, FiniteFloat

from sauda.records.schemas.base import Interval, ModelSource, Record


class SeatIntervals(Record):
    """A figure of both seats."""

    buyer: Interval = Field(description="of the buyer")
    seller: Interval = Field(description="of the seller")


class SeatCounts(Record):
    """A number of games by the seat that is at fault."""

    buyer: int = Field(description="by the buyer")
    seller: int = Field(description="by the seller")


class PairCell(Record):
    """One buyer against one seller: a cell of the matrix."""

    buyer: str = Field(description="name of the buyer")
    seller: str = Field(description="name of the seller")
    n: int = Field(description="scenarios")
    share: SeatIntervals = Field(description="mean share of the ZOPA; no deal counts 0")
    utility: SeatIntervals = Field(description="the same with the buyer's cost of time")
    deal_rate: Interval = Field(description="share of scenarios that end in a deal")
    fairness: Interval | None = Field(
        description="1 less the distance of both shares, over deals with a ZOPA; null without one"
    )
    fair_deals: int = Field(description="deals with a ZOPA")
    pareto_distance: Interval = Field(
        description="distance of both utilities from a deal in the first round, with a ZOPA"
    )
    rounds: Interval = Field(description="rounds played")
    refused_rightly: int = Field(description="scenarios without a ZOPA that end without a deal")
    losses: SeatCounts = Field(description="deals below the seat's own limit")
    misstated: SeatCounts = Field(description="agreements stated at another price than agreed")
    invalid: SeatCounts = Field(description="games that the seat forfeits by an invalid move")
    ends: dict[str, int] = Field(description="games by the way they ended")


class PlayerRank(Record):
    """One player among those of its seat."""

    seat: Literal["buyer", "seller", "both"] = Field(
        description="the seat; `both` pools the comparisons of players that take both seats"
    )
    player: str = Field(description="name of the player")
    rank: int = Field(description="1 and the players whose whole interval lies above its own")
    strength: Interval = Field(description="Bradley-Terry log-odds, mean 0 over the players")
    share: Interval = Field(description="mean share of the ZOPA over all opponents")
    utility: Interval = Field(description="mean utility over all opponents")


class Exploited(Record):
    """What the best of the opponents takes from one player."""

    seat: Literal["buyer", "seller"] = Field(description="seat of the player")
    player: str = Field(description="name of the player")
    by: str = Field(description="the opponent that takes most, chosen on other scenarios")
    n: int = Field(description="scenarios of the figures")
    chosen_on: int = Field(description="other scenarios, on which the opponent was chosen")
    taken: Interval = Field(description="mean utility of that opponent against the player")
    usual: Interval = Field(description="the same of all opponents together")
    more: Interval = Field(description="the first less the second, paired by scenario")
    left: Interval = Field(description="mean utility that the player keeps against it")


class VarianceParts(Record):
    """How much of the variance of the matrix of the buyers' mean shares each part explains."""

    buyer: FiniteFloat = Field(description="who buys")
    seller: FiniteFloat = Field(description="who sells")
    interaction: FiniteFloat = Field(description="who meets whom")


class ScenarioColumns(Record):
    """The scenarios, one value each; all pairs play all of them."""

    seed: list[int] = Field(description="hold-out seed")
    list_price: list[int] = Field(description="list price, rupees")
    buyer: list[int] = Field(description="the buyer's limit, rupees")
    seller: list[int] = Field(description="the seller's limit, rupees")
    discount: list[FiniteFloat] = Field(
        description="factor on the buyer's gain for each round after the first"
    )


class SeatLists(Record):
    """Indices of scenarios by the seat that is at fault."""

    buyer: list[int] = Field(description="by the buyer")
    seller: list[int] = Field(description="by the seller")


class PairColumns(Record):
    """The games of one pair, one value a scenario."""

    end: str = Field(description="one letter of `ends` a scenario")
    price: list[int | None] = Field(description="price of the deal in rupees; null without one")
    rounds: list[int] = Field(description="rounds played; 0 after a forfeit")
    misstated: SeatLists = Field(description="scenarios whose agreement was mis-stated")


class RecordedReply(Record):
    """One reply of a language model in a game."""

    seat: Literal["buyer", "seller"] = Field(description="the model's seat")
    text: str = Field(description="the whole reply")


class Tournament(Record):
    """Every buyer against every seller: the matrix, ranks, and who exploits whom."""

    task: str = Field(description="name of the task")
    ends: dict[str, str] = Field(description="what the letters of the columns `end` mean")
    scenarios: ScenarioColumns = Field(description="what the pairs play for")
    cells: list[PairCell] = Field(description="one entry a pair")
    ranks: list[PlayerRank] = Field(description="one entry a player and seat, strongest first")
    exploitability: list[Exploited] = Field(description="one entry a player and seat")
    variance: VarianceParts = Field(description="what the matrix depends on")
    games: dict[str, dict[str, PairColumns]] = Field(description="columns by buyer and seller")
    replies: dict[str, dict[str, list[list[RecordedReply]]]] = Field(
        description="by buyer and seller, where a language model plays: its replies in the games at"
        " the 10th, 50th and 90th percentile of the buyer's utility"
    )
    models: dict[str, ModelSource] = Field(description="language models, by name")


class PhaseRegret(Record):
    """What a player's moves give away in one phase of a game."""

    phase: Literal["opening", "middle", "closing", "walking"] = Field(
        description="first move; neither; deal due or two moves left; walking away is best"
    )
    n: int = Field(description="positions")
    regret: Interval = Field(description="mean grade given away in a position of the phase")
    part: FiniteFloat = Field(description="part of the mean regret over all positions")


class CueUse(Record):
    """Grades against the same sellers with other signals, on the same seeds."""

    n: int = Field(description="seeds")
    candid: Interval = Field(description="sellers whose signals are true")
    neutral: Interval = Field(description="sellers without signals")
    misleading: Interval = Field(description="sellers whose signals are false")
    gained: Interval = Field(description="candid less neutral, paired by seed")
    misled: Interval = Field(description="misleading less neutral, paired by seed")


class BeliefScore(Record):
    """Ranges that are to hold the seller's limit with 80 % chance, as shares of the list price."""

    n: int = Field(description="positions")
    answered: int = Field(description="of those, positions with an answer that is a range")
    coverage: Interval = Field(description="share of ranges that hold the limit")
    width: Interval = Field(description="mean width")
    score: Interval = Field(description="mean interval score; lower is better")


class Compliance(Record):
    """What a player breaks: the rules, its own last word, its limit."""

    games: int = Field(description="games")
    moves: int = Field(description="moves in them")
    invalid: int = Field(description="moves that the rules refuse; each forfeits its game")
    broken: int = Field(description="moves above a price that the player called its last")
    losses: int = Field(description="bids and acceptances above its own limit")
    clean: Interval = Field(description="share of games without any of these")


class ProfileRow(Record):
    """One buyer."""

    player: str = Field(description="name of the player")
    n: int = Field(description="hold-out games about listings that no training game has")
    grade: Interval = Field(description="mean grade")
    of_oracle: Interval | None = Field(
        description="mean grade as a share of the informed value; null where that is 0"
    )
    phases: list[PhaseRegret] = Field(description="regret on fixed positions, by phase")
    cues: CueUse = Field(description="use of the seller's signals")
    belief: BeliefScore | None = Field(description="null for a script without a belief")
    compliance: Compliance = Field(description="faults in its games")


class Profiles(Record):
    """Why each buyer wins or loses: surplus, regret by phase, cues, belief, compliance."""

    task: str = Field(description="name of the task")
    judge: str = Field(description="the policy by whose values moves are judged")
    informed: Interval = Field(description="mean value of the best response to the known seller")
    prior: BeliefScore = Field(description="a player that knows only how limits are drawn")
    rows: list[ProfileRow] = Field(description="one entry a player")
    models: dict[str, ModelSource] = Field(description="language models, by name")
