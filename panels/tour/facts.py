"""The Tour's facts: how Sauda was trained and at what cost, what it gained, what beats it and why.

Grades are told as the share of the best outcome that a game allows.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from env import rupees
from panels.haggle.opponents import bare_stages
from panels.measured import FILE as COMPARISON
from panels.measured import best_script, gain_on_same_seeds, rows_by_policy, series_role
from panels.results.question import side
from panels.results.training import players_figure, progress
from panels.training.curves import TITLES, evaluation_trace, recorded, with_gaps
from panels.training.tab import cost, machine
from panels.ui.html import SAY
from panels.ui.look import SERIES, line_style, style_figure
from panels.ui.tables import points
from panels.ui.terms import list_names
from sauda.cloud.jobs import PRICES_READ
from sauda.players import (
    AUTARKY,
    BASE,
    BAYESIAN,
    CONSTRAINED,
    LAB,
    LEAVE,
    LISTENER,
    ORACLE,
    PEOPLE,
    SERVED,
    TUNED,
    policy_label,
)
from sauda.records.kinds import ArtifactError, entry
from sauda.records.schemas.base import Interval
from sauda.records.schemas.evaluation import PairedDifference
from sauda.records.store import Artifact, load
from sauda.train.model import PARAMETERS

MARKET = PEOPLE  # of the Tour's figures
PERCENT = "z.0%"  # of grades: the share of the best outcome that a game allows
SMOOTHING = 0.8  # of the loss
DRAWN = 500  # most steps in the chart, which is about as many pixels wide
HELD = f"{BASE}+{CONSTRAINED}"  # the base that can make legal moves alone
WORDS = ("open-3", "all")  # market and games of the sentence about words
REINFORCED = ("grpo", "dpo")  # methods that go on from a stage which copies a planner
# Sellers of the finding about opening prices, and where their first ask stands.
OPENINGS = {"concedes evenly": "as listed", "opens absurdly": "3 times that"}
LAB_TASK = "arena/market_round"  # of the sentence about the lab
CONTENDERS = (LEAVE, TUNED, BAYESIAN, LISTENER)  # of the figure


def chain() -> list[Artifact]:
    """The training runs from the base to Sauda, in their order; ArtifactError without a log."""
    runs = [load(f"training/{SERVED.removeprefix(f'{BASE}+')}.json")]
    while before := runs[0].data.init_adapter:
        runs.insert(0, load(f"training/{before.name}.json"))
    return runs


def in_short(runs: Sequence[Artifact]) -> str:
    """Model, training time, hardware and cost of `runs`, and what they gained with people.

    Raises ArtifactError where a buyer of the duel was not measured.
    """
    minutes, costs = sum(run.data.seconds for run in runs) / 60, [*map(cost, runs)]
    machines = list(dict.fromkeys(map(machine, runs)))
    dollars = None if None in costs else sum(costs)
    model, month = PARAMETERS[runs[0].data.base.name], f"{PRICES_READ:%B %Y}"
    comparison = load(COMPARISON)
    rows = rows_by_policy(comparison, MARKET)
    if missing := {BASE, SERVED} - rows.keys():
        fault = f"artifacts/{comparison.file} lacks {', '.join(missing)} on {MARKET}"
        raise ArtifactError(fault, entry(comparison.file).command)
    before, after = rows[BASE], rows[SERVED]
    held = rows.get(HELD)
    return SAY.in_short(model, minutes, machines, dollars, month, before, after, held)


def curve(runs: Sequence[Artifact], comparison: Artifact) -> go.Figure:
    """All stages over the minutes of training: hold-out grades and checkpoints above, loss below.

    Each stage begins where the one before ended, at a dotted line with its number in `numbered`.
    """
    rows, figure = rows_by_policy(comparison, MARKET), go.Figure()
    ends, checkpoints, began = [(0.0, rows[BASE])], [], 0.0
    every = math.ceil(sum(len(run.data.log) for run in runs) / DRAWN)
    for number, run in enumerate(runs, 1):
        log, minutes = recorded(run), run.data.seconds / 60
        losses, style = [row["loss"] for row in log.rows], line_style(log.role)
        # arrays of numbers, which are shorter in the page than lists
        at, loss, smooth = (
            np.array(values[::every], dtype=np.float32)
            for values in (
                [began + row["seconds"] / 60 for row in log.rows],
                losses,
                with_gaps(losses, SMOOTHING),
            )
        )
        raw = style["marker"] | {"size": 4, "opacity": 0.3}
        figure.add_scatter(x=at, y=loss, mode="markers", marker=raw, yaxis="y2", hoverinfo="skip")
        figure.add_scatter(
            x=at, y=smooth, mode="lines", line=style["line"], yaxis="y2",
            hovertemplate="minute %{x:.0f}: loss %{y:.2f}<extra></extra>",
        )  # fmt: skip
        checkpoints += [
            row | {"x": began + row["seconds"] / 60}
            for row in log.evaluations if row["seconds"] is not None
        ]  # fmt: skip
        figure.add_vline(began, line={"dash": "dot", "width": 1, "color": SERIES["oracle"].light})
        figure.add_annotation(
            x=began, y=1.0, yref="paper", text=f"{number}", showarrow=False, xanchor="left",
            xshift=4,
        )  # fmt: skip
        began += minutes
        ends += [(began, rows[name])] if (name := f"{BASE}+{Path(run.file).stem}") in rows else []
    held = [{"interval": row.grade, "n": row.n} for _, row in ends]
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
    return style_figure(figure, 420).update_layout(legend={"y": 1.04})


def numbered(runs: Sequence[Artifact]) -> str:
    """The stages by their numbers in the curve, each with what its name adds and its minutes."""
    titles = ["", *(_title(run.data.stage) for run in runs)]
    return ", ".join(
        f"{number} {title.removeprefix(before).strip()} ({run.data.seconds / 60:.0f} min)"
        for number, (run, before, title) in enumerate(
            zip(runs, titles, titles[1:], strict=False), 1
        )
    )


def _title(stage: str) -> str:
    """The stage's title within a sentence: "distillation", "SFT"."""
    title = TITLES.get(stage, stage.upper())
    return title if title[:2].isupper() else title[0].lower() + title[1:]


