"""Artifacts & API: every file with its command, for download; speeds; how a program comes in.

The browser fills the page's own address in the programs, so that each runs as printed.
"""

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr
from markupsafe import Markup

from env import TASKS, rollout
from panels.frames import Table, lay_out
from panels.transcripts.episodes import within
from panels.ui.components.moves import Moves
from panels.ui.html import macros
from panels.ui.look import PARTS, QUEUED, folded, heading, note, table, trouble
from panels.ui.provenance import lay_out_or_say, load_or_say, provenance
from panels.ui.tables import MISSING
from panels.ui.terms import capital, with_tooltips
from panels.ui.wiring import fill_on_opening
from sauda.games.transcript import to_json
from sauda.llm.types import ReplyError
from sauda.players import scripts_of
from sauda.records.kinds import FILES, KINDS, ArtifactError, Entry
from sauda.records.schemas.speeds import LoadTest, published_rows
from sauda.records.seeds import EXACT, SEED_BITS, whole_seed
from sauda.records.store import ROOT, Artifact, bundle, load, replace_file, sha256

HTML = macros("artifacts")
TITLE = "Artifacts & API"
FOLDERS = {  # of the artifacts: the title of its group
    "evaluation": "Evaluations",
    "training": "Training runs",
    "episodes": "Whole games",
    "": "Other measurements and published figures",
}
PLAY_SECONDS = 10.0  # that a game over the API may take
ADDRESS = "{address}"  # stands in the programs for the page's own, which ends in a slash
LOCAL = "http://127.0.0.1:7860/"  # before the browser has filled its own in
SPEEDS = ("reference-throughput", "arena-reference-speed")  # published figures
OF_MODEL = re.compile(r"mini|model|replies|training")  # in the name of a speed


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    lead = "Play from a program, check a number, bring a policy, download the file of a figure."
    gr.HTML(heading(TITLE, lead))
    gr.api(play, api_name="play", concurrency_id="play", concurrency_limit=1)
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        _programs()
        with gr.Tab("Files", id="files") as tab:
            gr.HTML(
                heading("The files", "Every measured or published figure of this page is in one.")
                + on_the_hub(os.environ)
            )
            make = gr.Button("Pack all files in one zip", size="sm", scale=0)
            ready = gr.DownloadButton("Download the zip", visible=False, size="sm", scale=0)
            made_or_not = [make, ready, gr.HTML()]
            make.click(
                make_zip, None, made_or_not, **QUEUED, concurrency_id="zip", concurrency_limit=1
            )
            caveat = note(
                "They hold finished games only; nothing that a running game hides is in them."
            )
            shown, made = gr.HTML(), cache(lambda: listing() + caveat)
            fill_on_opening(tab, lambda _: {shown: made()}, [shown])
        for title, name, report in (("Speed", "speed", speeds), ("Load test", "load", load_test)):
            with gr.Tab(title, id=name):
                lay_out_or_say(report)


# Programs ----------------------------------------------------------------------------------------


class Program(NamedTuple):
    """A program to copy; `about` may stand below its title."""

    tab: str
    title: str
    about: str
    elem_id: str
    text: str


PROGRAMS = [
    Program(*groups)
    for groups in re.findall(
        r"## (.+): (.+)\n\n(?:(.+)\n\n)?```\w+ (.+)\n([\s\S]+?)\n```\n",
        Path(__file__).with_name("templates").joinpath("programs.md").read_text(encoding="utf-8"),
    )
]


def _programs() -> None:
    """Lay out a sub-tab per group of programs. Called inside `gr.Tabs`."""
    numbers = {"tasks": len(TASKS), "buyers": len(scripts_of(TASKS["classic/single_deal"]))}
    for name, group in groupby(PROGRAMS, key=lambda program: program.tab):
        with gr.Tab(name, id=name.lower().replace(" ", "-")):
            parts = [
                heading(each.title, each.about.format(**numbers))
                + PARTS.program(each.text.replace(ADDRESS, LOCAL), each.elem_id)
                for each in group
            ]
            Moves(Markup("").join(parts))


