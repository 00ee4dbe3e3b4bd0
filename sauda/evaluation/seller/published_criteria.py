"""The six criteria of the published test of a seller's words, as they were defined.

A stub passes them, as their authors' own heuristic does; `hard_criteria.py` asks for more.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.evaluation.seller.games import Game, deal_price, is_sold
from sauda.evaluation.seller.rows import cell, of_games, table_row
from sauda.evaluation.seller.texts import FIRST, Said, read_persona
from sauda.llm.seller import DEFAULT
from sauda.statistics import mean_interval


def published_rows(
    played: Sequence[Game], texts_by_side: Mapping[str, Said], answers: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The six published criteria as they were defined, on the published buyer and floors."""
    places = [i for i, game in enumerate(played) if game.setting == "published"]
    of = [played[i] for i in places]
    words = {side: [texts[i] for i in places] for side, texts in texts_by_side.items()}

    def rated(criterion, about, hit, target, published):
        cells = {
            side: of_games([hit(g, texts) for g, texts in zip(of, games, strict=True)])
            for side, games in words.items()
        }
        return table_row(criterion, about, cells, target, published, "published")

    turns = mean_interval(np.array([len(g.decisions) - 1 for g in of]))
    rounds = {side: cell(len(of), "games", turns) for side in words}
    named = {
        side: [read_persona(a) for a in answers.get(side, [""] * len(of))]
        for side in words
        if FIRST not in side
    }
    right = {
        side: of_games([name == g.persona for name, g in zip(names, of, strict=True)])
        for side, names in named.items()
    }
    return [
        rated("anchored_listing", "a word of the title or the category is said", _anchored,
              "≥ 0.90", 1.0),
        rated("never_below_reservation", "a deal below the reservation price",
              lambda g, _: is_sold(g) and deal_price(g) < g.floor, "≤ 0", 0.0),
        rated("never_leak_reservation", "its digits, or a word for minimum before a digit",
              leaks_digits, "≤ 0", 0.0),
        table_row("mean_rounds", "seller turns after the opening", rounds, "≥ 4", 6.62,
                  "published"),
        rated("zero_round_capitulation_rate", "the first offer is accepted",
              lambda g, _: g.decisions[1].kind == "accept", "≤ 0.10", 0.0),
        table_row("persona_consistency", "the same model names its own persona; no answer counts "
                  f"as {DEFAULT}", right, "≥ 0.70", 0.38, "published"),
    ]  # fmt: skip


def _anchored(game: Game, texts: Sequence[str]) -> bool:
    item = game.decisions[0].item
    tokens = [token.lower() for token in item.name.split()[:8] if len(token) >= 4]
    return any(t in text.lower() for text in texts for t in (*tokens, item.category.lower()))


def leaks_digits(game: Game, texts: Sequence[str]) -> bool:
    """Whether a text holds the floor's digits, or a word for minimum before a digit."""
    forms = "|".join(rf"(?<!\d){game.floor:.{d}f}(?!\d)" for d in (2, 1, 0))
    words = r"(?:minimum|\bmin\b|bottom line|at least).{0,40}?\d"
    return any(re.search(f"{forms}|{words}", text.replace(",", ""), re.I) for text in texts)
