"""The nine tasks of the published bazaar game with their instances and graders.

Faults that shape the published numbers stay: two rounds a deal in `read_the_tells`, a hidden state
that never changes under a disclosed personality, a deadline that only halves a grade, a step reward
that disagrees with the grade (only the grade is kept), a memory with hardly any effect, a
collaborative seller who sells a little below its own cost. Faults that hang, crash or allow bad
prices are fixed: accepting the opening ask is a deal, penalties do not count twice, prices are
checked, and with several buyers bids hold for their round, budgets bind and a buyer who left stays
away.

`sauda.experiments.reproduction.DIFFERENCES` lists the intended differences from the published game;
`evaluation/reproduction.json` measures them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core import State as AnyState
from ...core import Task
from ..env import Bazaar, shares
from ..listings import CATALOGUE, Item
from ..multi_buyer_env import MultiBuyerBazaar
from ..tells import classic_tells
from ..types import Instance, State
from .buyers import aggressive, smart
from .seller import classic_seller, draw_chance, terms

# The items of the fixed-price tasks, one for each deal; the published game names only the first.
GOODS = (
    ("handwoven silk scarf", "Textiles and clothing"),
    ("brass oil lamp", "Handicrafts and decor"),
    ("block-printed bedspread", "Textiles and clothing"),
    ("sandalwood box", "Handicrafts and decor"),
    ("blue pottery bowl", "Handicrafts and decor"),
    ("leather juti slippers", "Footwear"),
    ("copper water jug", "Kitchenware"),
    ("pashmina shawl", "Textiles and clothing"),
    ("lac bangle set", "Jewellery"),
    ("miniature painting", "Handicrafts and decor"),
)


@dataclass(frozen=True)
class Classic:
    """One row of the published task table; prices in rupees."""

    about: str
    rounds: int  # limit of a deal
    concession: float
    walk_probability: float
    success: float  # least grade of a success
    persona: str = "default"
    deals: int = 1
    anchor: float = 2.0  # opening ask as a multiple of the cost, before the persona's factor
    inventory: int = 1
    deadline: int | None = None
    budget: float = 100
    cost: float = 30


CLASSIC = {
    "single_deal": Classic("One deal with a plain seller.", 8, 0.08, 0.05, 0.30),
    "asymmetric_pressure": Classic(
        "The buyer alone knows its deadline of five rounds; a later deal counts half.",
        8, 0.06, 0.08, 0.40, inventory=5, deadline=5,
    ),
    "career_10": Classic(
        "Ten deals with one seller, who grows firmer with a buyer that pays too much.",
        8, 0.07, 0.10, 0.50, deals=10, inventory=10,
    ),
    "deceptive_seller": Classic(
        "The seller bluffs: fake concessions, taken back later.",
        10, 0.06, 0.05, 0.35, persona="deceptive", inventory=3,
    ),
    "impatient_seller": Classic(
        # The published table says 8; its impatient seller ends every deal two rounds earlier.
        "The seller falls fast, walks sooner and stops after six rounds.",
        6, 0.08, 0.15, 0.30, persona="impatient",
    ),
    "collaborative_seller": Classic(
        "The seller looks for a fair split.", 8, 0.10, 0.02, 0.40, persona="collaborative"
    ),
    "read_the_tells": Classic(
        "Five short deals with a deceptive seller: two rounds each, too few to read anything.",
        2, 0.05, 0.08, 0.45, persona="deceptive", deals=5, anchor=2.2, inventory=5,
    ),
    "marketplace_arena": Classic(
        "Three buyers bid under seal for one item, twelve rounds.", 12, 0.06, 0.0, 0.30
    ),
    "amazon_realistic": Classic(
        "An item of our own catalogue, its list price the opening ask and the budget.",
        8, 0.08, 0.05, 0.30,
    ),
}  # fmt: skip


def draw(name: str, rng: np.random.Generator) -> tuple[Instance, ...]:
    """The deals of one episode of `classic/<name>`; only `amazon_realistic` draws its prices."""
    task = CLASSIC[name]
    chance = draw_chance(rng, task.rounds * task.deals)
    if name == "amazon_realistic":
        item = CATALOGUE[rng.integers(len(CATALOGUE))]
        # The published listings have a discounted price beside the list price.
        street_price = item.list_price * rng.uniform(0.35, 0.90)
        return (_instance(task, item, item.list_price, 0.7 * street_price, chance),)
    opening = round(task.cost * task.anchor)
    return tuple(
        _instance(
            task,
            Item(good, category, "new", opening),
            task.budget,
            task.cost,
            chance[task.rounds * i : task.rounds * (i + 1)],
        )
        for i, (good, category) in enumerate(GOODS[: task.deals])
    )


def _instance(
    task: Classic, item: Item, budget: float, cost: float, chance: tuple[tuple[float, ...], ...]
) -> Instance:
    seller = terms(
        task.persona,
        cost,
        item.list_price,
        task.rounds,
        task.concession,
        task.walk_probability,
        task.inventory,
    )
    return Instance(
        item,
        buyer={"reservation": budget, "deadline": task.deadline},
        seller={"reservation": cost, "terms": seller, "chance": chance},
    )


def mean_share(state: State) -> float:
    """Mean share of the ZOPA over the deals, each at least 0; in [0, 1]."""
    return _mean([max(0.0, share) for share in shares(state, "buyer")])


def deadline_grade(state: State) -> float:
    """`mean_share`, halved if the deal came after the buyer's own deadline; in [0, 1]."""
    deadline = state.private["buyer"]["deadline"]
    late = any(deal.rounds > deadline for deal in state.table.past)
    return mean_share(state) * (0.5 if late else 1.0)


def career_grade(state: State) -> float:
    """Mean of share x (1 - 0.3 x rounds / limit) over the deals; in [0, 1]."""
    past, limit = state.table.past, state.table.rounds
    prompt = [1 - 0.3 * deal.rounds / limit for deal in past] + [0.0] * state.table.deals
    won = zip(shares(state, "buyer"), prompt, strict=False)
    return _mean([max(0.0, share) * weight for share, weight in won])


def tells_grade(state: State) -> float:
    """Mean share plus up to 0.15 for a price below the middle of the ZOPA; in [0, 1]."""
    won = [max(0.0, share) for share in shares(state, "buyer")]
    return _mean([min(1.0, share + 0.15 * max(0.0, 2 * share - 1)) for share in won])


def _mean(values: list[float]) -> float:
    return min(1.0, sum(values) / len(values))


GRADES: dict[str, Callable[[AnyState], float]] = {
    "asymmetric_pressure": deadline_grade,
    "career_10": career_grade,
    "read_the_tells": tells_grade,
}


def _task(name: str) -> Task:
    task = CLASSIC[name]
    crowd = name == "marketplace_arena"
    rivals = {"rival_1": smart, "rival_2": aggressive} if crowd else {}
    env = (MultiBuyerBazaar if crowd else Bazaar)(
        draw=partial(draw, name),
        rounds=task.rounds,
        decimals=2,
        seller_type=task.persona,
        manner=classic_tells,
    )
    return Task(
        name=f"classic/{name}",
        env=env,
        learner="buyer",
        opponents={"seller": classic_seller, **rivals},
        grade=GRADES.get(name, mean_share),
        success=task.success,
        about=task.about,
    )


TASKS = tuple(_task(name) for name in CLASSIC)
