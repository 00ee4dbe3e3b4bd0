"""The race: one bargain by the model before and after training, drawn as a scene at a stall.

The recorded game plays at once, by the stylesheet's animation alone; the same game can be played
again live, and is compared with what was recorded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial

import gradio as gr
from markupsafe import Markup

from env import EndReason, Episode, Offer, Turn, get_task, rollout, rupees, shares, zopa_width
from panels.haggle.opponents import bare_stages, weights_of
from panels.results.models import FILE as COMPARISON
from panels.results.models import best_script, policy_label, rows_by_policy
from panels.site.visitor import as_visitor
from panels.transcripts.before_after import FILE, typical
from panels.transcripts.episodes import awaited_model, within
from panels.ui.look import QUEUED, note, trouble
from panels.ui.offers import ending
from panels.ui.pictures import SAUDA, goods, picture
from panels.ui.provenance import load_or_say, provenance
from panels.ui.terms import capital
from panels.ui.wiring import PRESS, button, event_value, pick_list
from sauda.experiments.before_after import PERCENTILES, SIDES, ChosenPair, act_of
from sauda.experiments.comparison import OURS
from sauda.games import game_of, policies_of
from sauda.games.transcript import from_json, in_words
from sauda.llm.registry import CONSTRAINED, is_model, player_spec
from sauda.llm.types import ReplyError
from sauda.records.store import Artifact

TASK = "bazaar/open"
WRITTEN = 20  # characters shown of a reply that is no move
TURNS = 7  # bubbles for which the first screen has room
LAST = 4  # final moves that a longer game keeps
BEFORE, AFTER = "mini", OURS  # the players of the recorded games


def race(games: Sequence[Episode], pair: ChosenPair, rival: str = BEFORE) -> Markup:
    """The game after training as a scene: the stall, the moves as bubbles, the scale, both ends.

    The first of `games` is that of `rival`.
    """
    before, after = games
    (instance,) = after.final.private["nature"]
    item, turns = instance.item, _fitted(after.turns)
    moves = Markup("").join(
        _bubble(row, turn, instance.seller["stance"].type, pair.after.replies)
        for row, turn in enumerate(turns)
    )
    stall = Markup(
        '<div class="sauda-stall">{}<div><span class="sauda-tag">{}</span><br>{}</div></div>'
    ).format(goods(item.category), rupees(item.list_price), capital(item.name))
    ends = Markup("").join(
        _end(len(turns), label, game, record.replies if record else ())
        for label, game, record in (
            ("After training", after, pair.after),
            (rivals()[rival], before, pair.before if rival == BEFORE else None),
        )
    )
    return Markup(
        '<div class="sauda-race">{}<div class="sauda-duel">{}</div>'
        '<div class="sauda-between">{}{}</div></div>'
    ).format(stall, moves, _scale(after, len(turns)), ends)


def _fitted(turns: Sequence[Turn]) -> list[Turn | None]:
    """The turns; of more than TURNS the middle ones are one None."""
    if len(turns) <= TURNS:
        return list(turns)
    return [*turns[: TURNS - LAST - 1], None, *turns[-LAST:]]


def _bubble(row: int, turn: Turn | None, kind: str, replies: Sequence[str]) -> Markup:
    """A move as a bubble beside who made it; dots for moves that are left out."""
    if turn is None:
        return Markup('<div class="sauda-turn" style="--row: {}">…</div>').format(row)
    sells = turn.agent == "seller"
    return Markup(
        '<div class="sauda-turn sauda-{}" style="--row: {}">{}<span>{}</span></div>'
    ).format(
        "seller" if sells else "buyer", row, picture(kind if sells else SAUDA, "face"),
        _quoted(replies) if turn.action is None else _move(turn),
    )  # fmt: skip


def _quoted(replies: Sequence[str]) -> str:
    """The last reply of a model, cut, where it is no move."""
    return f"wrote “{replies[-1][:WRITTEN].strip()}”, which is no move"


def _move(turn: Turn) -> Markup:
    """A move in a few words: a price and the act that the buyer says with it, or the order."""
    if isinstance(turn.action, Offer):
        act = act_of(turn.action.message) if turn.agent == "buyer" else ""
        told = f" · {act.replace('_', ' ')}" if act else ""
        return Markup("<b>{}</b>{}").format(rupees(turn.action.price), told)
    silent = replace(turn, action=replace(turn.action, message=""))
    return Markup("<b>{}</b>").format(capital(in_words(TASK, silent)))


def _scale(game: Episode, row: int) -> Markup:
    """The prices between the two limits, the deal as the largest mark."""
    (instance,), past = game.final.private["nature"], game.final.table.past
    low, high = instance.seller["reservation"], instance.buyer["reservation"]
    if high <= low:
        return Markup("")

    def mark(price: float, kind: str, at: int) -> Markup:
        place = 100 * min(1.0, max(0.0, (price - low) / (high - low)))
        return Markup('<i class="{}" style="left: {}%; --row: {}"></i>').format(
            kind, round(place, 1), at
        )

    marks = [
        mark(turn.action.price, "sauda-asked" if turn.agent == "seller" else "", at)
        for at, turn in enumerate(_fitted(game.turns))
        if turn is not None and isinstance(turn.action, Offer)
    ]
    if past and past[-1].price is not None:
        marks.append(mark(past[-1].price, "sauda-deal", row))
    ends = f"Seller’s limit {rupees(round(low))}", f"Buyer’s limit {rupees(high)}"
    return Markup(
        '<div class="sauda-scale" aria-hidden="true">{}</div>'
        '<div class="sauda-ends"><span>{}</span><span>{}</span></div>'
    ).format(Markup("").join(marks), *ends)


def _end(row: int, label: str, game: Episode, replies: Sequence[str]) -> Markup:
    """How a game ended for the model, good and bad told by a mark and words as well as colour."""
    (share,) = shares(game.final, get_task(game.task).learner)
    tone, mark = ("good", "▲") if share > 0 else ("bad", "▼")
    is_quoted = replies and game.end == EndReason.FORFEIT
    wrote = f"; it {_quoted(replies)}" if is_quoted else ""
    return Markup(
        '<div class="sauda-outcome" style="--row: {}"><b class="sauda-{}">{} {}:</b> {}{}</div>'
    ).format(row + 1, tone, mark, label, outcome(game), wrote)


def outcome(game: Episode) -> str:
    """How a game ended, and the learner's share of what could be won."""
    task, (instance,) = get_task(game.task), game.final.private["nature"]
    how = "forfeited" if game.end == EndReason.FORFEIT else ending(game.final.table.past[-1])
    (share,) = shares(game.final, task.learner)
    width = zopa_width(instance.buyer["reservation"], instance.seller["reservation"])
    won = f"{share:.0%} of the {rupees(width)} that could be won" if width else "nothing to win"
    return f"{how}, {won}"


