"""Roles: the losses of buyer, seller and generalist, and how they fare in games.

Nine paired contrasts, fixed in advance, ask whether training for a role makes a better player: each
adapter beside the base in both seats, each specialist beside the generalist in its own seat, and
the specialists on role beside off role, both seats pooled. Two players are compared in the same
scenarios.

Published figures are AgreeMate's, of another model and other data.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import gradio as gr
import numpy as np
import plotly.graph_objects as go
from markupsafe import Markup

from panels.frames import DOING, Table, lay_out, names_its_price, plain
from panels.training.curves import curve, line_chart
from panels.ui.html import SAY, macros
from panels.ui.look import QUIET, badge, line_style, table, with_minus_signs
from panels.ui.provenance import load_or_say, provenance, sources
from panels.ui.terms import term
from panels.ui.wiring import Updates, fill_on_opening
from sauda.players import BASE, GENERALIST, SPECIALISTS, policy_label
from sauda.players import ROLES as ADAPTERS
from sauda.records.schemas.base import Interval, Row
from sauda.records.schemas.speeds import published_rows
from sauda.records.schemas.training import ROLE_RUNS, ROLES_FILE, RolePlay, RoleReply, RoleRun
from sauda.records.store import Artifact, load
from sauda.statistics import holm, mean_of, sign_flip_p
from sauda.train.roles import LEAST_SAID

HTML = macros("roles")
ROLES = ("buyer", "seller", "generalist")
SUMMARY, AGAIN = "agreemate-training-summary", "agreemate-training-recomputed"  # published
COLUMNS = (
    "run", "steps", "steps/s", "samples/s", "mean training loss", "best validation loss",
    "perplexity", "running mean of the loss", "memory, GiB",
)  # fmt: skip
Runs = Mapping[str, Artifact]  # by name, such as roles-buyer-control
IN_WORDS = {"cycles": "Two cycles instead of one", "layers": "Rates by layer instead of one rate"}
LEVEL = 0.05  # of the whole family of contrasts
MARGIN = 0.1  # of the share of the ZOPA, within which two players are called equivalent
ON_ROLE, OFF_ROLE = "on role", "off role"  # the specialists in their own seat, in the other

# What roles say in games --------------------------------------------------------------------------


def tell_games(games: Artifact | None, missing: Markup) -> Markup:
    """What roles say in games; what makes the record where it is `missing`."""
    if games is None:
        return missing
    rows, contrasts = games.data.rows, contrasts_of(games.data)
    return HTML.games(
        price_verdict(rows),
        with_minus_signs(contrasts_verdict(contrasts, policy_label)) if contrasts else "",
        provenance(games, f"n = {rows[0].n} games per model and seat"),
    )


def price_verdict(rows: Sequence[Row]) -> Iterator[str]:
    """A sentence per seat: how often each model says the decided price in games."""
    for seat, specialist in SPECIALISTS.items():
        by_model = {row.model: row for row in rows if row.seat == seat}
        if {specialist, GENERALIST, BASE} <= by_model.keys():
            taught, general, base = (
                "{mean:.0%} [{low:.0%}, {high:.0%}]".format(**by_model[name].said.as_json())
                for name in (specialist, GENERALIST, BASE)
            )
            yield (
                f"As a {seat} in {by_model[specialist].n} games, the specialist says {taught} of "
                f"the script's prices as decided, the generalist {general} and the untrained base "
                f"{base}."
            )


# The nine contrasts -------------------------------------------------------------------------------

Shares = Mapping[tuple[str, str], np.ndarray]  # by player and seat: (n,)


@dataclass(frozen=True)
class Contrast:
    """The share of one player less that of another."""

    player: str
    beside: str
    seat: str  # "both" for the mean of both seats
    n: int  # scenarios
    difference: Interval
    p: float  # two-sided, of the paired sign-flip permutation test
    adjusted: float  # by Holm, over the nine

    @property
    def is_shown(self) -> bool:
        """Whether the test of the family says that the two differ."""
        return self.adjusted < LEVEL

    @property
    def is_equivalent(self) -> bool:
        """Whether the whole interval lies within the MARGIN."""
        return self.difference.low > -MARGIN and self.difference.high < MARGIN


def contrasts_of(data: RolePlay) -> list[Contrast]:
    """The contrasts in recorded games; none where a model did not take both seats."""
    cells = {(cell.model, cell.seat): cell.games for cell in data.games}
    return contrasts({at: np.array([game.share for game in games]) for at, games in cells.items()})


def contrasts(shares: Shares) -> list[Contrast]:
    """The nine contrasts, each p adjusted for all; none where a player did not take both seats."""
    if not shares.keys() >= set(product((BASE, *ADAPTERS), SPECIALISTS)):
        return []
    pairs = [
        *((player, BASE, seat) for player, seat in product(ADAPTERS, SPECIALISTS)),
        *((specialist, GENERALIST, seat) for seat, specialist in SPECIALISTS.items()),
    ]
    buyer, seller = SPECIALISTS.values()
    pooled = shares[buyer, "buyer"] - shares[seller, "buyer"]
    pooled = (pooled + shares[seller, "seller"] - shares[buyer, "seller"]) / len(SPECIALISTS)
    differences = {
        (player, beside, seat): shares[player, seat] - shares[beside, seat]
        for player, beside, seat in pairs
    } | {(ON_ROLE, OFF_ROLE, "both"): pooled}
    p = [sign_flip_p(difference) for difference in differences.values()]
    return [
        Contrast(*names, len(difference), Interval(**mean_of(difference)), p, adjusted)
        for (names, difference), p, adjusted in zip(differences.items(), p, holm(p), strict=True)
    ]


def contrasts_verdict(rows: Sequence[Contrast], name: Callable[[str], str]) -> str:
    """What the nine say; `name` gives a player in words.

    A second sentence says whether each specialist is equivalent to the generalist in its own seat.
    """
    shown = [row for row in rows if row.is_shown]
    largest = max(rows, key=lambda row: abs(row.difference.mean))
    opening = f"{len(shown)} of {len(rows)} contrasts show"
    if not shown:
        opening = f"None of {len(rows)} contrasts shows"
    details = "; ".join(_describe(row, name) for row in shown or [largest])
    return (
        f"{opening} a difference in share at {LEVEL:.0%} after correction by Holm, n ="
        f" {largest.n} scenarios: {'' if shown else 'the largest is '}{details}. Within"
        f" ±{MARGIN:.0%} of the share, {', and '.join(_equivalences(rows, name))}."
    )


def _equivalences(rows: Sequence[Contrast], name: Callable[[str], str]) -> Iterator[str]:
    for row in rows:
        if row.beside == GENERALIST:
            how = "is" if row.is_equivalent else "is not shown to be"
            yield f"{name(row.player)} {how} equivalent to {name(row.beside)}, {DOING[row.seat]}"


def _describe(row: Contrast, name: Callable[[str], str]) -> str:
    difference = "{mean:+z.1%} [{low:+z.1%}, {high:+z.1%}]".format(**row.difference.as_json())
    return f"{name(row.player)} less {name(row.beside)}, {DOING[row.seat]}, {difference}"


# Whether the schedule helps -----------------------------------------------------------------------


def schedule_verdict(contrasts: Sequence[Row]) -> str:
    """Whether the loss is lower with the schedule, cycles and rates by layer, by the intervals.

    "Yes" where it is in all comparisons, "No" where it is in none and higher in some.
    """
    rows = [row.difference for row in contrasts if row.question == "schedule"]
    lower, higher = (sum(row.high < 0 for row in rows), sum(row.low > 0 for row in rows))
    rest = len(rows) - lower - higher
    opening = "No" if higher else "Not shown"
    if lower:
        opening = "Partly" if higher or rest else "Yes"
    directions = [f"lower in {_count(lower, len(rows))}"] if lower else []
    directions += [f"higher in {_count(higher, len(rows))}"] if higher else []
    clauses = [f"with the schedule, the loss was {' and '.join(directions)}"] if directions else []
    clauses += [f"in {_count(rest, len(rows))} the interval holds 0"] if rest else []
    return f"{opening}: {'; '.join(clauses)}."


def cause_sentences(contrasts: Sequence[Row]) -> Iterator[str]:
    """A sentence for each cause in the schedule: by how much it changes the generalist's loss."""
    for cause, words in IN_WORDS.items():
        changes = [
            f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}] on the {row.role}'s turns"
            f" ({_direction(gap)})"
            for row in contrasts
            if row.question == cause
            for gap in [row.difference]
        ]
        if changes:
            yield f"{words} change the loss of the generalist by {' and '.join(changes)}."


