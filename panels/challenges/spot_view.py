"""What “Spot the trained one” shows: two buyers side by side, the verdict, the measured scores."""

from collections.abc import Mapping
from itertools import pairwise
from zlib import crc32

from markupsafe import Markup

from env import Offer, Turn, WalkAway, rupees
from panels.challenges.spot_pairs import LEAST, SEEDS, is_trained
from panels.haggle.conversation import LONGEST, question
from panels.haggle.game_view import names_a_number
from panels.haggle.opponents import opponent_name
from panels.haggle.words import ENGLISH, Translate, translator
from panels.results.models import FORM
from panels.ui.html import macros
from panels.ui.look import note, table
from panels.ui.tables import with_interval
from panels.ui.terms import term
from sauda.experiments.evaluate import BazaarRow
from sauda.language.lines import name_in
from sauda.language.phrases import language_of
from sauda.language.small_talk import answer_to
from sauda.language.small_talk import small_talk as kind_of_talk
from sauda.language.spoken import Decided, retell
from sauda.llm.registry import row_name
from sauda.sessions.bazaar import doubt
from sauda.sessions.spot import EXCHANGES, Duel, Side

HTML = macros("challenges")
SIDES = ("A", "B")
WRITTEN = 80  # characters shown of a reply that is no move
ROWS = "?tab=results&part=else"  # where the model comparison stands row by row
Line = tuple[str, str, str]  # the seat, who it is in words, what it says or does


def about(duel: Duel, language: str) -> Markup:
    """The item, the seller, and whether the answers are recorded or written now."""
    translate, name = translator(language), name_in(language, duel.item.name)
    item = translate("daily_item", item=name, price=rupees(duel.item.list_price))
    if duel.is_live:
        limit = rupees(duel.games[0].observation.reservation)
        words, rule = translate("spot_about_live", item=item, limit=limit, most=EXCHANGES), ""
    else:
        words = translate("spot_about_recorded", item=f"{item[0].upper()}{item[1:]}")
        rule = translate("spot_rule", seeds=len(SEEDS), least=LEAST)
    return HTML.about(duel.is_live, words, rule, translate)


def columns(duel: Duel, language: str) -> Markup:
    """Both buyers' exchanges; their names and the rest of a recorded game show after the guess."""
    translate = translator(language)
    sides = [
        (
            letter,
            opponent_name(side.policy, translate) if duel.guess is not None else "",
            _exchanges(duel, side, language),
        )
        for letter, side in zip(SIDES, duel.sides, strict=True)
    ]
    return HTML.buyers(sides, translate)


def small_talk(duel: Duel, text: str, language: str) -> Markup:
    """A text of the visitor that names no price, and an answer of each buyer that is still there.

    Each answer knows its own game's public table alone.
    """
    translate = translator(language)
    spoken = language_of(text) if language == ENGLISH else ""
    lines = [("seller", translate("spot_you"), f"“{cut(text, LONGEST)}”")]
    answers: list[str] = []
    for number in duel.listening:
        seen = duel.games[number].observation.table
        kind = kind_of_talk(text, seen, "buyer")
        seed = crc32(repr((number, kind, text)).encode())
        answers.append(answer_to(kind, seen, "buyer", spoken or language, answers, seed))
        name = translate("spot_buyer", side=SIDES[number])
        lines.append(("buyer", f"{name[0].lower()}{name[1:]}", f"“{answers[-1]}”"))
    return HTML.told(lines)


def asked_back(duel: Duel, translate: Translate) -> str:
    """The question about an ask that waits for the visitor's confirmation."""
    asked = Offer(duel.unconfirmed)
    game = next(game for i in duel.listening if doubt(game := duel.games[i], asked))
    kind, values = question(game, asked)
    return translate(kind, **values)


def _exchanges(duel: Duel, side: Side, language: str) -> list[Line]:
    """What a side's seller and buyer said and did, as far as it is on show."""
    translate = translator(language)
    cut_off = not duel.is_live and duel.guess is None
    shown = side.exchanges()[: duel.shown if cut_off else None]
    lines: list[Line] = []
    sellers_words: list[str] = []
    for turn in (turn for exchange in shown for turn in exchange):
        if turn.action is None:
            lines.append(_no_move(duel, side, translate))
            continue
        own = duel.is_live and turn.agent == "seller"
        who = translate("spot_you" if own else turn.agent).lower()
        words = _words(duel, turn, language, sellers_words)
        lines.append((turn.agent, who, _move(turn, own, translate, words)))
    if side.no_move and shown and shown[-1][-1].agent == "seller":  # a live reply makes no turn
        lines.append(_no_move(duel, side, translate))
    return lines


