"""Tour: what Sauda is, in one screen, and a walk of ninety seconds through the other tabs."""

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_summary import in_percent, standing
from panels.transcripts.view import column
from panels.ui.look import empty, heading, stat, strip
from panels.ui.provenance import load_or_say, provenance
from sauda.games.transcript import from_json
from sauda.records.kinds import ArtifactError, entry
from sauda.records.schemas.evaluation import Row
from sauda.records.store import Artifact

TITLE = "Tour"

WHAT = (
    "Sauda (सौदा, a bargain) is a game of haggling and a small language model that was trained here"
    " to play it, in this page’s own process. Every measured figure comes from a file you can"
    " download and play again to the last digit."
)
MARKET = "bazaar/open"  # the task of the figures
SHOWN = "classic/deceptive_seller"  # the pair of episodes below
BEFORE, AFTER = "naive", "expert"

# Title, what to look at, the tab to open and the button's words: about fifteen seconds each.
STEPS = (
    (
        "Haggle",
        "Sell something to Sauda, or buy from a seller, in English, Hinglish or Hindi. The page"
        " shows what it reads in your words, and at the end both limits and how others played the"
        " same game.",
        "haggle",
        "Try a bargain",
    ),
    (
        "Compare",
        "The model after each stage of training, bare and wrapped, beside scripts and an oracle, on"
        " hold-out seeds with 95 % intervals.",
        "results",
        "See the bars",
    ),
    (
        "Train",
        "The logged curves of every run beside the published ones, and one training conversation"
        " with the learned tokens marked.",
        "training",
        "See the curves",
    ),
    (
        "Read",
        "One seed, up to four players, side by side, move by move; and the same bargain before and"
        " after training.",
        "transcripts",
        "Read a game",
    ),
    (
        "Check",
        "Download any file, or all in one zip. One command plays a file’s episodes again and names"
        " the first digit that moved.",
        "artifacts",
        "Check a number",
    ),
)


def glance(comparison: Artifact, holdout: Artifact, reproduction: Artifact) -> Markup:
    """Four figures, each computed from an artifact, with its interval or its count.

    Raises ArtifactError where an artifact lacks a figure.
    """
    wait = cell(holdout, "classic/single_deal", "wait")
    agreement = reproduction.data.agreement
    return strip(
        *trained(comparison),
        stat(*share(wait, "won by a script that only waits: why the open market is harder")),
        stat(
            f"{agreement.within_three + agreement.without_error_equal} of {agreement.figures}",
            "figures of the published game are reproduced",
            note="within three standard errors, or equal to four decimals where nothing varies;"
            " 1,000 seeds each",
        ),
    )


def trained(comparison: Artifact) -> tuple[Markup, Markup]:
    """The trained model's grade on the open market, and the share of the gap training closed."""
    place = standing(comparison, MARKET)
    if place is None or place.gap_closed is None:
        command = entry(comparison.file).command
        fault = f"artifacts/{comparison.file} lacks a trained model on {MARKET}"
        raise ArtifactError(fault, command)
    grade, (script, best) = place.row.grade, place.script
    part, interval = in_percent(place.gap_closed)
    return (
        stat(
            f"{grade.mean:z.3f}",
            "mean grade of Sauda, bare, on the open market; 1 is best",
            f"[{grade.low:z.3f}, {grade.high:z.3f}]",
            f"{place.row.policy} on {MARKET}, hold-out seeds, n = {place.row.n}; the best"
            f" script, {script}, wins {best:z.3f}",
        ),
        stat(
            part,
            "of the gap between the untrained base and its teacher that training closed",
            interval,
            f"paired, n = {place.gap_closed.n}; the base wins {place.base:z.3f}",
        ),
    )


def cell(evaluation: Artifact, task: str, policy: str) -> Row:
    """One row of an evaluation; raises ArtifactError where it does not hold it."""
    for row in evaluation.data.rows:
        if (row.task, row.policy) == (task, policy):
            return row
    known = entry(evaluation.file)
    raise ArtifactError(f"artifacts/{known.file} lacks {policy} on {task}", known.command)


def share(row: Row, label: str) -> tuple[str, str, str, str]:
    """A row's share as the parts of a `stat`."""
    figures = row.share
    interval = f"[{figures.low:.1%}, {figures.high:.1%}]"
    if figures.sd == 0:
        interval = "on every seed"
    where = f"{row.policy} on {row.task}, hold-out seeds, n = {row.n:,}"
    return f"{figures.mean:.1%}", label, interval, where


def before_after(showcase: Artifact) -> Markup:
    """Two policies of the showcase on the same seed, whole."""
    rows = {row.policy: row for row in showcase.data.episodes if row.task == SHOWN}
    if not {BEFORE, AFTER} <= rows.keys():
        return empty(f"The showcase lacks {BEFORE} or {AFTER}.", "python -m sauda record-episodes")
    cards = []
    for name in (BEFORE, AFTER):
        played = from_json(rows[name].as_json())
        cards.append(column(name, played, len(played.turns), words=False))
    return Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def build() -> list[tuple[gr.Button, str]]:
    """Lay out the tab. Returns the buttons that open another tab, each with that tab's id."""
    gr.HTML(heading("Bargaining, to see, to play and to check", WHAT))
    _glance()
    with gr.Row():
        with gr.Column(min_width=320):
            links = _walkthrough()
        with gr.Column(min_width=320):
            _before_after()
    return links


def _walkthrough() -> list[tuple[gr.Button, str]]:
    links = []
    with gr.Walkthrough(selected=0) as walk:
        for number, (title, words, tab, label) in enumerate(STEPS):
            with gr.Step(title, id=number):
                gr.HTML(Markup("<p>{}</p>").format(words))
                with gr.Row():
                    links.append((gr.Button(label, variant="primary", scale=0, min_width=160), tab))
                    if number + 1 < len(STEPS):
                        after = gr.Button("Next", scale=0, min_width=120)
                        after.click(
                            lambda n=number + 1: gr.Walkthrough(selected=n),
                            None,
                            walk,
                            queue=False,
                            show_progress="hidden",
                            api_visibility="private",
                        )
    return links


def _glance() -> None:
    files = (COMPARISON, "evaluation/classic-holdout.json", "evaluation/reproduction.json")
    loaded = [load_or_say(file) for file in files]
    missing = [sentence for artifact, sentence in loaded if artifact is None]
    if missing:
        gr.HTML(missing[0])
        return
    artifacts = [artifact for artifact, _ in loaded]
    try:
        gr.HTML(glance(*artifacts))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))
        return
    gr.HTML(provenance(artifacts[0], "with classic-holdout.json and reproduction.json"))


def _before_after() -> None:
    gr.HTML(
        heading(
            "The same seller, the same seed",
            f"The scripts classic/{BEFORE} and classic/{AFTER} on {SHOWN}.",
        )
    )
    showcase, missing = load_or_say("episodes/showcase.json")
    if showcase is None:
        gr.HTML(missing)
        return
    gr.HTML(before_after(showcase))
    gr.HTML(provenance(showcase, f"n = {len(showcase.data.episodes)} episodes"))
