"""What a policy's moves give away on fixed positions, by the planner's values.

A grade needs hundreds of games to distinguish two policies; the regret of their moves in the same
few hundred positions needs fewer, and shows which moves cost most. The positions come from training
seeds that no training uses, reached by the planner with action noise, so many lie off its path.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from env import (
    Accept,
    Episode,
    IllegalAction,
    Observation,
    Offer,
    Policy,
    Task,
    WalkAway,
    agent_stream,
    get_task,
    rollout,
)
from sauda.games import BAZAAR
from sauda.llm.registry import get_policy
from sauda.llm.turn import PlayerSpec, in_batches, take_turns
from sauda.policies.listener import Listener, MoveValues, believe
from sauda.records.seeds import SPLITS, is_unseen_game
from sauda.statistics import mean_interval

Action = Offer | Accept | WalkAway
OPEN = "bazaar/open"  # whose policies are asked
LISTENER = Listener()
BATCH = 40  # positions to which a model replies together
BIG = 0.02  # regret from which a move counts as a mistake


@dataclass(frozen=True)
class Positions:
    """Which positions are judged."""

    states: int = 400
    tasks: tuple[str, ...] = (OPEN, "bazaar/rushed")  # in turn
    first_seed: int = 45_000  # of the training split, above all seeds that training uses
    error: float = 5.0  # action noise up to the position, percent of the list price
    late: int = 3  # the turn, from 1, from which the error of prices is reported


@dataclass(frozen=True)
class State:
    """One position, with what is needed to ask any policy for its move there."""

    task: str
    seed: int
    turn: int  # the learner's, from 0
    obs: Observation


def states(wanted: Positions = Positions()) -> list[State]:
    """The positions of `wanted`: one of each game, its turn drawn from the game's seed."""
    positions: list[State] = []
    seed = wanted.first_seed
    while len(positions) < wanted.states:
        if seed not in SPLITS["train"]:
            raise ValueError(f"too few training seeds from {wanted.first_seed:,}")
        task = get_task(wanted.tasks[len(positions) % len(wanted.tasks)])
        if not is_unseen_game(task, seed):
            turns = _play(task, seed, wanted.error).trajectory(task.learner)
            turn = int(np.random.default_rng([seed, 0]).integers(len(turns)))
            positions.append(State(task.name, seed, turn, turns[turn].observation))
        seed += 1
    return positions


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


def _play(task: Task, seed: int, error: float) -> Episode:
    return rollout(task, Unsteady(LISTENER, error), seed)


def by_listener(obs: Observation) -> MoveValues:
    """The planner's values: each later move is played as if the seller were known."""
    return LISTENER.values(believe(obs), obs)


@dataclass(frozen=True, eq=False)
class Judged:
    """Positions with the value of every move in them."""

    states: Sequence[State]
    values: Sequence[MoveValues]
    late: int  # the turn, from 1, from which the error of prices is reported

    @classmethod
    def of(cls, wanted: Positions, judge: Callable[[Observation], MoveValues]) -> "Judged":
        """The positions of `wanted` with the values of a `judge`."""
        positions = states(wanted)
        return cls(positions, [judge(state.obs) for state in positions], wanted.late)

    def figures(self, policy: Policy | str) -> dict[str, Any]:
        """`figures_of` the moves of a policy, or of the one of that name."""
        return self.figures_of(self.moves(policy))

    def moves(self, policy: Policy | str) -> list[Action | None]:
        """The moves of a policy, or of the one of that name; None where it gives no legal one."""
        return [self._move(policy, state) for state in self.states]

    def figures_of(self, moves: Sequence[Action | None]) -> dict[str, Any]:
        """The regret of moves, one in each position, None for a reply without a move.

        A mean regret with its interval; the share of it in offers above and below the best price,
        in missed walks and in other moves; the error of prices from turn `late` on, percent of the
        list price, None without any; how many moves were none.
        """
        regret = self.regrets(moves)
        parts = {"overbid": 0.0, "underbid": 0.0, "missed_walk": 0.0, "other": 0.0}
        errors = []
        for state, values, move, cost in zip(self.states, self.values, moves, regret, strict=True):
            best = values.best(state.obs)
            parts[_error_kind(best, move)] += float(cost) / len(regret)
            error = price_error(values, move, state.obs)
            if error is not None and state.turn + 1 >= self.late:
                errors.append(error)
        mean, low, high = mean_interval(regret)
        return {
            "n": len(regret),
            "regret": {"mean": round(mean, 6), "low": round(low, 6), "high": round(high, 6)},
            "parts": {name: round(part, 6) for name, part in parts.items()},
            "mistakes": round(float((regret > BIG).mean()), 6),
            "price_error": round(float(np.mean(errors)), 6) if errors else None,
            "prices": len(errors),
            "no_move": sum(move is None for move in moves),
        }

    def regrets(self, moves: Sequence[Action | None]) -> np.ndarray:
        """The regret of moves, one in each position, shape (n,); None counts as leaving."""
        return np.array(
            [
                values.regret(WalkAway() if move is None else move)
                for move, values in zip(moves, self.values, strict=True)
            ]
        )

    def of_model(self, player: PlayerSpec) -> dict[str, Any]:
        """`figures_of` the moves of a language model."""
        return self.figures_of(self.moves_of_model(player))

    def moves_of_model(self, player: PlayerSpec) -> list[Action | None]:
        """The moves of a language model, its replies in batches of BATCH."""
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
        return moves

    def _move(self, policy: Policy | str, state: State) -> Action | None:
        task = get_task(state.task)
        player = get_policy(get_task(OPEN), policy) if isinstance(policy, str) else policy
        try:
            return player(state.obs, agent_stream(task, state.seed, task.learner, state.turn))
        except IllegalAction:
            return None


def price_error(values: MoveValues, move: Action | None, obs: Observation) -> float | None:
    """How far an offer is from the best one, % of the list price; None where either is no offer."""
    best = values.best(obs)
    if isinstance(best, Offer) and isinstance(move, Offer):
        return 100 * abs(move.price - best.price) / obs.table.item.list_price
    return None


def _error_kind(best: Action, move: Action | None) -> str:
    """The part of the regret that a move belongs to."""
    if isinstance(best, WalkAway):
        return "missed_walk"
    if isinstance(best, Offer) and isinstance(move, Offer):
        return "overbid" if move.price > best.price else "underbid"
    return "other"
