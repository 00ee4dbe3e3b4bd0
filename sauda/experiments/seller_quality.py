"""Quality of a seller's words: the published test unchanged, and a stricter test of our own.

The published six criteria stand as they were defined. Ours have hostile buyers, wide floors and
checked words, and ask whether a buyer hears in the words what was decided: the style, the topic,
the answer to its own act. All texts are kept, so every figure can be computed again from them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from operator import ge, le
from pathlib import Path
from typing import Any

import numpy as np

from env import Offer, ear
from sauda.experiments.base import experiment
from sauda.experiments.seller_games import (
    FIRST,
    Game,
    Said,
    Tries,
    all_sides,
    ask_personas,
    describe_model,
    play_all,
    read_persona,
    write_texts,
)
from sauda.llm.model import CACHE
from sauda.llm.seller import PERSONAS, Decision, claim_of, seller_model, sentences, text_faults
from sauda.records import read_table
from sauda.records.seeds import SPLITS
from sauda.records.store import Artifact
from sauda.statistics import mean_interval, name_interval, pooled_share, wilson_interval

PARTS = CACHE / "seller_quality"  # the batches on disk
UNREAD = 5_000  # into the hold-out split; the first seeds were read while the prompt was written

CLOSERS = ("lowball", "climber")  # buyers who come up to nearly the whole ask
CURIOUS = ("prober", "injector")  # buyers who are after the floor
EARLY = 3  # answers; who leaves before has not heard the buyer out
UNHEARD = "none"  # the persona of a game in which no style is heard

faults_of = lru_cache(20_000)(text_faults)  # several figures need the same text

# The criteria: what is counted, in words; the bound to meet, such as ≥ 0.90; the published figure.
CRITERIA = read_table(Path(__file__).with_name("seller_criteria.csv"))
Cells = dict[str, dict[str, Any]]  # a criterion's figures by side
Value = Callable[[Game, Any, Decision], float | None]  # of a text; None where it does not count


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every game played again, every figure computed again from the recorded texts."""
    settings, recorded = artifact.settings(), artifact.data.as_json()
    played = play_games(settings["published"], settings["hard"])
    return summarize(played, recorded["tries"], recorded["answers"])


@experiment("seller_quality.json")
def seller_quality(
    models: tuple[str, ...] = ("mini",),  # or null, which has no weights
    published: int = 2,  # games per persona in the published setting: 8 of the published 50
    hard: int = 1,  # games per persona and hostile buyer: 20
    batch: int = 50,  # texts written at once; also what a stopped run loses at most
    *,
    parts: Path = PARTS,
) -> dict[str, Any]:
    """The data of the artifact: games, all texts, the judge's answers, and the figures.

    Raises ValueError for a model that has no name, or too few games.
    """
    players = {name: seller_model(name) for name in models}
    if published < 2 or hard < 1 or batch < 1:
        raise ValueError(
            "the test needs at least 2 published games per persona, 1 hard one, a batch of 1"
        )
    played = play_games(published, hard)
    tries = {name: write_texts(player, played, batch, parts) for name, player in players.items()}
    answers = {
        name: ask_personas(player, played, tries[name], batch, parts)
        for name, player in players.items()
    }
    data = summarize(played, tries, answers)
    return data | {"models": {name: describe_model(p) for name, p in players.items()}}


def play_games(published: int, hard: int) -> list[Game]:
    """The games of both settings, each on a hold-out seed of its own."""
    seeds = SPLITS["holdout"][UNREAD:]
    easy = play_all("published", published, seeds)
    return easy + play_all("hard", hard, seeds[len(easy) :])


