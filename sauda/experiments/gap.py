"""Where players of the open market lose against the optimum: uncertainty, inference, control.

One planner splits the gap between a player and the informed oracle, as TERMS-Bench does. What the
planner with the exact belief loses to the oracle is uncertainty: it does not know the seller, and a
better planner might lose less. What it loses when it plays with what the player says that it
believes is inference, and what the player loses to that planner is control. A player that states no
belief counts with the prior, so that its inference and control are split by convention. Games are
also graded by how hard they are.

`Judged` needs fewer games: it gives the regret of moves in the same few hundred positions, by the
planner's values. They come from seeds that no training uses, reached by the planner with action
noise, so many lie off its path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import env
from env.bazaar.prompt import HIGHEST, ask_belief, first_object, unit
from sauda.experiments import batches
from sauda.experiments.base import experiment
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import LEAVE, TUNED
from sauda.llm.model import CACHE
from sauda.llm.registry import (
    PlayerSpec,
    bazaar_prompt,
    get_policy,
    is_model,
    models_behind,
    player_spec,
)
from sauda.llm.turn import attempt_seeds, in_batches, take_turns
from sauda.policies import BUYERS
from sauda.policies.listener import Belief, Informed, Listener, MoveValues, at_opening, believe
from sauda.records.schemas.base import Interval, ModelSource, Record, Row, Rows, Table
from sauda.records.seeds import JUDGED, deal_at, first_seeds, is_unseen_game
from sauda.records.store import ROOT, Artifact, load
from sauda.statistics import difference_of, mean_of, name_interval, pooled_share, wilson_interval

FILE, TASK = "gap.json", "bazaar/open"
PLANNER = Listener()
INSIDE, PICKED = 0.8, 0.7  # what a stated range and a stated type are taken to hold
BINS = ("very easy", "easy", "fair", "hard", "very hard")  # of equal mass

# Stated beliefs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """What a player says that it believes: a range for the seller's limit, rupees, and a type."""

    low: float
    high: float
    seller: str  # one of TYPES


# Of several games at once: what a player states at each observation, None where it states nothing.
States = Callable[[Sequence[env.Observation], Sequence[int]], Sequence[Stated | None]]


def states_of_model(player: PlayerSpec) -> States:
    """The statements of a language model, asked in one batch; None for a reply that holds none."""

    def ask(seen: Sequence[env.Observation], seeds: Sequence[int]) -> list[Stated | None]:
        chats = [ask_belief(obs) for obs in seen]
        replies = player.generate.batch(chats, list(seeds), [None] * len(seen))
        return [read_stated(reply.text, obs) for reply, obs in zip(replies, seen, strict=True)]

    return ask


def states_of_planner(planner: Listener) -> States:
    """The beliefs of a planner, in the words that a model is asked for."""
    return lambda seen, seeds: [Stated(*planner.stated(obs)) for obs in seen]


def read_stated(text: str, obs: env.Observation) -> Stated | None:
    """The belief in a reply to `ask_belief`; None where it holds none."""
    try:
        row = first_object(text)
    except env.IllegalAction:
        return None
    ends = [row.get("low"), row.get("high")]
    if not all(type(end) in (int, float) and 0 <= end <= HIGHEST for end in ends):
        return None
    low, high = sorted(float(end) * unit(obs) / 100 for end in ends)
    seller = str(row.get("seller")).strip().lower()
    return Stated(low, high, seller) if seller in env.TYPES else None


