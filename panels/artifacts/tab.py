"""Artifacts & API: every file with its command, for download; speeds; how a program comes in."""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from panels.artifacts import api
from panels.ui.downloads import downloads, offered
from panels.ui.html import macros
from panels.ui.look import QUEUED, badge, folded, heading, note, table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.terms import with_tooltips
from panels.ui.wiring import fill_on_opening
from sauda.experiments.speeds import (
    LOAD_COLUMNS,
    MEMORY_COLUMNS,
    load_cells,
    memory_cells,
    published_speeds,
)
from sauda.records.kinds import FILES, KINDS, ArtifactError, Entry
from sauda.records.store import ROOT, Artifact, bundle, load, sha256

HTML = macros("artifacts")
TITLE = "Artifacts & API"
FOLDERS = {  # of the artifacts: the title of its group
    "evaluation": "Evaluations",
    "training": "Training runs",
    "episodes": "Whole games",
    "": "Other measurements and published figures",
}
FINISHED = "They hold finished games only; nothing that a running game hides is in them."
OF_MODEL = re.compile(r"mini|model|replies|training")  # in the name of a speed


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.set_static_paths([ROOT])
    told = "Play from a program, check a number, bring a policy, download the file of a figure."
    gr.HTML(heading(TITLE, told))
    gr.api(api.play, api_name="play", concurrency_id="play", concurrency_limit=1)
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        api.build()
        with gr.Tab("Files", id="files") as tab:
            gr.HTML(
                heading("The files", "Every measured or published figure of this page is in one.")
            )
            _offer_zip()
            told = note(
                "They hold finished games only; nothing that a running game hides is in them."
            )
            _filled(tab, lambda: listing() + told)
        for title, name, report in (("Speed", "speed", speeds), ("Load test", "load", load_test)):
            with gr.Tab(title, id=name) as tab:
                _filled(tab, report)


def _filled(tab: gr.Tab, told: Callable[[], Markup]) -> None:
    """Place what `told` says, which is made once and sent as `tab` is opened."""
    shown, made = gr.HTML(), cache(told)
    fill_on_opening(tab, lambda _: {shown: made()}, [shown])


# The files ---------------------------------------------------------------------------------------


def listing(root: Path = ROOT) -> Markup:
    """The files by folder, the first one unfolded; a missing or broken one says what makes it."""
    columns = ("file", "what it holds", "made by", "check", "KiB", "SHA-256")
    parts = []
    for folder, title in FOLDERS.items():
        rows = [_row(file, root) for file in FILES if file.file.rpartition("/")[0] == folder]
        body = table(columns, rows, "llllrl")
        parts.append(folded(f"{title}: {len(rows)} files", body, is_open=not parts))
    return Markup("").join(parts)


def _row(entry: Entry, root: Path) -> tuple[object, ...]:
    """One file's cells; the name is its download."""
    path, check = root / entry.file, KINDS[entry.kind].check
    try:
        artifact = load(entry.file, root)
    except ArtifactError as error:
        fault, command = HTML.fault(error.fault), HTML.command(entry.command)
        return entry.file, fault, command, check, "–", "–"
    kind = f"{artifact.origin}, {artifact.kind}; shown in {entry.tab}"
    return (
        HTML.download(path, entry.file),
        with_tooltips(entry.about) + note(kind),
        HTML.made_by(artifact.made),
        check,
        f"{path.stat().st_size / 1024:,.0f}",
        HTML.digest(sha256(path)),
    )


def _offer_zip() -> None:
    with gr.Row(elem_classes="sauda-actions"):
        make = gr.Button("Pack all files in one zip", size="sm", scale=0)
        ready = gr.DownloadButton("Download the zip", visible=False, size="sm", scale=0)
    problem = gr.HTML()
    one_at_a_time = {**QUEUED, "concurrency_id": "zip", "concurrency_limit": 1}
    make.click(make_zip, None, [make, ready, problem], **one_at_a_time)


def make_zip() -> tuple[gr.Button, gr.DownloadButton, Markup]:
    """In place of the button that makes the zip, the one that downloads it; or why it cannot."""
    path, problem = offered(lambda: str(downloads().write("sauda-artifacts.zip", "all", bundle)))
    if path is None:
        return gr.Button(), gr.DownloadButton(), problem
    label = f"Download the zip, {Path(path).stat().st_size / 2**20:.0f} MiB"
    return gr.Button(visible=False), gr.DownloadButton(label, value=path, visible=True), problem


# Speeds and the load test ------------------------------------------------------------------------


def speeds() -> Markup:
    """Every speed that was measured, then the published ones."""
    bench, missing = load_or_say("bench.json")
    parts = [heading("Speed", "On the shared machine that the file names; medians with their n.")]
    if bench is None:
        parts.append(missing)
    else:
        parts += [measured_table(bench, False), provenance(bench)]
        parts.append(folded("The language model", measured_table(bench, True)))
    published, missing = load_or_say("published.json")
    if published is None:
        return Markup("").join([*parts, missing])
    rows = [
        (
            _plain(f"{row['title']}, {row['name']}"),
            badge("published"),
            f"{row['median']:,}",
            row["source"],
            row["caveat"],
        )
        for row in published_speeds(published)
    ]
    columns = ("figure", "origin", "as published", "source", "machine and caveat")
    shown = table(columns, rows, "llrll", "Published speeds")
    told = note("Published speeds were taken on other machines, so they give no ratio.")
    return Markup("").join([*parts, folded("Published speeds", shown + told)])


def measured_table(bench: Artifact, of_model: bool) -> Markup:
    """Median, 95th percentile and number of samples of each figure, of the model or of the rest."""

    def count(value: float | None, unit: str) -> str:
        if value is None:
            return "–"
        return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"

    rows = [
        (
            with_tooltips(re.sub(r"^(episodes|steps) a second, ", "", _plain(row.name))),
            count(row.median, row.unit),
            count(row.p95, row.unit),
            f"{row.n}",
        )
        for row in bench.data.figures
        if bool(OF_MODEL.search(row.name)) == of_model
    ]
    caption = "Speeds of the language model" if of_model else "Speeds of the games and the page"
    return table(("measured", "median", "95 % within", "n"), rows, caption=caption)


def _plain(name: str) -> str:
    """A figure's name with its policies in words."""
    return re.sub(r"rule_based(_expert)?", lambda found: found[0].replace("_", " "), name)


def load_test() -> Markup:
    """Who visited, how long the page took, and its memory."""
    measured, missing = load_or_say("load.json")
    lead = "Visitors and this page shared the machine that the file names; “before” is an earlier"
    title = heading("Load test: many visitors at once", f"{lead} commit, played in turn.")
    if measured is None:
        return title + missing
    memory = table(
        MEMORY_COLUMNS, memory_cells(measured.data), "llrrrl", "Memory of the page in the load test"
    )
    memory = folded("Memory of the page and its model", memory)
    return title + _mixes(measured) + memory + provenance(measured)


def _mixes(measured: Artifact) -> Markup:
    """A table per mix of visitors, the first unfolded: a row per state of the code and action."""
    cells, folds = load_cells(measured.data), []
    for name, about in {mix.name: mix.about for mix in measured.data.mixes}.items():
        states = [mix for mix in measured.data.mixes if mix.name == name]
        seconds = ", ".join(f"{mix.seconds:.0f} s {mix.state}" for mix in states)
        rows = [row for mix, *row in cells if mix == name]
        body = table(LOAD_COLUMNS[1:], rows, "llrrrrr")
        folds.append(folded(f"{name}: {about} ({seconds})", body, is_open=not folds))
    return Markup("").join(folds)
