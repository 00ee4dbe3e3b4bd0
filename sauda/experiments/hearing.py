"""What the seller's words are worth to any player, a language model too.

A player meets the same games with the words as they are, in phrases that no training had, without
words on either side, and with its ears changed: it hears prices alone, the words of another game's
seller, or those of another type. The seller hears and does the same throughout. Whoever loses
nothing by that does not read.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from env import Bazaar, Instance, Move, Observation, Offer, Task, get_task, market, rupees
from env import speech as spoken
from sauda.experiments.base import experiment
from sauda.experiments.batches import BATCH, grades, play_cells, play_model_batches, round_all
from sauda.experiments.words import MARKETS
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import TUNED
from sauda.llm.model import CACHE
from sauda.llm.registry import get_policy, is_model, player_spec
from sauda.llm.sources import bazaar_prompt, models_behind
from sauda.llm.turn import new_game, play_games
from sauda.records.schemas.base import Interval, ModelSource, Record
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of

FILE, OPEN = "hearing.json", "open"
SAMPLE = 40  # games of each script and market that `verify` plays again

# Other words --------------------------------------------------------------------------------------

Voice = tuple[market.Stance, Mapping[str, Any]]  # who speaks: a seller, and its private values


def another_type(deal: Instance) -> Voice:
    """The seller of a deal, speaking and answering as a seller of another type would."""
    s = deal.seller["stance"]
    kinds = len(market.TYPES)
    return replace(s, kind=(s.kind + 1 + s.reservation % (kinds - 1)) % kinds), deal.seller


def another_game(deal: Instance) -> Voice:
    """The seller of a game that has nothing to do with a deal, at the deal's prices."""
    s = deal.seller["stance"]
    rng = np.random.default_rng([s.reservation, s.opening, deal.buyer["reservation"]])
    (other,) = market.draw(market.MARKETS[OPEN], rng)
    scale, own = deal.item.list_price / other.item.list_price, other.seller
    voice = replace(
        own["stance"],
        reservation=round(scale * own["stance"].reservation),
        cost=round(scale * own["stance"].cost),
        opening=s.opening,
        unit=s.unit,
    )
    chance = tuple(own["chance"][t % len(own["chance"])] for t in range(deal.rounds + 1))
    return voice, {**own, "chance": chance}


def retell(moves: Sequence[Move], deal: Instance, voice: Voice | None) -> tuple[Move, ...]:
    """The moves of a deal with a seller's words in another voice; without one, its prices alone."""
    told: list[Move] = []
    bids: list[float] = []
    for place, one in enumerate(moves):
        is_offer = isinstance(one.action, Offer)  # who hears the last words moves no more
        if is_offer and one.agent == "buyer":
            bids.append(one.action.price)
        elif is_offer:
            ask = one.action.price
            line = _line(moves[:place], ask, bids, deal, voice) if voice else f"{rupees(ask)}."
            one = Move(one.agent, replace(one.action, message=line), one.tells)
        told.append(one)
    return tuple(told)


def _line(
    before: Sequence[Move], ask: float, bids: Sequence[float], deal: Instance, voice: Voice
) -> str:
    s, own = voice
    t, chance = len(bids), own["chance"]
    heard = market.listen(s, before, chance, deal.seller["quote"]) if t else market.Heard()
    standing = max(bids) if bids and bids[-1] < max(bids) else None
    speech = market.speech_at(s, t, own, heard)
    return spoken.say(speech, ask, standing, chance[t]["line"], own["language"], "seen")


@dataclass(frozen=True)
class Retold(Bazaar):
    """The open market for a buyer that hears other words than are said; the seller does not know.

    `voice` says whose; None for no words at all.
    """

    voice: Callable[[Instance], Voice] | None = None

    def observe(self, state: Any, agent: str) -> Observation:
        seen = super().observe(state, agent)
        if agent == "seller":
            return seen
        (deal,) = state.private["nature"]
        voice = self.voice(deal) if self.voice else None
        return replace(seen, table=seen.table._replace(moves=retell(seen.table.moves, deal, voice)))


