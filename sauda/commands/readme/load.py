"""The load test in Markdown: its tables, and one sentence for README.md."""

from sauda.commands.readme.tables import markdown
from sauda.evaluation.speed import LOAD_COLUMNS, MEMORY_COLUMNS, load_cells, memory_cells
from sauda.records.schemas.bench import LoadMix
from sauda.records.store import load

FILE = "load.json"
SHOWN = ("page load", "scripted reply", "model reply")


def load_tables() -> str:
    """Replies and failures of every mix, then the memory of the page."""
    data = load(FILE).data
    replies, memory = load_cells(data), memory_cells(data)
    return f"{markdown(LOAD_COLUMNS, replies)}\n\n{markdown(MEMORY_COLUMNS, memory)}"


def load_sentence() -> str:
    """What the first mix of this commit showed, in one sentence."""
    mix = next(mix for mix in load(FILE).data.mixes if mix.state == "now")
    failures = sum(row.failures for row in mix.rows)
    return (
        f"With {mix.name} for {mix.seconds:.0f} s ({mix.about}): {'; '.join(_replies(mix))}; "
        f"{failures:,} failures (`{FILE}`)."
    )


def _replies(mix: LoadMix) -> list[str]:
    rows = {row.what: row for row in mix.rows if row.n}
    return [
        f"{what} {rows[what].p50_ms / 1000:.2f} s in the median, {rows[what].p95_ms / 1000:.2f} s "
        f"at the 95th percentile (n = {rows[what].n:,})"
        for what in SHOWN
        if what in rows
    ]