def _direction(gap: Interval) -> str:
    if gap.high < 0:
        return "lower"
    return "higher" if gap.low > 0 else "the interval holds 0"


def _count(count: int, n: int) -> str:
    return f"{f'all {n}' if count == n else f'{count} of {n}'} comparisons with a control"


# Curves -------------------------------------------------------------------------------------------


def loss_figure(runs: Runs, role: str) -> go.Figure:
    """Training and validation loss of a role over steps, with the schedule and without."""
    traces = []
    for name, run, series in _pair(runs, role):
        steps, hover = [row.step for row in run.log], "step %{x}: %{y:.3f}"
        losses = [row.loss_average for row in run.log]
        traces.append(curve(f"training, {name}", series, steps, losses, f"{hover}<extra></extra>"))
        steps = [row.step for row in run.validations]
        losses = [row.loss for row in run.validations]
        perplexities = [row.perplexity for row in run.validations]
        hover += ", perplexity %{customdata:.1f}<extra></extra>"
        more = {"mode": "markers", "customdata": perplexities}
        traces.append(curve(f"validation, {name}", series, steps, losses, hover, **more))
    return line_chart(traces, "step", "loss, nats per token", rangemode="tozero")


def rate_figure(runs: Runs, role: str) -> go.Figure:
    """Learning rates of the highest and the lowest layer, as the optimizer had them."""
    traces, hover = [], "step %{x}: %{y:.2e}<extra></extra>"
    for name, run, series in _pair(runs, role):
        steps = [row.step for row in run.log]
        highest = [row.learning_rate for row in run.log]
        lowest = [row.learning_rate_lowest for row in run.log]
        thin = {"line": line_style(series)["line"] | {"width": 1}}
        traces.append(curve(f"highest layer, {name}", series, steps, highest, hover))
        traces.append(curve(f"lowest layer, {name}", series, steps, lowest, hover, **thin))
    return line_chart(traces, "step", "learning rate", exponentformat="e")


