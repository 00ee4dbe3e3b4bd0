"""How the page stands many visitors at once: the load test's replies, failures and memory."""

import gradio as gr
from markupsafe import Markup

from panels.ui.look import folded, heading, table
from panels.ui.provenance import load_or_say, provenance
from sauda.experiments.speeds import LOAD_COLUMNS, MEMORY_COLUMNS, load_cells, memory_cells
from sauda.records.store import Artifact

FILE = "load.json"


def load_tables(load: Artifact) -> Markup:
    """A table a mix of visitors, the first unfolded: a row a state of the code and action."""
    by_mix: dict[str, list[tuple[str, ...]]] = {}
    for mix, *cells in load_cells(load.data):
        by_mix.setdefault(mix, []).append(tuple(cells))
    about = mixes(load)
    return Markup("").join(
        folded(about[mix], table(LOAD_COLUMNS[1:], rows, "llrrrrr"), mix == next(iter(by_mix)))
        for mix, rows in by_mix.items()
    )


def memory_table(load: Artifact) -> Markup:
    """Resident memory of the page and of its model process, a row a mix and state."""
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


def build() -> None:
    """Lay out the part. Called inside a tab."""
    load, missing = load_or_say(FILE)
    lead = "Visitors and this page shared the machine that the file names; “before” is an earlier"
    gr.HTML(heading("Load test: many visitors at once", f"{lead} commit, played in turn."))
    gr.HTML(missing)
    if load is not None:
        gr.HTML(load_tables(load) + folded("Memory of the page and its model", memory_table(load)))
        gr.HTML(provenance(load))