# What it gained ----------------------------------------------------------------------------------


def gain(comparison: Artifact) -> str:
    """How far training brought the model, in a sentence; ArtifactError where it did not play."""
    if sentence := progress(comparison, MARKET):
        return sentence
    fault = f"artifacts/{comparison.file} lacks a trained model on {MARKET}"
    raise ArtifactError(fault, entry(comparison.file).command)


def reinforced(comparison: Artifact) -> list[PairedDifference]:
    """What each stage that learnt from rewards or preferences changed with people."""
    gains = (row for row in comparison.data.stage_gains if row.task == MARKET)
    return [row for row in gains if series_role(row.after) in REINFORCED]


def trained_on(comparison: Artifact) -> str:
    """What stages of reinforcement changed with people, in percentage points, with n.

    On all games; and on those that no training game is like, where an interval leaves out 0.
    """
    gains = reinforced(comparison)
    if not gains:
        return ""
    sentences, clear = ({games: [] for games in ("all", "unseen")} for _ in range(2))
    for row in gains:
        stage = policy_label(row.after).rpartition(" + ")[2]
        sentence = f"{stage} {points(row.interval)}"
        sentences[row.on].append(sentence)
        clear[row.on] += [] if side(row.interval) == "unclear" else [sentence]
    n = {row.on: row.n for row in gains}
    return SAY.trained_on(sentences["all"], clear, n, len(gains))


def grades_figure(comparison: Artifact) -> go.Figure:
    """Base, stages, scripts and planners as sorted dots with whiskers."""
    script, _ = best_script(rows_by_policy(comparison, MARKET))
    names = (BASE, *bare_stages(MARKET), *CONTENDERS, script)
    figure = players_figure(comparison, MARKET, names, "of the best outcome", PERCENT)
    return figure.update_xaxes(tickformat=".0%")


class Finding(NamedTuple):
    """One result: a headline, and its figures as (label, mean, low, high), in rupees of 1,000."""

    headline: str
    bars: Sequence[tuple[str, int, int, int]]
    told: str
    address: str


