"""How well the ear understands sentences that nobody taught it, by meaning, language and kind."""

from collections.abc import Callable, Sequence
from typing import Any

from env import corpus, ear
from sauda.experiments.base import experiment
from sauda.records.schemas.base import Record, Rows
from sauda.statistics import exact_share

AMOUNT = "₹450"  # for the "#" of a sentence
NONE = ("none", "remind", "bid")  # families of sentences that bear no meaning
PARTS: dict[str, Callable[[corpus.Row], str]] = {
    "all": lambda row: "",
    "meaning": lambda row: row.meaning,
    "language": lambda row: row.language,
    "kind": lambda row: row.kind,
}


class Ear(Record):
    """What the ear makes of the evaluation sentences of both seats."""

    learnt: dict[str, int]  # training sentences by seat
    # per seat, part and its value: sentences that bear a meaning, heard right, heard as another
    heard: Rows
    # per seat: sentences that bear none, of these taken for a meaning, by language too
    taken: Rows
    confused: Rows  # pairs of meanings, the commonest first


def read(row: corpus.Row) -> tuple[str, str]:
    """Family and key that the ear hears in a sentence; both "" for nothing."""
    family, key, _ = ear.meaning(row.text.replace("#", AMOUNT), row.seat)
    return family, key


@experiment("ear.json", Ear, checks="every sentence of the evaluation part")
def hears(use: str = "evaluation") -> dict[str, Any]:
    """The data of the artifact, for the sentences of one use."""
    if use not in corpus.USES:
        raise ValueError(f"the uses of the corpus are {', '.join(corpus.USES)}, not {use!r}")
    heard, taken, confused = [], [], {}
    for seat in ear.SEATS:
        rows = [(row, read(row)) for row in corpus.rows(seat, use)]
        bears = [pair for pair in rows if pair[0].family not in NONE]
        for part, value_of in PARTS.items():
            groups: dict[str, list] = {}
            for pair in bears:
                groups.setdefault(value_of(pair[0]), []).append(pair)
            heard += [
                {"seat": seat, "part": part, "value": value, **count(group)}
                for value, group in groups.items()
            ]
        for row, meant in bears:
            if meant[0] and meant != (row.family, row.key):
                pair = seat, row.meaning, "/".join(meant)
                confused[pair] = confused.get(pair, 0) + 1
        for language in ("", *corpus.LANGUAGES):
            none = [
                bool(meant[0])
                for row, meant in rows
                if row.family in NONE and language in ("", row.language)
            ]
            taken.append(
                {"seat": seat, "language": language, "n": len(none),
                 "taken": exact_share(sum(none), len(none))}
            )  # fmt: skip
    return {
        "learnt": {seat: len(corpus.rows(seat, "training")) for seat in ear.SEATS},
        "heard": heard,
        "taken": taken,
        "confused": [
            {"seat": seat, "meaning": meaning, "heard": other, "n": n}
            for (seat, meaning, other), n in sorted(confused.items(), key=lambda item: -item[1])
        ],
    }


def count(rows: Sequence[tuple[corpus.Row, tuple[str, str]]]) -> dict[str, Any]:
    """Of sentences that bear a meaning, the share that is heard right and as another."""
    right = sum(meant == (row.family, row.key) for row, meant in rows)
    wrong = sum(bool(meant[0]) for _, meant in rows) - right
    n = len(rows)
    return {"n": n, "right": exact_share(right, n), "wrong": exact_share(wrong, n)}
