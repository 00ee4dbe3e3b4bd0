"""Artifacts & API: every file with its command, for download and checking; use from code."""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import gradio as gr
import numpy as np
from markupsafe import Markup

from env import TASKS, Policy, rollout
from panels.artifacts import snippets
from panels.artifacts.reports import REPORTS
from panels.ui.downloads import downloads, offered
from panels.ui.look import QUEUED, folded, heading, note, table
from panels.ui.terms import with_tooltips
from panels.ui.wiring import fill_on_opening
from sauda.games import policies_of
from sauda.games.transcript import to_json
from sauda.records.kinds import FILES, KINDS, ArtifactError, Entry
from sauda.records.seeds import EXACT, SEED_BITS, whole_seed
from sauda.records.store import ROOT, bundle, load, sha256

TITLE = "Artifacts & API"
PLAY_SECONDS = 10.0  # that a game over the API may take
FOLDERS = {  # of the artifacts: the title of its group
    "evaluation": "Evaluations",
    "training": "Training runs",
    "episodes": "Whole games",
    "": "Other measurements and published figures",
}

SHELL = """\
# one episode as a transcript, and as data
python -m sauda play --task classic/single_deal --policy expert --seed 7
python -m sauda play --task classic/single_deal --policy expert --seed 7 --json

# every artifact: its checksum, then what can be replayed, to the last digit
python -m sauda verify"""

PYTHON = """\
from env import Accept, Offer, TASKS, rollout

def half_then_take(obs, rng):
    \"\"\"Bid half the first ask once, then take what is asked.\"\"\"
    return Offer(obs.priced(obs.opening_ask / 2)) if obs.round == 0 else Accept()

task = TASKS["classic/single_deal"]
episode = rollout(task, half_then_take, seed=7)
print(episode.end, episode.payoffs, task.grade(episode.final))"""


def listing(root: Path = ROOT) -> Markup:
    """The files by folder, the first one unfolded: one row per file.

    A missing or broken file says what makes it.
    """
    groups: dict[str, list[Entry]] = {title: [] for title in FOLDERS.values()}
    for entry in FILES:
        groups[FOLDERS[entry.file.rpartition("/")[0]]].append(entry)
    first = next(iter(groups))
    return Markup("").join(
        folded(f"{title}: {len(entries)} files", files_table(entries, root), title == first)
        for title, entries in groups.items()
    )


def files_table(entries: Iterable[Entry], root: Path) -> Markup:
    """One row per file."""
    columns = ("file", "what it holds", "made by", "check", "KiB", "SHA-256")
    return table(columns, [row(entry, root) for entry in entries], "llllrl")


def row(entry: Entry, root: Path) -> tuple[object, ...]:
    """One file's cells; the name is its download."""
    try:
        artifact = load(entry.file, root)
    except ArtifactError as error:
        fault = Markup('<span class="sauda-bad">It cannot be served: {}.</span>').format(
            error.fault
        )
        return entry.file, fault, command(entry.command), KINDS[entry.kind].check, "–", "–"
    path = root / entry.file
    name = Markup('<a href="{}" download>{}</a>').format(url(path), entry.file)
    digest = sha256(path)
    made = artifact.made
    by = Markup("{}{}").format(
        command(made["command"]),
        note(f"{made['created'][:10]} {(made.get('commit') or '')[:7]}"),
    )
    about = Markup("{}{}").format(
        with_tooltips(entry.about),
        note(f"{artifact.origin}, {artifact.kind}; shown in {entry.tab}"),
    )
    return (
        name,
        about,
        by,
        KINDS[entry.kind].check,
        f"{path.stat().st_size / 1024:,.0f}",
        Markup('<code title="{}">{}…</code>').format(digest, digest[:8]),
    )


def command(text: str) -> Markup:
    """A command in monospace."""
    return Markup("<code>{}</code>").format(text)


def url(path: Path) -> str:
    """Where the page serves a file of the artifacts folder."""
    return f"gradio_api/file={quote(str(path))}"


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
    task = TASKS[one_of("task", task_name, TASKS)]
    policies = policies_of(task)  # scripts alone: no name of a model or a file is looked up
    name = one_of("policy", policy_name, policies)
    try:
        played = rollout(task, within(policies[name], PLAY_SECONDS), seed_in(seed))
    except ArtifactError as error:  # the tuned script's numbers
        raise gr.Error(f"{error}.", print_exception=False) from None
    return {**to_json(played, name), "seed": str(played.seed)}  # JavaScript would round a number


