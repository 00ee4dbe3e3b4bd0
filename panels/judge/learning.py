"""Whether an advocate learns from the judge: verdict, figure and table of recorded rounds."""

from collections.abc import Iterator
from statistics import fmean

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.html import macros
from panels.ui.look import line_style, note, styled, table, whiskers
from panels.ui.provenance import Beside, offer_again, one_by_one, provenance, side_by_side
from panels.ui.tables import with_interval
from panels.ui.wiring import bound, fill_on_opening
from sauda.experiments.pitching import ADVOCATES, LEARNER, ROUNDS, negotiation
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact, digest

HTML = macros("judge")
SAMPLE = 20  # negotiations that are played again


def build(judged: Artifact, tab: gr.Tab) -> None:
    """Lay out the sub-tab, which is filled as `tab` is opened."""
    values = {
        gr.HTML(): answer(judged),
        gr.Plot(show_label=False, elem_id="judge-learning"): learning_figure(judged),
        gr.HTML(): provenance(judged, f"n = {judged.config['episodes']:,} seeds an advocate")
        + advocates_table(judged),
    }
    fill_on_opening(tab, lambda _: values, list(values))
    advocate = gr.Dropdown(
        [(name.replace("_", " ").capitalize(), name) for name in judged.data.wins],
        value="adapting", label="Advocate to play again", filterable=False,
    )  # fmt: skip
    label = f"play {SAMPLE} of its negotiations again, now"
    offer_again(label, bound(played_again, judged), [advocate], "judge-learning")


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
    figure.update_xaxes(title="round", dtick=5)
    return styled(figure, 320).update_yaxes(title="share of games won", range=[0, 1])


def answer(judged: Artifact) -> Markup:
    """Whether the advocate learns, and the figures behind the answer with n and intervals."""
    rows = {row.advocate: row for row in judged.data.rows}
    adapting, control = rows["adapting"], rows[judged.data.control]
    learned = judged.data.learning
    measured = (
        f"Difference {with_interval(adapting.difference, '+.3f')}, n = {adapting.n} paired seeds."
        f" After the first {judged.data.early_rounds} rounds the difference is larger by"
        f" {with_interval(learned, '+.3f')}. Whiskers are 95 % bootstrap intervals."
    )
    shares = (f"{row.win_rate.mean:.0%}" for row in (adapting, control))
    return HTML.learning("Yes" if learned.low > 0 else "Not shown", *shares, measured)


def played_again(judged: Artifact, advocate: str) -> Iterator[Markup]:
    """The first negotiations of an advocate, played again beside the record, after a word."""
    seeds = first_seeds(judged.config["episodes"], judged.config["split"])[:SAMPLE]
    recorded = judged.data.wins[advocate][:SAMPLE]
    yield note(f"Playing {len(seeds)} negotiations of {ROUNDS} rounds …")
    fresh = [
        sum(played.decision.winner == LEARNER for played in negotiation(ADVOCATES[advocate], seed))
        for seed in seeds
    ]
    what = f"rounds that the {advocate.replace('_', ' ')} advocate won"
    differing = ["rounds won"] if recorded != fresh else []
    digests = digest(recorded), digest(fresh)
    beside = Beside(what, fmean(recorded), fmean(fresh), len(seeds), 1, differing, digests)
    yield side_by_side(beside) + one_by_one(seeds, recorded, fresh, "rounds won")


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    heads = (
        "advocate", "n", "rounds won [95 % interval]", "gain over the control", "mean total",
        "lies a pitch",
    )  # fmt: skip
    rows = [
        (
            HTML.advocate(row), f"{row.n:,}", with_interval(row.win_rate),
            with_interval(row.difference, "+.3f"), f"{row.total.mean:.3f}", f"{row.lies:.2f}",
        )
        for row in sorted(judged.data.rows, key=lambda row: -row.win_rate.mean)
    ]  # fmt: skip
    caption = "The advocate of one lab; with equal chances each wins one round in four"
    return table(heads, rows, caption=caption)
