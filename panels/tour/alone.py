"""The run that learnt from reward alone: its gain, its curve, what it had found out by when."""

from collections.abc import Sequence
from dataclasses import replace

import gradio as gr
import numpy as np
import plotly.graph_objects as go

from env import Episode, Offer, Turn, rupees
from panels.measured import FILE as COMPARISON
from panels.measured import best_script, gain_on_same_seeds, rows_by_policy
from panels.tour.facts import PERCENT
from panels.training.curves import evaluation_trace, recorded, with_gaps
from panels.ui.html import SAY, macros
from panels.ui.look import SERIES, line_style, style_figure
from panels.ui.offers import ending
from panels.ui.provenance import provenance
from panels.ui.tables import points
from sauda.games.transcript import from_json, in_words
from sauda.players import BASE, LISTENER, buyer_name
from sauda.records.kinds import ArtifactError, entry
from sauda.records.schemas.base import Row
from sauda.records.store import Artifact, load

HTML = macros("tour")
TASK = "bazaar/open-3"
RUNS = ("training/form.json", "training/reward.json")  # where it began, and the run
SMOOTHEST = 0.9  # of the partner’s grades
MOMENTS = 5


def build() -> None:
    """Lay out the section; raises ArtifactError, before any of it, without a record."""
    began, run, comparison = map(load, (*RUNS, COMPARISON))
    gain = gained(run, comparison)
    with gr.Row(elem_id="tour-alone", elem_classes="sauda-story"):
        with gr.Column(min_width=320):
            gr.HTML(HTML.alone(gain))
        with gr.Column(min_width=320):
            gr.Plot(curve(run, began), show_label=False, elem_id="tour-reward")
    cards = [
        (
            games,
            SAY.habits(row),
            [_line(turn) for turn in game.turns],
            ending(next(iter(game.final.table.past), None)),
        )
        for games, row, game in moments(run)
    ]
    source = provenance(run, f"n = {run.data.checkpoint_evaluations[-1].n} games per checkpoint")
    gr.HTML(HTML.moments(cards) + source, elem_classes="sauda-story")


def gained(run: Artifact, comparison: Artifact) -> str:
    """What reward alone brought in hold-out games, in a sentence; ArtifactError where none are."""
    rows = rows_by_policy(comparison, TASK)
    before, after = (rows.get(f"{BASE}+{stage}") for stage in ("form", "reward"))
    if before is None or after is None:
        fault = f"artifacts/{comparison.file} lacks the run from reward alone on {TASK}"
        raise ArtifactError(fault, entry(comparison.file).command)
    gain = gain_on_same_seeds(comparison, TASK, after.policy, before.policy).gain
    script, score = best_script(rows)
    planner = f"{rows[LISTENER].grade.mean:{PERCENT}}"
    return SAY.alone(
        before, after, points(gain, "+.0f"), int(run.data.log[-1].games), run.data.seconds / 3600,
        (buyer_name(script), f"{score:{PERCENT}}"), planner,
    )  # fmt: skip


def curve(run: Artifact, began: Artifact) -> go.Figure:
    """The grade over the games played: of checkpoints, and of the partner that plays on.

    It begins with what the adapter of `began` scored.
    """
    log = recorded(run)
    played = {row["step"]: row["games"] for row in log.rows}
    rows = [recorded(began).evaluations[-1], *log.evaluations]
    at = [0, *(played[row["step"]] for row in log.evaluations)]
    style, figure = line_style(log.role), go.Figure()
    grades = [row["game_grade"] for row in log.rows]
    figure.add_scatter(
        x=list(played.values()), y=with_gaps(grades, SMOOTHEST), mode="lines",
        name="its partner's games while it learns",
        line={"color": SERIES["scripted"].light, "width": 1},
        hovertemplate="%{x:,} games: %{y:.0%}<extra></extra>",
    )  # fmt: skip
    drawn = evaluation_trace(rows, at, style)
    figure.add_trace({"name": "its own at checkpoints", **drawn, "showlegend": True})
    hours = run.data.seconds / 3600
    figure.update_layout(
        xaxis={"title": f"games played to their ends ({hours:.1f} hours)", "rangemode": "tozero"},
        yaxis={"title": "of the best outcome", "tickformat": ".0%"},
    )
    return style_figure(figure, 320).update_layout(legend={"y": 1.06})


def moments(run: Artifact) -> list[tuple[int, Row, Episode]]:
    """At most MOMENTS checkpoints: games played by then, how it plays, a game of the same seed."""
    played = {row.step: row.games for row in run.data.log}
    rows: Sequence[Row] = run.data.checkpoint_evaluations
    places = np.linspace(0, len(rows) - 1, min(MOMENTS, len(rows))).round().astype(int)
    return [(int(played[rows[i].step]), rows[i], from_json(rows[i].games[0])) for i in places]


def _line(turn: Turn) -> tuple[str, str]:
    """Who moves, and the move in a few words without what is said."""
    if turn.action is None:
        return turn.agent, "writes no move"
    if isinstance(turn.action, Offer):
        return turn.agent, rupees(turn.action.price)
    return turn.agent, in_words(TASK, replace(turn, action=replace(turn.action, message="")))
