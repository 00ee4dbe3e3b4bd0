"""Plays what a visitor typed: a price in digits or words, an acceptance, or a walk-away.

Any other text is talk, such as a price that was paid before: it makes no move and is answered in
the chat.
"""

import unicodedata
from dataclasses import replace

from env import Accept, IllegalAction, Offer, WalkAway, grouped, rupees
from panels.haggle.talk.asked_back import asked_back
from panels.haggle.talk.state import SILENT, Exchange, Talk
from panels.haggle.talk.trouble import Trouble
from sauda.language.money import LONGEST_MESSAGE
from sauda.language.money import price as price_in
from sauda.language.numerals import fold
from sauda.language.relative import NoBase, relative
from sauda.language.speech.small_talk import slip, small_talk
from sauda.language.stances import read
from sauda.sessions.bazaar import Action, Game, answer
from sauda.sessions.doubts import propose


def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(map(fold, phrase.split())) for phrase in listed.split(", "))


ACCEPTANCES = _phrases(
    "accept, i accept, deal, done, done deal, ok, okay, yes, haan, theek hai, pakka, manzoor, "
    "हाँ, हां, मंज़ूर, मंजूर, ठीक है"
)
FAREWELLS = _phrases(
    "walk away, i walk away, goodbye, bye, rehne do, nahi chahiye, रहने दो, नहीं चाहिए"
)
CONFIRMATIONS = _phrases(
    "yes, y, haan, ha, ji, ji haan, ok, okay, theek hai, हाँ, हां, जी, जी हाँ, ठीक है"
)


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

    A doubtful move stays `unconfirmed` until the visitor repeats or confirms it, and so does a bare
    yes that follows `talk`, because it may answer the talk. Raises NoMove where the text is talk or
    breaks a rule of the market, Trouble where it cannot be answered.
    """
    text = _visible(text or "").strip()
    if len(text) > LONGEST_MESSAGE:
        most, length = grouped(str(LONGEST_MESSAGE)), grouped(str(len(text)))
        raise Trouble("too_long", most=most, length=length)
    folded = " ".join(map(fold, text.strip(" .!?,।").split()))
    if game.unconfirmed is not None and folded in CONFIRMATIONS:
        return answer(game, game.unconfirmed)
    action = _action(game, text, folded)
    if game.over:
        raise NoMove("after")
    if broken := broken_rule(game, action):
        raise broken
    try:
        after = propose(game, action)
    except IllegalAction:
        if isinstance(action, Offer) and game.you == "seller" and not game.waiting:
            raise NoMove("absurd") from None  # more than the market lets anybody ask
        raise
    repeats = game.unconfirmed is not None and game.unconfirmed.message == text
    if isinstance(action, Offer) and relative(text) and not repeats:
        return replace(game, unconfirmed=action)  # a price worked out is shown before it binds
    is_bare_yes = isinstance(action, Accept) and folded in CONFIRMATIONS
    if is_bare_yes and after.unconfirmed is None and talk.at(len(game.play.turns)):
        return replace(game, unconfirmed=action)
    return after


def _action(game: Game, text: str, folded: str) -> Action:
    if folded in ACCEPTANCES:
        return Accept(text)
    if folded in FAREWELLS:
        return WalkAway(text)
    if way := relative(text):
        try:
            amount = way.price(game.observation.table, game.you)
        except NoBase as missing:
            raise NoMove("after" if game.over else f"no_{missing}") from None
        if amount <= 0:
            raise NoMove("after" if game.over else "zero")
        return Offer(amount, text)
    offered = read(text).offered
    try:
        amount = None if slip(offered) else price_in(offered)
    except ValueError:
        amount = None
    if amount is None:
        other = "buyer" if game.you == "seller" else "seller"
        raise NoMove("after" if game.over else small_talk(text, game.observation.table, other))
    return Offer(int(amount) if amount == int(amount) else amount, text)


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
        return NoMove("rule_bid", standing=rupees(table.bids[-1]))
    if not sells and action.price > most:
        return NoMove("rule_budget", price=price, most=rupees(most))
    if not sells and action.price >= obs.ask:
        return NoMove("rule_ask", standing=rupees(obs.ask))
    return None
