"""What are words worth? Reading and speaking in the open market, and what is not."""

from collections.abc import Mapping, Sequence

import gradio as gr
import plotly.graph_objects as go
from markupsafe import Markup

from panels.results.model_labels import policy_label
from panels.results.questions.layout import Measured, fold, numbers, show_caption, show_verdict
from panels.results.questions.verdict import Verdict
from panels.ui.look import table
from panels.ui.provenance import load_or_say, provenance
from panels.ui.tables import with_interval
from panels.ui.whisker_rows import WhiskerRow, whisker_rows
from sauda.experiments.hearing import FILE as HEARING
from sauda.experiments.hearing import OPEN, Hearing
from sauda.experiments.words import Played, Words, Worth
from sauda.records.store import Artifact

NAME, TITLE = "words", "What are words worth?"
FORM, GAIN = "z.3f", "+z.3f"  # of grades, of differences
BOTH, READING = "reading and speaking", "reading"
SPEAKING = "speaking, for one that reads"
PLAYERS: Mapping[str, tuple[str, str]] = {  # of the figure: in words, key of SERIES
    "oracle": ("bound: knows its seller", "oracle"),
    "both": ("plans, reads and speaks", "buyer"),
    "reads": ("plans and reads, says nothing", "buyer"),
    "speaks": ("plans and speaks, reads nothing", "buyer"),
    "numbers": ("plans on numbers alone", "buyer"),
    "conceder, says the key": ("script that says the key it hears", "scripted"),
    "conceder": ("the same script, silent", "scripted"),
}
TYPES = ("firm", "fair", "hasty", "bluffer")
LOST = {  # markets of hearing.json beside the open one, in words
    "unseen": "phrases of no training",
    "mute": "no words on either side",
    "words removed": "its ears shut",
    "words of another game": "words of another game",
    "words of another type": "words of another type",
}


def verdict(data: Words) -> Verdict:
    """What reading and speaking add to a buyer that plans, and what is worth nothing."""
    worth = {row.what: row for row in data.worth}
    n = len(data.types)
    both = worth[BOTH].all
    lead = "adds" if both.low > 0 else "adds nothing that is shown:" if both.high > 0 else "costs"
    sentence = (
        f"To a buyer that plans, reading and speaking {lead} {with_interval(both, GAIN)} of a grade"
        f" (n = {n:,}, on the same seeds)."
    )
    split = (
        f"Reading alone: {with_interval(worth[READING].all, GAIN)}; speaking on top of it:"
        f" {with_interval(worth[SPEAKING].all, GAIN)}."
    )
    types = "; ".join(f"{name} {with_interval(getattr(worth[BOTH], name), GAIN)}" for name in TYPES)
    unseen = with_interval(worth["reading and speaking, unseen phrases"].all, GAIN)
    return Verdict(
        sentence,
        (
            split,
            f"By type of seller: {types}.",
            f"In phrases that its reader has never seen: {unseen}.",
        ),
    )


def played_in(data: Words, market: str) -> dict[str, Played]:
    """The rows of one market by player."""
    return {row.player: row for row in data.played if row.market == market}


def grades_figure(data: Words) -> go.Figure:
    """Mean grades in the market, the bound on top."""
    rows = played_in(data, "open")
    points = [WhiskerRow(label, rows[name].grade, role) for name, (label, role) in PLAYERS.items()]
    return whisker_rows({"open market": points}, "mean grade, 1 at best", FORM)


def worth_table(rows: Sequence[Worth]) -> Markup:
    """Differences of two players on the same seeds, over all games and by type of seller."""
    return table(
        ("worth of", "all games", *TYPES),
        [
            (
                row.what,
                *(with_interval(getattr(row, name), GAIN) for name in ("all", *TYPES)),
            )
            for row in rows
        ],
        caption="Difference of the mean grade, paired by seed; 95 % intervals",
    )


def hearing_table(data: Hearing) -> Markup:
    """What each player wins in the open market, and what it loses where its words are others."""
    rows = {(row.player, row.market): row for row in data.rows}
    players = dict.fromkeys(row.player for row in data.rows)
    return table(
        ("player", "grade in the open market", *(f"loses: {name}" for name in LOST.values())),
        [
            (
                policy_label(player),
                with_interval(rows[player, OPEN].grade, FORM),
                *(with_interval(rows[player, name].less, GAIN) for name in LOST),
            )
            for player in players
        ],
        caption=f"Mean grade, and what is lost on the same {data.n:,} seeds; 95 % intervals",
    )


def measured(data: Words) -> list[Measured]:
    """The figure's numbers."""
    rows = played_in(data, "open")
    n = len(data.types)
    return [
        Measured("bazaar/open", label, n, rows[name].grade) for name, (label, _) in PLAYERS.items()
    ]


def build() -> None:
    """Lay out the question. Called inside the Results tab."""
    artifact, missing = load_or_say("words.json")
    if artifact is None:
        gr.HTML(missing)
    else:
        _answer(artifact)


def _answer(artifact: Artifact) -> None:
    data = artifact.data
    show_verdict(NAME, verdict(data))
    gr.Plot(grades_figure(data), show_label=False, elem_id=f"results-{NAME}-figure")
    show_caption(
        "In this market a buyer’s best bid stands, the seller’s words tell what its asks do not,"
        " and each type of seller is moved by something else that a buyer may say: tea, cash in"
        " hand, another shop’s price, a flaw."
    )
    gr.HTML(provenance(artifact))
    numbers(NAME, measured(data), FORM, "buyer")
    with fold("What each thing is worth: questions, fixed phrases, lies, misreading"):
        gr.HTML(worth_table(data.worth))
    with fold("Who loses what with other words in its ears"):
        hearing, missing = load_or_say(HEARING)
        if hearing is None:
            gr.HTML(missing)
        else:
            gr.HTML(hearing_table(hearing.data))
            gr.HTML(provenance(hearing))
