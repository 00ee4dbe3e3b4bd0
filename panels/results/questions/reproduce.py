"""Reproduce: a sample of a recorded row's games, played again now, beside what was recorded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import gradio as gr
from markupsafe import Markup

from env import Policy, Task
from panels.results.model_labels import policy_label
from panels.results.questions.layout import fold
from panels.site.internals import visitor_of_event
from panels.transcripts.episodes import while_awaited
from panels.ui.look import QUEUED, note, table, trouble
from sauda.evaluation.evaluate import Cell
from sauda.evaluation.verification.sample import Sample, cells, needs_weights, play_again
from sauda.games import game_of
from sauda.llm.registry import get_policy, player_spec
from sauda.llm.serving.served import in_page
from sauda.llm.types import ReplyError
from sauda.records.store import Artifact

SCRIPTED, BY_MODEL = 20, 2  # games of a sample
SHOWN = 12  # characters of a digest


def rows_of(artifacts: Sequence[Artifact]) -> dict[str, tuple[Artifact, Cell]]:
    """Every row that can be played again, by its label; the first artifact with a row has it."""
    rows: dict[str, tuple[Artifact, Cell]] = {}
    for artifact in artifacts:
        for cell in cells(artifact):
            others = f", other labs {cell.others}" if game_of(cell.task).names_others else ""
            label = f"{cell.task} · {policy_label(cell.policy)} ({cell.policy}){others}"
            rows.setdefault(label, (artifact, cell))
    return rows


def of_this_page(task: Task, name: str) -> Policy:
    """The policy of that name; a language model's replies come from this page's own process."""
    if not needs_weights(name):
        return get_policy(task, name)
    player = player_spec(name)
    model = in_page(player.weights).for_visitor(visitor_of_event())
    model.wait()
    return while_awaited(replace(player, generate=model).policy(game_of(task)))


def shown(sample: Sample) -> Markup:
    """Whether the games came out as recorded, both digests, and each game's grades."""
    then, now = sample.digests
    count, columns = len(sample.seeds), len(sample.recorded)
    if sample.differing:
        verdict = (
            f"Not the same in {', '.join(sample.differing)}. A language model in bf16 rounds"
            " otherwise on a CPU of another kind, or alone instead of in a batch."
            if needs_weights(sample.cell.policy)
            else f"Not the same in {', '.join(sample.differing)}."
        )
    else:
        verdict = f"The same: all {columns} columns of {count} games came out as recorded."
    rows = [
        (f"{seed}", f"{old:.6f}", f"{new:.6f}", "=" if old == new else "≠")
        for seed, old, new in zip(
            sample.seeds, sample.recorded["grade"], sample.again["grade"], strict=True
        )
    ]
    digests = f"SHA-256 of the columns: recorded {then[:SHOWN]}, played now {now[:SHOWN]}"
    return (
        Markup("<p><b>{}</b></p>").format(verdict)
        + note(digests)
        + table(("seed", "grade as recorded", "grade played now", ""), rows, "lrrl", "The games")
    )


def build(name: str, artifacts: Sequence[Artifact], first: str = "") -> None:
    """Lay out the part, folded, for the rows of `artifacts`, with `first` as the policy picked."""
    rows = rows_of(artifacts)
    if not rows:
        return
    chosen = next((label for label, (_, c) in rows.items() if c.policy == first), next(iter(rows)))
    with fold("Reproduce: play a sample of these games again, now"):
        with gr.Row():
            row = gr.Dropdown(
                list(rows), value=chosen, label="Row", elem_id=f"results-{name}-row", scale=3,
                min_width=280,
            )  # fmt: skip
            button = gr.Button("Reproduce", variant="primary", scale=0, min_width=140)
        result = gr.HTML(elem_id=f"results-{name}-reproduced")
        gr.HTML(note(f"Plays the first {SCRIPTED} games of a row; {BY_MODEL} of a language model."))

    def reproduce(label: str) -> Iterator[Markup]:
        yield from reproduced(rows, label)

    button.click(reproduce, row, result, **QUEUED, concurrency_id="reproduce", concurrency_limit=2)


def reproduced(rows: Mapping[str, tuple[Artifact, Cell]], label: str) -> Iterator[Markup]:
    """The result of playing the row called `label` again, after a word that it begins."""
    if label not in rows:
        yield trouble(ValueError("pick one of the rows of this list"))
        return
    artifact, cell = rows[label]
    slow = needs_weights(cell.policy)
    count = BY_MODEL if slow else SCRIPTED
    yield note(f"Playing {count} games" + (", which takes about half a minute …" if slow else " …"))
    try:
        yield shown(play_again(artifact, cell, count, of_this_page if slow else None))
    except ReplyError as error:
        yield trouble(error)
