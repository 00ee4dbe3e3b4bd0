"""The section of Results that shows the evaluations of one game: controls, figure, table, CSV."""

from collections.abc import Mapping
from typing import Any

import gradio as gr
from markupsafe import Markup

from panels.results.evaluation import (
    ORDERS,
    SPLITS,
    WHISKERS,
    Game,
    View,
    bars,
    caption,
    details,
    details_label,
    download,
)
from panels.ui.look import QUIET, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import offered_csv, sortable_table
from panels.ui.terms import task_choices, with_tooltips
from panels.ui.wiring import Address, in_address, on_address
from sauda.records.store import Artifact

Evaluations = Mapping[tuple[str, str], Artifact]  # by (task, split)
Control = gr.Dropdown | gr.Radio


def load_evaluations(game: Game) -> tuple[list[Artifact], list[Markup]]:
    """The game's evaluations that can be read, and an error message for each other one."""
    loaded = [load_or_say(file) for file in game.files]
    return (
        [evaluation for evaluation, _ in loaded if evaluation is not None],
        [message for _, message in loaded if message],
    )


def build(game: Game, address: Address, around: gr.Accordion) -> None:
    """Lay out the section of the game's evaluations, or why there is none."""
    evaluations, missing = load_evaluations(game)
    for message in missing:
        gr.HTML(message)
    if evaluations:
        section(game, evaluations, address, around)


def by_task(evaluations: list[Artifact]) -> Evaluations:
    """Each evaluation under its (task, split)."""
    return {
        (task, evaluation.config["split"]): evaluation
        for evaluation in evaluations
        for task in evaluation.config["tasks"]
    }


def section(
    game: Game, evaluations: list[Artifact], address: Address, around: gr.Accordion
) -> None:
    """Lay out the section. Called inside the Results tab, with at least one evaluation.

    The task is in `address`, which unfolds the section `around`.
    """
    played = by_task(evaluations)
    split = evaluations[0].config["split"]
    tasks = [task for task in game.tasks if any((task, name) in played for name in SPLITS)]
    task = game.first_task if (game.first_task, split) in played else tasks[0]
    first = View(task, split, game.metrics[0].name)
    controls = _controls(game, tasks, first)
    outputs = _outputs(game, show(game, played, first))

    def redraw(values: dict[Control, Any]) -> dict[Any, Any]:
        view = View(**{name: values[control] for name, control in controls.items()})
        parts = show(game, played, view)
        named = {} if view.task == first.task else {"task": view.task}
        shown = {outputs[name]: part for name, part in parts.items()}
        return shown | {address.shown: in_address(named)}

    def follow_task(query: Mapping[str, str]) -> dict[Any, Any]:
        task_name = query["task"] if query.get("task") in tasks else first.task
        values = {control: getattr(first, name) for name, control in controls.items()}
        values[controls["task"]] = task_name
        unfolded = {around: gr.Accordion(open=True)} if query else {}
        return redraw(values) | values | unfolded

    gr.on(
        [control.change for control in controls.values()],
        redraw,
        set(controls.values()),
        [*outputs.values(), address.shown],
        **QUIET,
    )
    filled = [*outputs.values(), *controls.values(), around]
    on_address(address, follow_task, filled, names=("task",))


def show(game: Game, evaluations: Evaluations, view: View) -> dict[str, Any]:
    """What the section shows of a view, by part; only a fault where it was not played."""
    evaluation = evaluations.get((view.task, view.split))
    if evaluation is None:
        fault = f"{view.task} has not been played on the {SPLITS[view.split].lower()}"
        return {"about": trouble(fault)}
    elsewhere = next(split for split in SPLITS if split != view.split)
    sentences = (caption(game, evaluation, view), game.remarks(evaluation, view))
    csv, problem = offered_csv(download(evaluation, view), csv_name(view))
    n = evaluation.config["episodes"]
    return {
        "about": Markup("<p>{}</p>").format(game.about(view.task)) + problem,
        "figure": bars(game, evaluation, view),
        "caption": Markup("").join(
            Markup("<p>{}</p>").format(with_tooltips(text)) for text in sentences if text
        ),
        "details": gr.update(
            value=details(game, evaluation, view, evaluations.get((view.task, elsewhere))),
            label=details_label(game, view),
        ),
        "csv": csv,
        "origin": provenance(evaluation, f"n = {n:,} a policy and task"),
    }


def csv_name(view: View) -> str:
    """The name of the view's CSV file."""
    return f"{view.task}-{view.split}.csv"


def _controls(game: Game, tasks: list[str], first: View) -> dict[str, Control]:
    """One control per field of the view."""

    def label(word: str) -> str:
        return f"{game.title} {word}".strip().capitalize()

    def choices(labels: Mapping[str, str]) -> list[tuple[str, str]]:
        return [(text, value) for value, text in labels.items()]

    with gr.Row():
        return {
            "task": gr.Dropdown(
                task_choices(tasks),
                value=first.task,
                label=label("task"),
                filterable=False,
                min_width=260,
            ),
            "split": gr.Radio(choices(SPLITS), value=first.split, label=label("seeds")),
            "metric": gr.Radio(
                [(metric.label, metric.name) for metric in game.metrics],
                value=first.metric,
                label=label("metric"),
            ),
            "whisker": gr.Radio(choices(WHISKERS), value=first.whisker, label=label("whiskers")),
            "order": gr.Radio(choices(ORDERS), value=first.order, label=label("order")),
        }


def _outputs(game: Game, parts: Mapping[str, Any]) -> dict[str, Any]:
    """The components that a redraw fills, by the name of the part."""
    prefix = f"results-{game.name}"
    return {
        "about": gr.HTML(parts["about"]),
        "figure": gr.Plot(parts["figure"], show_label=False, elem_id=f"{prefix}-bars"),
        "caption": gr.HTML(parts["caption"]),
        "details": sortable_table(
            parts["details"]["value"], parts["details"]["label"], f"{prefix}-table"
        ),
        "csv": gr.DownloadButton(game.csv_label, value=parts["csv"], size="sm", scale=0),
        "origin": gr.HTML(parts["origin"]),
    }
