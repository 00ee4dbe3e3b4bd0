"""What goes back over the wire: the observation of the learner's seat, its reward, the state.

Fields are listed one by one, so that nothing that a seat may not see can slip in. `env/` says what
each of them means; prices are rupees in the bazaar and credits in the arena.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from openenv.core.env_server import Observation, State
from openenv.core.rubrics import Rubric, RubricDict
from pydantic import Field
from typing_extensions import TypedDict

from env import Deal, Item, Tells, arena
from env import Observation as BazaarObservation
from sauda.games import bazaar_words, game_of
from sauda.serve.game import GRADE, ServedGame

MESSAGES = 20  # of the arena's board, the last ones
# What a view takes from the table or the market as it stands there.
BAZAAR_PLAIN = ("deals", "round", "rounds", "decimals", "seller_type", "outbid", "standing")
ARENA_PLAIN = ("round_index", "max_rounds", "coalitions_allowed", "market_pressure", "announced")


def typed_dict_of(kind: type) -> Any:
    """The type of a JSON object with the fields of a named tuple or a dataclass."""
    return TypedDict(kind.__name__, get_type_hints(kind))


BlockRecord, CoalitionRecord, JobRecord, LabRecord, MessageRecord = map(
    typed_dict_of, (arena.Block, arena.Coalition, arena.Job, arena.Lab, arena.Message)
)
OfferRecord, ResultRecord, ShockRecord = map(
    typed_dict_of, (arena.Offer, arena.Result, arena.Shock)
)
DealRecord, ItemRecord, TellsRecord = map(typed_dict_of, (Deal, Item, Tells))


class MoveRecord(TypedDict):
    """A public move: who, what, the price of an offer, the words, a seller's manner."""

    agent: str
    action: str
    price: float | None
    extras: list[str]  # of a bid, what its price includes
    message: str
    tells: TellsRecord | None


class RivalRecord(TypedDict):
    """Another buyer: whether it still bids, and in how many rounds it did."""

    name: str
    active: bool
    bids: int


class BazaarOwn(TypedDict):
    """The seat's private values; null where the task has none."""

    reservation: float
    purse: float | None
    discount: float | None
    deadline: int | None
    quote: int | None  # another shop's price for the item, which the buyer knows
    values: dict[str, int] | None  # what each extra is worth to the buyer


class BazaarView(TypedDict):
    """The table as the seat sees it."""

    item: ItemRecord
    deal: int  # counted from 1
    deals: int
    round: int  # moves that the buyer has made
    rounds: int
    decimals: int  # of a price
    seller_type: str
    asks: list[float]
    bids: list[float]
    moves: list[MoveRecord]
    past: list[DealRecord]
    rivals: list[RivalRecord]
    outbid: bool
    standing: bool  # the best bid counts and not the last
    extras: list[str]  # that a bid may ask for
    own: BazaarOwn


class ArenaOwn(TypedDict):
    """The lab's private values."""

    budget: float
    jobs: list[JobRecord]
    started: float
    batna: float
    stake: float
    job_value: float
    energy: float
    deals: float
    pool: float
    breaches: int
    results: list[ResultRecord]


class ArenaView(TypedDict):
    """The market as the lab sees it."""

    round_index: int
    max_rounds: int
    actions_left: int  # of the lab, in this round
    coalitions_allowed: bool
    market_pressure: str
    announced: str  # the kind of shock that strikes as the next round opens; "" for none
    labs: list[LabRecord]
    blocks: list[BlockRecord]
    offers: list[OfferRecord]
    coalitions: list[CoalitionRecord]
    messages: list[MessageRecord]
    shock_history: list[ShockRecord]
    own: ArenaOwn


class Outcome(TypedDict):
    """How the episode ended, and what was hidden until then."""

    end: str
    grade: float
    success: bool
    payoffs: dict[str, float]  # surplus of every seat
    seed: int | str | None  # null in a game of the leaderboard
    forfeit: str  # why the episode was forfeited; empty where it was not


class SaudaObservation(Observation):
    """What the learner's seat may see, in `bazaar` or in `arena`; `outcome` once it is over."""

    task: str = Field(description="Name of the task.")
    seat: str = Field(description="The seat that the caller plays.")
    briefing: str = Field(
        "", description="After reset: the task, your aim, the legal moves and the grading in words."
    )
    system_prompt: str = Field(
        "", description="After reset: the briefing, and that a reply is one action as JSON."
    )
    bazaar: BazaarView | None = None
    arena: ArenaView | None = None
    error: str = Field("", description="Why the last action was refused; nothing has changed.")
    reward_parts: dict[str, float] = Field(
        default_factory=dict, description="The last step's reward by named part."
    )
    outcome: Outcome | None = None


