"""How fast the games, the page and the model are; published speeds apart."""

from collections.abc import Mapping, Sequence
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.ui.look import badge, heading, note, table
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.speed import published_speeds
from sauda.records.schemas.bench import Speed
from sauda.records.store import Artifact


def measured_table(bench: Artifact) -> Markup:
    """Every measured figure: its median, 95th percentile and number of samples."""
    rows = [
        (row.name, f"{row.median:,g}", _p95(row), row.unit, f"{row.n}")
        for row in bench.data.figures
    ]
    return table(("measured", "median", "95 % within", "unit", "n"), rows, "lrrlr", "Speeds")


def _p95(row: Speed) -> str:
    return f"{row.p95:,g}" if row.p95 is not None else "–"


def ratio_table(bench: Artifact) -> Markup:
    """How many times faster a batch is than one by one, where both were timed in one run."""
    rows = [(row.of, row.to, f"{row.median:,.3g}", f"{row.n}") for row in bench.data.ratios]
    return table(("speed", "in units of", "median ratio", "n"), rows, "llrr", "Ratios of one run")


def published_table(speeds: Sequence[Mapping[str, Any]]) -> Markup:
    """Published speeds with their source and caveat, none of them beside a measured one."""
    rows = [
        (
            f"{row['title']}, {row['name']}",
            badge("published"),
            f"{row['median']:,}",
            row["source"],
            row["caveat"],
        )
        for row in speeds
    ]
    columns = ("figure", "origin", "as published", "source", "machine and caveat")
    return table(columns, rows, "llrll", "Published speeds")


def build() -> None:
    """Lay out the part. Called inside a tab."""
    bench, missing = load_or_say("bench.json")
    gr.HTML(heading("Speed", "On the shared machine that the file names; medians with their n."))
    gr.HTML(missing)
    if bench is not None:
        gr.HTML(measured_table(bench))
        gr.HTML(ratio_table(bench))
        gr.HTML(provenance(bench))
    published, missing = load_or_say("published.json")
    if published is None:
        gr.HTML(missing)
        return
    gr.HTML(published_table(published_speeds(published)))
    gr.HTML(note("Published speeds were taken on other machines, so they give no ratio."))
