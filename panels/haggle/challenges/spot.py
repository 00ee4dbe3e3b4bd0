"""Spot the trained one: two hidden stages of the model answer the same ask; a guess, then scores.

A callback takes the part and the values of its inputs, and returns new values by component. Which
side is the trained one stands in the session's state alone until the guess.
"""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from zlib import crc32

import gradio as gr
from markupsafe import Markup

from env import IllegalAction, Offer, Turn, WalkAway, rupees
from env.language.money import LONGEST_MESSAGE
from env.language.money import price as price_in
from panels.haggle.challenges import subtab
from panels.haggle.challenges.subtab import SubTab
from panels.haggle.conversation import LONGEST, chart_words, question
from panels.haggle.game_view import names_a_number
from panels.haggle.opponents import opponent_name
from panels.haggle.screen import SessionGeneration
from panels.haggle.words import ENGLISH, LANGUAGES, Translate, Trouble, translate_error, translator
from panels.measured import FILE as COMPARISON
from panels.measured import FORM, rows_by_policy
from panels.site.sessions import HOUR, no_longer_here, state_of
from panels.transcripts.episodes import awaited_model
from panels.ui.components.moves import Move, Moves, move_row
from panels.ui.html import macros
from panels.ui.look import QUEUED, QUIET, note, table, trouble
from panels.ui.offers import ending
from panels.ui.provenance import load_or_say
from panels.ui.tables import with_interval
from panels.ui.terms import term
from panels.ui.visitor import as_visitor
from panels.ui.wiring import Updates, named
from sauda.language.heard import Heard
from sauda.language.lines import name_in
from sauda.language.phrases import language_of
from sauda.language.small_talk import answer_to, confirms
from sauda.language.stances import read_stances
from sauda.llm.types import ReplyError
from sauda.players import BASE, CONSTRAINED, PEOPLE, SERVED, player_spec
from sauda.records.schemas.episodes import LEAST_MOVES, SPOT_FILE, SPOT_SEEDS
from sauda.records.schemas.evaluation import BazaarRow
from sauda.records.seeds import draw_seed
from sauda.records.store import Artifact, load
from sauda.sessions import spot as session
from sauda.sessions.bazaar import doubt
from sauda.sessions.spot import EXCHANGES, Duel, Side

MOST_GUESSES = 1_000_000  # of one browser; a larger number in its memory is no tally
HTML = macros("challenges")
SIDES = ("A", "B")
GUESSES = {"guess:0": 0, "guess:1": 1}  # the side that a press names
WRITTEN = 80  # characters shown of a reply that is no move
ROWS = "?tab=results&part=else"  # where the model comparison stands row by row
Line = tuple[str, str, str]  # the seat, who it is in words, what it says or does


Row = Mapping[str, Any]  # a game of a language model as JSON, with its replies
Pair = Sequence[Row]  # a seed's game of the untrained and of the trained buyer


