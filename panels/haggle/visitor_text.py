"""Plays what a visitor typed: a price in digits or words, an acceptance, or a walk-away.

Any other text is talk, such as a price that was paid before: it makes no move and is answered in
the chat.
"""

import unicodedata
from dataclasses import replace

from env import Accept, IllegalAction, Offer, WalkAway, group_digits, rupees, speech
from panels.haggle.conversation import SILENT, Exchange, Talk, asked_back
from panels.haggle.words import Trouble
from sauda.language.money import LONGEST_MESSAGE
from sauda.language.money import price as price_in
from sauda.language.small_talk import (
    ACCEPT,
    AGREE,
    CONDITION,
    LEAVE,
    LIKELY,
    NOD,
    TOLD,
    YES,
    asks_something,
    confirms,
    read_closing,
    slip,
    small_talk,
)
from sauda.language.stances import NoBase, read_stances, relative
from sauda.sessions.bazaar import Action, Game, answer, propose

WORDS_WAIT = "words_wait"  # words that move a seller, and wait for a price to go with
SAID = frozenset({*speech.QUESTIONS, *speech.PITCHES})


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
        turns, values = len(game.play.turns), tuple(no_move.values.items())
        table = game.observation.table
        said = Exchange(turns, text.strip(), no_move.kind, table, values)
        talk = talk.added(asked) if asked else talk
        return replace(game, unconfirmed=None), talk.added(said)
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
    text = _visible(text or "").strip()
    if len(text) > LONGEST_MESSAGE:
        most, length = group_digits(str(LONGEST_MESSAGE)), group_digits(str(len(text)))
        raise Trouble("too_long", most=most, length=length)
    if game.unconfirmed is not None and confirms(text):
        return answer(game, game.unconfirmed)
    # A price worked out from others is another one: "10 % off and it is a deal" accepts nothing.
    closes = "" if relative(text) else read_closing(text, _standing(game))
    action = _action(game, text, closes)
    if isinstance(action, Offer) and counts_words(game) and not speech.act_in(text)[0]:
        action = replace(action, message=" ".join([*_held_back(game, talk), text]))
    if game.over:
        raise NoMove("after")
    if broken := broken_rule(game, action):
        raise broken
    try:
        after = propose(game, action)
    except IllegalAction:
        if isinstance(action, Offer) and game.you == "seller" and not game.waiting:
            # It is more than the market lets anybody ask.
            raise NoMove("absurd", price=rupees(action.price)) from None
        raise
    repeats = game.unconfirmed is not None and game.unconfirmed.message == text
    if isinstance(action, Offer) and relative(text) and not repeats:
        return replace(game, unconfirmed=action)  # a price worked out is shown before it binds
    may_answer = talk.at(len(game.play.turns)) or _is_asked(game)
    is_doubtful = closes == LIKELY or (closes in (AGREE, YES) and may_answer)
    if closes == CONDITION or (is_doubtful and not _repeats(game, action)):
        return replace(game, unconfirmed=action)
    return after


def _standing(game: Game) -> float | None:
    """The other side's last price; None before it."""
    table = game.observation.table
    theirs = table.bids if game.you == "seller" else table.asks
    return theirs[-1] if theirs else None


def _is_asked(game: Game) -> bool:
    """Whether the other side's last words ask something else than whether its price is right."""
    said = [move for move in game.observation.table.moves if move.agent != game.you]
    return bool(said) and asks_something(said[-1].action.message, _standing(game))


def _repeats(game: Game, action: Action) -> bool:
    return isinstance(action, Accept) and isinstance(game.unconfirmed, Accept)


def _action(game: Game, text: str, closes: str) -> Action:
    if closes in (YES, NOD) and _is_asked(game):
        raise NoMove("after" if game.over else TOLD)  # the answer to the question
    if closes in (ACCEPT, AGREE, LIKELY, CONDITION, YES):
        return Accept(text)
    if closes == LEAVE:
        return WalkAway(text)
    if way := relative(text):
        try:
            amount = way.price(game.observation.table, game.you)
        except NoBase as missing:
            raise NoMove("after" if game.over else f"no_{missing}") from None
        if amount <= 0:
            raise NoMove("after" if game.over else "zero")
        return Offer(amount, text)
    offered = read_stances(text).offered
    try:
        amount = None if slip(offered) else price_in(offered)
    except ValueError:
        amount = None
    if amount is None:
        if not game.over and counts_words(game) and speech.act_in(text)[0] in SAID:
            raise NoMove(WORDS_WAIT)
        other = "buyer" if game.you == "seller" else "seller"
        raise NoMove("after" if game.over else small_talk(text, game.observation.table, other))
    return Offer(int(amount) if amount == int(amount) else amount, text)


def counts_words(game: Game) -> bool:
    """Whether the seller is moved by words: those of a buyer in the open market."""
    return game.you == "buyer" and game.observation.table.standing


def _held_back(game: Game, talk: Talk) -> list[str]:
    """The words since the last move that wait for a price to go with."""
    now = talk.at(len(game.play.turns))
    return [exchange.text for exchange in now if exchange.kind == WORDS_WAIT][-1:]


def _visible(text: str) -> str:
    """`text` without its invisible marks, which part a number in two."""
    return "".join(letter for letter in text if unicodedata.category(letter) != "Cf")


def broken_rule(game: Game, action: Action) -> NoMove | None:
    """The rule of the market that `action` breaks, in words; None where it breaks none of these."""
    obs = game.observation
    table, sells = obs.table, game.you == "seller"
    theirs = table.bids if sells else table.asks
    if isinstance(action, Accept) and not theirs:
        return NoMove("nothing_yet")
    most = obs.own.get("purse", obs.reservation)
    if isinstance(action, Accept):
        over = not sells and obs.ask > most
        return NoMove("rule_budget", price=rupees(obs.ask), most=rupees(most)) if over else None
    if not isinstance(action, Offer):
        return None
    price = rupees(action.price)
    if round(action.price, table.decimals) != action.price:
        return NoMove("rule_whole", price=price)
    if sells and table.bids and action.price <= table.bids[-1]:
        return NoMove("rule_bid", price=price, standing=rupees(table.bids[-1]))
    if not sells and action.price > most:
        return NoMove("rule_budget", price=price, most=rupees(most))
    if not sells and action.price >= obs.ask:
        return NoMove("rule_ask", price=price, standing=rupees(obs.ask))
    return None
