"""How near players of the open market come to its optimum, and which sellers yield most."""

from typing import Any

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import QUIET, heading, line_style, styled, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, task_choices, titled
from sauda.experiments.oracle import InformedShare, OracleRow, PolicyShare, SellerTypeRow
from sauda.records.store import Artifact


def bounds_table(oracle: Artifact) -> Markup:
    """One row per task: grades of the informed oracle, the belief buyer and the best scripts."""
    return table(
        ("task", "n", "informed oracle", "in play", "belief buyer", "best script",
         "best of the search", "wait", "leave at once"),
        [
            (
                titled(row.task),
                f"{row.n:,}",
                with_interval(row.informed),
                of_informed(row.informed_play),
                of_informed(row.belief),
                best_script(row),
                of_informed(row.search.holdout),
                *(of_informed(scripted(row, name)) for name in ("wait", "leave")),
            )
            for row in oracle.data.rows
        ],
        caption="Mean grade on hold-out seeds, and what share of the informed oracle it is",
    )  # fmt: skip


def scripted(row: OracleRow | SellerTypeRow, name: str) -> PolicyShare:
    """The figures of policy `name` in a row of the oracle artifact."""
    return next(cell for cell in row.policies if cell.policy == name)


def best_script(row: OracleRow | SellerTypeRow) -> str:
    """Name and grade of the best scripted buyer in a row of the oracle artifact."""
    best = max((p for p in row.policies if p.policy != "leave"), key=lambda p: p.mean)
    return f"{policy_label(best.policy)} {of_informed(best)}"


def search_sentence(oracle: Artifact) -> str:
    """What the search tried, and how much a finer price grid would change the oracle's values."""
    rows = oracle.data.rows
    errors = [row.grid_error for row in rows]
    return (
        f"The search tried {rows[0].search.tried} fixed schedules and waiting scripts a task"
        " on training seeds. Halving the oracle’s price grid moved a value by"
        f" {max(error.mean for error in errors):.4f} on average at most"
        f" (n = {errors[0].n} deals a task), and by"
        f" {max(error.max for error in errors):.3f} at worst."
    )


def of_informed(figures: InformedShare) -> str:
    """A mean grade and its share of the informed oracle's grade: "0.412 (73%)"."""
    return f"{figures.mean:.3f} ({figures.share:.0%})"


# Yield by seller type ----------------------------------------------------------------------------


def yield_figure(oracle: Artifact, task: str) -> go.Figure:
    """Mean grade against each seller type: best response, belief buyer, best script, waiting."""
    types = _row(oracle, task).types
    figure = go.Figure()
    for name, style, cells in _contestants(types):
        figure.add_scatter(
            y=[row.type for row in types],
            x=[cell.mean for cell in cells],
            error_x=whiskers(cells) | {"thickness": 1.25, "width": 4},
            name=name,
            hovertemplate=f"{name}: %{{x:.3f}}<extra>%{{y}}</extra>",
            **(style | {"mode": "markers"}),
        )
    figure.update_xaxes(title="grade of the task", showgrid=True, rangemode="tozero")
    return styled(figure, height=300).update_yaxes(showgrid=False, autorange="reversed")


def _contestants(types: list[SellerTypeRow]) -> list[tuple[str, dict, list[Any]]]:
    """Name, line style and figures (one per seller type) of each series of the figure."""
    ink = line_style("oracle") | {"marker": {"symbol": "line-ns-open", "size": 16}}
    ink["marker"] |= {"color": ink["line"]["color"], "line": {"width": 2}}
    shown = [("best response to the known seller", ink, [row.informed for row in types])]
    shown.append(("belief buyer", line_style("buyer"), [row.belief for row in types]))
    best = [max(_scripts(row), key=lambda cell: cell.mean) for row in types]
    shown.append(("best script of this type", line_style("scripted"), best))
    waits = [scripted(row, "wait") for row in types]
    shown.append(("wait", line_style("scripted", published=True), waits))
    return shown


def yield_table(oracle: Artifact, task: str) -> Markup:
    """Mean grade of every scripted policy against each seller type."""
    types = _row(oracle, task).types
    policies = [cell.policy for cell in types[0].policies]
    return table(
        ("seller type", "n", "best response", "belief buyer", *map(policy_label, policies)),
        [
            (
                row.type,
                f"{row.n:,}",
                with_interval(row.informed),
                of_informed(row.belief),
                *(of_informed(scripted(row, name)) for name in policies),
            )
            for row in types
        ],
        caption=f"Mean grade in the {short(task)} by type of seller, and its share of the best"
        " response’s",
    )


def yield_sentence(oracle: Artifact, task: str) -> str:
    """Which seller type yields most and which least, as text."""
    types = sorted(_row(oracle, task).types, key=lambda row: -row.informed.mean)
    most, least = types[0], types[-1]
    best = max(_scripts(most), key=lambda cell: cell.mean)
    return (
        f"A {most.type} seller yields most: its best response expects"
        f" {most.informed.mean:.3f} (n = {most.n}), and the best script,"
        f" {policy_label(best.policy)}, takes {best.share:.0%} of that."
        f" A {least.type} seller yields least, {least.informed.mean:.3f}"
        f" (n = {least.n}). Whiskers are 95 % bootstrap intervals."
    )


def _row(oracle: Artifact, task: str) -> OracleRow:
    return next(row for row in oracle.data.rows if row.task == task)


def _scripts(row: OracleRow | SellerTypeRow) -> list[PolicyShare]:
    return [cell for cell in row.policies if cell.policy != "leave"]


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out the distance to the optimum and the yield by seller type, inside the Results tab."""
    gr.HTML(
        heading(
            "How close each buyer comes to the optimum",
            "The informed oracle knows the seller; its figure is the expected grade of the best"
            " response. The belief buyer knows no more than a contestant, so the best uninformed"
            " buyer lies between the two.",
        )
    )
    oracle, missing = load_or_say("oracle.json")
    if oracle is None:
        gr.HTML(missing)
        return
    gr.HTML(bounds_table(oracle))
    gr.HTML(Markup("<p>{}</p>").format(search_sentence(oracle)))
    gr.HTML(provenance(oracle, f"n = {oracle.config['episodes']:,} episodes a task"))
    _yield_by_type(oracle)


def _yield_by_type(oracle: Artifact) -> None:
    gr.HTML(
        heading(
            "Which sellers yield most",
            "How far each type can be exploited: what the best response wins, and which policies"
            " come near it.",
        )
    )
    tasks = [row.task for row in oracle.data.rows]

    def show(task: str) -> tuple[go.Figure, Markup, Markup]:
        return (
            yield_figure(oracle, task),
            Markup("<p>{}</p>").format(yield_sentence(oracle, task)),
            yield_table(oracle, task),
        )

    figure, sentence, cells = show(tasks[0])
    task = gr.Radio(task_choices(tasks), value=tasks[0], label="Task")
    outputs = [
        gr.Plot(figure, show_label=False, elem_id="results-yields"),
        gr.HTML(sentence),
        gr.HTML(cells),
    ]
    task.change(show, task, outputs, **QUIET)
