"""How buyers behave towards people: sellers of twelve habits, whom no training has met.

A visitor of the page concedes evenly or late, stands, lies, apologises. Each habit sells in the
games of `bazaar/people`, and says sentences of its own. A model's lines are judged too: a fault is
a line that names another price than the bid, says what was said before, claims what the buyer does
not know, answers a step of the seller that was not made, or gives its limit away.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import env
from sauda.experiments.base import experiment
from sauda.experiments.role_play import Recorded
from sauda.language.faults import FAULTS, faults_in
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import BatchGenerate
from sauda.played import models_behind, play_together
from sauda.players import SERVED, get_policy, is_model, player_spec
from sauda.records import progress
from sauda.records.seeds import deal_at, first_seeds
from sauda.records.store import Artifact
from sauda.statistics import exact_share, mean_of

TASK = "bazaar/people"
OFTEN = 2  # times in a row that a price may be named to somebody who concedes


class Habit(NamedTuple):
    """A seller: where it opens, times the list price, how it goes on, and what it says."""

    opening: float
    goes_on: Callable[[env.Observation], float]  # its next ask, before it is held to what is legal
    says: tuple[str, ...]


def by(share: float, every: int = 1) -> Callable[[env.Observation], float]:
    """Has given so large a share of its room at the end, in equal steps, one in `every` rounds."""

    def next_ask(obs: env.Observation) -> float:
        given = share * (obs.round // every) * every / obs.table.rounds
        return obs.opening_ask - given * (obs.opening_ask - obs.reservation)

    return next_ask


def late(obs: env.Observation) -> float:
    """Stands, and in the last two rounds halves what is left to its reservation price."""
    return (obs.ask + obs.reservation) / 2 if obs.table.rounds - obs.round < 2 else obs.ask


def mirror(obs: env.Observation) -> float:
    """Falls by the buyer's last rise."""
    bids = obs.table.bids
    return obs.ask - (max(0, bids[-1] - max(bids[:-1])) if len(bids) > 1 else 0)


def splitter(obs: env.Observation) -> float:
    """The middle between its ask and the best bid."""
    return (obs.ask + obs.bid) / 2


HABITS: Mapping[str, Habit] = {
    "concedes evenly": Habit(1.0, by(1.0), ("Take it, I came down.", "A bit less, then.")),
    "concedes late": Habit(1.0, late, ("Let us see.", "I have time.")),
    "wall": Habit(1.0, by(0.0), ("That is my price.", "It stays as it is.")),
    "mirrors": Habit(1.1, mirror, ("You move, I move.", "As you do, so do I.")),
    "splits": Habit(1.0, splitter, ("Let's meet in the middle.", "Half and half.")),
    "opens absurdly": Habit(3.0, by(1.0), ("It is precious.", "Fine, less.")),
    "apologises": Habit(1.0, by(0.6), ("Sorry, that's the best I can do.", "So sorry, truly.")),
    "argues": Habit(1.0, by(1.0, 2), ("Look how well it is made!", "You know it is worth it.")),
    "talks without a price": Habit(1.0, by(0.9, 2), ("How was your way here?", "Hot today!")),
    "lies": Habit(1.05, by(0.8), ("Someone offered me more an hour ago.", "I paid more myself.")),
    "deadline": Habit(1.0, by(0.9), ("I close in five minutes.", "Quick, I have to go.")),
    "insults": Habit(1.0, by(0.8), ("Don't waste my time.", "Is that a joke?")),
}


@dataclass(frozen=True)
class Visitor:
    """A seller of one habit. It takes a bid that meets its next ask, and at the end any gain."""

    habit: str

    def __call__(
        self, obs: env.Observation, rng: np.random.Generator
    ) -> env.Offer | env.Accept | env.WalkAway:
        habit, least = HABITS[self.habit], obs.reservation
        if not obs.table.asks:
            ask = max(least, round(habit.opening * obs.table.item.list_price))
        else:
            ask = min(obs.ask, max(least, round(habit.goes_on(obs))))
            last = obs.round >= obs.table.rounds
            if obs.bid >= ask or (last and obs.bid >= least):
                return env.Accept()
            if self.habit == "deadline" and obs.round == 4:
                return env.WalkAway("I have to go now.")
        says = habit.says[obs.round % len(habit.says)]
        return env.Offer(ask, f"{says} {env.rupees(ask)}.")


def task_of(habit: str) -> env.Task:
    """The game with people, a seller of the habit in the other seat."""
    return replace(env.get_task(TASK), opponents={"seller": Visitor(habit)})


# What is measured ---------------------------------------------------------------------------------


class Figures(NamedTuple):
    """What one game comes to."""

    possible: bool  # whether both sides could gain
    deal: bool
    share: float  # of what there was to share
    steady: bool  # whether no price was named more than OFTEN times in a row
    conceded: int  # answers to a fall of the ask ...
    answered: int  # ... that rise or accept
    refused: bool  # whether it ended without a deal at a last ask within the buyer's limit
    lines: int
    faults: Mapping[str, int]