def adopt(obs: env.Observation, now: Belief, stated: Stated | None) -> Belief:
    """The belief of a planner that knows no more than what is stated.

    The stated range and type replace limit and type, all else is the prior after the opening ask.
    `now` tells what the buyer's own words come to with each seller, which is no matter of belief.
    """
    prior = believe(at_opening(obs), reads=False).weights
    if stated is None:
        return replace(now, weights=prior)
    limits, kind = now.sellers.reservation, env.TYPES.index(stated.seller)
    inside = (limits >= stated.low) & (limits <= stated.high)
    if not inside.any():  # a range so narrow that no seller of the sample lies in it
        middle = (stated.low + stated.high) / 2
        inside = np.arange(len(limits)) == np.abs(limits - middle).argmin()
    tails = (1 - INSIDE) / 2
    parts = [
        (inside, INSIDE),
        (~inside & (limits < stated.low), tails),
        (~inside & (limits >= stated.low), tails),
    ]
    weights = _with_mass(prior, parts)
    is_picked = now.sellers.kind == kind
    weights = _with_mass(weights, [(is_picked, PICKED), (~is_picked, 1 - PICKED)])
    return replace(now, weights=weights)


def _with_mass(weights: np.ndarray, parts: Sequence[tuple[np.ndarray, float]]) -> np.ndarray:
    """The weights with so much mass in each part, those without any left out; they sum to 1."""
    shares = np.zeros_like(weights)
    for part, mass in parts:
        if (had := weights[part].sum()) > 0:
            shares[part] = mass * weights[part] / had
    return shares / shares.sum()


# Games --------------------------------------------------------------------------------------------

COUNTS = ("asked", "stated", "held", "width", "right", "own_held", "own_width", "own_right")


def play_believing(seeds: Sequence[int], states: States) -> dict[str, Any]:
    """The planner's games with what a player states at its positions, as columns.

    "grade" has one value per game, COUNTS sums over its positions: widths in list prices, and what
    the planner would have stated itself there, in the positions where the player stated something.
    """
    task = env.get_task(TASK)
    plays = [env.advance(task, task.opponents, env.begin(task, seed)) for seed in seeds]
    counts = {name: [0.0] * len(seeds) for name in COUNTS}
    while running := [i for i, play in enumerate(plays) if task.env.to_act(play.state)]:
        seen = [task.env.observe(plays[i].state, task.learner) for i in running]
        beliefs = states(seen, [plays[i].seed for i in running])
        for i, obs, stated in zip(running, seen, beliefs, strict=True):
            now = believe(obs)
            counts["asked"][i] += 1
            if stated is not None:
                counts["stated"][i] += 1
                seller = plays[i].state.private["seller"]["stance"]
                for prefix, belief in (("", stated), ("own_", Stated(*now.stated()))):
                    for name, value in _score(belief, seller, obs).items():
                        counts[prefix + name][i] += value
            action = PLANNER.decide(adopt(obs, now, stated), obs)
            plays[i] = env.advance(task, task.opponents, env.move(task, plays[i], action))
    return {"grade": [round(task.grade(play.state), 6) for play in plays], **counts}


def _score(stated: Stated, seller: Any, obs: env.Observation) -> dict[str, float]:
    """Whether a range holds the limit, its width in list prices, and whether the type is right."""
    return {
        "held": float(stated.low <= seller.reservation <= stated.high),
        "width": round((stated.high - stated.low) / obs.table.item.list_price, 6),
        "right": float(stated.seller == seller.type),
    }


def measure(name: str, seeds: Sequence[int]) -> dict[str, Any]:
    """A player's own grades, and if it states beliefs also the games with what it states.

    The games with the prior, which are those of all who state nothing, have the name "".
    """
    if not name:
        return play_believing(seeds, lambda seen, _: [None] * len(seen))
    task, states = env.get_task(TASK), None
    if is_model(name):
        model = player_spec(name)
        states = states_of_model(model)
        won = [game.grade for game in batches.play_together(task, model, seeds)]
    else:
        player = get_policy(task, name)
        won = batches.grades(task, player, seeds)
        if isinstance(player, Listener):
            states = states_of_planner(player)
    believing = play_believing(seeds, states) if states else {}
    return {"own": batches.round_all(won), **believing}


# Difficulty ---------------------------------------------------------------------------------------


@cache
def _edges() -> tuple[float, ...]:
    return tuple(load(FILE, ROOT).data.edges)


