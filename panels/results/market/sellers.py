"""What sellers of the open market reveal by their manner."""

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import QUIET, bar_style, heading, table, whiskers
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.terms import short, task_choices
from panels.ui.whisker_rows import labels_above
from sauda.experiments.market import Manner, SignalRow
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

OPEN = "bazaar/open"  # the task whose words were measured
CAUSES = {
    "urgency": "how near it is to walking",
    "bluffing": "whether what it just said is untrue",
    "nearness": "how near its ask is to its reservation price",
}


# Signals of manner -------------------------------------------------------------------------------


def manner_figure(market: Artifact, task: str) -> go.Figure:
    """Partial R² of each signal for the hidden cause that drives it, with 95 % intervals."""
    rows = [row for row in _manner(market, task).signals if row.cause][::-1]
    cells = [explained(row, row.cause) for row in rows]
    signals = [row.signal.replace("_", " ") for row in rows]
    bar = go.Bar(
        y=signals,
        x=[cell.mean for cell in cells],
        error_x=whiskers(cells),
        orientation="h",
        customdata=[CAUSES[row.cause] for row in rows],
        hovertemplate="%{y} shows %{customdata}: %{x:.3f}<extra></extra>",
        **bar_style("seller"),
    )
    figure = labels_above(go.Figure(bar), signals)
    return figure.update_xaxes(
        title="partial R² given public history", showgrid=True, rangemode="tozero"
    )


def manner_table(market: Artifact, task: str) -> Markup:
    """Partial R² of each signal for every hidden cause."""
    return table(
        ("signal", "drawn from", *CAUSES),
        [
            (
                row.signal.replace("_", " "),
                row.cause or "the asks alone",
                *(_partial_r2(row, cause) for cause in CAUSES),
            )
            for row in _manner(market, task).signals
        ],
        align="ll" + "r" * len(CAUSES),
        caption=f"Partial R² of each signal for each hidden cause, {short(task)}; interval for its"
        " own",
    )


def _partial_r2(row: SignalRow, cause: str) -> str:
    """Partial R² of a signal for one cause, with its interval for the cause that drives it."""
    if row.cause != cause:
        return f"{row.r2[cause]:.3f}"
    return with_interval(explained(row, cause))


def explained(row: SignalRow, cause: str) -> Interval:
    """Partial R² of a signal for one cause, with its interval."""
    return Interval(mean=row.r2[cause], low=row.low[cause], high=row.high[cause])


def manner_sentence(market: Artifact, task: str) -> str:
    """What the figure measures, and how much the seller's words add to its prices."""
    manner, words = _manner(market, task), market.data.words
    gain = words.gain
    return (
        f"How much of a hidden cause one signal explains beyond prices, rounds and claims"
        f" (partial R²); {manner.replies:,} counter-offers of {manner.games:,} games, whiskers"
        f" are 95 % bootstrap intervals over games. Concession pattern and repeated phrases only"
        f" repeat what the asks show. Prices explain {words.prices.mean:.3f} of the variance of"
        f" the reservation price; the seller’s words add {with_interval(gain, '+.3f')}"
        f" ({short(OPEN)}, n = {words.n:,})."
    )


def _manner(market: Artifact, task: str) -> Manner:
    return next(row for row in market.data.manner if row.task == task)


# Layout ------------------------------------------------------------------------------------------


def build() -> None:
    """Lay out what sellers give away, inside the Results tab."""
    gr.HTML(
        heading(
            "What the sellers give away",
            "Twelve signals of manner, each driven by a hidden cause that prices do not show.",
        )
    )
    market, missing = load_or_say("market.json")
    if market is None:
        gr.HTML(missing)
        return
    _manner_section(market)
    gr.HTML(provenance(market, f"n = {market.config['games']:,} games a task"))


def _manner_section(market: Artifact) -> None:
    tasks = [row.task for row in market.data.manner]

    def show(task: str) -> tuple[go.Figure, Markup, Markup]:
        return (
            manner_figure(market, task),
            Markup("<p>{}</p>").format(manner_sentence(market, task)),
            manner_table(market, task),
        )

    figure, sentence, cells = show(tasks[-1])
    task = gr.Radio(task_choices(tasks), value=tasks[-1], label="Task")
    outputs = [
        gr.Plot(figure, show_label=False, elem_id="results-manner"),
        gr.HTML(sentence),
    ]
    with gr.Accordion("Every signal against every cause", open=False):
        outputs.append(gr.HTML(cells))
    task.change(show, task, outputs, **QUIET)
