"""The tools that make a move. Each returns the game as the player's seat sees it afterwards.

The docstrings and the descriptions of the parameters are what an agent reads.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from env import TASKS, IllegalAction, arena
from sauda.games import game_of
from sauda.serve.episodes import Refused
from sauda.serve.mcp.room import Room
from sauda.serve.openenv.actions import (
    ARENA,
    BLANK_IS_ABSENT,
    FIELDS,
    LONGEST_TEXT,
    Identifier,
    Number,
    SaudaAction,
)
from sauda.serve.openenv.briefing import arena_types
from sauda.serve.openenv.environment import DEFAULT_TASK
from sauda.serve.openenv.game import ServedGame

LONGEST_NAME = 64  # characters of a task, a policy or the id of a game
Name = Annotated[str, Field(max_length=LONGEST_NAME)]
GameId = Annotated[Name, Field(description="What new_game returned.")]
Message = Annotated[
    str,
    Field(
        max_length=LONGEST_TEXT,
        description=f"What you say; in the arena at most {arena.LONGEST_MESSAGE} characters.",
    ),
]
OfferId = Annotated[
    Identifier | None, Field(description="GPU arena: which of the open offers to you; else none.")
]


# Without the bazaar's fields, which would mislead an agent.
ArenaAction: type[BaseModel] = create_model(
    "ArenaAction",
    __config__=ConfigDict(extra="forbid"),
    __doc__="One action of a lab; fields that its type does not name stay out.",
    __validators__={"blank_is_absent": BLANK_IS_ABSENT},
    action_type=(Literal[ARENA], Field(description=arena_types())),
    **{
        name: (field.annotation, field)
        for name, field in SaudaAction.model_fields.items()
        if name in FIELDS["arena"]
    },
)


def new_game(
    room: Room, task: Annotated[Name, Field(description="A name of list_tasks.")] = DEFAULT_TASK
) -> dict[str, Any]:
    """Sit down to a new game of a task, against scripted players.

    The answer holds the game_id that all other tools take, and what your seat sees.

    Bazaar: `own.reservation` is your limit: what the item is worth to you. A buyer gains by paying
    less, a seller by getting more; you lose nothing by walking away from a bad deal. `asks` and
    `bids` are the prices so far. Each move is a round of `rounds`; after the last there is no deal.
    Where `own.discount` is set, each round after the first multiplies your gain by it, and a deal
    after the round `own.deadline` gains nothing.

    GPU arena: `own.jobs` earn base_value x urgency_multiplier once blocks with their GPU hours are
    booked before `deadline_round`. `own.batna` is what your lab can gain alone; trade for more.
    """
    return room.begin(known(task))


def offer(
    room: Room,
    game_id: GameId,
    price: Annotated[
        Number, Field(description="In rupees: your bid as buyer, your ask as seller.")
    ],
    message: Message = "",
) -> dict[str, Any]:
    """Bazaar: name a price. The other side answers at once: it accepts, counters or walks away."""

    def chosen(game: ServedGame) -> SaudaAction:
        if is_arena(game):
            raise IllegalAction("In the GPU arena, make an offer by arena_action with send_offer.")
        return SaudaAction(action_type="offer", price=price, message=message)

    return room.move(game_id, chosen)


def accept(
    room: Room, game_id: GameId, offer_id: OfferId = None, message: Message = ""
) -> dict[str, Any]:
    """Accept the other side's last price; in the GPU arena, an offer that is addressed to you."""

    def chosen(game: ServedGame) -> SaudaAction:
        if is_arena(game):
            return answer_to_offer("accept_offer", offer_id, message)
        return SaudaAction(action_type="accept", offer_id=offer_id, message=message)

    return room.move(game_id, chosen)


def reject(
    room: Room, game_id: GameId, offer_id: OfferId = None, message: Message = ""
) -> dict[str, Any]:
    """Refuse the other side's last price and stand by your own, which takes a round.

    In the GPU arena, turn down an offer that is addressed to you.
    """

    def chosen(game: ServedGame) -> SaudaAction:
        if is_arena(game):
            return answer_to_offer("reject_offer", offer_id, message)
        price = standing_price(game)
        return SaudaAction(action_type="offer", price=price, offer_id=offer_id, message=message)

    return room.move(game_id, chosen)


def walk_away(room: Room, game_id: GameId, message: Message = "") -> dict[str, Any]:
    """Leave the deal without an agreement; in the GPU arena, leave the market and settle."""

    def chosen(game: ServedGame) -> SaudaAction:
        return SaudaAction(action_type="finish" if is_arena(game) else "walk", message=message)

    return room.move(game_id, chosen)


def arena_action(room: Room, game_id: GameId, action: ArenaAction) -> dict[str, Any]:
    """GPU arena: take one of the fourteen actions of a lab; legal_actions shows those open to you.

    `last_action` of the answer says what came of it. One that the rules refuse uses up your turn.
    """

    def chosen(game: ServedGame) -> SaudaAction:
        if not is_arena(game):
            raise IllegalAction("In the bazaar, play by offer, accept, reject and walk_away.")
        return SaudaAction(**action.model_dump(exclude_defaults=True))

    return room.move(game_id, chosen)


TOOLS = (new_game, offer, accept, reject, walk_away, arena_action)


def known(task: str) -> str:
    """The name of a task; Refused, with those there are, where it is none."""
    if task not in TASKS:
        raise Refused(422, f"There is no task of that name; tasks are {', '.join(TASKS)}.")
    return task


def is_arena(game: ServedGame) -> bool:
    """Whether a game is one of the GPU arena."""
    return game_of(game.task_name).name == "arena"


def answer_to_offer(kind: str, offer_id: str | None, message: str) -> SaudaAction:
    """The arena's answer to an offer; IllegalAction where none is named."""
    if offer_id is None:
        raise IllegalAction("In the GPU arena, name the offer_id of an offer addressed to you.")
    return SaudaAction(action_type=kind, offer_id=offer_id, message=message)


def standing_price(game: ServedGame) -> float:
    """The player's last price in the deal that runs; IllegalAction where it has named none."""
    table = game.observation.table
    own = table.asks if game.task.learner == "seller" else table.bids
    if not own:
        raise IllegalAction("You have named no price that could stand; make an offer.")
    return own[-1]
