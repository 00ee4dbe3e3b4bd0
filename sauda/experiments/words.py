"""What words are worth in the open market: two experiments, `words` and `hearing`.

`words`: the planner plays every seed with its ears and its mouth open or shut, against sellers with
the phrases of training and with unseen ones, and with a reader that slips. Beside it stand the
bounds and fixed phrases in the mouth of a script.

`hearing`: any player, a language model too, meets the same games with the words as they are, in
phrases that no training had, without words on either side, and with its ears changed: it hears
prices alone, the words of another game's seller, or those of another type. The seller hears and
does the same throughout. A player whose grade does not fall then does not use the words.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from env import Bazaar, Instance, Move, Observation, Offer, Policy, Task, get_task, market, rupees
from env import speech as spoken
from sauda.experiments.base import experiment
from sauda.experiments.batches import (
    BATCH,
    grades,
    play_cells,
    play_model_batches,
    play_together,
    round_all,
)
from sauda.games import BAZAAR
from sauda.games.bazaar_columns import TUNED
from sauda.llm.model import CACHE
from sauda.llm.registry import bazaar_prompt, get_policy, is_model, models_behind, player_spec
from sauda.policies import BUYERS
from sauda.policies.bazaar import Babbles, Keyed, Quotes, Says
from sauda.policies.listener import Informed, Listener
from sauda.records import read_table
from sauda.records.schemas.base import ModelSource, Record, Rows
from sauda.records.seeds import deal_at, first_seeds
from sauda.records.store import Artifact
from sauda.statistics import difference_of, mean_of

HEARING, OPEN = "hearing.json", "open"
SAMPLE = 40  # games of each player and market that `verify` plays again
PHRASES = (*spoken.PITCHES, "ask_cost", "insult")
CONCEDER = BUYERS["conceder"]
Cell = tuple[str, str]  # a market and a player


# Players ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misreader:
    """A reader that takes each part of a line for another one with the chance `error`.

    `contents` has by topic what may be said about it, by default that of the table of phrases.
    """

    error: float
    hear: Callable[[str], spoken.Speech] = spoken.hear
    contents: Mapping[str, Sequence[str]] | None = None

    def __call__(self, text: str) -> spoken.Speech:
        speech = self.hear(text)
        digest = hashlib.sha256(text.encode()).digest()
        rng = np.random.default_rng(int.from_bytes(digest[:8], "big"))

        def slip(value: str, options: Sequence[str]) -> str:
            wrong = rng.random() < self.error
            return options[rng.integers(len(options))] if value and wrong else value

        keys = self.contents or keys_of_phrases()
        content = slip(speech.content, keys.get(speech.topic, ()))
        cost = speech.cost if content in ("price", "about") else 0
        topic = "" if speech.topic == "cost" and content != "evade" and not cost else speech.topic
        return spoken.Speech(
            slip(speech.style, market.TYPES),
            topic,
            content if topic else "",
            cost,
            slip(speech.mark, market.MARKS),
            slip(speech.reaction, keys["reaction"]),
        )


@cache
def keys_of_phrases() -> Mapping[str, Sequence[str]]:
    """The keys of each family of the table of phrases."""
    keys: dict[str, list[str]] = {}
    for family, key in spoken.phrases("en", "seen"):
        keys.setdefault(family, []).append(key)
    return keys


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
# What is compared, in pairs on the same seeds: what it is the worth of, the better, the worse cell.
WORTH: Sequence[tuple[str, Cell, Cell]] = [
    (row["what"], (row["market"], row["better"]), (row["other_market"], row["worse"]))
    for row in read_table(Path(__file__).with_name("words_compared.csv"))
]


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
    scale, seller = deal.item.list_price / other.item.list_price, other.seller
    voice = replace(
        seller["stance"],
        reservation=round(scale * seller["stance"].reservation),
        cost=round(scale * seller["stance"].cost),
        opening=s.opening,
        unit=s.unit,
    )
    chance = tuple(seller["chance"][t % len(seller["chance"])] for t in range(deal.rounds + 1))
    return voice, {**seller, "chance": chance}


def retell(moves: Sequence[Move], deal: Instance, voice: Voice | None) -> tuple[Move, ...]:
    """The moves of a deal with a seller's words in another voice; without one, its prices alone."""
    retold: list[Move] = []
    bids: list[float] = []
    for place, move in enumerate(moves):
        is_offer = isinstance(move.action, Offer)  # who hears the last words moves no more
        if is_offer and move.agent == "buyer":
            bids.append(move.action.price)
        elif is_offer:
            ask = move.action.price
            line = _line(moves[:place], ask, bids, deal, voice) if voice else f"{rupees(ask)}."
            move = Move(move.agent, replace(move.action, message=line), move.tells)
        retold.append(move)
    return tuple(retold)


def _line(
    before: Sequence[Move], ask: float, bids: Sequence[float], deal: Instance, voice: Voice
) -> str:
    s, seller = voice
    t, chance = len(bids), seller["chance"]
    heard = market.listen(s, before, chance, deal.seller["quote"]) if t else market.Heard()
    standing = max(bids) if bids and bids[-1] < max(bids) else None
    speech = market.speech_at(s, t, seller, heard)
    return spoken.say(speech, ask, standing, chance[t]["line"], seller["language"], "seen")


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


class Words(Record):
    """What words are worth in the open market: reading, speaking, both, fixed phrases, lies."""

    types: list[str]  # type of the seller, one entry per seed
    retreat: float  # most that a bid below the standing one gains
    played: Rows  # one per market and player
    # One per comparison: the paired difference over all games, and by type of the seller.
    worth: Rows