def difficulty(instance: env.Instance) -> tuple[int, str]:
    """How hard a game of the open market is: its bin, 1 to 5, and why, in words.

    The bins hold a fifth of the games each, by what a buyer expects that knows its seller. To be
    told after the game alone. Raises ArtifactError, with its command, where gap.json is missing.
    """
    place = bin_of(Informed.of(instance).expected, _edges())
    return place, f"{BINS[place - 1]}: {facts(instance)}"


def bin_of(informed: float, edges: Sequence[float]) -> int:
    """The bin, from 1, of a game of which an informed buyer expects so much; `edges` fall."""
    return 1 + sum(informed < edge for edge in edges)


def facts(instance: env.Instance) -> str:
    """What makes a game easy or hard, in words."""
    seller, width = instance.seller["stance"], _width(instance)
    parts = [
        f"a {seller.type} seller" if seller.type != "bluffer" else "a bluffer",
        "with another buyer waiting" if seller.rival else "",
        "short of time" if seller.pressed else "in no hurry",
        f"{width:.0%} of the list price between the limits"
        if width > 0
        else "no price that serves both, so that to leave is right",
    ]
    return ", ".join(filter(None, parts))


def _width(deal: env.Instance) -> float:
    """The span between the limits, in list prices; below 0 where no price serves both."""
    return (deal.buyer["reservation"] - deal.seller["reservation"]) / deal.item.list_price


# One game -----------------------------------------------------------------------------------------


def split_game(turns: Sequence[env.Turn]) -> tuple[float, float]:
    """What a buyer lost by what it believed, and by what it made of that, in expected grades.

    Both are at least 0, sums over its moves among the `turns` of a game of the open market. A move
    loses what the planner's best move is worth more by the exact belief. As much of it as the best
    move by the prior loses too is inference, the rest control.
    """
    inference = control = 0.0
    for turn in (turn for turn in turns if turn.agent == "buyer"):
        obs, now = turn.observation, believe(turn.observation)
        values = PLANNER.values(now, obs)
        lost = values.regret(env.WalkAway() if turn.action is None else turn.action)
        misled = values.regret(PLANNER.decide(adopt(obs, now, None), obs))
        inference += min(lost, misled)
        control += max(0.0, lost - misled)
    return inference, control


class GapRow(Row):
    """One player: its grade, and where it loses against the oracle."""

    bins: list[Interval]  # its grade by difficulty, the easiest first
    beliefs: Row | None  # its stated beliefs; null where it states none


class Gap(Record):
    """Where players lose against the optimum: uncertainty, inference, control, by difficulty."""

    task: str
    n: int  # hold-out seeds
    oracle: Interval  # what the informed oracle expects
    planner: Interval  # the planner's grade with the exact belief
    uncertainty: Interval  # what it loses to the oracle
    edges: list[float]  # informed grades that part the bins, falling
    bins: Rows  # the games by difficulty, the easiest first
    models: dict[str, ModelSource]  # the weights, by name
    rows: Table[GapRow]  # one row per player


def row_of(
    name: str, columns: Mapping[str, Any], planner: np.ndarray, bins: np.ndarray
) -> dict[str, Any]:
    """A player's row from its columns; `bins` says to which one each game belongs."""
    won, adopted = np.array(columns["own"]), np.array(columns["grade"])
    return {
        "player": name,
        "grade": mean_of(won),
        "adopted": mean_of(adopted),  # the planner's grade with the belief that it states
        "inference": difference_of(planner, adopted),
        "control": difference_of(adopted, won),
        "bins": [mean_of(won[bins == place]) for place in range(1, len(BINS) + 1)],
        "beliefs": score_of(columns) if is_model(name) or sum(columns["stated"]) else None,
    }


def score_of(columns: Mapping[str, Any]) -> dict[str, Any]:
    """How good the stated beliefs of some columns are."""
    asked, stated = int(sum(columns["asked"])), np.array(columns["stated"])
    has_stated = stated > 0

    def share(name: str) -> dict[str, float] | None:
        if not has_stated.any():
            return None
        return name_interval(pooled_share(np.array(columns[name])[has_stated], stated[has_stated]))

    return {
        "n": asked,
        "stated": name_interval(wilson_interval(int(stated.sum()), asked)),
        **{name: share(name) for name in COUNTS[2:]},
    }


