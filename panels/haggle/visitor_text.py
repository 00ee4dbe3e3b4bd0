"""Plays what a visitor typed: a price in digits or words, an acceptance, or a walk-away."""

from env import Accept, Offer, WalkAway, rupees
from sauda.language.money import price as price_in
from sauda.language.numerals import fold
from sauda.sessions.bazaar import Game, answer, offer


def _phrases(listed: str) -> frozenset[str]:
    return frozenset(" ".join(map(fold, phrase.split())) for phrase in listed.split(", "))


ACCEPTANCES = _phrases(
    "accept, i accept, deal, done, done deal, ok, okay, yes, haan, theek hai, pakka, manzoor, "
    "हाँ, हां, मंज़ूर, मंजूर, ठीक है"
)
FAREWELLS = _phrases(
    "walk away, i walk away, goodbye, bye, rehne do, nahi chahiye, रहने दो, नहीं चाहिए"
)
CONFIRMATIONS = _phrases("yes, y, haan, ha, ji, ji haan, ok, okay, हाँ, हां, जी, जी हाँ")


def play_text(game: Game, text: str) -> Game:
    """The game after the visitor's `text`; ValueError with one sentence if it makes no legal move.

    A far-off price stays `unconfirmed` until the visitor repeats it or confirms it.
    """
    text = (text or "").strip()
    folded = " ".join(map(fold, text.strip(" .!?,।").split()))
    if game.unconfirmed is not None and folded in CONFIRMATIONS:
        return answer(game, game.unconfirmed)
    if folded in ACCEPTANCES:
        return answer(game, Accept(text))
    if folded in FAREWELLS:
        return answer(game, WalkAway(text))
    amount = price_in(text)
    amount = int(amount) if amount == int(amount) else amount
    obs = game.observation
    playing = not (game.over or game.waiting)
    if playing and obs.agent != "seller" and amount >= obs.ask:
        raise ValueError(
            f"the seller asks {rupees(obs.ask)}: say “deal” to take it, or name less than that"
        )
    return offer(game, Offer(amount, text))