def with_words(voice: Callable[[Instance], Voice] | None) -> Task:
    """The open market with other words in the buyer's ears."""
    task = get_task("bazaar/open")
    env = task.env
    return replace(task, env=Retold(env.draw, env.rounds, standing=env.standing, voice=voice))


EARS: Mapping[str, Task] = {
    **{name: MARKETS[name] for name in (OPEN, "unseen", "mute")},
    "words removed": with_words(None),
    "words of another game": with_words(another_game),
    "words of another type": with_words(another_type),
}


# Result -------------------------------------------------------------------------------------------


class HeardRow(Record):
    """One player in one market."""

    player: str
    market: str  # open, unseen phrases, mute, or what the player hears instead
    grade: Interval  # mean grade
    less: Interval  # its grade in open less this one, paired by seed
    grades: list[float]  # one grade per seed


class Hearing(Record):
    """What the seller's words are worth to players: as they are, unseen, absent, or another's."""

    n: int  # hold-out seeds
    models: dict[str, ModelSource]  # the weights, by name
    rows: list[HeardRow]  # one row per player and market


# Computation --------------------------------------------------------------------------------------


def play(cell: tuple[str, str], seeds: Sequence[int]) -> list[float]:
    """The grades of a script or planner in a market, one per seed."""
    name, ears = cell
    return round_all(grades(EARS[ears], get_policy(get_task("bazaar/open"), name), seeds))


def play_model(name: str, ears: str, seeds: Sequence[int]) -> list[float]:
    """The grades of a language model, its games in batches kept on disk."""
    player = player_spec(name)

    def play_some(some: Sequence[int]) -> list[float]:
        games = [new_game(EARS[ears], seed) for seed in some]
        play_games(games, player)
        return round_all(game.grade for game in games)

    return play_model_batches(name, seeds, BATCH, CACHE / "hearing", play_some, ears)


def play_scripts(
    names: Sequence[str], seeds: Sequence[int], workers: int
) -> dict[tuple[str, str], list[float]]:
    """The grades of scripts and planners by player and market."""
    scripts = [name for name in names if not is_model(name)]
    return play_cells(play, product(scripts, EARS), seeds, workers)


def summarize(
    players: Sequence[str], played: Mapping[tuple[str, str], Sequence[float]]
) -> list[dict[str, Any]]:
    """The rows of all players from their grades."""
    won = {cell: np.array(values) for cell, values in played.items()}
    return [
        {
            "player": name,
            "market": ears,
            "grade": mean_of(won[name, ears]),
            "less": difference_of(won[name, OPEN], won[name, ears]),
            "grades": list(played[name, ears]),
        }
        for name, ears in product(players, EARS)
    ]


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The first games of scripts and planners played again, all figures computed again."""
    recorded, players = artifact.data.as_json(), artifact.settings()["players"]
    played = {(row["player"], row["market"]): row["grades"] for row in recorded["rows"]}
    seeds = first_seeds(min(SAMPLE, recorded["n"]))
    again = play_scripts(players, seeds, workers)
    played |= {cell: some + played[cell][len(seeds) :] for cell, some in again.items()}
    return {"n": recorded["n"], "rows": summarize(players, played)}


@experiment(
    FILE,
    Hearing,
    method="replayed in part",
    checks="the first games of scripts and planners, and every figure; models play none again",
    replay=replay,
    model_hashes=bazaar_prompt,
)
def hearing(
    players: tuple[str, ...] = (TUNED, "bayesian", "reader", "listener", "mini+sft"),
    episodes: int = 100,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: a row per player and market. ValueError for an unknown player."""
    seeds = first_seeds(episodes)
    for name in players:
        get_policy(get_task("bazaar/open"), name)
    played = play_scripts(players, seeds, workers)
    for name, ears in product(filter(is_model, players), EARS):
        played[name, ears] = play_model(name, ears, seeds)
    models = models_behind(players, BAZAAR)
    return {"n": episodes, "models": models, "rows": summarize(players, played)}