def published_figure(rows: Sequence[Mapping[str, Any]]) -> go.Figure:
    """AgreeMate's published curves of a role."""
    traces, hover = [], "update %{x}: %{y:.3f}<extra></extra>"
    style = line_style("published")
    for field, label, dash in (
        ("train_loss", "training", "solid"),
        ("eval_loss", "validation", "dot"),
        ("ema_loss", "published EMA", "dash"),
    ):
        more = style | {"line": style["line"] | {"dash": dash}, "connectgaps": True}
        x, y = [row["step"] for row in rows], [row[field] for row in rows]
        traces.append(curve(label, "published", x, y, hover, **more))
    title = "loss, nats per token"
    return line_chart(traces, "update, published", title, rangemode="tozero")


def _pair(runs: Runs, role: str) -> Iterator[tuple[str, RoleRun, str]]:
    """The run of a role and its control, where they are there: label, run, series."""
    for suffix, label, series in (("", "schedule", "buyer"), ("-control", "control", "seller")):
        if run := runs.get(f"roles-{role}{suffix}"):
            yield label, run.data, series


# Tables -------------------------------------------------------------------------------------------


def _run_row(name: str, run: RoleRun) -> tuple[object, ...]:
    """A run's speed, losses, perplexity, running mean and memory."""
    best = next(row for row in run.validations if row.step == run.best_step)
    return (
        term(plain(name), name),
        f"{len(run.log):,}",
        f"{len(run.log) / run.seconds:.3f}",
        f"{run.taught.dialogues / run.seconds:.3f}",
        f"{sum(row.loss for row in run.log) / len(run.log):.3f}",
        f"{best.loss:.3f}",
        f"{best.perplexity:.2f}",
        f"{run.log[-1].loss_average:.3f}",
        f"{max(row.memory for row in run.log):.2f}",
    )


