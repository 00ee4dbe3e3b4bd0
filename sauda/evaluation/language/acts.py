"""How well `sauda.language.acts` reads dialogue acts, against the annotations of human dialogues.

The annotations of CraigslistBargains were made by the published rules of He et al. (2018), not by
people, and our rules follow those; the prices are found by another reader. So the accuracy says how
far both agree, and "right" means as annotated. The dialogues are split in half by a digest of their
posting: the tuning part was looked at while the rules were written, the held-out part was only
scored. Turns with words count; a pressed button needs no reading.

The dialogues are not shipped. The artifact holds counts, from which its figures follow; whoever has
the file reads it again with `python -m sauda acts --data FILE --check`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sauda.language.acts import INTENTS, RUPEES, Dialogue, amounts, read
from sauda.records.store import Artifact
from sauda.statistics import pooled_share, wilson_interval

FILE = "acts.json"
PARTS = ("tuning", "held_out")
TUNING = 0.5  # the tuning part has the dialogues whose place is below it


def part_of(dialogue: Dialogue) -> str:
    """The part of PARTS that a dialogue belongs to, by a digest, so that nobody chooses."""
    return PARTS[dialogue.place >= TUNING]


def quality(dialogues: Sequence[Dialogue], counts: Mapping[str, int]) -> dict[str, Any]:
    """The data of the artifact from annotated dialogues; `counts` says what the file had.

    Raises ValueError where a part has no dialogue that is annotated.
    """
    parts: dict[str, list[Dialogue]] = {part: [] for part in PARTS}
    for dialogue in dialogues:
        if dialogue.annotated:
            parts[part_of(dialogue)].append(dialogue)
    if not all(parts.values()):
        raise ValueError(
            f"the acts are measured on annotated dialogues of both parts; of the {len(dialogues)} "
            "dialogues too few are annotated, as in the test split of CraigslistBargains"
        )
    pairs = {part: [_pairs(dialogue) for dialogue in chosen] for part, chosen in parts.items()}
    usual = _usual(pairs["tuning"])
    counted = {
        "parts": [_tallied(part, pairs[part], usual) for part in PARTS],
        "confusion": [row for part in PARTS for row in _confusion(part, pairs[part])],
        "prices": [
            _found(part, currency, parts[part])
            for part in PARTS
            for currency in sorted({RUPEES, parts[part][0].currency})
        ],
        "counts": {
            **counts,
            "not annotated": sum(not dialogue.annotated for dialogue in dialogues),
        },
    }
    return figures(counted)


def again(artifact: Artifact, workers: int, root: Path) -> Mapping[str, Any]:
    """The data with every figure computed from its recorded counts, for `verify`."""
    return figures(artifact.data.as_json())


def figures(counted: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the artifact from its counts: accuracy, precision, recall, each interval."""
    confusion: Counter[tuple[str, str, str]] = Counter()
    for row in counted["confusion"]:
        confusion[row["part"], row["annotated"], row["read"]] += row["n"]
    return {
        "parts": [_part(row) for row in counted["parts"]],
        "rows": [_row(part, intent, confusion) for part in PARTS for intent in INTENTS],
        "confusion": counted["confusion"],
        "prices": [
            {**row, "found_rate": _interval(wilson_interval(row["found"], row["n"]))}
            for row in counted["prices"]
        ],
        "counts": counted["counts"],
    }


def _pairs(dialogue: Dialogue) -> list[tuple[str, str]]:
    """The annotated and the read act of every turn with words."""
    acts = read(dialogue)
    return [
        (turn.act.intent, act.intent)
        for turn, act in zip(dialogue.turns, acts, strict=True)
        if turn.text
    ]


def _usual(pairs: Iterable[Sequence[tuple[str, str]]]) -> str:
    (usual, _), *_ = Counter(annotated for one in pairs for annotated, _ in one).most_common(1)
    return usual


def _tallied(part: str, pairs: Sequence[Sequence[tuple[str, str]]], usual: str) -> dict[str, Any]:
    """The counts of one part, an entry a dialogue."""
    return {
        "part": part,
        "usual": usual,
        "turns_of": [len(one) for one in pairs],
        "right_of": [sum(annotated == read for annotated, read in one) for one in pairs],
        "usual_of": [sum(annotated == usual for annotated, _ in one) for one in pairs],
    }


def _part(tallied: Mapping[str, Any]) -> dict[str, Any]:
    turns, right, usual = (np.array(tallied[f"{n}_of"]) for n in ("turns", "right", "usual"))
    return {
        "part": tallied["part"],
        "dialogues": len(turns),
        "n": int(turns.sum()),
        "right": int(right.sum()),
        "accuracy": _interval(pooled_share(right, turns)),
        "usual": tallied["usual"],
        "usual_accuracy": _interval(pooled_share(usual, turns)),
        "turns_of": turns.tolist(),
        "right_of": right.tolist(),
        "usual_of": usual.tolist(),
    }


def _row(part: str, intent: str, confusion: Mapping[tuple[str, str, str], int]) -> dict[str, Any]:
    annotated = sum(n for (p, act, _), n in confusion.items() if (p, act) == (part, intent))
    as_read = sum(n for (p, _, act), n in confusion.items() if (p, act) == (part, intent))
    right = confusion[part, intent, intent]
    return {
        "part": part,
        "intent": intent,
        "annotated": annotated,
        "read": as_read,
        "right": right,
        "precision": _interval(wilson_interval(right, as_read)) if as_read else None,
        "recall": _interval(wilson_interval(right, annotated)) if annotated else None,
    }


def _confusion(part: str, pairs: Sequence[Sequence[tuple[str, str]]]) -> list[dict[str, Any]]:
    counts = Counter(pair for one in pairs for pair in one)
    return [
        {"part": part, "annotated": annotated, "read": read, "n": counts[annotated, read]}
        for annotated in INTENTS
        for read in INTENTS
        if counts[annotated, read]
    ]


def _found(part: str, currency: str, dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    """In how many turns the annotated price is found, where the texts declare `currency`."""
    hits = [
        turn.act.price in {amount for amount, _ in amounts(turn.text, currency)}
        for dialogue in dialogues
        for turn in dialogue.turns
        if turn.text and turn.act.price is not None
    ]
    return {"part": part, "currency": currency, "n": len(hits), "found": sum(hits)}


def _interval(interval: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("mean", "low", "high"), interval, strict=True))
