"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained.

Its first screen also stands in the page itself while Gradio draws its components, which takes a
megabyte of scripts; each part stands where the drawn page has it, so that nothing moves.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from env import arena
from panels.results.models import FILE as COMPARISON
from panels.results.models import LAB_FILE
from panels.tour import facts, race
from panels.training.runs import sample
from panels.transcripts.before_after import FILE, typical
from panels.ui.html import macros
from panels.ui.look import PALETTE
from panels.ui.provenance import load_or_say, missing, provenance
from panels.ui.theme import SCENE, font_faces
from sauda.games import bazaar_prompt
from sauda.records.kinds import ArtifactError
from sauda.records.store import load

HTML = macros("tour")
TITLE = "Tour"
FOLDER = Path(__file__).parent


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(HTML.title() + _or_what_makes_it(lambda: HTML.about(facts.in_short(facts.chain()))))
    race.build()
    try:
        _learnt()
    except ArtifactError as error:
        gr.HTML(missing(error))
    parts = map(_or_what_makes_it, (_ran, _compared, _rewards, _games))
    gr.HTML(Markup("").join([*parts, HTML.sections()]), elem_classes="sauda-story")


def _or_what_makes_it(part: Callable[[], Markup]) -> Markup:
    """A part of the story, or which artifact it lacks and what makes it."""
    try:
        return part()
    except ArtifactError as error:
        return missing(error)


def _learnt() -> None:
    """Lay out how Sauda learnt beside what it gained."""
    runs, comparison = facts.chain(), load(COMPARISON)
    with gr.Row(elem_id="tour-learnt", elem_classes="sauda-story"):
        with gr.Column(min_width=320):
            gr.HTML(HTML.learnt(runs[0].data.rows.rows))
            gr.Plot(facts.curve(runs, comparison), show_label=False, elem_id="tour-curve")
        with gr.Column(min_width=320):
            gr.HTML(HTML.gained(facts.gain(comparison)))
            gr.Plot(facts.grades_figure(comparison), show_label=False, elem_id="tour-grades")


def _ran() -> Markup:
    """The stages of training, one a row."""
    runs, comparison = facts.chain(), load(COMPARISON)
    sources = [provenance(run, f"n = {len(run.data.log)} steps") for run in runs]
    sources.append(provenance(comparison, "95 % bootstrap intervals over games"))
    return Markup("").join([facts.stages(runs, comparison), *sources])


def _compared() -> Markup:
    """What beats Sauda and why, and what words are worth."""
    comparison, words = load(COMPARISON), load("words.json")
    ahead, behind = facts.still_ahead(comparison), facts.why_behind(comparison)
    return HTML.compared(ahead, behind, facts.what_pays(words), provenance(words))


def _rewards() -> Markup:
    """How rewards and actions are made, one training sample, and how to check a number."""
    prompts = bazaar_prompt.RULES["market"], bazaar_prompt.RULES["lab"].format(lab="lab_0")
    agreement = load("evaluation/reproduction.json").data.agreement
    agree = agreement.within_three + agreement.without_error_equal
    learnt = sample(facts.chain()[-1])
    return HTML.rewards(prompts, len(arena.COMPONENTS), learnt, agree, agreement.figures)


def _games() -> Markup:
    """Both games; how the model fares as a lab stands with the second."""
    comparison, _ = load_or_say(LAB_FILE)
    return HTML.games(facts.lab_sentence(comparison))


# While the page loads ----------------------------------------------------------------------------


def first_view(header: str, tabs: Sequence[str]) -> str:
    """The first view as HTML, below the page's `header` and the titles of its tabs.

    Without artifacts it is these alone: the Tour itself tells what is missing.
    """
    try:
        pair = typical(load(FILE), race.TASK)
        scene = race.race(race.recorded_games(pair), pair)
        main = HTML.title() + Markup("<p>{}</p>").format(facts.in_short(facts.chain())) + scene
    except ArtifactError:
        main = ""
    css, script = (
        (FOLDER / f"first_view.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    style = Markup(font_faces() + css + SCENE)
    return HTML.first_view(style, PALETTE, Markup(header), tabs, main, Markup(script))
