"""The tournament of buyers and sellers."""

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
    models: dict[str, ModelSource] = Field(description="language models, by name")