def within(policy: Policy, seconds: float) -> Policy:
    """`policy`, which raises `gr.Error` once the game has lasted longer,."""
    deadline = time.monotonic() + seconds

    def play(obs: Any, rng: np.random.Generator) -> Any:
        if time.monotonic() > deadline:
            raise gr.Error(f"The game was not over after {seconds:g} s.", print_exception=False)
        return policy(obs, rng)

    return play


def one_of(kind: str, name: object, known: Mapping[str, object]) -> str:
    """`name` where it is in `known`; raises `gr.Error` naming those there are."""
    if isinstance(name, str) and name in known:
        return name
    sentence = f"There is no {kind} of that name; choose one of {', '.join(known)}."
    raise gr.Error(sentence, print_exception=False)


def seed_in(value: object) -> int:
    """The seed in a number or in a text of digits; raises `gr.Error` on anything else.

    A number that JavaScript cannot hold is refused, since it could have lost digits on its way.
    """
    exact = not isinstance(value, int) or value <= EXACT
    try:
        return whole_seed(value if exact else "")
    except ValueError:
        sentence = f"A seed is a whole number from 0 below 2**{SEED_BITS}, as text from 2**53 on."
        raise gr.Error(sentence, print_exception=False) from None


def make_zip() -> tuple[gr.Button, gr.DownloadButton, Markup]:
    """In place of the button that makes the zip, the one that downloads it; or why it cannot."""
    path, problem = offered(lambda: str(downloads().write("sauda-artifacts.zip", "all", bundle)))
    if path is None:
        return gr.Button(), gr.DownloadButton(), problem
    label = f"Download the zip, {Path(path).stat().st_size / 2**20:.0f} MiB"
    return gr.Button(visible=False), gr.DownloadButton(label, value=path, visible=True), problem


def _offer_zip() -> None:
    with gr.Row(elem_classes="sauda-actions"):
        make = gr.Button("Pack all files in one zip", size="sm", scale=0)
        ready = gr.DownloadButton("Download the zip", visible=False, size="sm", scale=0)
    problem = gr.HTML()
    one_at_a_time = {**QUEUED, "concurrency_id": "zip", "concurrency_limit": 1}
    make.click(make_zip, None, [make, ready, problem], **one_at_a_time)


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.set_static_paths([ROOT])
    told = "Play from a program, check a number, bring a policy, download the file of a figure."
    gr.HTML(heading(TITLE, told))
    gr.api(play, api_name="play", concurrency_id="play", concurrency_limit=1)
    with gr.Tabs(elem_classes="sauda-subtabs", overflow_behavior="wrap"):
        snippets.build()
        with gr.Tab("Command line", id="command-line"):
            _command_line()
        with gr.Tab("Files", id="files") as tab:
            _files(tab)
        for title, (name, report) in REPORTS.items():
            with gr.Tab(title, id=name) as tab:
                _filled(tab, report)


def _command_line() -> None:
    gr.HTML(heading("Check a number", "In a checkout of this Space, with Python 3.11 or 3.12."))
    gr.Code(SHELL, language="shell", interactive=False, show_label=False, show_line_numbers=False)
    gr.HTML(
        heading(
            "Bring a policy",
            f"A policy is a function of an observation. {len(TASKS)} tasks, "
            f"{len(policies_of(TASKS['classic/single_deal']))} scripted buyers to beat.",
        )
    )
    gr.Code(PYTHON, language="python", interactive=False, show_label=False, show_line_numbers=False)


def _files(tab: gr.Tab) -> None:
    gr.HTML(heading("The files", "Every measured or published figure of this page is in one."))
    _offer_zip()
    told = note("They hold finished games only; nothing that a running game hides is in them.")
    _filled(tab, lambda: listing() + told)


def _filled(tab: gr.Tab, told: Callable[[], Markup]) -> None:
    """Place what `told` says, which is made once and sent as `tab` is opened."""
    shown, made = gr.HTML(), cache(told)
    fill_on_opening(tab, lambda _: {shown: made()}, [shown])