@cache
def rivals() -> Mapping[str, str]:
    """Who can stand beside the trained model, with its label: stages, and the best script."""
    names = {BEFORE: "Before training"}
    comparison, _ = load_or_say(COMPARISON)
    if comparison is not None:
        script, _ = best_script(rows_by_policy(comparison, TASK))
        stages = (stage for stage in bare_stages(TASK) if stage not in (BEFORE, AFTER))
        held = f"{BEFORE}+{CONSTRAINED}"
        names |= {name: capital(policy_label(name)) for name in (held, *stages, script)}
    return names


def played_by(name: str, seed: int) -> Episode:
    """The game of a seed, played by a stage of training or a script; raises ReplyError."""
    task = get_task(TASK)
    if not is_model(name):
        return rollout(task, policies_of(task)[name], seed)
    player = replace(player_spec(name), generate=awaited_model(weights_of(name)))
    return rollout(task, within(player.policy(game_of(task))), seed)


def recorded_games(pair: ChosenPair) -> list[Episode]:
    """Both recorded games, played again from their moves."""
    return [from_json(getattr(pair, side).as_json()) for side in SIDES]


def compared(games: Sequence[Episode], again: Sequence[Episode]) -> str:
    """Whether the games that were played again made the recorded moves, in a sentence."""
    same = [
        [turn.action for turn in then.turns] == [turn.action for turn in now.turns]
        for then, now in zip(games, again, strict=True)
    ]
    if all(same):
        return "Played now, in this page: both games came out move by move as recorded."
    apart = [side for side, equal in zip(SIDES, same, strict=True) if not equal]
    return (
        f"Played now, in this page: the game {' and the game '.join(apart)} training took other"
        " moves than the recorded one. Recorded games were played in batches, and another kind of"
        " CPU may round differently."
    )


