"""Whether an advocate learns from the judge: figure, sentence and table of the recorded rounds."""

import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import line_style, styled, table, whiskers
from sauda.records.store import Artifact


def learning_figure(judged: Artifact) -> go.Figure:
    """The share of games won, round by round: the adapting advocate against the control."""
    figure = go.Figure()
    for name, role in (("adapting", "buyer"), (judged.data.control, "scripted")):
        cells = judged.data.curves[name].won
        figure.add_scatter(
            x=list(range(1, len(cells) + 1)),
            y=[cell.mean for cell in cells],
            error_y=whiskers(cells),
            name=name,
            hovertemplate=f"{name}, round %{{x}}: %{{y:.2f}}<extra></extra>",
            **line_style(role),
        )
    figure.update_xaxes(title="round", dtick=1)
    return styled(figure, 320).update_yaxes(title="share of games won", range=[0, 1])


def learning_sentence(judged: Artifact) -> str:
    """What the figure shows, in words."""
    rows = {row.advocate: row for row in judged.data.rows}
    adapting, control = rows["adapting"], rows[judged.data.control]
    gain, learned = adapting.difference, judged.data.learning
    return (
        f"Over {adapting.n} paired seeds the adapting advocate wins"
        f" {adapting.win_rate.mean:.1%} of the rounds and the control"
        f" {control.win_rate.mean:.1%}: {gain.mean:+.3f} [{gain.low:+.3f},"
        f" {gain.high:+.3f}]. Its gain is {learned.mean:+.3f} [{learned.low:+.3f},"
        f" {learned.high:+.3f}] larger after the first {judged.data.early_rounds} rounds than"
        " during them. Whiskers are 95 % bootstrap intervals."
    )


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    rows = sorted(judged.data.rows, key=lambda row: -row.win_rate.mean)
    return table(
        ("advocate", "n", "rounds won", "95 % interval", "less control", "its 95 % interval",
         "mean total", "lies a pitch", "what it does"),
        [
            (
                row.advocate,
                f"{row.n:,}",
                f"{row.win_rate.mean:.3f}",
                f"{row.win_rate.low:.3f} to {row.win_rate.high:.3f}",
                f"{row.difference.mean:+.3f}",
                f"{row.difference.low:+.3f} to {row.difference.high:+.3f}",
                f"{row.total.mean:.3f}",
                f"{row.lies:.2f}",
                row.label,
            )
            for row in rows
        ],
        align="l" + "r" * 7 + "l",
        caption="The advocate of lab_0; with equal chances each wins one round in four",
    )  # fmt: skip
