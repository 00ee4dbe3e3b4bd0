"""The action of the OpenEnv environment: one flat record for the moves of both games."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from openenv.core.env_server import Action
from pydantic import BaseModel, Field, model_validator

from env import IllegalAction, arena
from sauda.games import game_of

LONGEST_TEXT = 2_000  # characters; the rules of a game may ask for fewer
LONGEST_ID = 40
MOST_IDS = 24
MOST_CONDITIONS = 4

BAZAAR = ("offer", "accept", "walk")
ARENA = tuple(arena.KINDS)
FIELDS: Mapping[str, frozenset[str]] = {
    "bazaar": frozenset({"price", "message"}),
    "arena": frozenset(arena.Action._fields) - {"action_type"},
}

Number = (
    Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]
)
Identifier = Annotated[str, Field(max_length=LONGEST_ID)]
Identifiers = Annotated[list[Identifier], Field(max_length=MOST_IDS)]
Condition = Number | Annotated[str, Field(max_length=LONGEST_TEXT)] | bool


def _without_blanks(model: type[BaseModel], row: Any) -> Any:
    """What was sent without the "" by which some clients fill in a field that may be left out."""
    if not isinstance(row, dict):
        return row
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    return {name: value for name, value in row.items() if value != "" or name not in optional}


BLANK_IS_ABSENT = model_validator(mode="before")(classmethod(_without_blanks))


class SaudaAction(Action):
    """One move. `action_type` says which of the other fields count.

    In the bazaar: offer (with its price), accept, walk. In the arena: the fourteen actions of a
    lab.
    """

    blank_is_absent = BLANK_IS_ABSENT

    action_type: Literal[BAZAAR + ARENA] = Field(
        description=f"Bazaar: {', '.join(BAZAAR)}. Arena: {', '.join(ARENA)}."
    )
    price: Number | None = Field(None, description="Bazaar: rupees of an offer.")
    message: str = Field("", max_length=LONGEST_TEXT, description="What is said with the move.")
    target_lab_id: Identifier | None = Field(
        None, description="Arena: the lab addressed, such as lab_1."
    )
    offer_id: Identifier | None = Field(None, description="Arena: the offer answered.")
    coalition_id: Identifier | None = Field(None, description="Arena: the coalition committed to.")
    job_id: Identifier | None = Field(None, description="Arena: the own job served.")
    block_ids: Identifiers = Field([], description="Arena: own blocks given, held or booked.")
    requested_block_ids: Identifiers = Field([], description="Arena: the other lab's blocks.")
    payment: Number = Field(
        0, description="Arena: credits you pay to the other lab; what it pays you is the ask."
    )
    conditions: dict[Identifier, Condition] = Field(
        {},
        max_length=MOST_CONDITIONS,
        description="Arena: "
        + "; ".join(f"{name}: {about}" for name, about in arena.CONDITIONS.items()),
    )


def env_action(action: SaudaAction, task_name: str) -> Any:
    """The action as the rules of the task's game take it; IllegalAction where it is none of theirs.

    What is malformed for the arena's rules alone becomes `arena.Malformed`, which they answer.
    """
    game = game_of(task_name)
    kinds = BAZAAR if game.name == "bazaar" else ARENA
    if action.action_type not in kinds:
        raise IllegalAction(f"an action of the {game.name} is one of {', '.join(kinds)}")
    row = action.model_dump(exclude_defaults=True, exclude={"action_type", "metadata"})
    if foreign := sorted(row.keys() - FIELDS[game.name]):
        raise IllegalAction(f"an action of the {game.name} has no {', '.join(foreign)}")
    if action.action_type == "offer" and action.price is None:
        raise IllegalAction("an offer needs a price")
    return game.transcript.from_json({"action": action.action_type, **row})