def play(
    task_name: str = "classic/single_deal", policy_name: str = "expert", seed: str | int = "7"
) -> dict[str, Any]:
    """Play one episode of a task with a scripted policy in the learner's seat.

    The rules of every task end a game within a few hundred moves; one that is not over after ten
    seconds is given up.

    Args:
        task_name: such as classic/single_deal; an unknown one is answered with those there are
        policy_name: such as expert; likewise
        seed: a whole number below 2**128, such as 7; from 2**53 on as text, such as "7"

    Returns:
        the episode: its seed as text, its moves in order, how it ended, the payoffs in rupees and
        the grade
    """
    task = TASKS[_one_of("task", task_name, TASKS)]
    policies = scripts_of(task)  # scripts alone: no name of a model or a file is looked up
    name = _one_of("policy", policy_name, policies)
    try:
        played = rollout(task, within(policies[name], PLAY_SECONDS), _seed_in(seed))
    except (ArtifactError, ReplyError) as error:  # the tuned script's numbers; the time is up
        raise gr.Error(capital(f"{error}."), print_exception=False) from None
    return {**to_json(played, name), "seed": str(played.seed)}  # JavaScript would round a number


def _one_of(kind: str, name: object, known: Mapping[str, object]) -> str:
    """`name` where it is in `known`; raises `gr.Error` naming those there are."""
    if isinstance(name, str) and name in known:
        return name
    sentence = f"There is no {kind} of that name; choose one of {', '.join(known)}."
    raise gr.Error(sentence, print_exception=False)


def _seed_in(value: object) -> int:
    """The seed in a number or in a text of digits; raises `gr.Error` on anything else.

    A number that JavaScript cannot hold is refused, since it could have lost digits on its way.
    """
    exact = not isinstance(value, int) or value <= EXACT
    try:
        return whole_seed(value if exact else "")
    except ValueError:
        sentence = f"A seed is a whole number from 0 below 2**{SEED_BITS}, as text from 2**53 on."
        raise gr.Error(sentence, print_exception=False) from None


# The files ---------------------------------------------------------------------------------------


def on_the_hub(environment: Mapping[str, str]) -> Markup:
    """Links to the data set and the model on the Hub; where neither is named, what makes them."""
    named = (environment.get(variable, "") for variable in ("SAUDA_DATASET", "SAUDA_ADAPTER"))
    return HTML.on_the_hub(*named)


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
    path, check = root / entry.file, KINDS[entry.kind]
    try:
        artifact = load(entry.file, root)
    except ArtifactError as error:
        fault, command = HTML.fault(error.fault), HTML.command(entry.command)
        return entry.file, fault, command, check, "–", "–"
    kind = f"{artifact.origin}, {artifact.kind}; shown in {entry.tab}"
    return (
        HTML.download(entry.file),
        with_tooltips(entry.about) + note(kind),
        HTML.made_by(artifact.made),
        check,
        f"{path.stat().st_size / 1024:,.0f}",
        HTML.digest(sha256(path)),
    )


def make_zip() -> tuple[gr.Button, gr.DownloadButton, Markup]:
    """In place of the button that makes the zip, the one that downloads it; or why it cannot."""
    try:
        path = zip_folder() / "sauda-artifacts.zip"
        if not path.exists():
            with replace_file(path) as part:
                bundle(part)
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        sentence = (
            f"the file for download could not be written ({why}); nothing else is lost,"
            " so try again later"
        )
        return gr.Button(), gr.DownloadButton(), trouble(ValueError(sentence))
    label = f"Download the zip, {path.stat().st_size / 2**20:.0f} MiB"
    return gr.Button(visible=False), gr.DownloadButton(label, value=path, visible=True), Markup("")


