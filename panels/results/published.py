"""The figures that the source documents report, and how our classic game compares with them."""

import re
from collections.abc import Sequence

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.ui.look import QUIET, SERIES, badge, heading, line_style, note, styled, table, trouble
from panels.ui.provenance import load_or_say, provenance
from panels.ui.terms import TASK_TITLES, short
from sauda.experiments.reproduction import SideOutcome
from sauda.records.store import Artifact, load

# How our game compares with its source -----------------------------------------------------------


def agreement_figure(reproduction: Artifact) -> go.Figure:
    """Every reproduced figure as its distance from the published one, in standard errors."""
    figure = go.Figure()
    shades = {"surplus": "sft", "deal_rate": "grpo"}  # "longest" has no error to count in
    for metric, role in shades.items():
        rows = [r for r in reproduction.data.rows if r.metric == metric and r.z is not None]
        style = line_style(role) | {"mode": "markers"}
        figure.add_scatter(
            x=[row.z for row in rows],
            y=[in_words(row.task) for row in rows],
            name={"surplus": "surplus", "deal_rate": "deal rate"}[metric],
            customdata=[(row.policy, row.published, row.measured) for row in rows],
            hovertemplate="%{customdata[0]}: published %{customdata[1]:.4f}, "
            "here %{customdata[2]:.4f}, z %{x:.2f}<extra></extra>",
            **style,
        )
    for z in (-3, -2, 2, 3):
        figure.add_vline(
            x=z,
            line={
                "color": SERIES["oracle"].light,
                "width": 1,
                "dash": "dot" if abs(z) == 3 else "dash",
            },
        )
    figure.update_xaxes(title="difference in standard errors", range=[-4, 4], dtick=1)
    return styled(figure, height=340).update_yaxes(showgrid=True)


def agreement_sentence(reproduction: Artifact) -> str:
    """How many figures agree, in words."""
    a = reproduction.data.agreement
    sampled = a.figures - a.without_error
    return (
        f"{a.within_three} of {sampled} sampled figures lie within three standard errors of the"
        f" difference, {a.within_two} within two; of {a.without_error} figures that do not"
        f" vary, {a.without_error_equal} are equal to four decimals."
    )


def agreement_table(reproduction: Artifact) -> Markup:
    """Every compared figure."""
    rows = [
        (
            in_words(row.task),
            policy_label(row.policy),
            row.metric.replace("_", " "),
            f"{row.published:.4f}",
            f"{row.measured:.4f}",
            "equal" if row.z is None and row.equal else _z(row.z),
        )
        for row in reproduction.data.rows
    ]
    return table(("task", "policy", "figure", "published", "here", "z"), rows, align="lllrrr")


def differences_table() -> Markup:
    """Each deliberate difference with what policies win on both sides."""
    reproduction, rows = load("evaluation/reproduction.json").data, []
    for rule in reproduction.rules:
        measured = [row for row in reproduction.differences if row.difference == rule.name]
        for number, row in enumerate(measured):
            words = (rule.published, rule.ours) if number == 0 else ("", "")
            played = f"{_named(row.policy)} on {_named(row.task)}"
            rows.append((*words, played, won(row.published), won(row.measured)))
    heads = ("published game", "ours, and why", "played", "share there", "share here")
    plain = [[_CODE.sub(lambda code: _named(code[1]), cell) for cell in row] for row in rows]
    return table(heads, plain, align="lllrr")


def won(side: SideOutcome) -> str:
    """The mean share of the ZOPA and the deal rate of one side of a difference."""
    if side.deal_rate is None:
        return "never ends"
    deals = f"{side.deal_rate:.0%} deals"
    return deals if side.surplus is None else f"{side.surplus:.3f}, {deals}"


def _named(code: str) -> str:
    """A policy or a task in words, or several policies: "hold, rivals hold"."""
    return in_words(code).replace("_", " ")


def _z(z: float | None) -> str:
    return "differs" if z is None else f"{z:+.2f}"


