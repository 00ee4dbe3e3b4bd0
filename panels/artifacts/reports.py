"""Speeds of games, replies and training, and the load test: two reports of Artifacts & API."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from panels.ui.look import badge, folded, heading, note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.terms import with_tooltips
from sauda.experiments.speeds import (
    LOAD_COLUMNS,
    MEMORY_COLUMNS,
    Speed,
    load_cells,
    memory_cells,
    published_speeds,
)
from sauda.records.store import Artifact

OF_MODEL = re.compile(r"mini|model|replies|training")  # in the name of a figure


def measured_table(bench: Artifact, of_model: bool) -> Markup:
    """Median, 95th percentile and number of samples of each figure, of the model or of the rest."""
    rows = [
        (_named(row.name), f"{_count(row.median)} {row.unit}", _p95(row), f"{row.n}")
        for row in bench.data.figures
        if bool(OF_MODEL.search(row.name)) == of_model
    ]
    caption = "Speeds of the language model" if of_model else "Speeds of the games and the page"
    return table(("measured", "median", "95 % within", "n"), rows, caption=caption)


def _named(name: str) -> Markup:
    """A figure's name with its tasks and policies in words, and without its unit."""
    return with_tooltips(re.sub(r"^(episodes|steps) a second, ", "", _plain(name)))


def _plain(name: str) -> str:
    """A figure's name with its policies in words."""
    return re.sub(r"rule_based(_expert)?", lambda found: found[0].replace("_", " "), name)


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _p95(row: Speed) -> str:
    return f"{_count(row.p95)} {row.unit}" if row.p95 is not None else "–"


def published_table(speeds: Sequence[Mapping[str, Any]]) -> Markup:
    """Published speeds with their source and caveat, none of them beside a measured one."""
    rows = [
        (
            _plain(f"{row['title']}, {row['name']}"),
            badge("published"),
            f"{row['median']:,}",
            row["source"],
            row["caveat"],
        )
        for row in speeds
    ]
    columns = ("figure", "origin", "as published", "source", "machine and caveat")
    return table(columns, rows, "llrll", "Published speeds")


def speeds() -> Markup:
    """Every speed that was measured, then the published ones."""
    bench, missing = load_or_say("bench.json")
    parts = [
        heading("Speed", "On the shared machine that the file names; medians with their n."),
        missing,
    ]
    if bench is not None:
        parts += [
            measured_table(bench, of_model=False),
            provenance(bench),
            folded("The language model", measured_table(bench, of_model=True)),
        ]
    published, missing = load_or_say("published.json")
    if published is None:
        return Markup("").join([*parts, missing])
    told = note("Published speeds were taken on other machines, so they give no ratio.")
    shown = published_table(published_speeds(published)) + told
    return Markup("").join([*parts, folded("Published speeds", shown)])


LOAD_FILE = "load.json"


def load_tables(load: Artifact) -> Markup:
    """A table per mix of visitors, the first unfolded: a row per state of the code and action."""
    by_mix: dict[str, list[tuple[str, ...]]] = {}
    for mix, *cells in load_cells(load.data):
        by_mix.setdefault(mix, []).append(tuple(cells))
    about = mixes(load)
    return Markup("").join(
        folded(about[mix], table(LOAD_COLUMNS[1:], rows, "llrrrrr"), mix == next(iter(by_mix)))
        for mix, rows in by_mix.items()
    )


def memory_table(load: Artifact) -> Markup:
    """Resident memory of the page and of its model process, a row per mix and state."""
    cells = memory_cells(load.data)
    return table(MEMORY_COLUMNS, cells, "llrrrl", "Memory of the page in the load test")


def mixes(load: Artifact) -> dict[str, str]:
    """Who visits in each mix, and for how many seconds, by the name of the mix."""
    about = {mix.name: mix.about for mix in load.data.mixes}
    seconds = {
        name: ", ".join(f"{m.seconds:.0f} s {m.state}" for m in load.data.mixes if m.name == name)
        for name in about
    }
    return {name: f"{name}: {about[name]} ({seconds[name]})" for name in about}


def load_test() -> Markup:
    """Who visited, how long the page took, and its memory."""
    load, missing = load_or_say(LOAD_FILE)
    lead = "Visitors and this page shared the machine that the file names; “before” is an earlier"
    title = heading("Load test: many visitors at once", f"{lead} commit, played in turn.")
    if load is None:
        return title + missing
    memory = folded("Memory of the page and its model", memory_table(load))
    return title + load_tables(load) + memory + provenance(load)


REPORTS = {  # by the title of the sub-tab: its name in addresses, and what it shows
    "Speed": ("speed", speeds),
    "Load test": ("load", load_test),
}