class SaudaState(State, extra="forbid"):
    """The public state of an episode. It holds no value that a seat hides."""

    task: str | None = None
    seat: str | None = None
    done: bool = False
    seed: int | str | None = Field(None, description="Hidden until the end unless it was chosen.")
    deals_closed: int = 0
    deals: int = Field(0, description="Deals of the episode; 1 in the arena.")
    grade: float | None = Field(None, description="In [-1, 1]; null until the end.")
    success: bool | None = None


def observation_of(game: ServedGame) -> SaudaObservation:
    """The observation at `game`, without its reward."""
    is_bazaar = game_of(game.task_name).name == "bazaar"
    view = bazaar_view(game.observation) if is_bazaar else arena_view(game.observation)
    return SaudaObservation(
        done=game.over,
        task=game.task_name,
        seat=game.task.learner,
        bazaar=view if is_bazaar else None,
        arena=None if is_bazaar else view,
        error=game.error,
        reward_parts=dict(game.parts),
        outcome=outcome_of(game) if game.over else None,
        metadata={"episode_id": game.episode_id, "step_count": game.steps},
    )


def bazaar_view(obs: BazaarObservation) -> BazaarView:
    """The seat's view of the table."""
    table = obs.table
    moves = [
        {"price": None, "extras": [], "message": ""}
        | bazaar_words.to_json(move.action)
        | {"agent": move.agent, "tells": None if move.tells is None else record(move.tells)}
        for move in table.moves
    ]
    return {
        "item": record(table.item),
        "deal": min(len(table.past) + 1, table.deals),
        **{name: getattr(table, name) for name in BAZAAR_PLAIN},
        "asks": list(table.asks),
        "bids": list(table.bids),
        "extras": list(table.extras),
        "moves": moves,
        "past": [record(deal) for deal in table.past],
        "rivals": [record(rival) for rival in table.rivals],
        "own": {name: obs.own.get(name) for name in BazaarOwn.__annotations__},
    }


def arena_view(obs: arena.Observation) -> ArenaView:
    """The lab's view of the market."""
    market, lab = obs.market, {name: getattr(obs.own, name) for name in ArenaOwn.__annotations__}
    return {
        **{name: getattr(market, name) for name in ARENA_PLAIN},
        "actions_left": market.queue.count(obs.agent),
        **{
            name: records(getattr(market, name).values())
            for name in ("labs", "blocks", "offers", "coalitions")
        },
        "messages": records(market.messages[-MESSAGES:]),
        "shock_history": records(market.shock_history),
        "own": lab | {"jobs": records(lab["jobs"]), "results": records(lab["results"])},
    }


def record(value: Any) -> dict[str, Any]:
    """A dataclass of plain values as a dictionary; `dataclasses.asdict` would copy each value."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def records(tuples: Any) -> list[dict[str, Any]]:
    """Named tuples as dictionaries."""
    return [each._asdict() for each in tuples]


def outcome_of(game: ServedGame) -> Outcome:
    """How a finished game ended."""
    task = game.task
    return {
        "end": str(game.end),
        "grade": game.grade,
        "success": game.grade >= task.success,
        "payoffs": task.env.payoffs(game.play.state),
        "seed": game.seed,
        "forfeit": game.ended,
    }


def state_of(game: ServedGame | None) -> SaudaState:
    """The public state of `game`; of no episode where there is none."""
    if game is None:
        return SaudaState()
    if game_of(game.task_name).name == "arena":  # its market counts as one deal
        closed, deals = int(game.over), 1
    else:
        closed, deals = len(game.play.state.table.past), game.play.state.table.deals
    outcome: Mapping[str, Any] = outcome_of(game) if game.over else {}
    return SaudaState(
        episode_id=game.episode_id,
        step_count=game.steps,
        task=game.task_name,
        seat=game.task.learner,
        done=game.over,
        seed=game.seed,
        deals_closed=closed,
        deals=deals,
        grade=outcome.get("grade"),
        success=outcome.get("success"),
    )


class Part(Rubric):
    """One named part of the reward, which `env` computes; 0 where the step has none of that name.

    The bazaar pays the grade at the end of an episode. The arena pays each step the sum of its ten
    components.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, action: Any, observation: SaudaObservation) -> float:
        return observation.reward_parts.get(self.name, 0.0)


class Sum(RubricDict):
    """The sum of the rubrics in it, each under its own name."""

    def forward(self, action: Any, observation: SaudaObservation) -> float:
        return sum(rubric(action, observation) for rubric in self.values())


def reward_rubric() -> Rubric:
    """The reward as a tree, `bazaar.grade` and so on, for trainers that read it."""
    parts = {part.name: Part(part.name) for part in arena.COMPONENTS}
    return Sum({"bazaar": Sum({GRADE: Part(GRADE)}), "arena": Sum(parts)})
