"""The three tasks of the arena and the learner's grade."""

from ..core import Task
from .env import GpuBudgetNegotiationEnv
from .generator import Size
from .opponents import scripted_lab
from .types import State

LEARNER = "lab_0"
SIZES = {
    "arena/single_trade": Size((2,), 3, blocks=2, jobs=1, coalitions=False),
    "arena/market_round": Size((3,), 5, blocks=3, jobs=2, shocks=((3, ("capacity_failure",)),)),
    "arena/coalition_market": Size(
        (4, 5),
        9,
        blocks=4,
        jobs=3,
        shocks=(
            (3, ("capacity_failure",)),
            (6, ("energy_spike",)),
            (8, ("reliability_degradation", "demand_surge")),
        ),
    ),
}
ABOUT = {
    "arena/single_trade": "Two labs, three rounds, one job each: trade a block, or make do.",
    "arena/market_round": "Three labs, five rounds, two jobs each; a block fails in round 3.",
    "arena/coalition_market": "Four or five labs, nine rounds, three jobs each, three shocks.",
}


def grade(state: State) -> float:
    """The learner's surplus over its BATNA as a share of the full value of its first jobs.

    0 is what the lab could earn alone. 1 is every job done at no cost by a lab that could do
    nothing alone. Clipped to [-1, 1].
    """
    own = state.private[LEARNER]
    return max(-1.0, min(1.0, (own.utility - own.batna) / own.stake))


def _task(name: str) -> Task:
    env = GpuBudgetNegotiationEnv(name, SIZES[name])
    opponents = dict.fromkeys([seat for seat in env.agents if seat != LEARNER], scripted_lab)
    return Task(name, env, LEARNER, opponents, grade, success=0.0, about=ABOUT[name])


TASKS = tuple(_task(name) for name in SIZES)