class SpotPage(SubTab):
    """Every component that a callback reads or writes."""

    def __init__(self, has_recorded: bool) -> None:
        """Place them; without recorded games there is no button for these."""
        super().__init__("spot", elem_id="spot-head")
        translate = translator(ENGLISH)
        self.about = gr.HTML(elem_id="spot-about")  # the item, and where the answers come from
        self.columns = gr.HTML(elem_id="spot-buyers")  # both buyers side by side
        with gr.Row(elem_classes="sauda-actions", elem_id="spot-say"):
            self.price = gr.Textbox(
                label=translate("spot_price"), placeholder=translate("spot_placeholder"),
                lines=1, max_lines=1, scale=4, min_width=160, elem_id="spot-price",
            )  # fmt: skip
            self.ask = gr.Button(translate("spot_ask"), variant="primary", scale=0, min_width=110)
        self.problem = gr.HTML(elem_id="spot-problem")
        # The next exchange of a recorded pair, and the guesses.
        self.moves = Moves(elem_id="spot-moves")
        self.verdict = gr.HTML(elem_id="spot-verdict")
        self.tally = gr.HTML(elem_id="spot-tally")
        with gr.Row(elem_classes="sauda-actions"):
            name = translate("spot_recorded")
            self.recorded = gr.Button(name, visible=has_recorded, min_width=180)
            self.live = gr.Button(translate("spot_live"), min_width=240)
        self.duel = gr.State(None, time_to_live=HOUR)
        self.generation = gr.State(SessionGeneration(), time_to_live=HOUR)
        self.keep("spot-the-trained-one")  # the tally, {"right": …, "guessed": …}
        self.with_words += [self.recorded, self.live, self.ask, self.price]
        self.of_duel = [  # the components that show the duel or hold it
            self.about, self.columns, self.price, self.problem, self.moves, self.verdict,
            self.tally, self.duel, self.kept,
        ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Spot:
    """The part's components, the models' measured rows, its pairs, the visitor's language."""

    page: SpotPage
    rows: Mapping[str, BazaarRow]
    pairs: Sequence[Pair]
    language: str = ENGLISH

    @property
    def translate(self) -> Translate:
        return translator(self.language)

    def problem(self, error: Exception, key: str = "spot_not_possible") -> Updates:
        """The sentence of `error`; that of `key` in a language in which it has none."""
        return {self.page.problem: trouble(translate_error(error, self.language, key))}

    @property
    def unchanged(self) -> Updates:
        """No new value."""
        return {self.page.problem: gr.skip()}


def find_untrained(rows: Mapping[str, BazaarRow]) -> str:
    """The untrained base, as it plays here.

    It plays under the grammar of legal moves where that was measured and most of its games without
    it end with an invalid reply: else it would hardly ever make a move.
    """
    bare, helped = rows[BASE], f"{BASE}+{CONSTRAINED}"
    is_mute = bare.invalid_replies > bare.n / 2
    return helped if is_mute and helped in rows else BASE


def is_trained(policy: str) -> bool:
    """Whether a player, recorded or live, is the served stage."""
    return policy == SERVED


def pairs_with(base: str, recorded: Artifact | None) -> Sequence[Pair]:
    """The recorded pairs of the untrained player `base` and the served one; none of others."""
    if recorded is None or list(recorded.settings()["players"]) != [base, SERVED]:
        return []
    return [pair["games"] for pair in recorded.data.as_json()["pairs"]]


def build(tab: gr.Tab, language: gr.Radio) -> None:
    """Lay out the part and wire it; `language` is the visitor's choice on another sub-tab."""
    comparison = load(COMPARISON)  # which stages there are stands there
    rows, recorded = rows_by_policy(comparison, PEOPLE), load_or_say(SPOT_FILE)[0]
    pairs = pairs_with(find_untrained(rows), recorded)
    spot = Spot(SpotPage(bool(pairs)), rows, pairs)
    page, shown = spot.page, spot.page.of_duel
    inputs = [language, page.generation, page.duel]

    def spoken(callback: Callable) -> Callable:
        """`callback` of the part in the visitor's language, the first value of each event."""

        def called(chosen: str, *values: Any) -> Updates:
            return callback(replace(spot, language=chosen), *values)

        return named(called, callback)

    def open_pair(request: gr.Request, chosen: str, *values: Any) -> Updates:
        return opened(replace(spot, language=chosen), *values)

    def ask_both(chosen: str, *values: Any) -> Iterator[Updates]:  # Gradio streams generators alone
        yield from ask(replace(spot, language=chosen), *values)

    def pressed(move: Move, chosen: str, duel: Any, stored: Any) -> Updates:
        return press(replace(spot, language=chosen), move.id, duel, stored)

    subtab.wire_reload(page, tab, language, open_pair, [*inputs, page.kept], shown, page.price)
    subtab.wire_language(page, tab, language, spoken(words), language)
    page.recorded.click(spoken(deal_recorded), inputs, shown, **QUIET)
    page.live.click(spoken(deal_live), inputs, shown, **QUIET)
    gr.on(
        [page.price.submit, page.ask.click],
        as_visitor(ask_both), [language, page.generation, page.price, page.duel], shown,
        **QUEUED, concurrency_id="spot", concurrency_limit=2,
    )  # fmt: skip
    page.moves.click(
        named(pressed, press), [language, page.duel, page.kept], shown, js=page.reads, **QUIET
    )


# Events -----------------------------------------------------------------------------------------


def opened(
    spot: Spot, generation: SessionGeneration, duel: Duel | None, stored: object, former: str
) -> Updates:
    """The visitor's pair in the language; that of the tab's former session where it has none.

    Where that is gone, too, a sentence says so and another pair comes; so does a first one.
    """
    page = spot.page
    tally = {page.tally: show_tally(*tally_of(stored), spot.translate)}
    if duel is not None:
        return show(spot, duel) | tally
    if (before := state_of(former, page.duel)) is not None:
        return show(spot, session.without_open_ask(before)) | tally
    start = deal_recorded if spot.pairs else deal_live
    gone = {page.problem: note(spot.translate("spot_gone"))} if former else {}
    return start(spot, generation, None) | tally | gone


def words(spot: Spot) -> Updates:
    """The own words, in the visitor's language, of the components that a duel leaves alone."""
    page, translate = spot.page, spot.translate
    return page.words(spot.language) | {
        page.recorded: gr.update(value=translate("spot_recorded")),
        page.live: translate("spot_live"),
        page.ask: translate("spot_ask"),
        page.price: gr.update(
            label=translate("spot_price"), placeholder=translate("spot_placeholder")
        ),
    }


def deal_recorded(spot: Spot, generation: SessionGeneration, duel: Duel | None) -> Updates:
    """Another recorded pair, its sides in random order."""
    generation.advance()
    if not spot.pairs:
        return spot.problem(Trouble("spot_none_recorded"))
    now = duel.seed if duel is not None and not duel.is_live else None
    others = [pair for pair in spot.pairs if pair[0]["seed"] != now]
    return show(spot, session.load_duel(_shuffle(secrets.choice(others or spot.pairs))))


def deal_live(spot: Spot, generation: SessionGeneration, duel: Duel | None) -> Updates:
    """A new item that the visitor sells to both, in random order."""
    generation.advance()
    return show(spot, session.live_duel(_shuffle([find_untrained(spot.rows), SERVED]), draw_seed()))


def _shuffle(pair: Sequence) -> list:
    return secrets.SystemRandom().sample(list(pair), len(pair))


def show(spot: Spot, duel: Duel, problem: Markup | str = "") -> Updates:
    """Everything that shows the duel; who is who shows once a guess was made."""
    page, translate = spot.page, spot.translate
    guessed = duel.guess is not None
    return {
        page.duel: duel,
        page.about: about(duel, spot.language),
        page.columns: columns(duel, spot.language),
        page.problem: problem,
        page.moves: moves(duel, translate),
        page.verdict: verdict(duel, spot) if guessed else "",
    }


def press(spot: Spot, move: str, duel: Duel | None, stored: object) -> Updates:
    """One more exchange of a recorded pair, what its buyers say, or the reveal after a guess."""
    try:
        pair = _require(duel)
        if move == "more":
            more = pair.has_more and not pair.is_live
            return show(spot, replace(pair, shown=pair.shown + 1) if more else pair)
        if move == "words":
            return show(spot, replace(pair, worded=True))
        return _reveal(spot, GUESSES.get(move), pair, stored)
    except IllegalAction as error:
        return spot.problem(error)


def ask(
    spot: Spot, generation: SessionGeneration, text: str, duel: Duel | None
) -> Iterator[Updates]:
    """Both buyers' answers to the visitor's ask, one after the other.

    Where a model cannot reply the ask counts as not made. Another pair ends the answers. Small talk
    is answered at once and is no ask; an ask that may be a slip is asked back once.
    """
    page = spot.page
    again = duel is not None and duel.unconfirmed is not None and confirms(text or "")
    open_for_talk = duel is not None and duel.is_live and duel.has_more and not again
    if open_for_talk and (talk := _small_talk(spot, text or "", duel)):
        yield talk
        return
    current = generation.advance()
    thinking, why = note(spot.translate("spot_thinking")), "spot_not_possible"
    try:
        before, why = _require(duel), "spot_bad_ask"
        price = before.unconfirmed if again else _whole(price_in(read_stances(text).offered))
        asked = session.propose_to_both(before, price)
    except ValueError as error:  # no pair, no price, or one that the rules forbid
        yield spot.problem(error, why)
        return
    if asked.unconfirmed is not None:
        question = asked_back(asked, spot.translate)
        yield {page.duel: asked, page.problem: note(question), page.price: text}
        return
    yield show(spot, asked, thinking) | {page.price: ""}
    try:
        for number in asked.waiting:
            model = awaited_model(player_spec(asked.games[number].opponent).weights)
            asked = session.answer_duel(asked, number, model)
            if generation.number != current:
                yield spot.unchanged  # Gradio sends what was yielded last once more
                return
            yield show(spot, asked, thinking if asked.waiting else "")
    except ReplyError as error:
        if generation.number == current:
            yield show(spot, before) | spot.problem(error) | {page.price: text}


def _small_talk(spot: Spot, text: str, duel: Duel) -> Updates:
    """The buyers' answers to a text without a price; empty for an ask, or a text that is too long.

    They are written by code, one for each buyer, so that they tell nothing of who is who.
    """
    page = spot.page
    if not text.strip():
        return {page.problem: note(spot.translate("say_price"))}
    if len(text) > LONGEST_MESSAGE:
        return {}
    if hear(duel, duel.listening[0], text).price is not None:
        return {}
    answers = small_talk(duel, text.strip(), spot.language)
    return {page.duel: replace(duel, unconfirmed=None), page.problem: answers, page.price: ""}


def hear(duel: Duel, number: int, text: str) -> Heard:
    """The visitor's text as a buyer of the duel hears it."""
    return Heard(text, duel.games[number].observation.table, "buyer")


def _whole(price: float) -> float:
    """A whole price as an int, which is how the rules count rupees."""
    return int(price) if price == int(price) else price


def _reveal(spot: Spot, number: int | None, duel: Duel, stored: object) -> Updates:
    if number is None:
        raise Trouble("no_such_move")
    after, page = session.make_guess(duel, number), spot.page
    right, count = tally_of(stored)
    right, count = right + is_trained(after.sides[number].policy), count + 1
    return show(spot, after) | {
        page.kept: {"right": right, "guessed": count},
        page.tally: show_tally(right, count, spot.translate),
    }


def _require(duel: Duel | None) -> Duel:
    if duel is None:
        raise IllegalAction(f"{no_longer_here('this pair was')}; start another one")
    return duel


def tally_of(stored: object) -> tuple[int, int]:
    """Right guesses and all guesses that a browser sent; (0, 0) for what is no tally."""
    right, count = (
        (stored.get("right"), stored.get("guessed")) if isinstance(stored, Mapping) else (0, 0)
    )
    numbers = all(isinstance(n, int) and not isinstance(n, bool) for n in (right, count))
    return (right, count) if numbers and 0 <= right <= count < MOST_GUESSES else (0, 0)


def show_tally(right: int, guessed: int, translate: Translate) -> Markup:
    """How often this browser's guesses were right; empty before the first one."""
    if not guessed:
        return Markup("")
    return note(translate("spot_tally", right=right, guessed=guessed))


# What it shows --------------------------------------------------------------------------------


def about(duel: Duel, language: str) -> Markup:
    """The item, the seller, and whether the answers are recorded or written now."""
    translate, name = translator(language), name_in(language, duel.item.name)
    item = translate("daily_item", item=name, price=rupees(duel.item.list_price))
    if duel.is_live:
        limit = rupees(duel.games[0].observation.reservation)
        words, rule = translate("spot_about_live", item=item, limit=limit, most=EXCHANGES), ""
    else:
        spoken = {value: label for label, value in LANGUAGES}[_language_of_seller(duel)]
        item = f"{item[0].upper()}{item[1:]}"
        words = translate("spot_about_recorded", item=item, language=spoken)
        rule = translate("spot_rule", seeds=SPOT_SEEDS, least=LEAST_MOVES)
    return HTML.about(duel.is_live, words, rule, translate)


def _language_of_seller(duel: Duel) -> str:
    """The language of the seller's first line in words."""
    lines = (turn.action.message for turn in duel.sides[0].turns if turn.agent == "seller")
    return next(filter(None, map(language_of, lines)), ENGLISH)


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
    lines = [("seller", translate("spot_you"), f"“{cut(text, LONGEST)}”")]
    answers: list[str] = []
    for number in duel.listening:
        heard = hear(duel, number, text)
        seed = crc32(repr((number, heard.talk, text)).encode())
        spoken = (heard.language if language == ENGLISH else "") or language
        answers.append(answer_to(heard.talk, heard.seen, "buyer", spoken, answers, seed))
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
    mute = duel.guess is None and not duel.worded
    shown = side.exchanges()[: duel.shown if cut_off else None]
    lines: list[Line] = []
    for turn in (turn for exchange in shown for turn in exchange):
        if turn.action is None:
            lines.append(_no_move(duel, side, translate))
            continue
        by_visitor = duel.is_live and turn.agent == "seller"
        who = translate("spot_you" if by_visitor else turn.agent).lower()
        # as it was said: nobody translates a model
        words = "" if mute and turn.agent == "buyer" else turn.action.message
        quoted = f": “{words}”" if words and not isinstance(turn.action, WalkAway) else ""
        lines.append((turn.agent, who, _move(turn, by_visitor, translate) + quoted))
    if side.no_move and shown and shown[-1][-1].agent == "seller":  # a live reply makes no turn
        lines.append(_no_move(duel, side, translate))
    return lines


def _move(turn: Turn, by_visitor: bool, translate: Translate) -> str:
    """A move as a phrase."""
    if isinstance(turn.action, WalkAway):
        return translate("spot_walks")
    if isinstance(turn.action, Offer):
        key = "spot_buyer_bids" if turn.agent == "buyer" else "spot_seller_asks"
        return translate("spot_you_ask" if by_visitor else key, price=rupees(turn.action.price))
    return translate("spot_accepts")


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


def moves(duel: Duel, translate: Translate) -> Markup:
    """The next exchange of a recorded pair, the guesses, and for readers whether one was right."""
    more = [(translate("spot_more"), "more")] if duel.has_more and not duel.is_live else []
    if duel.can_guess and not duel.worded:
        more.append((translate("spot_words"), "words"))
    guesses = [
        (translate("spot_guess", side=side), f"guess:{number}" if duel.can_guess else "")
        for number, side in enumerate(SIDES)
    ]
    outcome = "" if duel.guess is None else tell_guess(duel, translate)
    return HTML.moves(duel.has_more and duel.is_live, outcome, move_row([*more, *guesses]))


def tell_guess(duel: Duel, translate: Translate) -> str:
    """Whether the guess was right."""
    trained = next(i for i, side in enumerate(duel.sides) if is_trained(side.policy))
    return translate("spot_right" if duel.guess == trained else "spot_wrong", side=SIDES[trained])


def verdict(duel: Duel, spot: Spot) -> Markup:
    """Whether the guess was right, why, what training changed, both measured rows."""
    translate = spot.translate
    sides = dict(zip(SIDES, duel.sides, strict=True))
    whys = [
        why(f"{letter}, {opponent_name(side.policy, translate)}", side, translate)
        for letter, side in sides.items()
    ]
    if spot.pairs:
        bids, untrained, trained = different_lines(spot.pairs)
        counts = {"games": len(spot.pairs), "bids": bids}
        whys.append(translate("spot_lines", untrained=untrained, trained=trained, **counts))
    return HTML.verdict(
        tell_guess(duel, translate), whys, scores(duel, spot.rows, translate), ROWS, translate
    )


def different_lines(pairs: Sequence[Pair]) -> tuple[int, int, int]:
    """How many bids the pairs hold, and how many different sentences each of the two said.

    A sentence about another price is the same.
    """
    lines = [
        [
            re.sub(r"\d[\d,]*", "#", move.get("message", ""))
            for game in games
            for move in game["moves"]
            if (move["agent"], move["action"]) == ("buyer", "offer")
        ]
        for games in zip(*pairs, strict=True)
    ]
    untrained, trained = (len(set(filter(None, each))) for each in lines)
    return sum(map(len, lines)), untrained, trained


def why(name: str, side: Side, translate: Translate) -> str:
    """By what a side could be known: its bids, how often it raised them and spoke, and its end."""
    actions = [
        turn.action for turn in side.turns if turn.agent == "buyer" and turn.action is not None
    ]
    bids = [action.price for action in actions if isinstance(action, Offer)]
    end = ending(side.deal, chart_words(translate))
    if side.no_move or side.turns[-1].action is None:
        end = translate("spot_no_move_hidden")
    if not bids:
        return translate("spot_why_no_bid", name=name, end=end)
    return translate(
        "spot_why", name=name, bids=len(bids), first=rupees(bids[0]), last=rupees(bids[-1]),
        raised=sum(later > earlier for earlier, later in pairwise(bids)),
        said=sum(isinstance(action, Offer) and bool(action.message) for action in actions), end=end,
    )  # fmt: skip


def scores(duel: Duel, measured: Mapping[str, BazaarRow], translate: Translate) -> Markup:
    """The measured grades of both players, with n, interval and forfeits."""
    rows, lacking = [], Markup("")
    for side in duel.sides:
        row, label = measured.get(side.policy), opponent_name(side.policy, translate)
        if row is None:
            lacking += note(translate("spot_no_row", name=label))
            continue
        figures = (with_interval(row.grade, FORM), f"{row.n}", f"{row.ends['forfeit']}")
        rows.append((term(label, row.policy), *figures))
    heads = [translate(f"spot_{head}") for head in ("player", "grade", "n", "forfeits")]
    return table(heads, rows, caption=translate("spot_caption")) + lacking
