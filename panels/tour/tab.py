"""Tour: one scroll that answers what was trained, how, at what cost, and what it gained.

It begins with the race: one bargain by the model before and after training, drawn as a scene at a
stall. The recorded game plays at once, by the stylesheet's animation alone; the same game can be
played again live, and is compared with what was recorded. This first screen also stands in the page
itself while Gradio draws its components, which takes a megabyte of scripts; each part stands where
the drawn page has it, so that nothing moves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import gradio as gr
from markupsafe import Markup

from env import (
    EndReason,
    Episode,
    Offer,
    Turn,
    arena,
    arena_prompt,
    bazaar_prompt,
    get_task,
    rollout,
    rupees,
    shares,
    zopa_width,
)
from panels.haggle.opponents import bare_stages
from panels.results.models import FILE as COMPARISON
from panels.results.models import LAB_FILE, best_script, policy_label, rows_by_policy
from panels.site.visitor import as_visitor
from panels.tour import facts
from panels.tour.facts import MARKET, stage_of
from panels.training.tab import sample, table_of_runs
from panels.transcripts.episodes import FILE, of_this_page
from panels.transcripts.tab import typical
from panels.transcripts.view import limits
from panels.ui.html import SAUDA, SAY, goods, macros, picture
from panels.ui.look import PALETTE, QUEUED, note, trouble
from panels.ui.offers import ending
from panels.ui.provenance import load_or_say, missing, provenance
from panels.ui.terms import capital
from panels.ui.theme import SCENE, font_faces
from panels.ui.wiring import PRESS, event_value
from sauda.experiments.comparison import OURS
from sauda.experiments.episodes import PERCENTILES, SIDES, ChosenPair, act_of
from sauda.games.transcript import from_json, in_words
from sauda.llm.registry import CONSTRAINED
from sauda.llm.types import ReplyError
from sauda.records.kinds import ArtifactError
from sauda.records.store import load

HTML = macros("tour")
TITLE = "Tour"
STORY = (COMPARISON, "worth.json", LAB_FILE, "evaluation/reproduction.json")
FOLDER = Path(__file__).parent
WRITTEN = 20  # characters shown of a reply that is no move
TURNS = 7  # bubbles for which the first screen has room
LAST = 4  # final moves that a longer game keeps
BEFORE, AFTER = "mini", OURS  # the players of the recorded games


def build() -> None:
    """Lay out the tab. Called inside a `gr.Tab`."""
    gr.HTML(HTML.title() + _in_short())
    _build_race()
    try:
        _build_story()
    except ArtifactError as error:
        gr.HTML(missing(error))
    gr.HTML(HTML.sections(), elem_classes="sauda-story")


def _in_short() -> Markup:
    """Model, training time, hardware and cost, or what makes the log that is missing."""
    try:
        return HTML.about(facts.in_short(facts.chain()))
    except ArtifactError as error:
        return missing(error)


def _build_story() -> None:
    """Lay out what was trained and gained; raises ArtifactError, before any of it, without one."""
    runs, comparison, worth, labs, again = facts.chain(), *map(load, STORY)
    gain, agreement = facts.gain(comparison), again.data.agreement
    with gr.Row(elem_id="tour-learnt", elem_classes="sauda-story"):
        with gr.Column(min_width=320):
            gr.HTML(HTML.learnt(runs[0].data.rows.rows))
            gr.Plot(facts.curve(runs, comparison), show_label=False, elem_id="tour-curve")
        with gr.Column(min_width=320):
            gr.HTML(HTML.gained(gain, facts.trained_on(comparison)))
            gr.Plot(facts.grades_figure(comparison), show_label=False, elem_id="tour-grades")
    sources = [provenance(run, f"n = {len(run.data.log)} steps") for run in runs]
    sources.append(provenance(comparison, "95 % bootstrap intervals over games"))
    ahead, behind = facts.still_ahead(comparison), facts.why_behind(comparison)
    prompts = bazaar_prompt.RULES["market"], arena_prompt.RULES["lab"].format(lab="lab_0")
    agree = agreement.within_three + agreement.without_error_equal
    parts = [
        table_of_runs({stage_of(run): run for run in runs}),
        *sources,
        HTML.compared(ahead, behind, facts.what_pays(worth), provenance(worth)),
        HTML.rewards(prompts, len(arena.COMPONENTS), sample(runs[-1]), agree, agreement.figures),
        HTML.games(facts.lab_sentence(labs)),
    ]
    gr.HTML(Markup("").join(parts), elem_classes="sauda-story")


# The race -----------------------------------------------------------------------------------------


def race(games: Sequence[Episode], pair: ChosenPair, rival: str = BEFORE) -> Markup:
    """The game after training as a scene: the stall, the moves as bubbles, the scale, both ends.

    The first of `games` is that of `rival`.
    """
    before, after = games
    (instance,), turns = after.final.private["nature"], after.turns
    if len(turns) > TURNS:
        turns = [*turns[: TURNS - LAST - 1], None, *turns[-LAST:]]  # None for those between
    item, faces = instance.item, {"seller": instance.seller["stance"].type, "buyer": SAUDA}
    moves = [
        turn and (turn.agent, picture(faces[turn.agent], "face"), *_move(turn, pair.after.replies))
        for turn in turns
    ]
    stall = (goods(item.category), rupees(item.list_price), capital(item.name))
    ends = [
        _end("After training", after, pair.after.replies),
        _end(rivals()[rival], before, pair.before.replies if rival == BEFORE else ()),
    ]
    return HTML.race(stall, moves, *_scale(after, turns), ends)


def _move(turn: Turn, replies: Sequence[str]) -> tuple[str, str]:
    """A move in bold, and in plain: a price, and the act that the buyer says with it; the order."""
    if turn.action is None:
        return "", _quote(replies)
    if isinstance(turn.action, Offer):
        act = act_of(turn.action.message) if turn.agent == "buyer" else ""
        return rupees(turn.action.price), f" · {act.replace('_', ' ')}" if act else ""
    silent = replace(turn, action=replace(turn.action, message=""))
    return capital(in_words(MARKET, silent)), ""


def _quote(replies: Sequence[str]) -> str:
    """The last reply of a model, cut, where it is no move."""
    begun, rest = replies[-1][:WRITTEN].strip(), replies[-1][WRITTEN:].strip()
    return f"wrote “{begun}{'…' if rest else ''}”, which is no move"


def _scale(
    game: Episode, turns: Sequence[Turn | None]
) -> tuple[list[tuple[str, float, int]], tuple[str, str]]:
    """Each price: its style, percents from the seller's limit to the buyer's, row; both limits.

    The deal comes last. Nothing where no price serves both sides.
    """
    (high, low), past = limits(game), game.final.table.past
    if high <= low:
        return [], ("", "")
    prices = [
        ("sauda-asked" if turn.agent == "seller" else "", turn.action.price, row)
        for row, turn in enumerate(turns)
        if turn and isinstance(turn.action, Offer)
    ]
    if past and past[-1].price is not None:
        prices.append(("sauda-deal", past[-1].price, len(turns)))
    marks = [
        (style, round(100 * min(1.0, max(0.0, (price - low) / (high - low))), 1), row)
        for style, price, row in prices
    ]
    return marks, (rupees(round(low)), rupees(high))


def _end(label: str, game: Episode, replies: Sequence[str]) -> tuple[str, bool, str]:
    """Whose game it was, whether it won anything, and how it ended."""
    (share,) = shares(game.final, get_task(game.task).learner)
    wrote = f"; it {_quote(replies)}" if replies and game.end == EndReason.FORFEIT else ""
    return label, share > 0, outcome(game) + wrote


def outcome(game: Episode) -> str:
    """How a game ended, and the learner's share of what could be won."""
    how = "forfeited" if game.end == EndReason.FORFEIT else ending(game.final.table.past[-1])
    (share,), width = shares(game.final, get_task(game.task).learner), zopa_width(*limits(game))
    won = f"{share:.0%} of the {rupees(width)} that could be won" if width else "nothing to win"
    return f"{how}, {won}"


