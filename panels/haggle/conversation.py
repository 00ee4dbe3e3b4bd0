"""The chat of a game: what is typed becomes a move or talk; moves in words, answers, questions.

A move of the other side gets a line here where it is silent, or where its own words would repeat
or contradict what was said, or would leave the visitor's unanswered. The line is for show alone: it
enters no history, so that moves and recorded games are the same with and without it. Its seed is a
digest of what both sides see, so that a line tells nothing of the game's own seed. What the page
tells the visitor is a note, the speech of neither side: a language model reads none of it.
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from zlib import crc32

from env import (
    EXTRAS,
    Accept,
    EndReason,
    IllegalAction,
    Observation,
    Offer,
    Table,
    Turn,
    WalkAway,
    group_digits,
    rupees,
    speech,
)
from env.language.money import HIGHEST_PRICE, LONGEST_MESSAGE
from panels.haggle.words import ENGLISH, Translate, Trouble, translator
from panels.ui.offers import Say, ending
from sauda.language.heard import Heard
from sauda.language.lines import name_in
from sauda.language.phrases import language_of
from sauda.language.small_talk import (
    ACCEPT,
    AGREE,
    CONDITION,
    LEAVE,
    LIKELY,
    NOD,
    TOLD,
    YES,
    answer_to,
    asks_something,
    confirms,
    read_closing,
)
from sauda.language.spoken import Decided, announce, claim_of, is_last, retell
from sauda.language.stances import NoBase, relative
from sauda.sessions import bazaar
from sauda.sessions.bazaar import Action, Game, hears_words, held_extras

MOST = 30  # exchanges that are kept; an older one leaves the chat
LONGEST = 200  # characters of a text that is kept
QUESTIONS = ("loss_", "backwards_", "did_you_mean", "mean_", "take_it")  # how their kinds begin


@dataclass(frozen=True)
class Exchange:
    """A text of the visitor that made no move, and the kind of the answer to it."""

    turn: int  # turns of the game before it
    text: str
    kind: str  # a key of ANSWERS; of the page's words where `is_narrated`
    seen: Table  # the visitor's view at that time, for the facts of the answer
    values: Mapping[str, str] = field(default_factory=dict)  # of the page's words

    @property
    def is_narrated(self) -> bool:
        """Whether the page answers and not the other side: a rule, or a question about a move."""
        return self.kind.startswith(("rule_", *QUESTIONS))


@dataclass(frozen=True)
class Talk:
    """The exchanges of a game in order."""

    exchanges: tuple[Exchange, ...] = ()

    def added(self, exchange: Exchange) -> "Talk":
        """The talk with one more exchange, its text cut to LONGEST, and the oldest left out."""
        if len(exchange.text) > LONGEST:
            exchange = replace(exchange, text=f"{exchange.text[:LONGEST]}…")
        return Talk((*self.exchanges, exchange)[-MOST:])

    def last_at(self, turn: int) -> "Talk":
        """The talk with its last exchange after `turn` turns."""
        return Talk((*self.exchanges[:-1], replace(self.exchanges[-1], turn=turn)))

    def at(self, turn: int) -> tuple[Exchange, ...]:
        """What was said after `turn` turns."""
        return tuple(each for each in self.exchanges if each.turn == turn)

    def back_to(self, turns: int) -> "Talk":
        """The talk of a game that was taken back to `turns` turns: all of it stays."""
        return Talk(tuple(replace(e, turn=min(e.turn, turns)) for e in self.exchanges))


SILENT = Talk()  # a game without small talk


def asked_back(game: Game) -> Exchange:
    """The unconfirmed move of `game` in the visitor's words, "" for a button, and the question."""
    action = game.unconfirmed
    kind, values = question(game, action)
    return Exchange(len(game.play.turns), action.message, kind, game.observation.table, values)