@cache
def zip_folder() -> Path:
    """A folder of this process, removed when it ends, whose files Gradio serves as they stand."""
    folder = Path(tempfile.mkdtemp(prefix="sauda-")).resolve()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    gr.set_static_paths([folder])
    return folder


# Speeds and the load test ------------------------------------------------------------------------


def speeds() -> None:
    """Lay out every speed that was measured, then the published ones. Called inside the tab."""
    title = heading("Speed", "On the shared machine that the file names; medians with their n.")
    bench, missing = load_or_say("bench.json")
    gr.HTML(title + (missing if bench is None else provenance(bench)))
    for name, of_model in (("speeds", False), ("model speeds", True)) if bench else ():
        lay_out(Table(name, measured(bench, of_model)))
    published = load("published.json")
    rows = [
        {
            "figure": _plain(f"{each.title}, {unit} a second, {row.get('task') or row['path']}"),
            "as published": row[f"{unit}_per_s"],
            "source": each.source,
            "machine and caveat": each.caveat,
        }
        for each in published.data.figures
        if each.id in SPEEDS
        for row in published_rows(published, each.id)
        for unit in ("episodes", "steps")
    ]
    below = note("Published speeds were taken on other machines, so they give no ratio.")
    lay_out(Table("published speeds", rows, below, form=","))


def measured(bench: Artifact, of_model: bool) -> list[dict[str, str]]:
    """Median, 95th percentile and number of samples of each figure, of the model or of the rest."""

    def count(value: float | None, unit: str) -> str:
        if value is None:
            return MISSING
        return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"

    return [
        {
            "measured": re.sub(r"^(episodes|steps) a second, ", "", _plain(row.name)),
            "median": count(row.median, row.unit),
            "95% within": count(row.p95, row.unit),
            "n": row.n,
        }
        for row in bench.data.figures
        if bool(OF_MODEL.search(row.name)) == of_model
    ]


def _plain(name: str) -> str:
    """A figure's name with its policies in words."""
    return re.sub(r"rule_based(_expert)?", lambda match: match[0].replace("_", " "), name)


def load_test() -> None:
    """Lay out who visited, how long the page took, and its memory. Called inside the tab."""
    tested, missing = load_or_say("load.json")
    lead = "Visitors and this page shared the machine that the file names; “before” is an earlier"
    title = heading("Load test: many visitors at once", f"{lead} commit, played in turn.")
    gr.HTML(title + (missing if tested is None else provenance(tested)))
    if tested is None:
        return
    mixes = [note(f"{mix.name}, {mix.state}: {mix.about} ({mix.seconds:.0f} s)")
             for mix in tested.data.mixes]  # fmt: skip
    lay_out(Table("load", load_rows(tested.data), Markup("").join(mixes)))
    lay_out(Table("memory", memory_rows(tested.data)))


def load_rows(data: LoadTest) -> list[dict[str, str]]:
    """How long each action took, by mix and state of the code."""
    return [
        {"visitors": mix.name, "code": mix.state, "action": row.what, "n": f"{row.n:,}",
         "median, ms": _ms(row.p50_ms), "95% within, ms": _ms(row.p95_ms),
         "refused": f"{row.refused:,}", "failures": f"{row.failures:,}"}
        for mix in data.mixes
        for row in mix.rows
    ]  # fmt: skip


def _ms(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f}"


def memory_rows(data: LoadTest) -> list[dict[str, str]]:
    """The memory of the page's processes before and after the work, by mix and state."""
    return [
        {"visitors": mix.name, "code": mix.state, "page, MiB": _from_to(row.page_mib),
         "model process, MiB": "none" if row.model_mib is None else _from_to(row.model_mib),
         "page, KiB more a unit": f"{row.page_kib_a_unit:,.0f}", "unit": row.unit}
        for mix in data.mixes
        for row in mix.memory
    ]  # fmt: skip


def _from_to(mib: Sequence[float]) -> str:
    return f"{mib[0]:,.0f} to {mib[-1]:,.0f}"