@cache
def rivals() -> Mapping[str, str]:
    """Who can stand beside the trained model, with its label: stages, and the best script."""
    names = {BEFORE: "Before training"}
    comparison, _ = load_or_say(COMPARISON)
    if comparison is not None:
        script, _ = best_script(rows_by_policy(comparison, MARKET))
        stages = (stage for stage in bare_stages(MARKET) if stage not in (BEFORE, AFTER))
        held = f"{BEFORE}+{CONSTRAINED}"
        names |= {name: capital(policy_label(name)) for name in (held, *stages, script)}
    return names


def recorded_games(pair: ChosenPair) -> list[Episode]:
    """Both recorded games, played again from their moves."""
    return [from_json(getattr(pair, side).as_json()) for side in SIDES]


def compare(games: Sequence[Episode], again: Sequence[Episode]) -> str:
    """Whether the games that were played again made the recorded moves, in a sentence."""
    apart = [
        side
        for side, then, now in zip(SIDES, games, again, strict=True)
        if [turn.action for turn in then.turns] != [turn.action for turn in now.turns]
    ]
    return SAY.played_again(apart)


def about(pair: ChosenPair, games: Sequence[Episode], deals: int) -> str:
    """Which game is shown, and how it was chosen; a deal was possible in `deals` games."""
    item = games[0].final.private["nature"][0].item
    price, quantile = rupees(item.list_price), PERCENTILES.get(pair.why)
    return SAY.race(item, price, pair, quantile, deals)


