"""Reproduce: a sample of a recorded row's games, played again now, beside what was recorded."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import gradio as gr
from markupsafe import Markup

from env import Policy, Task
from panels.measured import TRAINED, series_role
from panels.transcripts.episodes import of_this_page
from panels.ui.components.moves import Move, Moves, button, pick_list
from panels.ui.html import macros
from panels.ui.look import folded, note, trouble
from panels.ui.provenance import PLAYS_AGAIN, side_by_side
from panels.ui.terms import capital, list_names, task_title
from panels.ui.visitor import as_visitor
from panels.ui.wiring import Address, Updates, in_address
from sauda.games import game_of
from sauda.llm.backends import gpu_of_this_process
from sauda.llm.model import ROUNDING
from sauda.llm.types import ReplyError
from sauda.played import Cell, Sample, cells, kinds_of_cpu, replay_row, weights_of
from sauda.players import buyer_name, player_spec, sit
from sauda.records.store import Artifact

SCRIPTED = 20  # games of a sample
# Games of a sample that a language model plays, and how long they take on two cores.
BY_MODEL = {"bazaar": (2, "about half a minute"), "arena": (1, "some minutes")}
WON = "mean share of what could be won"
AGAIN = "again"  # of an address: the row to play again
TITLE = "Reproduce: play a sample of these games again, now"
ROUNDING_DIFFERS = (
    "A language model in bf16 rounds differently on another kind of CPU, or alone instead of in a"
    " batch."
)
CPU_FLAGS = Path("/proc/cpuinfo")  # of Linux

HTML = macros("results")
Rows = Mapping[str, tuple[Artifact, Cell]]  # by `key`


def key(cell: Cell) -> str:
    """The name of a row in the picker: task, policy, and the other labs where they are named."""
    return " ".join(filter(None, (*cell, game_of(cell.task).others)))


def rows_of(artifacts: Sequence[Artifact]) -> Rows:
    """Every row that can be played again; the first artifact with a row has it.

    The rows of TRAINED come first, then the best script on each task, then all the others.
    """
    rows: dict[str, tuple[Artifact, Cell]] = {}
    best: dict[str, tuple[float, str]] = {}
    for artifact in artifacts:
        for cell, columns in cells(artifact).items():
            name = key(cell)
            if name in rows:
                continue
            rows[name] = artifact, cell
            if series_role(cell.policy) == "scripted":
                score = fmean(columns["grade"]), name
                best[cell.task] = max(best.get(cell.task, score), score)
    scripts = {name for _, name in best.values()}
    return dict(
        sorted(
            rows.items(), key=lambda row: (row[1][1].policy not in TRAINED, row[0] not in scripts)
        )
    )


def cpus(artifact: Artifact, policy: str) -> Markup | str:
    """The CPUs that a language model's row was recorded on, beside this machine's; "" for a GPU.

    CPUs are told by the features that decide the rounding.
    """
    kinds = kinds_of_cpu(artifact.data.models[player_spec(policy).weights].cpu)
    now = cpu_features()
    is_one = " ".join(now) in kinds
    features = [list_names(kind.split()) for kind in kinds]
    return HTML.cpus(features, list_names(now), is_one, gpu_of_this_process()) if kinds else ""


def cpu_features() -> list[str]:
    """The features of this machine's CPU that decide how sums are rounded; none where unknown."""
    lines = CPU_FLAGS.read_text(encoding="utf-8").splitlines() if CPU_FLAGS.exists() else []
    flags = next((line.split() for line in lines if line.startswith("flags")), [])
    return [name for name in ROUNDING if name.replace("avx512_f", "avx512f") in flags]


def sits_here(task: Task, name: str) -> Callable[[int], Policy]:
    """Who plays in each game; of a language model that of this page's own process."""
    if not weights_of(name):
        return sit(task, name)
    policy = of_this_page(task, name)
    return lambda seed: policy


def draw_sample(sample: Sample, machines: Markup | str = "") -> Markup:
    """Whether the games came out as recorded, with both means and digests, and each game's share.

    The rows of the games are folded. `machines` says where a language model played.
    """
    figures = sample.recorded["grade"], sample.replayed["grade"]
    why = ROUNDING_DIFFERS if weights_of(sample.cell.policy) else ""
    played = sample.recorded, sample.replayed
    return side_by_side(WON, figures, *played, why, sample.seeds) + machines


def build(
    name: str, address: Address, artifacts: Sequence[Artifact], first: str
) -> tuple[list[gr.HTML], Callable[[Mapping[str, str]], Updates]]:
    """Lay out a list of the rows of `artifacts` and a button that plays one again.

    The policy `first` is picked, or the row that `address` names as AGAIN. Returns the components,
    and what they show at an address.
    """
    rows = rows_of(artifacts)
    chosen = next((row for row, (_, c) in rows.items() if c.policy == first), next(iter(rows)))
    choices = [
        (f"{task_title(cell.task)} · {capital(buyer_name(cell.policy))}", row)
        for row, (_, cell) in rows.items()
    ]
    slow = max(BY_MODEL[game_of(cell.task).name] for _, cell in rows.values())
    hint = note(f"Plays the first {SCRIPTED} games of a row; {slow[0]} of a language model.")
    press = button("Reproduce", "reproduce", "sauda-button sauda-primary")
    form, result = Moves(), gr.HTML(elem_id=f"results-{name}-reproduced")

    def named(row: str) -> Updates:
        return {address.shown: in_address({} if row == chosen else {AGAIN: row})}

    def show(query: Mapping[str, str]) -> Updates:
        picked = query[AGAIN] if query.get(AGAIN) in rows else chosen
        picker = pick_list("Row", choices, f"results-{name}-row", picked)
        line = HTML.again(picker, press, hint)
        return {form: folded(TITLE, line, is_open=AGAIN in query), result: "", **named(picked)}

    def reproduce(request: gr.Request, move: Move) -> Iterator[Updates]:
        picked = move.field(f"{name}-row")
        shown = named(picked) if picked in rows else {}
        for part in as_visitor(partial(play_row_again, rows, picked))(request):
            yield shown | {result: part}

    form.click(reproduce, None, [result, address.shown], **PLAYS_AGAIN)
    return [form, result], show


def play_row_again(rows: Rows, label: str) -> Iterator[Markup]:
    """The result of playing the row called `label` again, after a word that it begins."""
    if label not in rows:
        yield trouble(ValueError("pick one of the rows of this list"))
        return
    artifact, cell = rows[label]
    slow = weights_of(cell.policy)
    count, time = BY_MODEL[game_of(cell.task).name] if slow else (SCRIPTED, "")
    games = f"{count} game{'s' if count > 1 else ''}"
    yield note(f"Playing {games}{f', which takes {time}' if slow else ''} …")
    try:
        sample = replay_row(artifact, cell, count, sits_here)
        yield draw_sample(sample, cpus(artifact, cell.policy) if slow else "")
    except ReplyError as error:
        yield trouble(error)
