"""What Sauda believes of a seller, as a picture; and how good such beliefs are, for Results.

The picture is our own SVG in the page's colours, so it follows dark mode and redraws with a reply.
"""

from collections.abc import Mapping
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from env import rupees
from panels.ui.look import heading, line_style, styled, table, whiskers
from panels.ui.offers import nice_ticks
from panels.ui.provenance import load_or_say, provenance
from sauda.policies.belief.posterior import Belief
from sauda.records.store import Artifact

# The picture -------------------------------------------------------------------------------------

WIDTH, HILL, AXIS, ROW = 320, 96, 42, 20  # px: the viewBox; the hill, what is under it, a type
SIDE, NAMES, SHARES = 8, 64, 40  # margins: of the hill, of the names and shares of the types
BINS = 32
SPAN = (0.02, 0.98)  # of each belief, to be seen; what lies beyond would flatten the rest


def belief_picture(before: Belief | None, after: Belief) -> Markup:
    """Two beliefs over one seller: its reservation price as hills, its type as bars.

    `before` is faint, None where nothing was believed yet; `after` is full. 320 units wide.
    """
    shown = [belief for belief in (before, after) if belief is not None]
    ends = np.concatenate([belief.quantile(SPAN) for belief in shown])
    low, high = float(ends.min()), float(ends.max())
    high = max(high, low + 1)
    edges = np.linspace(low, high, BINS + 1)
    top = max(belief.histogram(edges).max() for belief in shown)
    names = ("after",) if before is None else ("before", "after")
    hills = [
        _hill(belief.histogram(edges) / top, name)
        for belief, name in zip(shown, names, strict=True)
    ]
    types = [
        _type(i, name, after.types()[name], before and before.types()[name])
        for i, name in enumerate(after.types())
    ]
    height = HILL + AXIS + ROW * len(types)
    return Markup(
        '<svg class="sauda-belief" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(WIDTH, height, picture_sentence(after), Markup("").join([
        *hills, _axis(low, high, before is not None), *types,
    ]))  # fmt: skip


def picture_sentence(belief: Belief) -> str:
    """What the picture shows, in words."""
    low, middle, high = belief.quantile([0.1, 0.5, 0.9])
    types = belief.types()
    likely = max(types, key=types.__getitem__)
    return (
        f"Sauda believes the seller takes no less than about {rupees(round(middle))}, with four"
        f" chances in five between {rupees(round(low))} and {rupees(round(high))};"
        f" most likely a {likely} seller ({types[likely]:.0%})."
    )


def _hill(heights: np.ndarray, name: str) -> Markup:
    """A histogram, its heights as shares of the tallest, as one closed outline."""
    x = SIDE + (WIDTH - 2 * SIDE) * np.arange(len(heights) + 1) / len(heights)
    y = HILL - (HILL - 8) * heights
    steps = [f"{a:.1f},{h:.1f} {b:.1f},{h:.1f}" for a, b, h in zip(x, x[1:], y, strict=False)]
    outline = f"{x[0]:.1f},{HILL} {' '.join(steps)} {x[-1]:.1f},{HILL}"
    return Markup('<polygon class="{}" points="{}"/>').format(name, outline)


def _axis(low: float, high: float, is_change: bool) -> Markup:
    """The rupees under the hills, and what they are."""
    rule = Markup('<line class="rule" x1="{}" x2="{}" y1="{y}" y2="{y}"/>')
    tick = Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>')
    parts = [rule.format(SIDE, WIDTH - SIDE, y=HILL)]
    for value in nice_ticks(low, high, 5):
        x = SIDE + (WIDTH - 2 * SIDE) * (value - low) / (high - low)
        if 24 <= x <= WIDTH - 24:  # so that no label is cut off
            parts.append(tick.format(x, HILL + 15, rupees(value)))
    title = "the least the seller takes" + "; dashed: before" * is_change
    parts.append(
        Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(
            WIDTH / 2, HILL + 31, title
        )
    )
    return Markup("").join(parts)


def _type(row: int, name: str, after: float, before: float | None) -> Markup:
    """One type's bar, with where it stood before as a faint one behind it."""
    y, full = HILL + AXIS + ROW * row, WIDTH - NAMES - SHARES
    bar = Markup('<rect class="{}" x="{}" y="{}" width="{:.1f}" height="{}" rx="1"/>')
    parts = [Markup('<text x="{}" y="{}">{}</text>').format(SIDE, y + 11, name)]
    if before is not None:
        parts.append(bar.format("before", NAMES, y, full * before, 14))
    parts.append(bar.format("after", NAMES, y + 4, full * after, 6))
    share = Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{:.0%}</text>')
    return Markup("").join([*parts, share.format(WIDTH - SIDE, y + 11, after)])


# Results -----------------------------------------------------------------------------------------

STYLES = {"prices": "scripted", "prices, tells and words": "buyer"}