def question(game: Game, action: Action) -> tuple[str, dict[str, str]]:
    """The question about a move, as a key of the page's words, and the values of its sentence."""
    yours, theirs = bazaar.own_and_theirs(game.observation)
    price = action.price if isinstance(action, Offer) else theirs[-1]
    values, why = {"price": rupees(price)}, bazaar.doubt(game, action)
    if why == bazaar.FAR_OFF:
        return "did_you_mean", values
    if why == bazaar.BACKWARDS:
        stands = game.you == "buyer" and game.observation.table.standing
        return f"backwards_{'bid' if stands else game.you}", values | {"own": rupees(yours[-1])}
    extras = getattr(action, "extras", ())
    if (loss := bazaar.loss_at(game, price, extras)) > 0:
        kind = "loss_accept" if isinstance(action, Accept) else f"loss_{game.you}"
        limit = rupees(bazaar.limit_with(game.observation, extras))
        return kind, values | {"loss": rupees(loss), "limit": limit}
    if isinstance(action, Offer) and (way := relative(action.message)):
        return f"mean_{way.kind}", values
    is_plain = read_closing(action.message, price) != CONDITION
    return "take_it" if is_plain else "take_it_plain", values


SEATS = ("seller", "buyer")
NOTE = "note"  # the role of what the page tells the visitor; the sides are user and assistant
Message = dict[str, str]  # role and content; with the price of a move where it has one
AGAIN = ("", "asked_again", "asked_once_more")  # for a question at one move; then from the start


@dataclass(frozen=True)
class Chat:
    """The chat as plain text, the visitor as the user; and the visitor's words with each move."""

    messages: tuple[Message, ...]
    own_words: tuple[str, ...]
    asks: tuple[str, ...]  # the seller's words with each ask of the deal in play
    language: str  # of the other side's next words


def chat_of(
    game: Game, talk: Talk = SILENT, language: str = ENGLISH, in_prices: bool = False
) -> Chat:
    """The chat of a game and the talk beside it, in `language`.

    An own move without words gets a line of words, or, `in_prices`, its price and nothing else.
    """
    telling = _Telling(game, language, in_prices)
    telling.tell(talk)
    own_words, asks = tuple(telling.own_words), tuple(telling.asks)
    return Chat(tuple(telling.messages), own_words, asks, telling.language)


def chart_words(translate: Translate) -> Say:
    """The words of the offers' chart in the language of `translate`."""
    return lambda key, **values: translate(f"chart_{key}", **values)


def ending_of(game: Game, translate: Translate) -> str:
    """How a finished game ended, in words."""
    if game.play.forfeit:
        return translate("forfeit_ended")
    past = game.play.state.table.past
    deal = past[-1] if past else None
    if deal and deal.end == EndReason.WALKAWAY and deal.by == game.you:
        return translate("you_walked", round=deal.rounds)
    return ending(deal, chart_words(translate))