def _build_race() -> None:
    """Lay out the race and what may be done with it."""
    artifact, fault = load_or_say(FILE)
    if artifact is None:
        gr.HTML(fault + HTML.actions(()))
        return
    pair = typical(artifact, MARKET)
    games = recorded_games(pair)
    shown = gr.HTML(race(games, pair), elem_id="tour-race")
    (compared,) = (row for row in artifact.data.tasks if row.task == MARKET)
    below = note(about(pair, games, sum(compared.zopa))) + provenance(
        artifact, f"seed {pair.seed}, n = 1 pair of {len(compared.seeds)}"
    )
    choices = [(label, name) for name, label in rivals().items()]
    pressed = gr.HTML(HTML.actions(choices) + below, js_on_load=PRESS)

    def play_live(request: gr.Request, event: gr.EventData) -> Iterator[Markup]:
        name = str(event_value(event, "picked"))
        yield from as_visitor(partial(play_beside, pair, games, name))(request)

    pressed.click(play_live, None, shown, **QUEUED, concurrency_id="tour-race", concurrency_limit=2)


def play_beside(pair: ChosenPair, games: Sequence[Episode], name: str) -> Iterator[Markup]:
    """The race of the trained model and `name`, played now, and what there is to say of it."""
    if name not in rivals():  # any client can send anything
        name = BEFORE
    yield race(games, pair) + note("Both play; that takes up to a minute.")
    task = get_task(MARKET)
    try:
        played = [rollout(task, of_this_page(task, who), pair.seed) for who in (name, AFTER)]
    except ReplyError as error:
        yield race(games, pair) + trouble(error)
        return
    told = compare(games, played) if name == BEFORE else "Played now, in this page."
    yield race(played, pair, name) + note(told)


# While the page loads ----------------------------------------------------------------------------


def first_view(header: str, tabs: Sequence[str]) -> str:
    """The first view as HTML, below the page's `header` and the titles of its tabs.

    Without artifacts it is these alone: the Tour itself tells what is missing.
    """
    try:
        pair = typical(load(FILE), MARKET)
        scene = race(recorded_games(pair), pair)
        main = HTML.title() + Markup("<p>{}</p>").format(facts.in_short(facts.chain())) + scene
    except ArtifactError:
        main = ""
    css, script = (
        (FOLDER / f"first_view.{kind}").read_text(encoding="utf-8") for kind in ("css", "js")
    )
    style = Markup(font_faces() + css + SCENE)
    return HTML.first_view(style, PALETTE, Markup(header), tabs, main, Markup(script))
