"""How well dialogue acts, prices and tells are read, against labels: `acts` and `language`.

`acts`: the annotations of CraigslistBargains were made by the published rules of He et al. (2018),
which those of `sauda.language.acts` follow, and not by people: "right" means as annotated. Turns
with words count. A digest of the posting splits the dialogues; the held-out half was only scored.
They are not shipped: `python -m sauda acts --data FILE` makes the artifact, which holds counts.

`language`: `language/labelled.csv` was written for this project. `signals` are those of the whole
sentence, `price` is the one amount it puts on the table, whoever named it; a hash of the text
decides the split. The lexicon was written with the dev rows in sight, and no held-out row was
looked at. Still, one author wrote both, so the held-out figures flatter us. Whoever changes the
lexicon because of a held-out row says so here.

`language/labelled_blind.csv` is by a writer who never saw the reader. Each sentence is labelled for
one thing: its price, by the kind of sentence, or its signals (kind "tells", in which wear and good
condition are one). Its held-out rows were scored once, after the rules were final.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from hashlib import sha256
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from env.language import money
from sauda.experiments.base import experiment
from sauda.language import read_rows, tells
from sauda.language.acts import INTENTS, RUPEES, Dialogue, amounts, read_acts
from sauda.language.tells import SIGNALS
from sauda.records import read_table
from sauda.records.store import Artifact
from sauda.statistics import exact_interval, exact_share, f1_interval, pooled_share

# Dialogue acts ----------------------------------------------------------------------------------

PARTS = ("tuning", "held_out")
TUNING = 0.5  # the tuning part has the dialogues whose place is below it


@experiment("acts.json")
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
    ((usual, _),) = Counter(act for turns in pairs["tuning"] for act, _ in turns).most_common(1)
    read = {part: Counter(chain.from_iterable(pairs[part])) for part in PARTS}
    return compute_figures(
        {
            "parts": [
                {
                    "part": part,
                    "usual": usual,  # the act that is annotated most often in the tuning part
                    # One entry per dialogue: turns with words, of these read as annotated, and
                    # annotated as the usual act.
                    "turns_of": [len(turns) for turns in dialogues],
                    "right_of": [
                        sum(act == as_read for act, as_read in turns) for turns in dialogues
                    ],
                    "usual_of": [sum(act == usual for act, _ in turns) for turns in dialogues],
                }
                for part, dialogues in pairs.items()
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


def replay_acts(artifact: Artifact, workers: int, root: Path) -> dict[str, Any]:
    """The data with every figure computed from the recorded counts."""
    return compute_figures(artifact.data.as_json())


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


# Labelled sentences -----------------------------------------------------------------------------

LABELLED = Path(__file__).parents[1] / "language" / "labelled.csv"
BLIND = LABELLED.with_name("labelled_blind.csv")
KINDS = (  # of the blind sentences; all but the last are labelled for their price
    "plain", "correction", "for_several", "spaced_digits", "glued", "range", "mixed", "dollar",
    "not_a_price", "tells",
)  # fmt: skip
LANGUAGES = ("en", "hinglish", "hi")
SPLITS = ("dev", "held_out")
HELD_OUT = 141 / 256  # share of texts; a little over half

# In the manner of the published list: Latin letters, anywhere in the text. Where the published one
# counts a loss as urgency it is counted as sympathy here, which favours it.
KEYWORDS = {row["signal"]: row["words"].split("|") for row in read_rows("keywords.csv")}


def read_sentences(path: Path = LABELLED) -> list[dict[str, Any]]:
    """Each labelled sentence with what each reader reads in it: signals, and a price or None.

    A ValueError names the first that is not as the table promises.
    """
    return [
        check_label(row)
        | {f"{name}_signals": _join(reader[0](row["text"])) for name, reader in READERS.items()}
        | {f"{name}_price": reader[1](row["text"]) for name, reader in READERS.items()}
        | {name: row[name] for name in ("kind",) if name in row}
        for row in read_table(path)
    ]


def check_label(row: Mapping[str, str]) -> dict[str, Any]:
    """A labelled sentence of the table; ValueError where it is not as that promises."""
    text, signals, kind = row["text"], set(row["signals"].split()), row.get("kind", "")
    known = row["language"] in LANGUAGES and row["split"] in SPLITS and kind in ("", *KINDS)
    if not known or not signals <= set(SIGNALS):
        raise ValueError(f"{text!r} is labelled {list(row.values())[1:]}")
    if not kind and row["split"] != split_of(text):
        raise ValueError(f"{text!r} belongs to {split_of(text)}, not to {row['split']}")
    price = float(row["price"]) if row["price"] else None  # None where no single price is meant
    labels = {name: row[name] for name in ("text", "language", "split")}
    return labels | {"signals": _join(signals), "price": price}


def _join(signals: Set[str]) -> str:
    return " ".join(signal for signal in SIGNALS if signal in signals)


def split_of(text: str) -> str:
    """The split of a text, decided by its hash, so that nobody chooses."""
    return "held_out" if sha256(text.encode()).digest()[0] < 256 * HELD_OUT else "dev"


def keyword_signals(text: str) -> frozenset[str]:
    lowered = text.lower()
    return frozenset(s for s, words in KEYWORDS.items() if any(word in lowered for word in words))


def first_digits(text: str) -> float | None:
    match = re.search(r"[0-9][0-9,]*", text)
    return float(match.group().replace(",", "")) if match else None


READERS = {  # by name: what reads the signals, and what reads the price
    "sauda": (lambda text: frozenset(tell.signal for tell in tells.read(text)), money.find_price),
    "keywords": (keyword_signals, first_digits),
}


@experiment("language.json", inputs={"labelled": LABELLED, "blind": BLIND})
def language() -> dict[str, Any]:
    """The data of the artifact: every reading, and the figures that follow from them.

    Precision and recall carry Wilson intervals, F1 a bootstrap over sentences; a share of nothing
    is None. The language, the signal and the kind "all" pool the rest. The figures on the blind
    writer's sentences stand apart: signals by language, prices by kind.
    """
    sentences, blind = read_sentences(), read_sentences(BLIND)
    tells = [sentence for sentence in blind if sentence["kind"] == "tells"]
    priced = [sentence for sentence in blind if sentence["kind"] != "tells"]
    return {
        "rows": signal_rows(sentences),
        "prices": price_rows(sentences, "language", LANGUAGES),
        "sentences": sentences,
        "blind": {
            "rows": signal_rows(tells),
            "prices": price_rows(priced, "kind", KINDS[:-1]),
            "sentences": blind,
        },
    }


Sentence = Mapping[str, Any]  # with its labels and readings
Group = tuple[dict[str, Any], list[Sentence]]  # what a row is of, and its sentences


def by_group(readings: Sequence[Sentence], name: str, groups: Sequence[str]) -> Iterator[Group]:
    """Each reader and split, each group of sentences and all, and the readings there."""
    for reader, split, group in product(READERS, SPLITS, (*groups, "all")):
        chosen = [row for row in readings if row["split"] == split and group in ("all", row[name])]
        of = {"reader": reader, "split": split, "language": "all", name: group, "n": len(chosen)}
        yield of, chosen


def signal_rows(readings: Sequence[Sentence]) -> list[dict[str, Any]]:
    """How well each reader finds each signal, by split and language."""
    return [
        {**of, **_find_signal(chosen, of["reader"], signal)}
        for of, chosen in by_group(readings, "language", LANGUAGES)
        for signal in (*SIGNALS, "all")
    ]


def _find_signal(readings: Sequence[Sentence], reader: str, signal: str) -> dict[str, Any]:
    wanted = SIGNALS if signal == "all" else (signal,)
    meant, heard = (
        np.array(
            [[s in sentence[name].split() for s in wanted] for sentence in readings], bool
        ).reshape(-1, len(wanted))
        for name in ("signals", f"{reader}_signals")
    )
    right, wrong, missed = (
        (meant & heard).sum(1), (heard & ~meant).sum(1), (meant & ~heard).sum(1),
    )  # fmt: skip
    true, false, unread = int(right.sum()), int(wrong.sum()), int(missed.sum())
    return {
        "signal": signal,
        "true_positives": true,
        "false_positives": false,
        "false_negatives": unread,
        "precision": exact_share(true, true + false),
        "recall": exact_share(true, true + unread),
        "f1": exact_interval(f1_interval(right, wrong, missed)) if true + false + unread else None,
    }


def price_rows(
    readings: Sequence[Sentence], name: str, groups: Sequence[str]
) -> list[dict[str, Any]]:
    """How well each reader finds the price, by split and group."""
    return [
        {**of, **_find_price(chosen, of["reader"])}
        for of, chosen in by_group(readings, name, groups)
    ]


def _find_price(readings: Sequence[Sentence], reader: str) -> dict[str, Any]:
    pairs = [(sentence["price"], sentence[f"{reader}_price"]) for sentence in readings]
    meant = [(price, read) for price, read in pairs if price is not None]
    unmeant = [read for price, read in pairs if price is None]
    exact = sum(price == read for price, read in meant)
    false = sum(read is not None for read in unmeant)
    return {
        "priced": len(meant),  # sentences that put one price on the table
        "exact": exact,  # of those, read exactly; as another price; as no price
        "other": sum(read not in (None, price) for price, read in meant),
        "missed": sum(read is None for _, read in meant),
        "unpriced": len(unmeant),
        "false_positives": false,  # of those, read as a price
        "exact_rate": exact_share(exact, len(meant)),
        "false_positive_rate": exact_share(false, len(unmeant)),
    }