class _Telling:
    """A chat while it is put together: its messages, and what was said so far."""

    def __init__(self, game: Game, page_language: str, in_prices: bool) -> None:
        self.game, self.page_language, self.in_prices = game, page_language, in_prices
        self.messages: list[Message] = []
        self.own_words: list[str] = []  # with each of the visitor's moves
        self.lines: dict[str, list[str]] = {seat: [] for seat in SEATS}
        self.asks: list[str] = []  # in the deal in play
        self.heard: list[str] = []  # of the visitor since the other side's move
        self.answers: list[str] = []
        self.questions: Counter[str] = Counter()  # by kind, since the last own move
        self.claimed: set[str] = set()  # by the other side in the deal in play
        self.spoke = ""  # the language that the visitor's texts showed last

    @property
    def language(self) -> str:
        """That of the page, or of the visitor's own words where the page is in English."""
        return (self.spoke or ENGLISH) if self.page_language == ENGLISH else self.page_language

    @property
    def translate(self) -> Translate:
        """The page's own words, in the language that the visitor picked."""
        return translator(self.page_language)

    def tell(self, talk: Talk) -> None:
        """The moves with the talk between them, and a question about an unconfirmed one."""
        closed, turns = 0, self.game.play.turns
        for number, turn in enumerate(turns):
            self._answer(*talk.at(number))
            if turn.agent not in SEATS or turn.action is None:
                continue  # rivals bid under seal
            if len(turn.observation.table.past) > closed:
                closed = len(turn.observation.table.past)
                self._close_deal(closed, turn.observation.table)
            self._tell_move(number, turn)
        if chance := _last_chance(self.game, self.translate):
            self._say(NOTE, chance)
        if self.game.over:  # readers hear what is added to a chat, and not the card below it
            how = ending_of(self.game, self.translate)
            self._say(NOTE, self.translate("game_over", how=how))
        self._answer(*talk.at(len(turns)))
        if self.game.unconfirmed is not None:
            self._answer(asked_back(self.game))

    def _say(self, role: str, text: str, price: str = "") -> None:
        self.messages.append({"role": role, "content": text} | ({"price": price} if price else {}))

    def _listen(self, text: str) -> None:
        self.heard.append(text)
        self.spoke = language_of(text) or self.spoke

    def _close_deal(self, number: int, table: Table) -> None:
        self.claimed.clear()
        self.asks.clear()
        end = ending(table.past[-1], chart_words(self.translate))
        item = name_in(self.language, table.item.name)
        self._say(NOTE, self.translate("deal_ended", number=number, ending=end, item=item))

    def _tell_move(self, number: int, turn: Turn) -> None:
        """A move in its own words, or in a line that reacts to what was said and done before."""
        past, is_last_turn = self.game.play.state.table.past, turn is self.game.play.turns[-1]
        winner = past[-1].buyer if self.game.over and is_last_turn else "buyer"
        if isinstance(turn.action, Accept) and turn.agent == "seller" and winner != "buyer":
            return  # another buyer has it, as the note on the end says
        text = self._line(number, turn)
        self.lines[turn.agent].append(text)
        if turn.agent == "seller" and isinstance(turn.action, Offer):
            self.asks.append(text)
        is_own = turn.agent == self.game.you
        self._say("user" if is_own else "assistant", text, _price_of(turn))
        if not is_own:
            self.heard.clear()
            return
        self.own_words.append(text)
        self.questions.clear()
        if isinstance(turn.action, Offer) and turn.action.extras != held_extras(turn.observation):
            held = with_extras(turn.action.extras, self.translate)
            self._say(NOTE, self.translate("bid_holds", bid=f"{rupees(turn.action.price)}{held}"))
        if turn.action.message or self.in_prices:
            self._listen(text)

    def _line(self, number: int, turn: Turn) -> str:
        """The words of a move: the visitor's as typed, the other side's as `retell` has them."""
        is_own, seen = turn.agent == self.game.you, turn.observation.table
        by_model = number in {move.turn for move in self.game.model_moves}
        if not is_own and turn.action.message and seen.version and by_model:
            return turn.action.message  # its own sentence: nothing stands between it and a visitor
        words = announce(turn.action) if turn.action.message else ""
        if is_own and words:
            return words
        if is_own and self.in_prices:
            return tell_move(turn, translator(self.page_language))
        decided = Decided(
            seen,
            turn.agent,
            turn.action,
            self.page_language if is_own else self.language,
            "" if is_own else " ".join(self.heard),
            self.lines[turn.agent],
            reacts=not is_own,  # a button has no opinion on the other side's price
        )
        public = (number, seen.item.name, seen.item.list_price, seen.asks, seen.bids)
        text = retell(decided, words, self.claimed, crc32(repr(public).encode()))
        if not is_own:
            self.claimed.add(claim_of(words))
        return text

    def _answer(self, *exchanges: Exchange) -> None:
        """The visitor's texts, each with the answer to it."""
        for exchange in exchanges:
            self._listen(exchange.text)
            price = exchange.values.get("price", "")
            text = exchange.text or f"{self.translate('quick_loss')} {price}"
            self._say("user", text, price)
            if exchange.is_narrated:
                self._say(NOTE, self._narrated(exchange))
                continue
            agent = "buyer" if self.game.you == "seller" else "seller"
            seed = crc32(repr((len(self.answers), exchange.kind, exchange.text)).encode())
            text = answer_to(exchange.kind, exchange.seen, agent, self.language, self.answers, seed)
            self.answers.append(text)
            self._say("assistant", text)

    def _narrated(self, exchange: Exchange) -> str:
        """The rule that was broken, or the question: in other words where it was asked before."""
        key = exchange.kind
        if key.startswith(QUESTIONS):
            key = AGAIN[self.questions[key] % len(AGAIN)] or key
            self.questions[exchange.kind] += 1
        return self.translate(key, **exchange.values)


