"""What words are worth in the open market: reading, speaking, and both.

The planner plays every seed with its ears and its mouth open or shut, against sellers with the
phrases of training and with unseen ones, and with a reader that slips. Beside it stand the bounds
and fixed phrases in the mouth of a script.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from env import Policy, Task, market
from env import speech as spoken
from sauda.experiments.base import experiment, rows_of
from sauda.experiments.batches import grades, play_cells, round_all
from sauda.policies import BUYERS
from sauda.policies.listener import Informed, Listener
from sauda.policies.talk import Babbles, Keyed, Quotes, Says
from sauda.records.schemas.base import Interval, Record
from sauda.records.seeds import deal_at, first_seeds
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of

PHRASES = (*spoken.PITCHES, "ask_cost", "insult")
CONCEDER = BUYERS["conceder"]


# Players ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misreader:
    """A reader that takes each part of a line for another one with the chance `error`."""

    error: float

    def __call__(self, text: str) -> spoken.Speech:
        speech = spoken.hear(text)
        digest = hashlib.sha256(text.encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))

        def slip(value: str, options: Sequence[str]) -> str:
            wrong = rng.random() < self.error
            return options[rng.integers(len(options))] if value and wrong else value

        words = spoken.phrases("en", "seen")
        contents = [key for family, key in words if family == speech.topic]
        content = slip(speech.content, contents)
        cost = speech.cost if content in ("price", "about") else 0
        topic = "" if speech.topic == "cost" and content != "evade" and not cost else speech.topic
        return spoken.Speech(
            slip(speech.style, market.TYPES),
            topic,
            content if topic else "",
            cost,
            slip(speech.mark, market.MARKS),
            slip(speech.reaction, [key for family, key in words if family == "reaction"]),
        )


def always(policy: Policy) -> Callable[[Any], Policy]:
    """A player that is the same in every game."""
    return lambda instance: policy


def tell(instance: Any, names: tuple[str, ...]) -> Policy:
    """The planner that is told some hidden values: no contestant, a yardstick."""
    return Listener(told=names, truth=instance.seller["stance"])


PLANNERS: Mapping[str, Listener] = {
    "numbers": Listener(reads=False, speaks=False),
    "reads": Listener(speaks=False),
    "speaks": Listener(reads=False),
    "both": Listener(),
    "both, no questions": Listener(asks=False),
    "prior": Listener(reads=False, speaks=False, learns=False),
    "both, 10 % misread": Listener(read=Misreader(0.1)),
    "both, 20 % misread": Listener(read=Misreader(0.2)),
}
PLAYERS: Mapping[str, Callable[[Any], Policy]] = {
    **{name: always(planner) for name, planner in PLANNERS.items()},
    "both, told the type": partial(tell, names=("kind",)),
    "both, told all": partial(tell, names=("kind", "reservation", "pressed", "rival", "flaw")),
    "oracle, silent": partial(Informed.of, speaks=False),
    "oracle": Informed.of,
    **{name: always(BUYERS[name]) for name in ("boulware", "linear", "conceder")},
    "conceder, says the key": always(Keyed(CONCEDER)),
    **{
        f"conceder, says {act}": always(Says(CONCEDER, spoken.buyer_line(act, 0, 0.0)))
        for act in PHRASES
        if act != "outside"
    },
    "conceder, says outside": always(Quotes(CONCEDER, honest=True)),
    "conceder, lies": always(Quotes(CONCEDER, honest=False)),
    "conceder, babbles": always(Babbles(CONCEDER)),
}
MARKETS: Mapping[str, Task] = {
    "open": market.market_task("open", market.MARKETS["open"]),
    "unseen": market.market_task("open", replace(market.MARKETS["open"], use="unseen")),
    "mute": market.market_task("mute", market.MARKETS["mute"]),
    "rushed": market.market_task("rushed", market.MARKETS["rushed"]),
}
CELLS = (
    *(("open", player) for player in PLAYERS),
    *(("unseen", player) for player in ("reads", "both", "conceder, says the key")),
    *(("mute", player) for player in ("numbers", "both")),
    *(("rushed", player) for player in ("conceder", "numbers", "reads", "both", "oracle")),
)
# What is compared, in pairs on the same seeds: the worth of it, the better and the worse cell.
WORTH: Sequence[tuple[str, tuple[str, str], tuple[str, str]]] = (
    ("reading", ("open", "reads"), ("open", "numbers")),
    ("speaking, for one that reads", ("open", "both"), ("open", "reads")),
    ("reading and speaking", ("open", "both"), ("open", "numbers")),
    ("asking", ("open", "both"), ("open", "both, no questions")),
    ("reading, unseen phrases", ("unseen", "reads"), ("open", "numbers")),
    ("reading and speaking, unseen phrases", ("unseen", "both"), ("open", "numbers")),
    ("reading and speaking, 10 % misread", ("open", "both, 10 % misread"), ("open", "numbers")),
    ("reading and speaking, 20 % misread", ("open", "both, 20 % misread"), ("open", "numbers")),
    ("reading and speaking, mute market", ("mute", "both"), ("mute", "numbers")),
    ("reading, rushed", ("rushed", "reads"), ("rushed", "numbers")),
    ("reading and speaking, rushed", ("rushed", "both"), ("rushed", "numbers")),
    ("knowing the seller", ("open", "oracle"), ("open", "both")),
    ("the type, told", ("open", "both, told the type"), ("open", "both")),
    ("all that words may tell, told", ("open", "both, told all"), ("open", "both")),
    ("learning from prices", ("open", "numbers"), ("open", "prior")),
    ("the key, for a script", ("open", "conceder, says the key"), ("open", "conceder")),
    *(
        (name.removeprefix("conceder, "), ("open", name), ("open", "conceder"))
        for name in PLAYERS
        if name.startswith("conceder, ") and not name.endswith("the key")
    ),
)


# Result -------------------------------------------------------------------------------------------


class Played(Record):
    """One player in one market."""

    market: str  # open, open with unseen phrases, mute or rushed
    player: str
    grade: Interval  # mean grade
    grades: list[float]  # one grade per seed


class Worth(Record):
    """A difference of two players, paired by seed: over all games, and by type of the seller."""

    what: str  # what the difference is the worth of
    all: Interval
    firm: Interval
    fair: Interval
    hasty: Interval
    bluffer: Interval


class Words(Record):
    """What words are worth in the open market: reading, speaking, both, fixed phrases, lies."""

    types: list[str]  # type of the seller, one entry per seed
    retreat: float  # most that a bid below the standing one gains
    played: list[Played]  # one row per market and player
    worth: list[Worth]  # one row per comparison


# Computation --------------------------------------------------------------------------------------


def play(cell: tuple[str, str], seeds: Sequence[int]) -> list[float]:
    """The grades of a player in a market, one per seed."""
    task, player = MARKETS[cell[0]], PLAYERS[cell[1]]
    return round_all(grades(task, player(deal_at(task, seed)), [seed])[0] for seed in seeds)


def summarize(
    played: Mapping[tuple[str, str], Sequence[float]], types: Sequence[str]
) -> dict[str, Any]:
    """The grades by market and player, and each comparison, also against each type of seller."""
    won, kinds = {cell: np.array(values) for cell, values in played.items()}, np.array(types)
    met = {"all": np.full(len(types), True)} | {name: kinds == name for name in market.TYPES}
    rows = [
        {"market": cell[0], "player": cell[1], "grade": mean_of(won[cell]), "grades": list(values)}
        for cell, values in played.items()
    ]
    worth = [
        {"what": what}
        | {name: difference_of(won[better][some], won[worse][some]) for name, some in met.items()}
        for what, better, worse in WORTH
    ]
    return {"played": rows, "worth": worth}


SAMPLE = 40  # games of each player that `verify` plays again


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Each player's first games played again, all figures computed again from the grades."""
    recorded = artifact.data.as_json()
    seeds = first_seeds(min(SAMPLE, artifact.config["episodes"]))
    played = play_cells(play, CELLS, seeds, workers)
    for row in recorded["played"]:
        played[row["market"], row["player"]] += row["grades"][len(seeds) :]
    return recorded | summarize(played, recorded["types"])


@experiment(
    "words.json",
    Words,
    checks="each player's first games, and every figure",
    method="replayed in part",
    replay=replay,
    table=rows_of("worth"),
)
def words(episodes: int = 1000, *, workers: int = 2) -> dict[str, Any]:
    """The data of the artifact, from hold-out seeds."""
    seeds = first_seeds(episodes)
    types = [deal_at(MARKETS["open"], seed).seller["stance"].type for seed in seeds]
    played = play_cells(play, CELLS, seeds, workers)
    informed = (Informed.of(deal_at(MARKETS["open"], seed)) for seed in seeds[:200])
    retreat = max(player.solution.gain_of_retreat for player in informed)
    return {"types": types, "retreat": retreat, **summarize(played, types)}