def calibration_figure(report: Artifact, task: str, at: int) -> go.Figure:
    """How often the floor lay in the believed intervals, against how often it should have."""
    figure = go.Figure()
    levels = [0.0, 1.0]
    figure.add_scatter(x=levels, y=levels, name="as it should be", hoverinfo="skip",
                       **line_style("oracle"))  # fmt: skip
    for row in rows_of(report, task, at):
        if row["evidence"] in STYLES:
            cells = row["coverage"]
            figure.add_scatter(
                x=[cell["level"] for cell in cells],
                y=[cell["mean"] for cell in cells],
                error_y=whiskers(cells),
                name=row["evidence"],
                hovertemplate="%{x:.0%} interval: %{y:.1%}<extra>" + row["evidence"] + "</extra>",
                **line_style(STYLES[row["evidence"]]),
            )
    figure.update_xaxes(title="believed interval", tickformat=".0%", range=[0.4, 1])
    return styled(figure, height=320).update_yaxes(
        title="floor inside", tickformat=".0%", range=[0.4, 1.02]
    )


def rows_of(report: Artifact, task: str, at: int) -> list[Mapping[str, Any]]:
    """The rows of the calibration after `at` rounds of `task`, one a kind of evidence."""
    return [r for r in report.data["calibration"] if (r["task"], r["round"]) == (task, at)]


def calibration_table(report: Artifact, task: str) -> Markup:
    """Coverage, width and error of the floor, scores of the types; by rounds and evidence."""
    rows = [row for row in report.data["calibration"] if row["task"] == task]
    levels = [f"in {cell['level']:.0%}" for cell in rows[0]["coverage"]]
    return table(
        ("evidence", "after", "n", *levels, "80 % width", "floor off by", "type right", "Brier",
         "log loss", "ECE"),
        [
            (
                row["evidence"],
                f"{row['round']} rounds",
                f"{row['n']:,}",
                *(f"{cell['mean']:.1%}" for cell in row["coverage"]),
                f"{row['width']['mean']:.3f}",
                _spanned(row["error"]),
                f"{row['types']['right']:.1%}",
                f"{row['types']['brier']:.3f}",
                f"{row['types']['log_loss']:.3f}",
                f"{row['types']['calibration_error']:.3f}",
            )
            for row in rows
        ],
        caption=f"Beliefs in {task} against the sellers that were drawn; prices by the list price",
    )  # fmt: skip


def ablation_table(report: Artifact) -> Markup:
    """What the switch changes in the same states, then what it changes in the grades."""
    data = report.data
    return table(
        ("task", "moves", "beliefs that differ", "moves that differ", "n", "all evidence",
         "prices alone", "difference"),
        [
            (
                inputs["task"],
                f"{inputs['n']:,}",
                _percent(inputs["beliefs"]),
                _percent(inputs["moves"]),
                f"{won['n']:,}",
                _spanned(won["belief"]),
                _spanned(won["belief_prices"]),
                _spanned(won["difference"], "+.3f"),
            )
            for inputs, won in zip(data["inputs"], data["outcomes"], strict=True)
        ],
        caption="Same states first, then mean grades on the same hold-out seeds; 95 % intervals",
    )  # fmt: skip


def verdict(report: Artifact) -> str:
    """What tells and words are worth to the buyer, in words: help, harm or nothing to see."""
    parts = []
    for row in report.data["outcomes"]:
        gain = row["difference"]
        said = (
            "they help" if gain["low"] > 0 else "they harm" if gain["high"] < 0
            else "no difference can be told"
        )  # fmt: skip
        parts.append(f"in {row['task']} {said} ({_spanned(gain, '+.3f')}, n = {row['n']:,})")
    changed = [row["beliefs"]["mean"] for row in report.data["inputs"]]
    return (
        f"Tells and words change {min(changed):.0%} to {max(changed):.0%} of the beliefs in the"
        f" same states. To the grade: {'; '.join(parts)}."
    )


def _spanned(figures: Mapping[str, float], form: str = ".3f") -> str:
    mean, low, high = (format(figures[end], form) for end in ("mean", "low", "high"))
    return f"{mean} [{low}, {high}]"


def _percent(figures: Mapping[str, float]) -> str:
    return _spanned(figures, ".1%")


def build() -> None:
    """Lay out the section. Called inside the Results tab."""
    gr.HTML(
        heading(
            "What the buyer believes of the seller",
            "Whether the belief is as sure as it may be, and what tells and words add to prices.",
        )
    )
    report, said = load_or_say("belief.json")
    if report is None:
        gr.HTML(said)
        return
    tasks = [row["task"] for row in report.data["outcomes"]]
    rounds = list(report.config["rounds"])
    with gr.Row():
        task = gr.Radio(tasks, value=tasks[0], label="Task")
        at = gr.Radio(rounds, value=rounds[-1], label="Rounds played")
    plot = gr.Plot(
        calibration_figure(report, tasks[0], rounds[-1]),
        show_label=False,
        elem_id="results-belief",
    )
    with gr.Accordion("Every figure of the calibration", open=False):
        cells = gr.HTML(calibration_table(report, tasks[0]))
    gr.on(
        [task.change, at.change],
        lambda name, number: (
            calibration_figure(report, name, number),
            calibration_table(report, name),
        ),
        [task, at],
        [plot, cells],
        queue=False,
        show_progress="hidden",
        api_visibility="private",
    )
    gr.HTML(Markup("<p>{}</p>").format(verdict(report)))
    gr.HTML(ablation_table(report))
    gr.HTML(provenance(report, f"n = {report.config['episodes']:,} games a task"))
