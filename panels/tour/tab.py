"""Tour: the promise, what was trained, and ninety seconds in four steps, one screen each."""

from collections.abc import Callable

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.results.model_labels import policy_label
from panels.results.model_summary import in_percent, standing
from panels.tour import race
from panels.tour.facts import chain, facts, in_short
from panels.ui.look import QUIET, empty, heading, stat, strip
from panels.ui.provenance import load_or_say, provenance
from sauda.records.kinds import ArtifactError, entry
from sauda.records.store import Artifact

TITLE = "Tour"

PROMISE = "Can a tiny language model learn to haggle?"
WHAT = "Play it, watch it, check every number: each comes from a file that one command plays again."
MARKET = "bazaar/open"  # the task of the figures
GAMES = (  # a game, what it is about, the tab to open and the button's words
    (
        "The bazaar",
        "One item, a buyer and a seller, each with a limit the other does not know. A deal splits"
        " what lies between the limits; no deal is worth nothing. Sauda learnt to buy. You can buy"
        " or sell, in English, Hinglish or Hindi.",
        "haggle",
        "Haggle with Sauda",
    ),
    (
        "The GPU arena",
        "Labs own hours on GPUs and have jobs with deadlines. Who trades hours well gets more jobs"
        " done. The model learnt to be a lab too; Results shows it beside a scripted planner.",
        "gpu_arena",
        "Run a lab",
    ),
)
NEXT = (  # what to look at, the tab to open and the button's words
    ("Sell something to Sauda, buy from a seller, or play the bargain of the day.",
     "haggle", "Haggle"),
    ("Every stage of training beside scripts and an oracle, on games never trained on.",
     "results", "See who wins"),
    ("The curves of every run, read from its log.", "training", "See the curves"),
    ("One seed, up to four players, side by side.", "transcripts", "Read a game"),
    ("Download any file; one command plays it again and names the first digit that differs.",
     "artifacts", "Check a number"),
)  # fmt: skip
STEPS = ("Watch", "Did it learn?", "Two games", "Your turn")


def glance(comparison: Artifact, reproduction: Artifact) -> Markup:
    """Three figures, each computed from an artifact, with its interval or its count.

    Raises ArtifactError where an artifact lacks a figure.
    """
    agreement = reproduction.data.agreement
    return strip(
        *trained(comparison),
        stat(
            f"{agreement.within_three + agreement.without_error_equal} of {agreement.figures}",
            "figures of the published game, reproduced",
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
            "mean grade of Sauda, bare, in the open market; 1 is best",
            f"[{grade.low:z.3f}, {grade.high:z.3f}]",
            f"{policy_label(place.row.policy)}, hold-out seeds, n = {place.row.n}; the best script,"
            f" {policy_label(script)}, wins {best:z.3f}",
        ),
        stat(
            part,
            "gap between the untrained base and its teacher, closed by training",
            interval,
            f"paired, n = {place.gap_closed.n}; the base wins {place.base:z.3f}",
        ),
    )


def build() -> list[tuple[gr.Button, str]]:
    """Lay out the tab. Returns the buttons that open another tab, each with that tab's id."""
    gr.HTML(heading(PROMISE, WHAT))
    _trained(lambda runs: Markup('<p class="sauda-tour-about">{}</p>').format(in_short(runs)))
    links: list[tuple[gr.Button, str]] = []
    with gr.Walkthrough(selected=0) as walk:
        with gr.Step(STEPS[0], id=0):
            race.build(lambda: _next(walk, 0))
        with gr.Step(STEPS[1], id=1):
            _glance()
            _trained(facts)
            _next(walk, 1)
        with gr.Step(STEPS[2], id=2):
            links += _games()
            _next(walk, 2)
        with gr.Step(STEPS[3], id=3):
            links += _choices()
    return links


def _trained(shown: Callable[[list[Artifact]], Markup]) -> None:
    """What `shown` makes of the runs behind the served stage."""
    try:
        gr.HTML(shown(chain()))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))


def _next(walk: gr.Walkthrough, number: int) -> None:
    after = gr.Button(f"Next: {STEPS[number + 1]}", variant="primary", scale=0, min_width=180)
    after.click(lambda: gr.Walkthrough(selected=number + 1), None, walk, **QUIET)


def _games() -> list[tuple[gr.Button, str]]:
    links = []
    with gr.Row():
        for title, words, tab, label in GAMES:
            with gr.Column(min_width=280):
                gr.HTML(Markup("<h3>{}</h3><p>{}</p>").format(title, words))
                links.append((gr.Button(label, scale=0, min_width=180), tab))
    return links


def _choices() -> list[tuple[gr.Button, str]]:
    links = []
    for words, tab, label in NEXT:
        with gr.Row(elem_classes="sauda-beside"):
            links.append((gr.Button(label, variant="primary", scale=0, min_width=180), tab))
            gr.HTML(Markup("<p>{}</p>").format(words))
    return links


def _glance() -> None:
    files = (COMPARISON, "evaluation/reproduction.json")
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
    gr.HTML(provenance(artifacts[0], "with reproduction.json"))
