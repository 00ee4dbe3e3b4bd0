"""What a policy's moves give away on fixed positions, by the planner's values.

A grade needs hundreds of games to distinguish two policies; the regret of their moves in the same
few hundred positions needs fewer. The positions come from training seeds that no training uses,
reached by the planner with action noise, so many lie off its path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from env import Accept, Observation, Offer, Policy, WalkAway, get_task, rollout
from sauda.games import BAZAAR
from sauda.llm.turn import PlayerSpec, in_batches, take_turns
from sauda.policies.listener import Listener, MoveValues, believe
from sauda.records.seeds import SPLITS, is_unseen_game
from sauda.statistics import mean_of

Action = Offer | Accept | WalkAway
TASKS = ("bazaar/open", "bazaar/rushed")  # in turn
LISTENER = Listener()
BATCH = 40  # positions to which a model replies together
FIRST_SEED = 45_000  # of the training split, above all seeds that training uses
ERROR = 5.0  # action noise up to the position, percent of the list price
LATE = 3  # the turn, from 1, from which the error of prices is reported


@dataclass(frozen=True)
class State:
    """One position, with what is needed to ask any policy for its move there."""

    task: str
    seed: int
    turn: int  # the learner's, from 0
    obs: Observation


def states(count: int) -> list[State]:
    """So many positions: one of each game from FIRST_SEED on, its turn drawn from the seed."""
    positions: list[State] = []
    for seed in SPLITS["train"][FIRST_SEED:]:
        task = get_task(TASKS[len(positions) % len(TASKS)])
        if not is_unseen_game(task, seed):
            turns = rollout(task, Unsteady(LISTENER, ERROR), seed).trajectory(task.learner)
            turn = int(np.random.default_rng([seed, 0]).integers(len(turns)))
            positions.append(State(task.name, seed, turn, turns[turn].observation))
        if len(positions) == count:
            return positions
    raise ValueError(f"too few training seeds from {FIRST_SEED:,}")


@dataclass(frozen=True)
class Unsteady:
    """A buyer whose prices are off by a normal error, in percent of the list price."""

    buyer: Policy
    error: float

    def __call__(self, obs: Observation, rng: np.random.Generator) -> Action:
        move = self.buyer(obs, rng)
        if not isinstance(move, Offer):
            return move
        price = move.price + rng.normal(0, self.error / 100 * obs.table.item.list_price)
        least = obs.bid if obs.bid is not None else 1
        return replace(move, price=max(least, min(obs.priced(price), max(least, obs.budget))))


@dataclass(frozen=True, eq=False)
class Judged:
    """Positions with the value of every move in them."""

    states: Sequence[State]
    values: Sequence[MoveValues]

    @classmethod
    def of(cls, count: int) -> "Judged":
        """So many positions with the planner's values: later moves as if it knew the seller."""
        positions = states(count)
        return cls(positions, [LISTENER.values(believe(s.obs), s.obs) for s in positions])

    def figures_of(self, moves: Sequence[Action | None]) -> dict[str, Any]:
        """The regret of moves, one in each position, None for a reply without one, as if it left.

        A mean regret with its interval, and the mean error of prices from turn LATE on, percent of
        the list price, None without any.
        """
        regret, errors = [], []
        for state, values, move in zip(self.states, self.values, moves, strict=True):
            regret.append(values.regret(WalkAway() if move is None else move))
            error = price_error(values, move, state.obs)
            if error is not None and state.turn + 1 >= LATE:
                errors.append(error)
        return {
            "regret": mean_of(np.array(regret)),
            "price_error": round(float(np.mean(errors)), 6) if errors else None,
        }

    def of_model(self, player: PlayerSpec) -> dict[str, Any]:
        """`figures_of` the moves of a language model, its replies in batches of BATCH."""
        seat, moves = player.seat(BAZAAR), []
        for start in range(0, len(self.states), BATCH):
            batch = self.states[start : start + BATCH]
            turns = take_turns(
                [seat] * len(batch),
                [state.obs for state in batch],
                [lambda attempt, state=state: state.seed for state in batch],
                in_batches(player.generate),
            )
            moves += [turn.action for turn in turns]
        return self.figures_of(moves)


def price_error(values: MoveValues, move: Action | None, obs: Observation) -> float | None:
    """How far an offer is from the best one, % of the list price; None where either is no offer."""
    best = values.best(obs)
    if isinstance(best, Offer) and isinstance(move, Offer):
        return 100 * abs(move.price - best.price) / obs.table.item.list_price
    return None
