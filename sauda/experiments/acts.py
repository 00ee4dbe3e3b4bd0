"""How well dialogue acts are read, against the annotations of human dialogues.

The annotations of CraigslistBargains were made by the published rules of He et al. (2018), not by
people, and the rules of `sauda.language.acts` follow those; the prices are found by another reader.
So the accuracy says how far both agree, and "right" means as annotated. The dialogues are split in
half by a digest of their posting: the tuning part was looked at while the rules were written, the
held-out part was only scored. Turns with words count; a pressed button needs no reading.

The dialogues are not shipped, so `python -m sauda acts --data FILE` makes the artifact. It holds
counts, from which its figures follow.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from sauda.experiments.base import experiment
from sauda.language.acts import INTENTS, RUPEES, Dialogue, amounts, read_acts
from sauda.records.schemas.base import Record, Rows
from sauda.records.store import Artifact
from sauda.statistics import exact_interval, exact_share, pooled_share

FILE = "acts.json"
PARTS = ("tuning", "held_out")
TUNING = 0.5  # the tuning part has the dialogues whose place is below it


class Acts(Record):
    """How well dialogue acts are read, against the annotated acts of human dialogues."""

    parts: Rows  # accuracy, one row per part
    rows: Rows  # precision and recall, one row per part and act
    confusion: Rows  # turns by part, annotated act and act that is read
    # by part and declared currency: turns whose act has a price, and in how many words it is found
    prices: Rows
    counts: dict[str, int]  # lines of the file: used, and left out by reason


def replay(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """Every figure computed from its recorded counts."""
    return compute_figures(artifact.data.as_json())


@experiment(
    FILE,
    Acts,
    method="checksum only",
    checks="every count; figures recomputed from them. The dialogues are not ours to ship: "
    "`acts --data FILE --check` reads them again where they are",
    replay=replay,
)
def acts(*, dialogues: Sequence[Dialogue], counts: Mapping[str, int]) -> dict[str, Any]:
    """The data of the artifact from annotated dialogues; `counts` says what their file had.

    Raises ValueError where a part has no dialogue that is annotated.
    """
    annotated = [dialogue for dialogue in dialogues if dialogue.annotated]
    parts = {part: [d for d in annotated if part_of(d) == part] for part in PARTS}
    if not all(parts.values()):
        raise ValueError(
            f"the acts are measured on annotated dialogues of both parts; of the {len(dialogues)} "
            "dialogues too few are annotated, as in the test split of CraigslistBargains"
        )
    pairs = {  # per part and dialogue, the annotated and the read act of every turn with words
        part: [
            [
                (turn.act.intent, act.intent)
                for turn, act in zip(dialogue.turns, read_acts(dialogue), strict=True)
                if turn.text
            ]
            for dialogue in chosen
        ]
        for part, chosen in parts.items()
    }
    ((usual, _),) = Counter(act for one in pairs["tuning"] for act, _ in one).most_common(1)
    read = {part: Counter(chain.from_iterable(pairs[part])) for part in PARTS}
    return compute_figures(
        {
            "parts": [
                {
                    "part": part,
                    "usual": usual,  # the act that is annotated most often in the tuning part
                    # One entry per dialogue: turns with words, of these read as annotated, and
                    # annotated as the usual act.
                    "turns_of": [len(one) for one in some],
                    "right_of": [sum(act == as_read for act, as_read in one) for one in some],
                    "usual_of": [sum(act == usual for act, _ in one) for one in some],
                }
                for part, some in pairs.items()
            ],
            "confusion": [
                {"part": part, "annotated": annotated, "read": as_read, "n": n}
                for part, annotated, as_read in product(PARTS, INTENTS, INTENTS)
                if (n := read[part][annotated, as_read])
            ],
            "prices": [
                _count_found(part, currency, parts[part])
                for part in PARTS
                for currency in sorted({RUPEES, parts[part][0].currency})
            ],
            "counts": {**counts, "not annotated": len(dialogues) - len(annotated)},
        }
    )


def part_of(dialogue: Dialogue) -> str:
    """The part of PARTS that a dialogue belongs to, by a digest, so that nobody chooses."""
    return PARTS[dialogue.place >= TUNING]


def _count_found(part: str, currency: str, dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    """In how many turns the annotated price is found, where the texts declare `currency`."""
    hits = [
        turn.act.price in {amount for amount, _ in amounts(turn.text, currency)}
        for dialogue in dialogues
        for turn in dialogue.turns
        if turn.text and turn.act.price is not None
    ]
    return {"part": part, "currency": currency, "n": len(hits), "found": sum(hits)}


def compute_figures(counted: Mapping[str, Any]) -> dict[str, Any]:
    """The data of the artifact from its counts: accuracy, precision, recall, each interval."""
    return {
        "parts": [_part(row) for row in counted["parts"]],
        "rows": [_row(part, act, counted["confusion"]) for part in PARTS for act in INTENTS],
        "confusion": counted["confusion"],
        "prices": [
            {**row, "found_rate": exact_share(row["found"], row["n"])} for row in counted["prices"]
        ],
        "counts": counted["counts"],
    }


def _part(counted: Mapping[str, Any]) -> dict[str, Any]:
    turns, right, usual = (np.array(counted[f"{n}_of"]) for n in ("turns", "right", "usual"))
    return {
        **counted,
        "dialogues": len(turns),
        "n": int(turns.sum()),
        "right": int(right.sum()),
        "accuracy": exact_interval(pooled_share(right, turns)),  # dialogues resampled
        "usual_accuracy": exact_interval(pooled_share(usual, turns)),
    }


def _row(part: str, intent: str, confusion: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    annotated, as_read, right = (
        sum(row["n"] for row in confusion
            if row["part"] == part and all(row[name] == intent for name in names))
        for names in (("annotated",), ("read",), ("annotated", "read"))
    )  # fmt: skip
    return {
        "part": part,
        "intent": intent,
        "annotated": annotated,
        "read": as_read,
        "right": right,
        "precision": exact_share(right, as_read),
        "recall": exact_share(right, annotated),
    }