def _published_rows(published: Artifact) -> Iterator[tuple[object, ...]]:
    """One row a role; perplexity and running mean as they follow, what was published behind."""
    again = published_rows(published, AGAIN)
    corrected = {row["role"]: row["ema_bias_corrected"] for row in again}
    for row in published_rows(published, SUMMARY):
        yield (
            Markup("AgreeMate {} {}").format(row["role"], badge("published")),
            f"{row['updates']:,}",
            f"{row['updates_per_s']:.3f}",
            f"{row['samples_per_s']:.3f}",
            f"{row['mean_train_loss']:.3f}",
            f"{row['best_eval_loss']:.3f}",
            f"{math.exp(row['best_eval_loss']):.1f} (said: {row['perplexity_published']:.1f})",
            f"{corrected[row['role']]:.3f} (said: {row['final_ema_published']:.3f})",
            f"{row['memory_peak_high_gb']:.2f}",
        )


def check_line(runs: Runs) -> str:
    """How often each run named the price that it was told, in its own role and off it.

    A run below the share that the acceptance check asks for is marked as failed.
    """
    rows = [
        (
            plain(name),
            run.data.acceptance,
            [names_its_price(row) for row in run.data.replies if row.off_role],
        )
        for name, run in runs.items()
    ]
    return SAY.prices_named(LEAST_SAID, rows)


# Layout -------------------------------------------------------------------------------------------


def build(tab: gr.Tab) -> None:
    """Lay out the part, which is filled as `tab` is opened. Called inside it."""
    files = (ROLES_FILE, "published.json", *(f"training/{name}.json" for name in ROLE_RUNS))
    compared, published, *logs = map(load, files)
    runs = dict(zip(ROLE_RUNS, logs, strict=True))
    games, missing = load_or_say("role_play.json")
    above = gr.HTML()
    for table_ in _tables(compared, games, runs):
        lay_out(table_)
    role = gr.Radio(list(ROLES), value=ROLES[0], label="Role", elem_id="training-role")
    with gr.Row():
        plots = [gr.Plot(show_label=False, min_width=320) for _ in range(3)]
    caveat, below = gr.HTML(elem_id="training-role-caveat"), gr.HTML()

    def show(name: str) -> Updates:
        theirs = f"agreemate-curve-{name}"
        figure = published_figure(published_rows(published, theirs))
        drawn = loss_figure(runs, name), rate_figure(runs, name), figure
        return {caveat: remarks(published, theirs), **dict(zip(plots, drawn, strict=True))}

    def fill(_: str) -> Updates:
        rows = compared.data.contrasts
        causes = with_minus_signs(" ".join(cause_sentences(rows)))
        words = HTML.introduction() + HTML.schedule(schedule_verdict(rows), causes)
        first = {above: words + tell_games(games, missing)}
        return first | {below: _below(runs, published, compared)} | show(ROLES[0])

    role.change(show, role, [caveat, *plots], **QUIET)
    fill_on_opening(tab, fill, [above, *plots, caveat, below])


def _tables(compared: Artifact, games: Artifact | None, runs: Runs) -> list[Table]:
    """The folded tables; those of games where their record is there."""
    tables = [
        Table("losses", compared.data.contrasts, HTML.caution()),
        Table("replies", replies_of(runs)),
    ]
    if games is not None:
        tables += [
            Table("role games", games.data.rows, HTML.read()),
            Table("role contrasts", games.data.contrasts),
            Table("role shares", contrasts_of(games.data), HTML.nine()),
        ]
    return tables


def replies_of(runs: Runs) -> list[RoleReply]:
    """What all runs said at hold-out turns, each with the name of its run."""
    return [
        reply.model_copy(update={"run": name})
        for name, run in runs.items()
        for reply in run.data.replies
    ]


def remarks(published: Artifact, *names: str) -> Markup:
    """What the published figures of these ids mean, in their order."""
    return HTML.remarks([each for each in published.data.figures if each.id in names])


def _below(runs: Runs, published: Artifact, compared: Artifact) -> Markup:
    """All runs and the published ones, their replies and commands."""
    rows = [_run_row(name, run.data) for name, run in runs.items()]
    rows += _published_rows(published)
    return HTML.details(
        table(COLUMNS, rows, caption="Runs of roles, and AgreeMate's as published"),
        remarks(published, SUMMARY, AGAIN),
        check_line(runs),
        provenance(compared, f"n = {len(compared.data.contrasts)} contrasts"),
        sources([provenance(run, plain(name)) for name, run in runs.items()]),
    )