class Hearing(Record):
    """What the seller's words are worth to players: as they are, unseen, absent, or another's."""

    n: int  # hold-out seeds
    models: dict[str, ModelSource]  # the weights, by name
    rows: Rows  # one per player and market, or what the player hears instead


def play(cell: Cell, seeds: Sequence[int]) -> list[float]:
    """The grades of a player in a market, one per seed."""
    task, player = MARKETS[cell[0]], PLAYERS[cell[1]]
    return round_all(grades(task, player(deal_at(task, seed)), [seed])[0] for seed in seeds)


def summarize(played: Mapping[Cell, Sequence[float]], types: Sequence[str]) -> dict[str, Any]:
    """The grades by market and player, and each comparison, also against each type of seller."""
    won, kinds = {cell: np.array(values) for cell, values in played.items()}, np.array(types)
    met = {"all": np.full(len(types), True)} | {name: kinds == name for name in market.TYPES}
    rows = [
        {"market": at, "player": name, "grade": mean_of(won[at, name]), "grades": list(values)}
        for (at, name), values in played.items()
    ]
    worth = [
        {"what": what}
        | {name: difference_of(won[better][at], won[worse][at]) for name, at in met.items()}
        for what, better, worse in WORTH
    ]
    return {"played": rows, "worth": worth}


def renew_grades(
    play: Callable[[Cell, Sequence[int]], list[float]],
    cells: Iterable[Cell],
    rows: Sequence[Mapping[str, Any]],
    workers: int,
) -> dict[Cell, list[float]]:
    """The grades of recorded rows by market and player, the first SAMPLE of `cells` played anew."""
    played = {(row["market"], row["player"]): row["grades"] for row in rows}
    seeds = first_seeds(min(SAMPLE, len(rows[0]["grades"])))
    for cell, renewed in play_cells(play, dict.fromkeys(cells, seeds), workers).items():
        played[cell] = renewed + played[cell][len(seeds) :]
    return played


def replay_words(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Each player's first games played again, all figures computed again from the grades."""
    recorded = artifact.data.as_json()
    played = renew_grades(play, CELLS, recorded["played"], workers)
    return recorded | summarize(played, recorded["types"])


@experiment(
    "words.json",
    Words,
    checks="each player's first games, and every figure",
    method="replayed in part",
    replay=replay_words,
)
def words(episodes: int = 1000, *, workers: int = 2) -> dict[str, Any]:
    """The data of the artifact, from hold-out seeds."""
    seeds = first_seeds(episodes)
    types = [deal_at(MARKETS[OPEN], seed).seller["stance"].type for seed in seeds]
    played = play_cells(play, dict.fromkeys(CELLS, seeds), workers)
    informed = (Informed.of(deal_at(MARKETS[OPEN], seed)) for seed in seeds[:200])
    retreat = max(player.solution.gain_of_retreat for player in informed)
    return {"types": types, "retreat": retreat, **summarize(played, types)}


def play_hearing(cell: Cell, seeds: Sequence[int]) -> list[float]:
    """The grades of any player in a market, one per seed."""
    ears, name = cell
    if is_model(name):
        games = play_together(EARS[ears], player_spec(name), seeds)
        return round_all(game.grade for game in games)
    return round_all(grades(EARS[ears], get_policy(get_task("bazaar/open"), name), seeds))


def cells_of_scripts(names: Sequence[str]) -> list[Cell]:
    """Each market with each script and planner."""
    return list(product(EARS, (name for name in names if not is_model(name))))


def rows_of_hearing(
    players: Sequence[str], played: Mapping[Cell, Sequence[float]]
) -> list[dict[str, Any]]:
    """The rows of all players from their grades."""
    won = {cell: np.array(values) for cell, values in played.items()}
    return [
        {
            "player": name,
            "market": ears,
            "grade": mean_of(won[ears, name]),
            "less": difference_of(won[OPEN, name], won[ears, name]),
            "grades": list(played[ears, name]),
        }
        for name, ears in product(players, EARS)
    ]


def replay_hearing(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The first games of scripts and planners played again, all figures computed again."""
    recorded, players = artifact.data.as_json(), artifact.settings()["players"]
    played = renew_grades(play_hearing, cells_of_scripts(players), recorded["rows"], workers)
    return {"n": recorded["n"], "rows": rows_of_hearing(players, played)}


@experiment(
    HEARING,
    Hearing,
    method="replayed in part",
    checks="the first games of scripts and planners, and every figure; models play none again",
    replay=replay_hearing,
    model_hashes=bazaar_prompt,
)
def hearing(
    players: tuple[str, ...] = (TUNED, "bayesian", "reader", "listener", "mini+sft"),
    episodes: int = 400,  # hold-out seeds, from 50,000
    *,
    workers: int = 2,
) -> dict[str, Any]:
    """The data of the artifact: a row per player and market. ValueError for an unknown player."""
    seeds = first_seeds(episodes)
    for name in players:
        get_policy(get_task("bazaar/open"), name)
    played = play_cells(play_hearing, dict.fromkeys(cells_of_scripts(players), seeds), workers)
    for ears, name in product(EARS, filter(is_model, players)):
        play_model = partial(play_hearing, (ears, name))
        played[ears, name] = play_model_batches(
            name, seeds, BATCH, CACHE / "hearing", play_model, ears
        )
    models = models_behind(players, BAZAAR)
    return {"n": episodes, "models": models, "rows": rows_of_hearing(players, played)}
