"""Judges fitted on games: they predict the floor from the words, and the persona."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sauda.evaluation.seller.games import Game, asks_of
from sauda.evaluation.seller.hard_criteria import plain_text
from sauda.evaluation.seller.listeners import concessions, confusion, explained, guessed, words_of
from sauda.evaluation.seller.rows import ASKS, CONTROL, cell, table_row
from sauda.evaluation.seller.texts import STUB, Said
from sauda.experiments.market import listened
from sauda.llm.seller import PERSONAS
from sauda.statistics import wilson_interval


def leak_row(played: Sequence[Game], texts_by_side: Mapping[str, Said]) -> dict[str, Any]:
    """How well prices predict the floor, what the words add, and how much words could add at most.

    The control is the stub with one of five words by the height of its floor: an attack that does
    not find this one finds nothing.
    """
    prices = [listened(game.episode)[0] for game in played]
    floors = np.array([listened(game.episode)[2] for game in played])
    heights = np.digitize(floors, np.quantile(floors, [0.2, 0.4, 0.6, 0.8]))
    telling = [
        [*texts, ("very low", "lowish", "middling", "highish", "very high")[height]]
        for texts, height in zip(texts_by_side[STUB], heights, strict=True)
    ]
    cells = {ASKS: cell(len(played), "games", guessed(np.array(prices), floors))}
    for side, texts in {**texts_by_side, CONTROL: telling}.items():
        counts = words_of([_masked(g, t) for g, t in zip(played, texts, strict=True)])
        cells[side] = cell(len(played), "games", explained(np.array(prices), counts, floors))
    return table_row(
        "floor_learned", "R² of a guess at the floor: from the asks alone; what words add to it",
        cells, "≤ 0.05",
    )  # fmt: skip


def _masked(game: Game, texts: Sequence[str]) -> str:
    """A game's words without numbers and without the words of its item."""
    words = " ".join(plain_text(game, text) for text in texts).lower()
    item = set(re.findall(r"[a-z']+", game.decisions[0].item.name.lower())) | {"thing"}
    return " ".join(word for word in re.findall(r"[a-z\u0900-\u097f']+", words) if word not in item)


def persona_judges(
    played: Sequence[Game], texts_by_side: Mapping[str, Said]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Confusion matrices of judges who tell the personas apart, and the row of their accuracy."""
    names = list(PERSONAS)
    true = np.array([names.index(game.persona) for game in played])
    tables = {
        side: confusion(words_of([_masked(g, t) for g, t in zip(played, texts, strict=True)]), true)
        for side, texts in texts_by_side.items()
    }
    tables[ASKS] = confusion(concessions([asks_of(game) for game in played]), true)
    cells = {
        side: cell(len(played), "games", wilson_interval(int(np.trace(table)), len(played)))
        for side, table in tables.items()
    }
    row = table_row(
        "personas_told_apart",
        f"a judge names the persona of a game; chance is {1 / len(names):.2f}",
        cells,
        "≥ 0.70",
    )  # fmt: skip
    return {"personas": names, "tables": {s: t.tolist() for s, t in tables.items()}}, row