def measure(game: env.Episode) -> Figures:
    """The figures of a game that is over."""
    deal = deal_at(env.get_task(TASK), game.seed)
    limit = deal.buyer["reservation"]
    table, conceded, answered, lines, faults = game.final.table, 0, 0, 0, Counter()
    for turn in game.turns:
        if turn.agent != "buyer":
            continue
        if turn.observation.drop:
            rises = isinstance(turn.action, env.Offer) and turn.action.price > turn.observation.bid
            conceded, answered = (
                conceded + 1,
                answered + (rises or isinstance(turn.action, env.Accept)),
            )
        if isinstance(turn.action, env.Offer) and turn.action.message:
            lines += 1
            faults.update(faults_in(turn.observation, turn.action))
    price = table.past[0].price if table.past else None
    return Figures(
        possible=limit > deal.seller["reservation"],
        deal=price is not None,
        share=env.shares(game.final, "buyer")[0],
        steady=max((len(list(run)) for _, run in groupby(table.bids)), default=0) <= OFTEN,
        conceded=conceded,
        answered=answered,
        refused=price is None and bool(table.asks) and table.asks[-1] <= limit,
        lines=lines,
        faults=faults,
    )


Cell = tuple[str, str]  # a player and a habit


def rows_of(played: Mapping[Cell, Sequence[Figures]]) -> list[dict[str, Any]]:
    """A row per player and habit, and after them one over all habits."""
    names = dict.fromkeys(player for player, _ in played)
    return [
        _row(name, habit, [game for key in habits for game in played[name, key]])
        for name in names
        for habit, habits in [*((key, [key]) for key in HABITS), ("all", list(HABITS))]
    ]


def _row(player: str, habit: str, games: Sequence[Figures]) -> dict[str, Any]:
    possible = [game for game in games if game.possible]
    lines, conceded = (sum(getattr(game, name) for game in games) for name in ("lines", "conceded"))
    faults = sum((Counter(game.faults) for game in games), Counter())
    return {
        "player": player,
        "habit": habit,
        "n": len(games),
        "possible": len(possible),
        "deals": exact_share(sum(game.deal for game in possible), len(possible)),
        "share": mean_of(np.array([game.share for game in possible])),
        "steady": exact_share(sum(game.steady for game in games), len(games)),
        "answered": exact_share(sum(game.answered for game in games), conceded),
        "refused": sum(game.refused for game in possible),
        "lines": lines,
        "faults": {name: faults[name] for name in FAULTS},
        "per_thousand": round(1000 * faults.total() / lines, 2) if lines else None,
    }


def play_model(
    model: BatchGenerate, habit: str, seeds: Sequence[int]
) -> tuple[list[Figures], list[str]]:
    """The figures of a bare model's games, played together, and its replies as they came."""
    task = task_of(habit)
    games = play_together(task, PlayerSpec(model), seeds)
    rounds = zip_longest(*([turn.reply.text for turn in game.turns] for game in games))
    texts = [text for replies in rounds for text in replies if text is not None]
    return [measure(env.episode(task, game.play)) for game in games], texts


def summarize(
    players: Sequence[str], seeds: Sequence[int], models: Callable[[str, str], BatchGenerate]
) -> dict[str, Any]:
    """Rows and replies; `models` gives what replies for a model and a habit."""
    played, replies = {}, []
    cells = list(product(players, HABITS))
    for name, habit in progress(cells, len(cells), "playing", "habit"):
        if is_model(name):
            played[name, habit], texts = play_model(models(name, habit), habit, seeds)
            replies.append({"player": name, "habit": habit, "texts": texts})
        else:
            policy, task = get_policy(env.get_task(TASK), name), task_of(habit)
            played[name, habit] = [measure(env.rollout(task, policy, seed)) for seed in seeds]
    return {"rows": rows_of(played), "replies": replies}


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every game played again, the models' from their recorded replies; no weights are needed."""
    settings, recorded = artifact.settings(), artifact.data.as_json()
    texts = {(row["player"], row["habit"]): row["texts"] for row in recorded["replies"]}
    return summarize(
        settings["players"],
        first_seeds(settings["games"]),
        lambda name, habit: Recorded(iter(texts[name, habit])),
    )


@experiment("manners.json")
def manners(
    players: tuple[str, ...] = (SERVED, "bayesian", "listener", "tuned", "conceder", "linear"),
    games: int = 40,  # hold-out seeds for each habit
) -> dict[str, Any]:
    """The data of the artifact. ValueError for an unknown player."""
    for name in players:
        get_policy(env.get_task(TASK), name)
    made = summarize(players, first_seeds(games), lambda name, habit: player_spec(name).generate)
    return made | {"models": models_behind(players, "people")}
