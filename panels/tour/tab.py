"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained.

It begins with a duel, see `duel.py`. This first screen also stands in the page itself while Gradio
draws its components, which takes a megabyte of scripts; each part stands where the drawn page has
it, so that nothing moves.
"""

from collections.abc import Sequence
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from env import arena, arena_prompt, bazaar_prompt
from panels import judge
from panels.frames import written
from panels.gpu_arena import players as arena_players
from panels.gpu_arena import view as arena_view
from panels.gpu_arena.words import EXPERT
from panels.measured import FILE as COMPARISON
from panels.measured import LAB_FILE
from panels.tour import alone, duel, facts
from panels.training.tab import describe_run, sample
from panels.ui.components.moves import Moves
from panels.ui.html import macros
from panels.ui.look import PALETTE, QUEUED, QUIET, note, table
from panels.ui.provenance import lay_out_or_say, made_or_missing, missing, provenance, sources
from panels.ui.theme import FONT_FACES, SCENE
from panels.ui.wiring import queue
from sauda.players import BASE
from sauda.records.kinds import ArtifactError
from sauda.records.schemas.episodes import DUEL_FILE
from sauda.records.store import load

HTML = macros("tour")
TITLE = "Tour"
STORY = (COMPARISON, "worth.json", "manners.json", LAB_FILE, "evaluation/reproduction.json")
FOLDER = Path(__file__).parent


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(HTML.title() + made_or_missing(_in_short))
    _build_race()
    lay_out_or_say(_build_story)
    reel = HTML.arena(arena_view.reel(arena_players.TASK, arena_players.SEED, EXPERT))
    lie = made_or_missing(lambda: HTML.lie(*judge.with_one_lie()))
    Moves(reel + lie + HTML.sections(), elem_classes="sauda-story")


def _in_short() -> Markup:
    """Model, training time, hardware and cost."""
    return HTML.about(facts.in_short(facts.chain()))


def _build_story() -> None:
    """Lay out what was trained and gained; raises ArtifactError, before any of it, without one."""
    runs, comparison, worth, manners, labs, again = facts.chain(), *map(load, STORY)
    gain, agreement = facts.gain(comparison), again.data.agreement
    first, *later = [run.data.rows.rows for run in runs]
    with gr.Row(elem_id="tour-learnt", elem_classes="sauda-story"):
        with gr.Column(min_width=320):
            gr.HTML(HTML.learnt(first, sum(later)))
            gr.Plot(facts.curve(runs, comparison), show_label=False, elem_id="tour-curve")
            gr.HTML(note(f"Stages: {facts.numbered(runs)}."))
        with gr.Column(min_width=320):
            gr.HTML(HTML.gained(gain, facts.trained_on(comparison)))
            gr.Plot(facts.grades_figure(comparison), show_label=False, elem_id="tour-grades")
    lay_out_or_say(alone.build)
    rows = list(map(describe_run, runs))
    origins = [provenance(run, f"n = {len(run.data.log)} steps") for run in runs]
    origins.append(provenance(comparison, "95% bootstrap intervals over games"))
    prompts = bazaar_prompt.RULES["people"], arena_prompt.RULES["lab"].format(lab="lab_0")
    agree = agreement.within_three + agreement.without_error_equal
    parts = [
        table(
            list(rows[0]),
            [[written(each, ".3f") for each in row.values()] for row in rows],
            "lrrrrrrr",
            "Runs of training",
        ),
        sources(origins),
        HTML.findings(
            facts.findings(comparison, worth, manners),
            sources([provenance(worth), provenance(manners), provenance(comparison)]),
        ),
        HTML.rewards(prompts, len(arena.COMPONENTS), sample(runs[-1]), agree, agreement.figures),
        HTML.games(facts.lab_sentence(labs)),
    ]
    gr.HTML(Markup("").join(parts), elem_classes="sauda-story")


# The duel -----------------------------------------------------------------------------------------


def _build_race() -> None:
    """Lay out the duel and whom it can be compared with."""
    try:
        shown = Moves(duel.scene(), elem_id="tour-race")
        artifact = load(DUEL_FILE)
        choices = [(label, name) for name, label in duel.rivals().items()]
    except ArtifactError as error:
        gr.HTML(missing(error) + HTML.no_duel())
        return
    with gr.Row(elem_classes="sauda-actions", elem_id="tour-compare"):
        rival = gr.Dropdown(choices, value=BASE, label="Compare with", elem_id="tour-rival")
        live = gr.Button("Play both again, live", scale=0)
    games, say = artifact.data, duel.SAY.duel
    fit = [share for share in games.shares if share is not None]
    gr.HTML(
        note(say(games.games[0], len(fit), len(games.seeds)))
        + provenance(artifact, f"n = {len(games.seeds)} games to choose from")
    )
    rival.input(duel.compare, rival, shown, **QUIET)
    live.click(
        queue(duel.play_live), rival, shown,
        **QUEUED, concurrency_id="tour-race", concurrency_limit=2,
    )  # fmt: skip


# While the page loads ----------------------------------------------------------------------------


def first_view(header: str, tabs: Sequence[str]) -> str:
    """The first view as HTML, below the page's `header` and the titles of its tabs.

    Without artifacts it is these alone: the Tour itself tells what is missing.
    """
    try:
        main = HTML.title() + _in_short() + duel.scene(can_press=False)
    except ArtifactError:
        main = ""
    css, script = (
        (FOLDER / f"first_view.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    style = Markup(FONT_FACES + css + SCENE)
    return HTML.first_view(style, PALETTE, Markup(header), tabs, main, Markup(script))