def _price_of(turn: Turn) -> str:
    """The price of a move; empty for a walk-away."""
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price)
    table = turn.observation.table
    theirs = table.bids if turn.agent == "seller" else table.asks
    return rupees(theirs[-1]) if isinstance(turn.action, Accept) else ""


def tell_move(turn: Turn, translate: Translate) -> str:
    """A move of the visitor as a price or an order, without what was typed with it."""
    obs = turn.observation
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price) + with_extras(turn.action.extras, translate)
    if isinstance(turn.action, Accept):
        theirs = obs.bid if turn.agent == "seller" else obs.ask
        return f"{translate('quick_accept')} {rupees(theirs)}"
    return translate("quick_walk")


def with_extras(extras: Collection[str], translate: Translate) -> str:
    """What a price includes, in words after it; "" for nothing."""
    return "".join(f" + {translate(f'extra_{extra}')}" for extra in EXTRAS if extra in extras)


def _last_chance(game: Game, translate: Translate) -> str:
    """What is left to the visitor in the last round; empty before it."""
    if game.over or game.waiting:
        return ""
    table = game.observation.table
    theirs = table.bids if game.you == "seller" else table.asks
    if not theirs or not is_last(table):
        return ""
    if game.you == "buyer":
        key = "last_bid"
    else:
        key = "last_chance" if bazaar.is_too_late(game.observation) else "last_ask"
    return translate(key, price=rupees(theirs[-1]))


# What is typed -----------------------------------------------------------------------------------

SAID = frozenset({*speech.QUESTIONS, *speech.PITCHES})  # words that go with the next price


class NoMove(ValueError):
    """A text that makes no move, with the kind of the answer to it and the values of a rule."""

    def __init__(self, kind: str, **values: str) -> None:
        super().__init__(f"no move: {kind}")
        self.kind, self.values = kind, values


def converse(game: Game, talk: Talk, text: str) -> tuple[Game, Talk]:
    """The game and the talk after the visitor's `text`.

    A move that was asked back and is not confirmed joins the talk with its question. Raises
    IllegalAction where the text can be neither played nor answered.
    """
    asked = None if game.unconfirmed is None else asked_back(game)
    try:
        after = play_text(game, text, talk)
    except NoMove as no_move:
        turns, table = len(game.play.turns), game.observation.table
        exchange = Exchange(turns, text.strip(), no_move.kind, table, no_move.values)
        talk = talk.added(asked) if asked else talk
        return replace(game, unconfirmed=None), talk.added(exchange)
    if asked and not _confirms(after, game):
        talk = talk.added(asked)
    return after, talk


def _confirms(after: Game, before: Game) -> bool:
    """Whether the unconfirmed move of `before` was made, in whatever words."""
    if after.unconfirmed is not None:
        return False
    made = after.play.turns[len(before.play.turns)].action
    return replace(made, message="") == replace(before.unconfirmed, message="")


def play_text(game: Game, text: str, talk: Talk = SILENT) -> Game:
    """The game after the visitor's `text`.

    A doubtful move stays `unconfirmed` until the visitor repeats or confirms it. So does an
    acceptance with a condition, and one without the word for it that may answer something else:
    the `talk` before it, or a question of the other side. Raises NoMove where the text is talk or
    breaks a rule of the market, Trouble where it cannot be answered.
    """
    # Invisible marks would part a number in two.
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf").strip()
    if len(text) > LONGEST_MESSAGE:
        most, length = group_digits(str(LONGEST_MESSAGE)), group_digits(str(len(text)))
        raise Trouble("too_long", most=most, length=length)
    if game.unconfirmed is not None and confirms(text):
        return bazaar.answer(game, game.unconfirmed)
    heard = _hear(game, text)
    action = _action(game, heard)
    if isinstance(action, Offer) and hears_words(game) and heard.act not in speech.ACTS:
        now = [each.text for each in talk.at(len(game.play.turns)) if not each.is_narrated]
        earlier = [_hear(game, words) for words in now]
        waiting = [line.text for line in earlier if line.act in SAID or line.asks_cost]
        action = replace(action, message=" ".join([*waiting[-1:], text]))
    if game.over:
        raise NoMove("after")
    if broken := _broken_rule(game, action):
        raise broken
    try:
        after = bazaar.propose(game, action)
    except IllegalAction:
        if isinstance(action, Offer) and game.you == "seller" and not game.waiting:
            # It is more than the market lets anybody ask.
            raise NoMove("absurd", price=rupees(action.price)) from None
        raise
    repeats = game.unconfirmed is not None and game.unconfirmed.message == text
    if isinstance(action, Offer) and heard.relative and not repeats:
        return replace(game, unconfirmed=action)  # a price worked out is shown before it binds
    may_answer = talk.at(len(game.play.turns)) or _is_asked(game)
    is_doubtful = heard.closing == LIKELY or (heard.closing in (AGREE, YES) and may_answer)
    is_repeated = isinstance(action, Accept) and isinstance(game.unconfirmed, Accept)
    if heard.closing == CONDITION or (is_doubtful and not is_repeated):
        return replace(game, unconfirmed=action)
    return after


