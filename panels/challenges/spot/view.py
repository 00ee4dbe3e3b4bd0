"""What “Spot the trained one” shows: two buyers side by side, the verdict, the measured scores."""

from typing import Any
from zlib import crc32

from markupsafe import Markup

from env import Offer, Turn, WalkAway, rupees
from panels.challenges.spot.layout import SIDES
from panels.challenges.spot.stages import Stages
from panels.haggle.opponents.model_view import names_a_number
from panels.haggle.opponents.stages import opponent_name
from panels.haggle.talk.state import LONGEST
from panels.haggle.words import ENGLISH, Translate, translator
from panels.results.model_summary import FORM
from panels.ui.look import note, table
from panels.ui.tables import with_interval
from panels.ui.terms import term
from sauda.language.speech.items import name_in
from sauda.language.speech.phrases import language_of
from sauda.language.speech.small_talk import answer_to
from sauda.language.speech.small_talk import small_talk as kind_of_talk
from sauda.llm.registry import row_name
from sauda.sessions.spot import EXCHANGES, Duel, Side

WRITTEN = 80  # characters shown of a reply that is no move
ROWS = "?tab=results&part=else"  # where the model comparison stands row by row
GAMES = "?tab=transcripts&part=before-after"


def about(duel: Duel, language: str) -> Markup:
    """The item, the seller, and whether the answers are recorded or written now."""
    translate = translator(language)
    badge = Markup('<span class="sauda-badge{}">{}</span>').format(
        "" if duel.is_live else " sauda-measured",
        translate("spot_is_live" if duel.is_live else "spot_is_recorded"),
    )
    name = name_in(language, duel.item.name)
    item = translate("daily_item", item=name, price=rupees(duel.item.list_price))
    if duel.is_live:
        limit = rupees(duel.games[0].observation.reservation)
        words = translate("spot_about_live", item=item, limit=limit, most=EXCHANGES)
    else:
        words = translate("spot_about_recorded", item=f"{item[0].upper()}{item[1:]}")
    return Markup("<p>{} {}</p>").format(badge, words)


def columns(duel: Duel, translate: Translate) -> Markup:
    """Both buyers' exchanges; their names show after the guess."""
    cards = [
        Markup('<section class="sauda-card"><h3>{}{}</h3>{}</section>').format(
            translate("spot_buyer", side=name),
            f": {opponent_name(side.policy, translate)}" if duel.guess is not None else "",
            _told(duel, side, translate),
        )
        for name, side in zip(SIDES, duel.sides, strict=True)
    ]
    return Markup('<div class="sauda-cards sauda-pair">{}</div>').format(Markup("").join(cards))


def small_talk(duel: Duel, text: str, language: str) -> Markup:
    """A text of the visitor that names no price, and an answer of each buyer that is still there.

    Each answer knows its own game's public table alone.
    """
    translate = translator(language)
    spoken = language_of(text) if language == ENGLISH else ""
    lines = [_line("seller", translate("spot_you"), f"“{text[:LONGEST]}”")]
    answers: list[str] = []
    for number in duel.listening:
        table = duel.games[number].observation.table
        kind = kind_of_talk(text, table, "buyer")
        seed = crc32(repr((number, kind, text)).encode())
        answers.append(answer_to(kind, table, "buyer", spoken or language, answers, seed))
        name = translate("spot_buyer", side=SIDES[number])
        lines.append(_line("buyer", f"{name[0].lower()}{name[1:]}", f"“{answers[-1]}”"))
    return Markup('<div class="sauda-told">{}</div>').format(Markup("").join(lines))


def _told(duel: Duel, side: Side, translate: Translate) -> Markup:
    shown = side.exchanges()[: duel.shown if not duel.is_live else None]
    lines = [_said(duel, turn, side, translate) for exchange in shown for turn in exchange]
    if side.no_move and shown and shown[-1][-1].agent == "seller":  # a live reply makes no turn
        lines.append(_no_move(duel, side, translate))
    if not lines:
        return note(translate("spot_waits"))
    return Markup('<div class="sauda-told">{}</div>').format(Markup("").join(lines))


def _said(duel: Duel, turn: Turn, side: Side, translate: Translate) -> Markup:
    if turn.action is None:
        return _no_move(duel, side, translate)
    own = duel.is_live and turn.agent == "seller"
    who = translate("spot_you" if own else turn.agent).lower()
    return _line(turn.agent, who, _move(turn.action, turn.agent, own, translate))


def _move(action: Any, agent: str, own: bool, translate: Translate) -> str:
    """A move as a phrase, with the words that came with it."""
    if isinstance(action, WalkAway):
        return translate("spot_walks")
    if isinstance(action, Offer):
        key = "spot_buyer_bids" if agent == "buyer" else "spot_seller_asks"
        phrase = translate("spot_you_ask" if own else key, price=rupees(action.price))
    else:
        phrase = translate("spot_accepts")
    return f"{phrase}: “{action.message}”" if action.message else phrase


def _no_move(duel: Duel, side: Side, translate: Translate) -> Markup:
    """A reply that is no move; its numbers, percent of the buyer's limit, wait for the guess."""
    if duel.guess is None and names_a_number(side.no_move):
        words = translate("spot_no_move_hidden")
    else:
        words = translate("spot_no_move", reply=f"“{side.no_move[:WRITTEN]}”")
    return _line("buyer", translate("buyer").lower(), words)


def _line(agent: str, who: str, words: str) -> Markup:
    return Markup('<p class="sauda-{}"><b>{}</b> {}</p>').format(agent, who, words)


def verdict(duel: Duel, stages: Stages, translate: Translate) -> Markup:
    """Whether the guess was right, and both rows of the model comparison."""
    trained = next(
        name for name, side in zip(SIDES, duel.sides, strict=True) if stages.is_trained(side.policy)
    )
    said = translate("spot_right" if is_right(duel, stages) else "spot_wrong", side=trained)
    link = Markup('<a href="{}">{}</a>')
    links = [link.format(ROWS, translate("spot_rows"))]
    if not duel.is_live:
        links.append(link.format(GAMES, translate("spot_games")))
    return Markup('<p class="sauda-answer">{}</p>{}<p class="sauda-note">{}</p>').format(
        said, scores(duel, stages, translate), Markup(" ").join(links)
    )


def is_right(duel: Duel, stages: Stages) -> bool:
    """Whether the guessed side is the served stage."""
    return stages.is_trained(duel.sides[duel.guess].policy)


def scores(duel: Duel, stages: Stages, translate: Translate) -> Markup:
    """The measured grades of both players, with n, interval and forfeits."""
    rows, lacking = [], []
    for side in duel.sides:
        row = stages.rows.get(row_name(side.policy))
        label = opponent_name(side.policy, translate)
        if row is None:
            lacking.append(label)
            continue
        figures = (with_interval(row.grade, FORM), f"{row.n}", f"{row.ends['forfeit']}")
        rows.append((term(label, row.policy), *figures))
    heads = [translate(f"spot_{head}") for head in ("player", "grade", "n", "forfeits")]
    shown = table(heads, rows, caption=translate("spot_caption"))
    return shown + Markup("").join(note(translate("spot_no_row", name=name)) for name in lacking)


def tally(right: int, guessed: int, translate: Translate) -> Markup:
    """How often this browser's guesses were right; empty before the first one."""
    if not guessed:
        return Markup("")
    return note(translate("spot_tally", right=right, guessed=guessed))
