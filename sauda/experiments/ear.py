"""How well the ear understands sentences that nobody taught it, by meaning, language and kind.

Texts that have nothing to do with a deal should be heard as nothing: small talk of the corpus, and
`odd_texts.csv`, orders to a program, code, links and the like, each template with each filler in
the place of its "…".
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from env import corpus, ear
from sauda.experiments.base import experiment
from sauda.records import read_table
from sauda.statistics import exact_share

AMOUNT = "₹450"  # for the "#" of a sentence
NONE = {"none": "small talk", "remind": "beside a price", "bid": "beside a price"}  # no meaning
ODD = Path(__file__).parent / "odd_texts.csv"
PARTS: dict[str, Callable[[corpus.Row], str]] = {
    "all": lambda row: "",
    "meaning": lambda row: row.meaning,
    "language": lambda row: row.language,
    "kind": lambda row: row.kind,
}
BIDS = {"before": f"{AMOUNT}, {{}}", "after": f"{{}}, {AMOUNT}"}  # where a bid stands by a sentence


def read(row: corpus.Row) -> tuple[str, str]:
    """Family and key that the ear hears in a sentence; both "" for nothing."""
    family, key, _ = ear.meaning(row.text.replace("#", AMOUNT), row.seat)
    return family, key


def beside_bids(seat: str, rows: Sequence[corpus.Row]) -> Iterator[dict[str, Any]]:
    """How well a buyer's sentences are heard that a bid stands before or after."""
    plain = [row for row in rows if seat == "buyer" and "#" not in row.text]
    for value, form in BIDS.items() if plain else ():
        heard = (ear.around_price(form.format(row.text.rstrip(".!? ")), seat) for row in plain)
        pairs = [(row, meant[:2]) for row, meant in zip(plain, heard, strict=True)]
        yield {"seat": seat, "part": "beside a bid", "value": value, **count(pairs)}


def odd_texts() -> list[tuple[str, str]]:
    """Kind and text of each odd text."""
    return [
        (row["kind"], row["text"].replace("…", filler))
        for row in read_table(ODD)
        for filler in row["fillers"].split("|")
    ]


def nothing(seat: str, use: str) -> Iterator[tuple[str, str, bool]]:
    """Part, its value, and whether the ear takes it for something, of texts that mean nothing."""
    for row in corpus.rows(seat, use):
        if row.family in NONE:
            yield NONE[row.family], row.language, moves(row.text.replace("#", AMOUNT), seat)
    for kind, text in odd_texts():
        yield "odd texts", kind, moves(text, seat)


def moves(text: str, seat: str) -> bool:
    """Whether the ear hears in a text what may move the other side."""
    return bool(ear.meanings(text, seat) - {"remind/bid"})


@experiment("ear.json")
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
        heard += beside_bids(seat, [row for row, _ in bears])
        for row, meant in bears:
            if meant[0] and meant != (row.family, row.key):
                pair = seat, row.meaning, "/".join(meant)
                confused[pair] = confused.get(pair, 0) + 1
        counts: dict[tuple[str, str], list[bool]] = {}
        for part, value, moved in nothing(seat, use):
            for name in ("", value):
                counts.setdefault((part, name), []).append(moved)
        taken += [
            {"seat": seat, "part": part, "value": value, "n": len(moved),
             "taken": exact_share(sum(moved), len(moved))}
            for (part, value), moved in counts.items()
        ]  # fmt: skip
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
