"""How well prices and tells are read in text, on sentences kept out of development. In Results."""

from collections.abc import Sequence

from markupsafe import Markup

from panels.ui.look import heading, note, table
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.language import KINDS, BlindLanguage, BlindPriceRow, Language, PriceRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

FILE = "language.json"
READERS = {"sauda": "Sauda’s reader", "keywords": "keyword list"}
KIND_NAMES = {
    "all": "all of them",
    "plain": "one price, said plainly",
    "correction": "a correction: “not 500, 450”",
    "for_several": "a price for several pieces",
    "spaced_digits": "digits grouped by spaces: 14 500",
    "glued": "a word glued to the number: 450mein",
    "range": "a range: no single price",
    "mixed": "a price among other numbers",
    "dollar": "another currency: no price in rupees",
    "not_a_price": "numbers that are no price",
}


def language_quality() -> Markup:
    """The whole part; the command that records it where there is no artifact."""
    artifact, missing = load_or_say(FILE)
    return missing if artifact is None else reading(artifact)


def reading(artifact: Artifact) -> Markup:
    """Both sets of held-out sentences for the tells, the blind writer's by kind for the prices."""
    data = artifact.data
    parts = [
        heading(
            "Reading what people write",
            "Prices and tells in English, Hinglish and Hindi, on sentences kept out of development."
            " One set is by the reader’s author, the other by a writer who never saw the reader.",
        ),
        tells_table(data),
        prices_table(data.blind.prices),
        note(
            "Precision: of the tells that are read, how many are meant. Recall: of those meant, how"
            " many are read. In brackets 95 % intervals (Wilson). A refused message gets a sentence"
            " that asks for one price; a wrong one is read as a price that was not offered."
        ),
        provenance(artifact, f"n = {len(data.sentences) + len(data.blind.sentences)}"),
    ]
    return Markup("").join(parts)


def tells_table(data: Language | BlindLanguage) -> Markup:
    """Precision and recall of the tells, a row for every set and reader."""
    sets = {"the reader’s author": data.rows, "a blind writer": data.blind.rows}
    rows = [
        (writer, READERS[row.reader], row.n, _share(row.precision), _share(row.recall))
        for writer, figures in sets.items()
        for row in figures
        if (row.split, row.language, row.signal) == ("held_out", "all", "all")
    ]
    columns = ("sentences by", "read by", "n", "precision", "recall")
    return table(columns, rows, "llrrr", "Tells")


def prices_table(prices: Sequence[PriceRow | BlindPriceRow]) -> Markup:
    """Right, refused and wrong readings of the blind writer's held-out sentences, by kind."""
    chosen = {row.kind: row for row in prices if (row.reader, row.split) == ("sauda", "held_out")}
    rows = []
    for kind in ("all", *KINDS[:-1]):
        row = chosen[kind]
        right = row.exact + row.unpriced - row.false_positives
        wrong = row.other + row.false_positives
        rows.append((KIND_NAMES[kind], row.n, right, row.missed, wrong))
    columns = ("kind of sentence", "n", "right", "refused", "wrong")
    return table(columns, rows, "lrrrr", "Prices, sentences by a blind writer")


def _share(share: Interval | None) -> str:
    if share is None:
        return "–"
    return f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]"
