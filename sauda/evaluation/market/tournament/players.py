"""Players of the tournament by name, and the table of a pair.

A buyer is any policy or language model that can buy in the open market. A seller is a script of
SELLERS, a seller type of the open market, a language model that writes its whole moves, or a
persona whose moves code decides and a language model words: "mini:firm". "null:firm" is the persona
with its scripted words, and "acts(linear)" the script that plays through language.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from env import SELLER_TYPES, Policy, Task, get_task, market_seller, with_seller_type
from sauda.games import BAZAAR
from sauda.llm.model import NULL
from sauda.llm.registry import get_policy, is_model, player_spec, script
from sauda.llm.seller import model_seller, persona_seat, seat_persona, seller_model
from sauda.llm.turn import ModelSeat
from sauda.llm.types import BatchGenerate
from sauda.policies import SELLERS

TASK = "bazaar/open"
SCRIPTS = tuple(name for name in SELLERS if name != "schedule")  # whose terms the market has not


class Pair(NamedTuple):
    """A buyer and a seller by name."""

    buyer: str
    seller: str


@dataclass(frozen=True)
class Side:
    """A language model in one seat of a table."""

    seat: ModelSeat
    generate: BatchGenerate
    weights: str  # name of the model; "" where none are needed


def task_against(seller: str) -> Task:
    """TASK with the player called `seller` in the seller's seat; all other draws stay the same.

    Only sellers of the open market show a manner: it follows from parameters that no other seller
    has. Raises ValueError naming the sellers there are.
    """
    task = get_task(TASK)
    model, worded, persona = seller.partition(":")
    if worded:
        policy = market_seller if model == NULL else model_seller(seller)
        return seat_persona(task, persona_seat(persona).persona, policy)
    if seller in SELLER_TYPES:
        return with_seller_type(task, seller)
    if is_model(seller):
        if player_spec(seller).wrapper is not None:
            raise ValueError(f"a wrapper steers a buyer, so {seller!r} does not sell")
        policy = player_spec(seller).policy(BAZAAR)
    elif (policy := script({name: SELLERS[name] for name in SCRIPTS}, seller)) is None:
        raise ValueError(
            f"no seller {seller!r} for the tournament; sellers are "
            f"{', '.join((*SCRIPTS, *SELLER_TYPES))}, a language model, MODEL:PERSONA and "
            "acts(SCRIPT)"
        )
    silent = replace(task.env, manner=None)
    return replace(task, env=silent, opponents={**task.opponents, "seller": policy})


def buyer_policy(buyer: str) -> Policy:
    """The policy called `buyer`; ValueError naming the policies there are."""
    return get_policy(get_task(TASK), buyer)


def sides(pair: Pair) -> Mapping[str, Side]:
    """The language models at the table of `pair`, by seat."""
    found = {}
    if is_model(pair.buyer):
        found["buyer"] = _whole_moves(pair.buyer)
    model, worded, persona = pair.seller.partition(":")
    if worded and model != NULL:
        found["seller"] = Side(persona_seat(persona), seller_model(model), model)
    elif is_model(pair.seller) and not worded:
        found["seller"] = _whole_moves(pair.seller)
    return found


def _whole_moves(name: str) -> Side:
    player = player_spec(name)
    return Side(player.seat(BAZAAR), player.generate, player.weights)


def scripts(pair: Pair) -> Mapping[str, Policy]:
    """The policies at the table of `pair` that are no language models, by seat."""
    seats = {**task_against(pair.seller).opponents, "buyer": buyer_policy(pair.buyer)}
    return {seat: policy for seat, policy in seats.items() if seat not in sides(pair)}


def weights(pair: Pair) -> list[str]:
    """The names of the models whose weights a game of `pair` needs."""
    return [side.weights for side in sides(pair).values() if side.weights]