def describe_bin(name: str, deals: Sequence[env.Instance], informed: np.ndarray) -> dict[str, Any]:
    """What kind of games a bin holds, and what an informed buyer expects of them."""
    sellers = [deal.seller["stance"] for deal in deals]
    widths = np.array([_width(deal) for deal in deals])
    shares = {
        "no_zopa": np.mean(widths <= 0),
        "width": widths[widths > 0].mean() if (widths > 0).any() else 0.0,
        "bluffers": np.mean([seller.type == "bluffer" for seller in sellers]),
        "rivals": np.mean([seller.rival for seller in sellers]),
        "pressed": np.mean([seller.pressed for seller in sellers]),
    }
    shares = {key: round(float(value), 6) for key, value in shares.items()}
    return {"name": name, "n": len(deals), "oracle": mean_of(informed), **shares}


def summarize(
    columns: Mapping[str, Mapping[str, Any]], planner: np.ndarray, seeds: Sequence[int]
) -> dict[str, Any]:
    """The result of the players' columns, and of the planner's grades."""
    deals = [deal_at(env.get_task(TASK), seed) for seed in seeds]
    informed = np.array([Informed.of(deal).expected for deal in deals])
    steps = np.arange(1, len(BINS)) / len(BINS)
    edges = batches.round_all(np.quantile(informed, 1 - steps))
    bins = np.array([bin_of(grade, edges) for grade in informed])
    return {
        "task": TASK,
        "n": len(seeds),
        "oracle": mean_of(informed),
        "planner": mean_of(planner),
        "uncertainty": difference_of(informed, planner),
        "edges": edges,
        "bins": [
            describe_bin(
                name, [deals[i] for i in np.flatnonzero(bins == place)], informed[bins == place]
            )
            for place, name in enumerate(BINS, 1)
        ],
        "rows": [row_of(name, by_game, planner, bins) for name, by_game in columns.items()],
    }


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data computed again; rows of language models are kept."""
    settings = artifact.settings()
    rows = {row["player"]: row for row in artifact.data.as_json()["rows"]}
    scripts = tuple(name for name in settings["players"] if not is_model(name))
    data = gap.function(scripts, settings["episodes"], workers=workers)
    rows |= {row["player"]: row for row in data["rows"]}
    return data | {"rows": [rows[name] for name in settings["players"]]}


PLAYERS = (*BUYERS, LEAVE, TUNED, "bayesian", "speaker", "reader", "listener", "mini+sft")


@experiment(
    FILE,
    Gap,
    method="replayed in part",
    checks="every row of a script or planner; those of language models are not",
    replay=replay,
    model_hashes=bazaar_prompt,
)
def gap(
    players: tuple[str, ...] = PLAYERS,  # names
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: one row per player. Raises ValueError for an unknown one."""
    seeds, scripts = first_seeds(episodes), [name for name in players if not is_model(name)]
    for name in scripts:
        get_policy(env.get_task(TASK), name)
    # The planner splits every gap, so it plays along.
    columns = batches.play_cells(measure, dict.fromkeys(("", "listener", *scripts), seeds), workers)
    for name in filter(is_model, players):
        place, play = CACHE / "gap", partial(measure, name)
        columns[name] = batches.play_model_batches(name, seeds, batches.BATCH, place, play)
    planner = np.array(columns["listener"]["own"])
    columns = {name: columns[""] | columns[name] for name in players}
    return {**summarize(columns, planner, seeds), "models": models_behind(players, BAZAAR)}


# Regret on fixed positions ----------------------------------------------------------------------

