"""How Sauda was trained: its stages with minutes, machine and cost, and their stitched curve."""

from collections.abc import Sequence

import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import BASE
from panels.results.model_summary import rows_by_policy
from panels.training.curves import evaluation_trace, with_gaps
from panels.training.logs import TITLES, recorded
from panels.training.overview import machine
from panels.ui.look import SERIES, line_style, styled, table
from panels.ui.tables import with_interval
from sauda.cloud.jobs import flavor
from sauda.llm.model import SAUDA
from sauda.records.store import Artifact, load
from sauda.train.model import PARAMETERS

MARKET = "bazaar/open"  # the task of the Tour's figures
PERCENT = "z.0%"  # of grades: the share of the best outcome that a game allows
RENTED = "cpu-basic"  # the Hub's machine with as many cores as ours
SMOOTHING = 0.8  # of the loss


def chain(stage: str = SAUDA) -> list[Artifact]:
    """The training runs from the base to `stage`, in the order in which they were trained.

    Raises ArtifactError where a log is missing.
    """
    runs = [load(f"training/{stage}.json")]
    while before := runs[0].data.init_adapter:
        runs.insert(0, load(f"training/{before.name}.json"))
    return runs


def in_short(runs: Sequence[Artifact]) -> str:
    """Model, training time, hardware and cost of the chain of `runs` in a sentence."""
    millions = PARAMETERS[runs[0].data.base.name] / 1e6
    hours = sum(run.data.seconds for run in runs) / 3600
    machines = ", then ".join(dict.fromkeys(map(machine, runs)))
    told = f"{millions:.0f} million parameters, trained for {hours:.1f} hours on {machines}"
    costs = list(map(cost, runs))
    if None in costs:
        return f"{told}."
    return f"{told} without a GPU: about ${sum(costs):.2f} of rented time."


def cost(run: Artifact) -> float | None:
    """US dollars for the run's time on RENTED; None for a run on other hardware."""
    rented = "CPU" in run.data.hardware.device
    return run.data.seconds / 3600 * flavor(RENTED).price if rented else None


def stages(runs: Sequence[Artifact], comparison: Artifact) -> Markup:
    """A row per stage of training: what it took, and the grade it left on hold-out games."""
    rows = rows_by_policy(comparison, MARKET)

    def grade(policy: str) -> str:
        row = rows.get(policy)
        return f"{with_interval(row.grade, PERCENT)}, n {row.n}" if row else "not measured"

    lines = [("untrained base", "–", "–", "–", "–", grade(BASE))]
    for run in runs:
        price = cost(run)
        lines.append(
            (
                _title(run.data.stage),
                f"{run.data.num_tokens:,}",
                f"{run.data.seconds / 60:.0f}",
                machine(run),
                "–" if price is None else f"${price:.3f}",
                grade(_player(run)),
            )
        )
    heads = ("stage", "tokens", "minutes", "machine", f"cost at the Hub’s {RENTED}")
    return table((*heads, "of the best outcome, hold-out games"), lines, "lrrlrr", "Its training")


def curve(runs: Sequence[Artifact], comparison: Artifact) -> go.Figure:
    """All stages over the minutes of training: hold-out grades and checkpoints above, loss below.

    Each stage begins where the one before ended, at a dotted line with its name.
    """
    rows, figure = rows_by_policy(comparison, MARKET), go.Figure()
    ends, checkpoints, began = [(0.0, rows[BASE])], [], 0.0
    for run in runs:
        log, minutes = recorded(run), run.data.seconds / 60
        at = [began + row["seconds"] / 60 for row in log.rows]
        loss, style = [row["loss"] for row in log.rows], line_style(log.role)
        raw = style["marker"] | {"size": 4, "opacity": 0.3}
        figure.add_scatter(x=at, y=loss, mode="markers", marker=raw, yaxis="y2", hoverinfo="skip")
        figure.add_scatter(
            x=at, y=with_gaps(loss, SMOOTHING), mode="lines", line=style["line"], yaxis="y2",
            hovertemplate="minute %{x:.0f}: loss %{y:.2f}<extra></extra>",
        )  # fmt: skip
        checkpoints += [
            row | {"x": began + row["seconds"] / 60}
            for row in log.evaluations if row["seconds"] is not None
        ]  # fmt: skip
        told = f"{_title(run.data.stage)}, {minutes:.0f} min"
        figure.add_vline(began, line={"dash": "dot", "width": 1, "color": SERIES["oracle"].light})
        figure.add_annotation(
            x=began, y=1, yref="paper", text=told, showarrow=False, xanchor="left", xshift=6
        )
        began += minutes
        ends += [(began, rows[name])] if (name := _player(run)) in rows else []
    held = [
        {"grade": row.grade.mean, "grade_low": row.grade.low, "grade_high": row.grade.high,
         "grade_n": row.n}
        for _, row in ends
    ]  # fmt: skip
    role = recorded(runs[-1]).role
    drawn = evaluation_trace(held, [x for x, _ in ends], line_style(role))
    figure.add_trace({"name": "hold-out games", **drawn, "showlegend": True})
    grey = evaluation_trace(checkpoints, [row["x"] for row in checkpoints], line_style("scripted"))
    figure.add_trace({"name": "checkpoints, training games", **grey, "showlegend": True})
    figure.for_each_trace(lambda trace: trace.update(showlegend=False), {"yaxis": "y2"})
    figure.update_layout(
        xaxis={"title": "minutes of training", "anchor": "y2", "rangemode": "tozero"},
        yaxis={"title": "of the best outcome", "domain": [0.42, 0.92], "tickformat": ".0%"},
        yaxis2={"title": "loss", "domain": [0, 0.32], "rangemode": "tozero", "anchor": "x"},
    )
    return styled(figure, 420).update_layout(legend={"y": 1.04})


def _player(run: Artifact) -> str:
    """The name in comparisons of the stage that a run ended with."""
    return f"{BASE}+{run.file.removeprefix('training/').removesuffix('.json')}"


def _title(stage: str) -> str:
    """The stage's title within a sentence: "distillation", "SFT"."""
    title = TITLES.get(stage, stage.upper())
    return title if title[:2].isupper() else title[0].lower() + title[1:]
