"""Puts a persona into the seller's seat of an open-market task, with its numbers and its item."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from env import MARKETS, Instance, Item, Policy, Task
from sauda.llm.seller.personas import Persona


def seated(task: Task, persona: Persona, seller: Policy, item: Item | None = None) -> Task:
    """An open-market `task` with `seller` in its seat and, where given, `item` for sale.

    The seller's numbers are the persona's; limits keep the share of the list price that they were
    drawn as.
    Raises ValueError for a task that is none of the open market's.
    """
    market = task.name.removeprefix("bazaar/")
    if market not in MARKETS:
        names = ", ".join(f"bazaar/{name}" for name in MARKETS)
        raise ValueError(f"a language model sells in {names}, not in {task.name}")
    draw = partial(_drawn, task.env.draw, persona, item, MARKETS[market].bluffing)
    opponents = {**task.opponents, "seller": seller}
    return replace(task, env=replace(task.env, draw=draw), opponents=opponents)


def _drawn(
    draw: Callable[[np.random.Generator], Sequence[Instance]],
    persona: Persona,
    item: Item | None,
    bluffing: float,
    rng: np.random.Generator,
) -> tuple[Instance, ...]:
    return tuple(recast(instance, persona, item, bluffing) for instance in draw(rng))


def recast(
    instance: Instance, persona: Persona, item: Item | None = None, bluffing: float = 0.0
) -> Instance:
    """`instance` with `persona` as its seller, who bluffs at least so often, and `item` for sale.

    Prices keep their share of the list price, whatever that is.
    """
    item = item or instance.item
    scale = item.list_price / instance.item.list_price
    kind = replace(persona.type, bluff_rate=max(persona.type.bluff_rate, bluffing))
    floor = round(scale * instance.seller["reservation"])
    opening = max(floor + 1, round(kind.markup * item.list_price))
    stance = replace(instance.seller["stance"], type=kind, reservation=floor, opening=opening)
    return replace(
        instance,
        item=item,
        seller={**instance.seller, "reservation": floor, "stance": stance},
        buyer=_scaled(instance.buyer, scale),
        rivals=tuple(_scaled(rival, scale) for rival in instance.rivals),
    )


def _scaled(own: Mapping[str, object], scale: float) -> dict[str, object]:
    prices = {name: round(scale * own[name]) for name in ("reservation", "purse") if name in own}
    return {**own, **prices}
