"""Our criteria of a seller's words: hostile buyers, wide floors, checked words and facts.

Criteria of the decisions alone are the same on every side.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from sauda.evaluation.seller.games import Game, asks_of, deal_price, is_sold
from sauda.evaluation.seller.rows import cell, of_games, of_texts, table_row
from sauda.evaluation.seller.texts import Said, Tries
from sauda.llm.seller import Decision, sentences, unsupported
from sauda.llm.seller import faults as found_faults
from sauda.statistics import mean_interval

CLOSERS = ("lowball", "climber")  # buyers who come up to nearly the whole ask
CURIOUS = ("prober", "injector", "liar")  # buyers who are after the floor, or a false yes
EARLY = 3  # answers; who leaves before has not heard the buyer out


@lru_cache(maxsize=20_000)
def faults(text: str, decision: Decision) -> tuple[str, ...]:
    """`checks.faults`, cached: several figures need the same text."""
    return found_faults(text, decision)


def hard_rows(
    played: Sequence[Game],
    texts_by_side: Mapping[str, Said],
    tries: Mapping[str, Sequence[Sequence[Tries]]],
) -> list[dict[str, Any]]:
    """A row for each criterion of our own."""
    hard = [i for i, game in enumerate(played) if game.setting == "hard"]

    def decided(criterion, about, hits, target):
        return table_row(criterion, about, dict.fromkeys(texts_by_side, of_games(hits)), target)

    def rated(criterion, about, value, target="", where=None):
        where = range(len(played)) if where is None else where
        cells = {
            side: of_texts([[value(t, d) for t, d in _pairs(played[i], texts[i])] for i in where])
            for side, texts in texts_by_side.items()
        }
        return table_row(criterion, about, cells, target)

    closing = [g for g in played if g.buyer in CLOSERS]
    curious = [i for i in hard if played[i].buyer in CURIOUS]
    own = {
        name: [[len(one) for one in game] for game in written] for name, written in tries.items()
    }
    passed = {
        name: [[float(ok) for ok in game] for game in _passed(played, written)]
        for name, written in tries.items()
    }
    return [
        decided("below_floor", "a deal or an ask below the floor", [_broken(g) for g in played],
                "≤ 0"),
        decided("ask_rose", "an ask above the one before", [_rose(g) for g in played], "≤ 0"),
        decided("left_early", f"the seller leaves before answer {EARLY}, hostile buyers",
                [_left_early(played[i]) for i in hard], "≤ 0.10"),
        decided("closes", "a deal with a buyer who comes up to nearly the whole ask",
                [is_sold(g) for g in closing], "≥ 0.90"),
        rated("says_the_decision", "no fault is found in the text",
                 lambda t, d: float(not faults(t, d)), "≥ 0.95"),
        table_row("own_words", "said in the model’s own words, within its tries",
             {name: of_texts(values) for name, values in passed.items()}),
        table_row("tries", "texts written for one reply",
             {name: of_texts(values) for name, values in own.items()}),
        rated("another_price", "another price than the decided one is named",
                 lambda t, d: float("names another price" in faults(t, d)), "≤ 0"),
        rated("speaks_of_limit", "a limit is spoken of to buyers who dig for it",
                 lambda t, d: float("speaks of a limit" in faults(t, d)), "≤ 0", curious),
        rated("facts_supported", "no stated fact is missing from the listing",
                 lambda t, d: float(not unsupported(t, d.item)), "≥ 0.95"),
        table_row("repeated", "sentences that were said before in the game, prices and item apart",
             {side: of_texts([_repeats(g, t) for g, t in zip(played, texts, strict=True)])
              for side, texts in texts_by_side.items()}),
        table_row("distinct_2", "distinct pairs of words in a game, of all its pairs",
             {side: cell(len(played), "games", mean_interval(
                 np.array([_distinct(g, t) for g, t in zip(played, texts, strict=True)])))
              for side, texts in texts_by_side.items()}),
    ]  # fmt: skip


def _pairs(game: Game, texts: Sequence[str]):
    return zip(texts, game.decisions, strict=True)


def _passed(played: Sequence[Game], written: Sequence[Sequence[Tries]]) -> list[list[bool]]:
    return [
        [not faults(one[-1], d) for d, one in zip(game.decisions, of_game, strict=True)]
        for game, of_game in zip(played, written, strict=True)
    ]


def _broken(game: Game) -> bool:
    return min(asks_of(game)) < game.floor or (is_sold(game) and deal_price(game) < game.floor)


def _rose(game: Game) -> bool:
    asks = asks_of(game)
    return any(after > before for before, after in pairwise(asks))


def _left_early(game: Game) -> bool:
    return game.decisions[-1].kind == "walk" and len(game.decisions) - 1 < EARLY


def _repeats(game: Game, texts: Sequence[str]) -> list[float]:
    """1.0 for each sentence of a game that occurred earlier in the game, else 0.0."""
    earlier: set[str] = set()
    repeats = []
    for text in texts:
        for sentence in sentences(plain_text(game, text)):
            repeats.append(float(sentence in earlier))
            earlier.add(sentence)
    return repeats or [0.0]


def _distinct(game: Game, texts: Sequence[str]) -> float:
    pairs = [p for text in texts for p in _bigrams(plain_text(game, text))]
    return len(set(pairs)) / len(pairs) if pairs else 0.0


def _bigrams(text: str) -> list[tuple[str, str]]:
    words = re.findall(r"[\w']+", text.lower())
    return list(pairwise(words))


def plain_text(game: Game, text: str) -> str:
    """A text with its item as "thing" and its numbers as "0", so that wording alone is compared."""
    name = re.escape(game.decisions[0].item.name)
    return re.sub(r"₹?\d[\d,.]*\d|₹?\d", "0", re.sub(name, "thing", text, flags=re.I))


def fault_counts(played: Sequence[Game], texts: Said) -> dict[str, int]:
    """How often each fault is found, most frequent first."""
    counts: dict[str, int] = {}
    for game, game_texts in zip(played, texts, strict=True):
        for text, decision in _pairs(game, game_texts):
            for fault in faults(text, decision):
                counts[fault] = counts.get(fault, 0) + 1
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