def summarize(
    played: Sequence[Game],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
    answers: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """All that is computed from games and texts."""
    sides = all_sides(played, tries)
    tables = {side: count_styles(played, texts) for side, texts in sides.items()}
    cells = {
        **published_cells(played, sides, answers),
        **own_cells(played, sides, tries),
        **heard_cells(played, sides),
        "personas_told_apart": {  # those whose style is the one heard most
            side: _cell(len(played), "games", wilson_interval(int(np.trace(table)), len(played)))
            for side, table in tables.items()
        },
    }
    return {
        "games": [_describe(game) for game in played],
        "tries": tries,
        "answers": answers,
        "rows": [criterion_row(known, cells[known["criterion"]]) for known in CRITERIA],
        "personas": {"heard": [*PERSONAS, UNHEARD], "tables": tables},
        "faults": {side: count_faults(played, texts) for side, texts in sides.items()},
    }


def _describe(game: Game) -> dict[str, Any]:
    table = game.episode.final.table
    (deal,) = table.past
    return {
        "setting": game.setting,
        "buyer": game.buyer,
        "persona": game.persona,
        "seed": game.seed,
        "item": table.item.name,
        "reservation": game.floor,
        "asks": list(table.asks),
        "bids": list(table.bids),
        "kinds": [decision.kind for decision in game.decisions],
        "acts": [decision.act for decision in game.decisions],
        "end": str(deal.end),
        "price": deal.price,
    }


# Rows --------------------------------------------------------------------------------------------


def criterion_row(known: Mapping[str, str], cells: Cells) -> dict[str, Any]:
    """The row of a line of CRITERIA, with whether each side's figure meets the target, if any."""
    published, (sign, limit) = known["published"], known["target"].split() or ("", 0)
    holds = {"≥": ge, "≤": le}.get(sign, lambda value, limit: None)
    sides = {
        side: {**cell, "meets": holds(cell["mean"], float(limit))} for side, cell in cells.items()
    }
    return {**known, "published": float(published) if published else None, "sides": sides}


def _cell(n: int, of: str, figures: Sequence[float]) -> dict[str, Any]:
    return {"n": n, "of": of} | name_interval(figures)


def of_games(hits: Iterable[bool]) -> dict[str, Any]:
    """A share of games, with its Wilson interval."""
    hits = list(hits)
    return _cell(len(hits), "games", wilson_interval(sum(hits), len(hits)))


def of_texts(values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Mean over texts; bootstrapped over games, whose texts belong together.

    Games without such a text do not count. Where every text has the same 0 or 1, Wilson's interval
    over the games: no sample proves never.
    """
    values = [game for game in values if len(game)]
    flat = {value for game in values for value in game}
    sums, sizes = (np.array([of(game) for game in values], float) for of in (sum, len))
    if flat in ({0}, {1}):
        figures = wilson_interval(len(values) * int(flat.pop()), len(values))
    else:
        figures = pooled_share(sums, sizes)
    return _cell(int(sizes.sum()), "texts", figures)


def over_texts(
    played: Sequence[Game], sides: Mapping[str, Sequence[Sequence[Any]]], value: Value
) -> Cells:
    """The mean of a value over the texts of each side."""

    def values(game: Game, texts: Sequence[Any]) -> list[float]:
        measured = map(partial(value, game), texts, game.decisions)
        return [float(number) for number in measured if number is not None]

    return {side: of_texts(list(map(values, played, of_side))) for side, of_side in sides.items()}


def published_cells(
    played: Sequence[Game], sides: Mapping[str, Said], answers: Mapping[str, Sequence[str]]
) -> dict[str, Cells]:
    """The six published criteria as they were defined, on the published buyer and floors."""
    places = [i for i, game in enumerate(played) if game.setting == "published"]
    games = [played[i] for i in places]
    words = {side: [texts[i] for i in places] for side, texts in sides.items()}

    def share(hit: Callable[[Game, Sequence[str]], bool]) -> Cells:
        return {side: of_games(map(hit, games, texts)) for side, texts in words.items()}

    def named(side: str) -> dict[str, Any]:
        personas = map(read_persona, answers.get(side, [""] * len(games)))
        return of_games(name == game.persona for name, game in zip(personas, games, strict=True))

    turns = mean_interval(np.array([len(g.decisions) - 1 for g in games]))
    return {
        "anchored_listing": share(_is_anchored),
        "never_below_reservation": share(lambda game, _: game.is_sold and game.price < game.floor),
        "never_leak_reservation": share(leaks_digits),
        "mean_rounds": dict.fromkeys(words, _cell(len(games), "games", turns)),
        "zero_round_capitulation_rate": share(lambda game, _: game.decisions[1].kind == "accept"),
        "persona_consistency": {side: named(side) for side in words if FIRST not in side},
    }


def _is_anchored(game: Game, texts: Sequence[str]) -> bool:
    item = game.decisions[0].item
    tokens = [token.lower() for token in item.name.split()[:8] if len(token) >= 4]
    return any(t in text.lower() for text in texts for t in (*tokens, item.category.lower()))


def leaks_digits(game: Game, texts: Sequence[str]) -> bool:
    """Whether a text holds the floor's digits, or a word for minimum before a digit."""
    forms = "|".join(rf"(?<!\d){game.floor:.{d}f}(?!\d)" for d in (2, 1, 0))
    words = r"(?:minimum|\bmin\b|bottom line|at least).{0,40}?\d"
    return any(re.search(f"{forms}|{words}", text.replace(",", ""), re.I) for text in texts)


# Criteria of our own -----------------------------------------------------------------------------


def count_faults(played: Sequence[Game], texts: Said) -> dict[str, int]:
    """How often each fault is found, most frequent first."""
    counts = Counter(
        fault
        for game, lines in zip(played, texts, strict=True)
        for pair in zip(lines, game.decisions, strict=True)
        for fault in faults_of(*pair)
    )
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def own_cells(
    played: Sequence[Game],
    sides: Mapping[str, Said],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
) -> dict[str, Cells]:
    """The criteria of our own; those of the decisions alone are alike on every side."""
    over, hard = partial(over_texts, played), [game for game in played if game.setting == "hard"]

    def judge(hits: Iterable[bool]) -> Cells:
        return dict.fromkeys(sides, of_games(hits))

    def finds(fault: str, buyers: Sequence[str] = ()) -> Cells:
        return over(sides, lambda game, text, decision: (
            fault in faults_of(text, decision) if game.buyer in buyers or not buyers else None
        ))  # fmt: skip

    return {
        "below_floor": judge(
            min(game.asks) < game.floor or (game.is_sold and game.price < game.floor)
            for game in played
        ),
        "ask_rose": judge(any(b > a for a, b in pairwise(game.asks)) for game in played),
        "left_early": judge(
            game.decisions[-1].kind == "walk" and len(game.decisions) - 1 < EARLY for game in hard
        ),
        "closes": judge(game.is_sold for game in played if game.buyer in CLOSERS),
        "says_the_decision": over(sides, lambda _, text, decision: not faults_of(text, decision)),
        "own_words": over(tries, lambda _, texts, decision: not faults_of(texts[-1], decision)),
        "tries": over(tries, lambda _, texts, __: len(texts)),
        "another_price": finds("names another price"),
        "speaks_of_limit": finds("speaks of a limit", CURIOUS),
        "repeated": {
            side: of_texts(list(map(_repeats, played, texts))) for side, texts in sides.items()
        },
    }


def _repeats(game: Game, texts: Sequence[str]) -> list[float]:
    """1.0 for each sentence of a game that occurred earlier in the game, else 0.0.

    The item is "thing" and a number "0", so that wording alone is compared.
    """
    earlier: set[str] = set()
    repeats, name = [], re.escape(game.decisions[0].item.name)
    for text in texts:
        plain = re.sub(name, "thing", text, flags=re.I)
        for sentence in sentences(re.sub(r"₹?\d[\d,.]*\d|₹?\d", "0", plain)):
            repeats.append(float(sentence in earlier))
            earlier.add(sentence)
    return repeats or [0.0]


# What a buyer hears ------------------------------------------------------------------------------


def heard_cells(played: Sequence[Game], sides: Mapping[str, Said]) -> dict[str, Cells]:
    """How often a buyer hears what was decided, in the texts of asks that were to tell it."""

    def is_heard(part: Callable, game: Game, text: str, decision: Decision) -> bool | None:
        wanted = part(decision.says)
        return part(ear.hear(text)) == wanted if wanted else None

    parts = {
        "style_heard": lambda says: says.style,
        "topic_heard": lambda says: says.topic and claim_of(says),
        "reaction_heard": lambda says: says.reaction,
    }
    return {
        name: over_texts(played, sides, partial(is_heard, part)) for name, part in parts.items()
    }


def count_styles(played: Sequence[Game], texts: Said) -> list[list[int]]:
    """Games of each persona (row) in which the style of each (column) is heard most often.

    The last column counts games in which none is heard; the first of equals counts.
    """
    names = [*PERSONAS, UNHEARD]
    counts = np.zeros((len(PERSONAS), len(names)), int)
    for game, lines in zip(played, texts, strict=True):
        asked = [
            ear.hear(text).style
            for text, decision in zip(lines, game.decisions, strict=True)
            if isinstance(decision.action, Offer)
        ]
        styles = Counter(filter(None, asked))
        heard = max(styles, key=styles.__getitem__, default=UNHEARD)
        counts[names.index(game.persona), names.index(heard)] += 1
    return counts.tolist()