def findings(comparison: Artifact, worth: Artifact, manners: Artifact) -> list[Finding]:
    """What was found in the open market; those whose games are recorded."""
    rows = rows_by_policy(comparison, MARKET)
    words = {row.what: row for row in worth.data.worth if (row.market, row.value) == WORDS}
    both = words["both"].difference
    cards = [
        Finding(
            f"Words are worth {of_thousand(both.mean)} of every ₹1,000",
            [
                _bar("reading and speaking", both),
                _bar("reading alone", words["reading"].difference),
            ],
            f"to a planner, n = {words['both'].n:,} games, paired by seed",
            "?tab=results&part=words",
        ),
        _opening_price(manners),
        Finding(
            f"Copying a planner took it from {of_thousand(rows[BASE].grade.mean)} to"
            f" {of_thousand(rows[SERVED].grade.mean)}",
            [
                _bar("untrained", rows[BASE].grade),
                *(_bar(policy_label(name), rows[name].grade) for name in (HELD,) if name in rows),
                _bar("after it", rows[SERVED].grade),
            ],
            f"n = {rows[SERVED].n:,} games that it never trained on",
            "?tab=results&part=training",
        ),
        _beside_script(comparison),
    ]  # fmt: skip
    cards += filter(None, [_after_copying(comparison)])
    if known := gain_on_same_seeds(comparison, f"bazaar/{WORDS[0]}", ORACLE, LISTENER):
        cards.append(Finding(
            f"Knowing the seller would be worth {of_thousand(known.gain.mean)} more",
            [_bar("to the planner", known.gain)], f"n = {known.n:,} games, paired by seed",
            "?tab=results&part=optimum",
        ))  # fmt: skip
    return cards


def _after_copying(comparison: Artifact) -> Finding | None:
    """What was trained on top of the stage that copies a planner; None where nothing was."""
    gains = [row for row in reinforced(comparison) if row.on == "all"]
    if not gains:
        return None
    stages = [policy_label(row.after).rpartition(" + ")[2] for row in gains]
    clear = any(side(row.interval) != "unclear" for row in gains)
    changed = "some of what it wins" if clear else "nothing that can be measured"
    return Finding(
        f"After copying, {list_names(stages)} changed {changed} with people",
        [_bar(name, row.interval) for name, row in zip(stages, gains, strict=True)],
        f"gain over the stage before, n = {gains[0].n:,} games, paired by seed",
        "?tab=results&part=training",
    )


def _beside_script(comparison: Artifact) -> Finding:
    """The model beside the best script, the one whose numbers were searched where it played."""
    rows = rows_by_policy(comparison, MARKET)
    script = TUNED if TUNED in rows else best_script(rows)[0]
    lead = gain_on_same_seeds(comparison, MARKET, SERVED, script).gain
    beside = {
        "above": f"beats the best script by {of_thousand(lead.mean)}",
        "unclear": "is level with the best script",
        "below": f"stays {of_thousand(-lead.mean)} behind the best script",
    }[side(lead)]
    bars = [_bar(policy_label(name), rows[name].grade) for name in (script, SERVED)]
    return Finding(
        f"The model {beside}",
        [*bars, _bar("model less script", lead)],
        f"n = {rows[SERVED].n:,} games, the difference paired by seed",
        "?tab=results&part=market",
    )


def _opening_price(manners: Artifact) -> Finding:
    """What the price with which a seller opens leaves to buyers, the planner first.

    Two sellers of `manners` come down evenly to their limits and differ in where they begin.
    """
    rows = {(row.player, row.habit): row for row in manners.data.rows}
    buyers = {LISTENER: "planner", SERVED: "Sauda"}
    low, high = (rows[LISTENER, habit] for habit in OPENINGS)
    moved = f"from {of_thousand(low.share.mean)} to {of_thousand(high.share.mean)}"
    return Finding(
        f"What an opening price moves: the planner {moved}",
        [
            _bar(f"{buyer}, ask {where}", rows[name, habit].share)
            for name, buyer in buyers.items()
            for habit, where in OPENINGS.items()
        ],
        f"of a seller that comes down evenly to its limit; n = {low.possible} games where both can"
        " gain",
        "?tab=results&part=people",
    )


def of_thousand(share: float) -> str:
    """A share of what could be won, in rupees of every 1,000: "₹86"."""
    return rupees(round(1000 * share))


def _bar(label: str, figures: Interval) -> tuple[str, int, int, int]:
    return label, *(round(1000 * end) for end in (figures.mean, figures.low, figures.high))


def lab_sentence(comparison: Artifact) -> str:
    """The trained lab against the lab that never trades, with grades and n."""
    rows = rows_by_policy(comparison, LAB_TASK)
    return SAY.as_a_lab(rows[LAB], rows[AUTARKY].grade.mean)