def _hear(game: Game, text: str) -> Heard:
    """The visitor's text as the other side hears it."""
    return Heard(text, game.observation.table, "buyer" if game.you == "seller" else "seller")


def _is_asked(game: Game) -> bool:
    """Whether the other side's last words ask something else than whether its price is right."""
    moves = [move for move in game.observation.table.moves if move.agent != game.you]
    _, theirs = bazaar.own_and_theirs(game.observation)
    return bool(moves) and asks_something(moves[-1].action.message, theirs[-1] if theirs else None)


def _action(game: Game, heard: Heard) -> Action:
    text, closes = heard.text, heard.closing
    if closes in (YES, NOD) and _is_asked(game):
        raise NoMove("after" if game.over else TOLD)  # the answer to the question
    if closes in (ACCEPT, AGREE, LIKELY, CONDITION, YES):
        return Accept(text)
    if closes == LEAVE:
        return WalkAway(text)
    if heard.relative:
        try:
            amount = heard.relative.price(game.observation.table, game.you)
        except NoBase as missing:
            raise NoMove("after" if game.over else f"no_{missing}") from None
        if not 0 < amount <= HIGHEST_PRICE:
            raise NoMove("after" if game.over else "high" if amount > 0 else "zero")
        return Offer(amount, text, held_extras(game.observation))
    if heard.price is None:
        kind = "extra_cost" if heard.asks_cost else heard.talk
        raise NoMove("after" if game.over else kind)
    return Offer(heard.price, text, heard.extras(held_extras(game.observation)))


def _broken_rule(game: Game, action: Action) -> NoMove | None:
    """The rule of the market that `action` breaks, in words; None where it breaks none of these."""
    obs, sells = game.observation, game.you == "seller"
    table, most = obs.table, obs.own.get("purse", obs.reservation)
    if isinstance(action, Accept):
        if not (table.bids if sells else table.asks):
            return NoMove("nothing_yet")
        if not sells and obs.ask > most:
            return _too_much(obs, obs.ask)
    if not isinstance(action, Offer):
        return None
    price = rupees(action.price)
    if bazaar.is_too_late(obs):
        return NoMove("rule_late", price=price, standing=rupees(table.bids[-1]))
    if round(action.price, table.decimals) != action.price:
        return NoMove("rule_whole", price=price)
    if sells and table.bids and action.price <= table.bids[-1]:
        return NoMove("rule_bid", price=price, standing=rupees(table.bids[-1]))
    if not sells and action.price > most:
        return _too_much(obs, action.price, action.extras)
    if not sells and action.price >= obs.ask and not action.extras:
        return NoMove("rule_ask", price=price, standing=rupees(obs.ask))
    return None


def _too_much(obs: Observation, price: float, extras: Collection[str] = ()) -> NoMove:
    """The refusal of a price that a buyer cannot pay, by its limit or a purse below that."""
    limit, purse = bazaar.limit_with(obs, extras), obs.own.get("purse", inf)
    if purse < limit:
        return NoMove("rule_budget", price=rupees(price), most=rupees(purse))
    return NoMove("rule_limit", price=rupees(price), limit=rupees(limit))