Action = env.Offer | env.Accept | env.WalkAway
JUDGED_TASKS = ("bazaar/open", "bazaar/rushed")  # in turn
PLACE = 7  # a stream of its own, apart from the game's: which position of a game is judged
ERROR = 5.0  # action noise up to the position, percent of the list price
LATE = 3  # the turn, from 1, from which the error of prices is reported


@dataclass(frozen=True)
class Position:
    """One position, with what is needed to ask any policy for its move there."""

    task: str
    seed: int
    turn: int  # the learner's, from 0
    obs: env.Observation

    def stream(self) -> np.random.Generator:
        """The learner's random stream there."""
        task = env.get_task(self.task)
        return env.agent_stream(task, self.seed, task.learner, self.turn)


def judged_positions(count: int) -> list[Position]:
    """So many positions: one of each game in JUDGED, its turn drawn apart from the game."""
    positions: list[Position] = []
    for seed in JUDGED:
        task = env.get_task(JUDGED_TASKS[len(positions) % len(JUDGED_TASKS)])
        if not is_unseen_game(task, seed):
            turns = env.rollout(task, Unsteady(PLANNER, ERROR), seed).trajectory(task.learner)
            turn = int(np.random.default_rng([seed, PLACE]).integers(len(turns)))
            positions.append(Position(task.name, seed, turn, turns[turn].observation))
        if len(positions) == count:
            return positions
    raise ValueError(f"too few seeds for {count:,} positions from {JUDGED.start:,}")


@dataclass(frozen=True)
class Unsteady:
    """A buyer whose prices are off by a normal error, in percent of the list price."""

    buyer: env.Policy
    error: float

    def __call__(self, obs: env.Observation, rng: np.random.Generator) -> Action:
        move = self.buyer(obs, rng)
        if not isinstance(move, env.Offer):
            return move
        price = move.price + rng.normal(0, self.error / 100 * obs.table.item.list_price)
        least = obs.bid if obs.bid is not None else 1
        return replace(move, price=max(least, min(obs.priced(price), max(least, obs.budget))))


@dataclass(frozen=True, eq=False)
class Judged:
    """Positions with the value of every move in them."""

    positions: Sequence[Position]
    values: Sequence[MoveValues]

    @classmethod
    def of(cls, count: int) -> "Judged":
        """So many positions with the planner's values: later moves as if it knew the seller."""
        positions = judged_positions(count)
        return cls(positions, [PLANNER.values(believe(s.obs), s.obs) for s in positions])

    def figures_of(self, moves: Sequence[Action | None]) -> dict[str, Any]:
        """The regret of moves, one in each position, None for a reply without one, as if it left.

        A mean regret with its interval, and the mean error of prices from turn LATE on, percent of
        the list price, None without any.
        """
        regret, errors = [], []
        for at, values, move in zip(self.positions, self.values, moves, strict=True):
            regret.append(values.regret(env.WalkAway() if move is None else move))
            error = price_error(values, move, at.obs)
            if error is not None and at.turn + 1 >= LATE:
                errors.append(error)
        return {
            "regret": mean_of(np.array(regret)),
            "price_error": round(float(np.mean(errors)), 6) if errors else None,
        }

    def of_model(self, player: PlayerSpec) -> dict[str, Any]:
        """`figures_of` the moves of a language model, its replies in batches of BATCH."""
        seat, moves = player.seat(BAZAAR), []
        for start in range(0, len(self.positions), batches.BATCH):
            batch = self.positions[start : start + batches.BATCH]
            turns = take_turns(
                [seat] * len(batch),
                [at.obs for at in batch],
                [attempt_seeds(at.stream()) for at in batch],
                in_batches(player.generate),
            )
            moves += [turn.action for turn in turns]
        return self.figures_of(moves)


def price_error(values: MoveValues, move: Action | None, obs: env.Observation) -> float | None:
    """How far an offer is from the best one, % of the list price; None where either is no offer."""
    best = values.best(obs)
    if isinstance(best, env.Offer) and isinstance(move, env.Offer):
        return 100 * abs(move.price - best.price) / obs.table.item.list_price
    return None
