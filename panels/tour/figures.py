"""What training gained, what beats Sauda and why, what words are worth: sentences and one figure.

Grades are told as the share of the best outcome that a game allows.
"""

import plotly.graph_objects as go

from panels.haggle.opponents import bare_stages
from panels.results.model_comparison import LAB_FILE
from panels.results.model_labels import series_role
from panels.results.model_summary import best_script, gain_on_same_seeds, rows_by_policy, standing
from panels.results.questions.verdict import buyer_name, capital, listed
from panels.tour.facts import MARKET, PERCENT
from panels.ui.look import with_minus_signs
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.comparison import (
    AUTARKY,
    BASE,
    BAYESIAN,
    LAB,
    LEAVE,
    LISTENER,
    ORACLE,
    OURS,
    TUNED,
    ModelRow,
)
from sauda.llm.registry import CONSTRAINED, is_model
from sauda.records.kinds import ArtifactError, entry
from sauda.records.schemas.base import Interval
from sauda.records.store import Artifact

POINTS = "+.0f"  # of differences, in percentage points
LAB_TASK = "arena/market_round"  # of the sentence about the lab
CONTENDERS = (f"{BASE}+{CONSTRAINED}", LEAVE, TUNED, BAYESIAN, LISTENER)  # of the figure
COUNTS = ("No player", "One player", "Two players", "Three players", "Four players")


def gain(comparison: Artifact) -> str:
    """How far training brought the model, in a sentence; ArtifactError where it lacks a figure."""
    place = standing(comparison, MARKET)
    if place is None or place.gap_closed is None:
        command = entry(comparison.file).command
        fault = f"artifacts/{comparison.file} lacks a trained model on {MARKET}"
        raise ArtifactError(fault, command)
    closed = place.gap_closed
    share = with_interval(Interval(mean=closed.share, low=closed.low, high=closed.high), PERCENT)
    return (
        f"Training took the model from {place.base:{PERCENT}} to"
        f" {with_interval(place.row.grade, PERCENT)} of the best outcome, on {place.row.n} games"
        f" that it never trained on. That is {share} of the way to {buyer_name(LISTENER)}, whose"
        " moves SFT copied."
    )


def grades_figure(comparison: Artifact) -> go.Figure:
    """Base, stages, scripts, planners and the best possible as sorted dots with whiskers."""
    rows = rows_by_policy(comparison, MARKET)
    script, _ = best_script(rows)
    shown = {BASE, *bare_stages(MARKET), *CONTENDERS, script} & rows.keys()
    points = sorted((rows[name] for name in shown), key=lambda row: -row.grade.mean)
    lines = [
        WhiskerRow(_label(row, rows[OURS].n), row.grade, series_role(row.policy)) for row in points
    ]
    bound = WhiskerRow("knows the seller, so a bound", rows[ORACLE].grade, "oracle")
    figure = whisker_rows({"The open market": [bound, *lines]}, "of the best outcome", PERCENT)
    return figure.update_xaxes(tickformat=".0%")


def _label(row: ModelRow, n: int) -> str:
    """The name of a row, with its games where they are not as many as `n`; Sauda’s is bold."""
    label = buyer_name(row.policy) + (f", n = {row.n}" if row.n != n else "")
    return f"<b>{label}</b>" if row.policy == OURS else label


def still_ahead(comparison: Artifact) -> str:
    """Who scores more than Sauda on the open market without a language model, with n."""
    rows = rows_by_policy(comparison, MARKET)
    ours = rows[OURS].grade.mean
    ahead = sorted(
        (
            row
            for name, row in rows.items()
            if name != ORACLE and not is_model(name) and row.grade.mean > ours
        ),
        key=lambda row: -row.grade.mean,
    )
    if not ahead:
        return f"{COUNTS[0]} without a language model scores more, n = {rows[OURS].n}."
    count = COUNTS[len(ahead)] if len(ahead) < len(COUNTS) else f"{len(ahead)} players"
    names = listed([f"{buyer_name(row.policy)} ({row.grade.mean:{PERCENT}})" for row in ahead])
    verb = "scores" if len(ahead) == 1 else "score"
    return f"{capital(count)} without a language model still {verb} more: {names}."


def why_behind(comparison: Artifact) -> str:
    """What parts Sauda from the bound, step by step, each paired by seed."""
    told = (
        (ORACLE, LISTENER, "knowing the seller"),
        (LISTENER, BAYESIAN, "reading and speaking words as the planner does"),
        (BAYESIAN, OURS, "planning the prices exactly"),
    )
    steps = []
    for better, worse, what in told:
        found = gain_on_same_seeds(comparison, MARKET, better, worse)
        if found is not None:
            steps.append(f"{what}: {points(found[3])}")
    return f"From the bound down to Sauda, in percentage points: {'; '.join(steps)}."


def points(difference: Interval) -> str:
    """A difference of grades in percentage points, with its interval."""
    ends = (difference.mean, difference.low, difference.high)
    mean, low, high = (format(100 * end, POINTS) for end in ends)
    return with_minus_signs(f"{mean} [{low}, {high}]")


def what_pays(words: Artifact) -> str:
    """What reading and speaking are worth to a planner in the open market, with n."""
    worth = {row.what: row.all for row in words.data.worth}
    return (
        f"Reading and speaking add {points(worth['reading and speaking'])} percentage points to a"
        f" planner; reading alone {points(worth['reading'])} (n = {len(words.data.types):,} games,"
        " paired by seed)."
    )


def as_a_lab() -> str:
    """How the model fares as a lab beside one that never trades; "" without the artifact."""
    artifact, _ = load_or_say(LAB_FILE)
    return lab_sentence(artifact) if artifact else ""


def lab_sentence(comparison: Artifact) -> str:
    """The trained lab against the lab that never trades, with grades and n."""
    rows = rows_by_policy(comparison, LAB_TASK)
    model, alone = rows[LAB], rows[AUTARKY].grade.mean
    if model.grade.high < alone:
        verdict = "still earns less than one that never trades"
    elif model.grade.low > alone:
        verdict = "earns more than one that never trades"
    else:
        verdict = "earns about as much as one that never trades"
    return (
        f"As a lab the model {verdict} (mean grades {model.grade.mean:z.3f} and {alone:z.3f},"
        f" n = {model.n})."
    )
