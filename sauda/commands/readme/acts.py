"""The reading of dialogue acts in Markdown."""

from sauda.commands.readme.tables import markdown, spanned
from sauda.evaluation.language.acts import FILE
from sauda.language.acts.types import DOLLARS, RUPEES
from sauda.records.schemas.base import Interval
from sauda.records.store import load

NAMES = {"tuning": "seen while the rules were written", "held_out": "held out"}
CURRENCIES = {DOLLARS: "declared as dollars", RUPEES: "taken as rupees"}


def acts() -> str:
    """Accuracy by part; precision and recall of each act, held out; the prices that are found."""
    data = load(FILE).data
    parts = [
        (
            NAMES[row.part],
            str(row.dialogues),
            f"{row.n:,}",
            spanned(row.accuracy),
            f"{spanned(row.usual_accuracy)} (`{row.usual}`)",
        )
        for row in data.parts
    ]
    rows = [
        (f"`{row.intent}`", str(row.annotated), _share(row.recall), str(row.read),
         _share(row.precision))
        for row in data.rows
        if row.part == "held_out" and row.annotated + row.read
    ]  # fmt: skip
    prices = [
        (NAMES[row.part], CURRENCIES[row.currency], f"{row.n:,}", spanned(row.found_rate))
        for row in data.prices
    ]
    tables = (
        markdown(("dialogues", "n", "turns", "accuracy", "always the usual act"), parts),
        markdown(("act, held out", "annotated", "recall", "read", "precision"), rows),
        markdown(("dialogues", "texts", "annotated prices", "found"), prices),
    )
    return "\n\n".join(tables)


def _share(share: Interval | None) -> str:
    return "none" if share is None else spanned(share)
