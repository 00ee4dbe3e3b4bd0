"""Whether an advocate learns from the judge: verdict, figure and table of recorded rounds."""

from collections.abc import Iterator
from statistics import fmean

import plotly.graph_objects as go
from markupsafe import Markup

from panels.ui.look import line_style, note, styled, table, whiskers
from panels.ui.provenance import Beside, one_by_one, side_by_side
from panels.ui.tables import with_interval
from panels.ui.terms import term
from sauda.experiments.pitching import ADVOCATES, LEARNER, ROUNDS, negotiation
from sauda.records.seeds import first_seeds
from sauda.records.store import Artifact, digest

SAMPLE = 20  # negotiations that are played again


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


def learning_verdict(judged: Artifact) -> tuple[str, str]:
    """Whether the advocate learns, and the figures behind the answer with n and intervals."""
    rows = {row.advocate: row for row in judged.data.rows}
    adapting, control = rows["adapting"], rows[judged.data.control]
    gain, learned = adapting.difference, judged.data.learning
    answer = "Yes" if learned.low > 0 else "Not shown"
    sentence = (
        f"{answer}: the adapting advocate wins {adapting.win_rate.mean:.0%} of the rounds, the"
        f" control {control.win_rate.mean:.0%}."
    )
    measured = (
        f"Difference {with_interval(gain, '+.3f')}, n = {adapting.n} paired seeds. After the first"
        f" {judged.data.early_rounds} rounds the difference is larger by"
        f" {with_interval(learned, '+.3f')}. Whiskers are 95 % bootstrap intervals."
    )
    return sentence, measured


def played_again(judged: Artifact, advocate: str) -> Iterator[Markup]:
    """The first negotiations of an advocate, played again beside the record, after a word."""
    seeds = first_seeds(judged.config["episodes"], judged.config["split"])[:SAMPLE]
    recorded = judged.data.wins[advocate][:SAMPLE]
    yield note(f"Playing {len(seeds)} negotiations of {ROUNDS} rounds …")
    fresh = [wins(advocate, seed) for seed in seeds]
    yield side_by_side(
        Beside(
            f"rounds that the {advocate.replace('_', ' ')} advocate won", fmean(recorded),
            fmean(fresh), len(seeds), 1, ["rounds won"] if recorded != fresh else [],
            (digest(recorded), digest(fresh)),
        )
    ) + one_by_one(seeds, recorded, fresh, "rounds won")  # fmt: skip


def wins(advocate: str, seed: int) -> int:
    """How many rounds of a negotiation an advocate wins."""
    rounds = negotiation(ADVOCATES[advocate], seed)
    return sum(played.decision.winner == LEARNER for played in rounds)


def advocates_table(judged: Artifact) -> Markup:
    """Every advocate, the hostile ones among them, best first."""
    rows = sorted(judged.data.rows, key=lambda row: -row.win_rate.mean)
    return table(
        ("advocate", "n", "rounds won [95 % interval]", "gain over the control", "mean total",
         "lies a pitch"),
        [
            (
                Markup("{}{}").format(
                    term(row.advocate.replace("_", " "), row.advocate), note(row.label)
                ),
                f"{row.n:,}",
                with_interval(row.win_rate),
                with_interval(row.difference, "+.3f"),
                f"{row.total.mean:.3f}",
                f"{row.lies:.2f}",
            )
            for row in rows
        ],
        caption="The advocate of one lab; with equal chances each wins one round in four",
    )  # fmt: skip