# Published figures -------------------------------------------------------------------------------

# By the names of tasks in the source documents, which put no game before them.
TITLES = {
    task.partition("/")[2]: short(task) for task in TASK_TITLES if not task.startswith("bazaar/")
}
_TASK = re.compile(rf"\b({'|'.join(map(re.escape, TITLES))})\b")
_CODE = re.compile("`([^`]+)`")
SYSTEMS = {"bazaar": "Haggling buyer", "arena": "GPU arena", "agreemate": "AgreeMate"}


def published_names(published: Artifact) -> list[tuple[str, str]]:
    """(label, id) of every published figure, by system."""
    return [
        (f"{SYSTEMS[figure.system]}: {in_words(figure.title)}", figure.id)
        for figure in sorted(published.data.figures, key=lambda f: list(SYSTEMS).index(f.system))
    ]


def published_figure(published: Artifact, figure_id: str) -> Markup:
    """One published figure as a table, with its source, n and caveat."""
    figure = next((f for f in published.data.figures if f.id == figure_id), None)
    if figure is None:
        return trouble(ValueError(f"no published figure {figure_id!r:.40}"))
    align = "".join(_side([row[i] for row in figure.rows]) for i in range(len(figure.columns)))
    rows = [["–" if cell is None else in_words(cell) for cell in row] for row in figure.rows]
    n = "n is not given" if figure.n is None else f"n = {figure.n:,}"
    return Markup('<p>{} {}</p><p class="sauda-note">{} ({}). Source: {}.</p>{}').format(
        badge("published"),
        in_words(figure.caveat),
        n,
        in_words(figure.n_of),
        figure.source,
        table(list(map(in_words, figure.columns)), rows, align, in_words(figure.title)),
    )


def in_words(text: object) -> object:
    """A text of a published figure with the titles of tasks, names without underscores.

    A number stays as it is.
    """
    if not isinstance(text, str):
        return text
    told = _TASK.sub(lambda task: TITLES[task[0]], text)
    return told.replace("_", " ") if told.isidentifier() else told


def _side(cells: Sequence[object]) -> str:
    return "r" if all(isinstance(cell, int | float | None) for cell in cells) else "l"


# Layout ------------------------------------------------------------------------------------------


def reproduced() -> None:
    """Lay out how our classic game compares with its source. Called inside the Results tab."""
    gr.HTML(heading("Does our classic game play like the published one?"))
    reproduction, message = load_or_say("evaluation/reproduction.json")
    if reproduction is None:
        gr.HTML(message)
        return
    gr.Plot(agreement_figure(reproduction), show_label=False)
    gr.HTML(Markup("<p>{}</p>").format(agreement_sentence(reproduction)))
    with gr.Accordion("Every compared figure", open=False):
        gr.HTML(agreement_table(reproduction))
    gr.HTML(
        heading(
            "Where our classic differs from the published game, and what it changes",
            "On purpose. Share is the mean share of the ZOPA, no deal counting 0; where several "
            "buyers sit at the table, a deal is one of the first seat.",
        )
    )
    gr.HTML(differences_table())
    gr.HTML(provenance(reproduction, f"n = {len(reproduction.data.rows)} figures"))


def reported() -> None:
    """Lay out the published figures, each with its caveat. Called inside the Results tab."""
    gr.HTML(heading("Published figures", "What the source documents report, each with its caveat."))
    published, message = load_or_say("published.json")
    if published is None:
        gr.HTML(message)
        return
    names = published_names(published)
    chosen = next(i for _, i in names if i == "scaling-ladder")
    picker = gr.Dropdown(names, value=chosen, label="Figure")
    shown = gr.HTML(published_figure(published, chosen))
    picker.change(
        lambda figure_id: published_figure(published, figure_id),
        picker,
        shown,
        **QUIET,
    )
    gr.HTML(provenance(published, f"n = {len(names)} figures"))
    gr.HTML(note("Published figures come from the source documents and cannot be played again."))
