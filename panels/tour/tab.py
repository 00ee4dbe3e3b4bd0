"""Tour: the promise, what was trained, and ninety seconds in four steps, one screen each."""

from collections.abc import Callable, Mapping

import gradio as gr
from markupsafe import Markup

from panels.results.model_comparison import FILE as COMPARISON
from panels.tour import figures, race
from panels.tour.facts import chain, facts, in_short
from panels.ui.look import QUIET, empty, heading
from panels.ui.provenance import load_or_say, provenance
from panels.ui.wiring import Address, Updates, event_value, in_address, lay_out_address, on_address
from sauda.records.kinds import ArtifactError
from sauda.records.store import Artifact

TITLE = "Tour"

PROMISE = "Can a tiny language model learn to haggle?"
WHAT = "Play it, watch it, check every number: each comes from a file that one command plays again."
GAMES = (  # a game, what it is about, the tab to open and the button's words
    (
        "The bazaar",
        "One item, a buyer and a seller, each with a limit the other does not know. A deal splits"
        " what lies between the limits; no deal is worth nothing. In the open market a bid stands"
        " and the right word moves a seller. Sauda learnt to buy. You can buy or sell, in English,"
        " Hinglish or Hindi.",
        "haggle",
        "Haggle with Sauda",
    ),
    (
        "The GPU arena",
        "Labs own hours on GPUs and have jobs with deadlines. Who trades hours well gets more jobs"
        " done. You run a lab among scripted ones.",
        "gpu_arena",
        "Run a lab",
    ),
)
NEXT = (  # what to look at, the tab to open and the button's words
    ("Sell something to Sauda, buy from a seller, or play the bargain of the day.",
     "haggle", "Haggle"),
    ("Every stage of training beside scripts, planners and an oracle, on games never trained on.",
     "results", "See who wins"),
    ("The curves of every run, read from its log, and models trained for one role: buyer, seller"
     " or both.", "training", "See the curves"),
    ("One seed, up to four players, side by side.", "transcripts", "Read a game"),
    ("Labs argue for GPU time and a judge checks every claim; write a pitch of your own.",
     "judge", "Face the judge"),
    ("Download any file; one command plays it again and names the first digit that differs.",
     "artifacts", "Check a number"),
)  # fmt: skip
STEPS = ("Watch", "Did it learn?", "Two games", "Your turn")
TO_THE_TOP = "() => { window.scrollTo(0, 0); return []; }"


def build() -> list[tuple[gr.Button, str]]:
    """Lay out the tab. Returns the buttons that open another tab, each with that tab's id."""
    with gr.Column(elem_id="tour-promise"):  # the stylesheet hides it after the first step
        gr.HTML(heading(PROMISE, WHAT))
        _trained(lambda runs: Markup('<p class="sauda-tour-about">{}</p>').format(in_short(runs)))
    links: list[tuple[gr.Button, str]] = []
    address = lay_out_address("tour", "", ("step",))
    with gr.Walkthrough(selected=0) as walk:
        with gr.Step(STEPS[0], id=0):
            race.build(lambda: _next(walk, address, 0))
        with gr.Step(STEPS[1], id=1):
            _glance()
            _trained(facts)
            _next_row(walk, address, 1)
        with gr.Step(STEPS[2], id=2):
            links += _games()
            _next_row(walk, address, 2)
        with gr.Step(STEPS[3], id=3):
            links += _choices()
    _follow_address(walk, address)
    return links


def _follow_address(walk: gr.Walkthrough, address: Address) -> None:
    """Let the page's address name the step that is shown, from 1."""

    def chosen(event: gr.EventData) -> Markup:
        number = event_value(event, "index")
        return in_address(named_in_address(number if number in range(len(STEPS)) else 0))

    def follow_step(query: Mapping[str, str]) -> Updates:
        number = step_named(query)
        return {
            walk: gr.Walkthrough(selected=number),
            address.shown: in_address(named_in_address(number)),
        }

    walk.select(chosen, None, address.shown, **QUIET)
    on_address(address, follow_step, [walk])


def named_in_address(number: int) -> dict[str, str]:
    """What the page's address says of step `number`, from 0; nothing of the first."""
    return {"step": str(number + 1)} if number else {}


def step_named(query: Mapping[str, str]) -> int:
    """The step that an address names, from 0; the first where it names none."""
    known = {str(number + 1): number for number in range(len(STEPS))}
    return known.get(query.get("step", ""), 0)


def _trained(shown: Callable[[list[Artifact]], Markup]) -> None:
    """What `shown` makes of the runs behind the served stage."""
    try:
        gr.HTML(shown(chain()))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))


def _next_row(walk: gr.Walkthrough, address: Address, number: int) -> None:
    with gr.Row(elem_classes="sauda-tour-next"):
        _next(walk, address, number)


def _next(walk: gr.Walkthrough, address: Address, number: int) -> None:
    after = gr.Button(f"Next: {STEPS[number + 1]}", variant="primary", scale=0, min_width=180)

    def show_next() -> tuple[gr.Walkthrough, Markup]:
        return gr.Walkthrough(selected=number + 1), in_address(named_in_address(number + 1))

    after.click(show_next, None, [walk, address.shown], js=TO_THE_TOP, **QUIET)


def _games() -> list[tuple[gr.Button, str]]:
    links = []
    with gr.Row():
        for title, words, tab, label in GAMES:
            told = f"{words} {figures.as_a_lab()}" if tab == "gpu_arena" else words
            with gr.Column(min_width=280):
                gr.HTML(Markup("<h3>{}</h3><p>{}</p>").format(title, told))
                links.append((gr.Button(label, scale=0, min_width=180), tab))
    return links


def _choices() -> list[tuple[gr.Button, str]]:
    links = []
    for words, tab, label in NEXT:
        with gr.Row(elem_classes="sauda-beside sauda-tour-choice"):
            links.append((gr.Button(label, variant="primary", scale=0, min_width=180), tab))
            gr.HTML(Markup("<p>{}</p>").format(words))
    return links


def _glance() -> None:
    files = (COMPARISON, "evaluation/reproduction.json", "words.json")
    loaded = [load_or_say(file) for file in files]
    missing = [sentence for artifact, sentence in loaded if artifact is None]
    if missing:
        gr.HTML(missing[0])
        return
    artifacts = [artifact for artifact, _ in loaded]
    try:
        gr.HTML(figures.glance(*artifacts))
    except ArtifactError as error:
        gr.HTML(empty(f"This cannot be shown: {error.fault}.", error.command))
        return
    gr.HTML(provenance(artifacts[0], "with reproduction.json and words.json"))
