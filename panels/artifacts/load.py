"""How the page stands many visitors at once: the load test's replies, failures and memory."""

import gradio as gr
from markupsafe import Markup

from panels.ui.look import heading, note, table
from panels.ui.provenance import load_or_say, provenance
from sauda.evaluation.speed import LOAD_COLUMNS, MEMORY_COLUMNS, load_cells, memory_cells
from sauda.records.store import Artifact

FILE = "load.json"


def load_table(load: Artifact) -> Markup:
    """A row a mix of visitors, state of the code and action."""
    return table(LOAD_COLUMNS, load_cells(load.data), "lllrrrrr", "Many visitors at once")


def memory_table(load: Artifact) -> Markup:
    """Resident memory of the page and of its model process, a row a mix and state."""
    cells = memory_cells(load.data)
    return table(MEMORY_COLUMNS, cells, "llrrrl", "Memory of the page in the load test")


def mixes(load: Artifact) -> str:
    """Who visits in each mix, and for how many seconds, in a sentence."""
    about = {mix.name: mix.about for mix in load.data.mixes}
    seconds = {
        name: ", ".join(f"{m.seconds:.0f} s {m.state}" for m in load.data.mixes if m.name == name)
        for name in about
    }
    return "; ".join(f"{name}: {about[name]} ({seconds[name]})" for name in about) + "."


def build() -> None:
    """Lay out the part. Called inside a tab."""
    load, missing = load_or_say(FILE)
    lead = "Visitors and this page shared the machine that the file names; “before” is an earlier"
    gr.HTML(heading("Many visitors", f"{lead} commit, played in turn."))
    gr.HTML(missing)
    if load is not None:
        gr.HTML(load_table(load))
        gr.HTML(memory_table(load))
        gr.HTML(note(mixes(load)))
        gr.HTML(provenance(load))