def _words(duel: Duel, turn: Turn, language: str, said: list[str]) -> str:
    """What was said with a move, "" for nothing: a scripted seller's words are in the language.

    They join `said`. A buyer's words are its own.
    """
    words = turn.action.message
    if turn.agent == "buyer" or duel.is_live or language == ENGLISH or not words:
        return words
    seen = turn.observation.table
    public = (len(seen.asks), seen.item.name, seen.item.list_price, seen.asks, seen.bids)
    decided = Decided(seen, turn.agent, turn.action, language, said=tuple(said))
    said.append(retell(decided, words, (), crc32(repr(public).encode())))
    return said[-1]


def _move(turn: Turn, own: bool, translate: Translate, words: str) -> str:
    """A move as a phrase, with the words that came with it."""
    if isinstance(turn.action, WalkAway):
        return translate("spot_walks")
    if isinstance(turn.action, Offer):
        key = "spot_buyer_bids" if turn.agent == "buyer" else "spot_seller_asks"
        phrase = translate("spot_you_ask" if own else key, price=rupees(turn.action.price))
    else:
        phrase = translate("spot_accepts")
    return f"{phrase}: “{words}”" if words else phrase


def _no_move(duel: Duel, side: Side, translate: Translate) -> Line:
    """A reply that is no move; its numbers, percent of the buyer's limit, wait for the guess."""
    if duel.guess is None and names_a_number(side.no_move):
        words = translate("spot_no_move_hidden")
    else:
        words = translate("spot_no_move", reply=f"“{cut(side.no_move, WRITTEN)}”")
    return "buyer", translate("buyer").lower(), words


def cut(text: str, most: int) -> str:
    """`text` in at most `most` characters, cut after a word, with "…" where something is left out.

    A single word that is too long is cut within.
    """
    if len(text) <= most:
        return text
    whole = text[:most].rpartition(" ")[0].rstrip() or text[: most - 1]
    return f"{whole[: most - 1]}…"


def verdict(duel: Duel, rows: Mapping[str, BazaarRow], translate: Translate) -> Markup:
    """Whether the guess was right, and both rows of the model comparison."""
    sides = dict(zip(SIDES, duel.sides, strict=True))
    trained = next(letter for letter, side in sides.items() if is_trained(side.policy))
    is_right = is_trained(duel.sides[duel.guess].policy)
    said = translate("spot_right" if is_right else "spot_wrong", side=trained)
    whys = [
        why(f"{letter}, {opponent_name(side.policy, translate)}", side, translate)
        for letter, side in sides.items()
    ]
    return HTML.verdict(said, whys, scores(duel, rows, translate), ROWS, translate)


def why(name: str, side: Side, translate: Translate) -> str:
    """By what a side could be known: its bids, how often it raised them and spoke, and its end."""
    own = [turn.action for turn in side.turns if turn.agent == "buyer" and turn.action is not None]
    bids = [action.price for action in own if isinstance(action, Offer)]
    last = side.turns[-1]
    end = translate("spot_no_end")
    if side.no_move or last.action is None:
        end = translate("spot_no_move_hidden")
    elif not isinstance(last.action, Offer):
        end = f"{translate(last.agent)} {_move(last, own=False, translate=translate, words='')}"
    if not bids:
        return translate("spot_why_no_bid", name=name, end=end)
    return translate(
        "spot_why", name=name, bids=len(bids), first=rupees(bids[0]), last=rupees(bids[-1]),
        raised=sum(later > earlier for earlier, later in pairwise(bids)),
        said=sum(isinstance(one, Offer) and bool(one.message) for one in own), end=end,
    )  # fmt: skip


def scores(duel: Duel, measured: Mapping[str, BazaarRow], translate: Translate) -> Markup:
    """The measured grades of both players, with n, interval and forfeits."""
    rows, lacking = [], Markup("")
    for side in duel.sides:
        row, label = measured.get(row_name(side.policy)), opponent_name(side.policy, translate)
        if row is None:
            lacking += note(translate("spot_no_row", name=label))
            continue
        figures = (with_interval(row.grade, FORM), f"{row.n}", f"{row.ends['forfeit']}")
        rows.append((term(label, row.policy), *figures))
    heads = [translate(f"spot_{head}") for head in ("player", "grade", "n", "forfeits")]
    return table(heads, rows, caption=translate("spot_caption")) + lacking