def possible_deals(artifact: Artifact) -> int:
    """In how many of the compared games of TASK a deal serves both sides."""
    return sum(next(row.zopa for row in artifact.data.tasks if row.task == TASK))


def about(pair: ChosenPair, games: Sequence[Episode], deals: int) -> str:
    """Which game is shown, and how it was chosen; a deal was possible in `deals` games."""
    item = games[0].final.private["nature"][0].item
    return (
        f"{capital(item.name)}, list price {rupees(item.list_price)}, seed {pair.seed}: the same"
        f" seller before and after training. {rank(pair.why, deals)}"
    )


def rank(why: str, deals: int) -> str:
    """Where the game stands, by its gain, among the `deals` games in which a deal is possible."""
    if why not in PERCENTILES:
        return "Of the games that end in a deal, this one improved most."
    among = f"the {deals} games in which a deal is possible"
    if PERCENTILES[why] == 0.5:
        return f"The median of {among}."
    return f"The {why} percentile of the gain in {among}."


def build() -> None:
    """Lay out the race and what may be done with it. Called inside the Tour."""
    artifact, missing = load_or_say(FILE)
    if artifact is None:
        gr.HTML(missing + actions())
        return
    pair = typical(artifact, TASK)
    games = recorded_games(pair)
    shown = gr.HTML(race(games, pair), elem_id="tour-race")
    said = gr.HTML(elem_id="tour-race-said")
    seeds = len(artifact.data.tasks[0].seeds)
    below = note(about(pair, games, possible_deals(artifact))) + provenance(
        artifact, f"seed {pair.seed}, n = 1 pair of {seeds}"
    )
    again = button("Watch again", replay="#tour-race")
    live = button("Let both play it now", press="play_live")
    choices = [(label, name) for name, label in rivals().items()]
    picker = pick_list("Beside it", choices, "tour-rival")
    pressed = gr.HTML(actions(again, picker, live) + below, js_on_load=PRESS)

    def play_live(request: gr.Request, event: gr.EventData) -> Iterator[tuple[Markup, Markup]]:
        name = str(event_value(event, "picked"))
        yield from as_visitor(partial(play_beside, pair, games, name))(request)

    pressed.click(
        play_live, None, [shown, said], **QUEUED, concurrency_id="tour-race", concurrency_limit=2
    )


def actions(*more: Markup) -> Markup:
    """What leads on from the first screen, and `more`."""
    beat = Markup('<a class="sauda-button sauda-primary sauda-inpage" href="{}">Beat it</a>')
    learnt = button("See how it learnt", show="tour-learnt")
    parts = Markup("").join([beat.format("?tab=haggle"), learnt, *more])
    return Markup('<p class="sauda-press">{}</p>').format(parts)


def play_beside(
    pair: ChosenPair, games: Sequence[Episode], name: str
) -> Iterator[tuple[Markup, Markup]]:
    """The race of the trained model and `name`, played now, and what there is to say of it."""
    if name not in rivals():  # any client can send anything
        name = BEFORE
    yield race(games, pair), note("Both play; that takes up to a minute.")
    try:
        played = [played_by(player, pair.seed) for player in (name, AFTER)]
    except ReplyError as error:
        yield race(games, pair), trouble(error)
        return
    told = compared(games, played) if name == BEFORE else "Played now, in this page."
    yield race(played, pair, name), note(told)
