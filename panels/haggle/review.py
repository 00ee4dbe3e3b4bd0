"""What the Haggle tab shows of a game review: the verdict, and every own move with its cost."""

from dataclasses import asdict

from markupsafe import Markup

from env import Accept, Offer, Turn, rupees
from panels.haggle.game_view import HTML, IN_ENGLISH, limits, sells
from panels.haggle.opponents import model_name
from panels.haggle.words import ENGLISH, Translate
from panels.ui.look import note
from panels.ui.provenance import missing
from sauda.experiments.gap import difficulty
from sauda.language.lines import translate_phrases
from sauda.records.kinds import ArtifactError
from sauda.sessions.bazaar import Game, moves_of
from sauda.sessions.review import CLASSES, OwnMove, Review, Worth, is_planned, is_recorded


def is_reviewed(game: Game) -> bool:
    """Whether `game` gets a review: it is over, and the visitor made a move in it."""
    return game.over and bool(moves_of(game))


def review_pending(game: Game, translate: Translate = IN_ENGLISH) -> Markup | str:
    """What stands in the place of the review until it is there; empty while the game runs."""
    if not is_reviewed(game):
        return ""
    return HTML.review_section(note(translate("review_wait")), translate)


def review_shown(review: Review, translate: Translate, language: str = ENGLISH) -> Markup:
    """The review of a finished game, and how it was made."""
    game, table, notes = review.game, "", []
    if review.gap:
        figures = {name: f"{v:.2f}".replace("-", "−") for name, v in asdict(review.gap).items()}
        notes.append(translate("review_gap", **figures))
    notes.append(_method(game, translate))
    if game.play.state.table.deals > 1:
        notes.append(translate("review_deals"))
    if sells(game):
        table = on_the_table(game, translate)
    rows = [_row(move, review, translate, language) for move in review.moves]
    body = HTML.review(_verdict(review, translate), table, rows, notes, translate)
    if is_planned(game):
        body += _difficulty(game, translate, language)
    return HTML.review_section(body, translate)


def _difficulty(game: Game, translate: Translate, language: str) -> Markup:
    """How hard the finished game was; in English also why. The reason where it is not measured."""
    try:
        place, why = difficulty(game.play.state.private["nature"][-1])
    except ArtifactError as error:
        return missing(error)
    told = translate("review_difficulty", place=place)
    return note(f"{told} {why[0].upper()}{why[1:]}." if language == ENGLISH else told)


def _method(game: Game, translate: Translate) -> str:
    """How the review was made."""
    if is_planned(game):
        return translate("review_planned")
    if is_recorded(game):
        return translate("review_recorded", name=model_name(game.opponent, translate))
    return translate("review_searched")


def _verdict(review: Review, translate: Translate) -> str:
    """What the visitor missed, and the move that cost most, in one sentence."""
    worst, planned = review.costliest, is_planned(review.game)
    if worst is None:
        return translate("review_none_planned" if planned else "review_none")
    return translate(
        "review_planned_cost" if planned else "review_missed_cost",
        amount=_amount(review.missed, review.game, translate),
        number=worst.number + 1,
        said=_said(worst.turn, translate),
    )


def _row(
    move: OwnMove, review: Review, translate: Translate, language: str
) -> tuple[OwnMove, str, str, str, str]:
    """One own move, what was said, its kind, its cost, what was better.

    No kind where all that is known is that no named price was better.
    """
    game, costs = review.game, move.better is not None
    kind = "" if is_recorded(game) and move.kind in CLASSES and not costs else move.kind
    free = "" if is_planned(game) or is_recorded(game) else "₹0"
    cost = "−" + _amount(move.cost, game, translate) if costs else free
    advice = _advice(move, translate, language) if costs else ""
    return move, _said(move.turn, translate), kind, cost, advice


def _advice(move: OwnMove, translate: Translate, language: str) -> str:
    """What would have been better than `move`."""
    obs, better, deal = move.turn.observation, move.better, move.deal
    if isinstance(better, Accept):
        return translate("review_take", price=rupees(obs.bid if obs.agent == "seller" else obs.ask))
    if not isinstance(better, Offer):
        return translate("review_leave")
    price = rupees(better.price)
    if deal is None and better.message:
        said = translate_phrases(better.message, language)
        return translate("review_bid_saying", price=price, said=said)
    if deal is None:
        return translate("review_bid", price=price)
    if deal.price is None:
        return translate("review_other", first=price)
    if deal.price == better.price:
        return translate("review_at", price=price)
    return translate("review_later", first=price, price=rupees(deal.price))


def _said(turn: Turn, translate: Translate) -> str:
    """A move of the visitor as a price or an order, without what was typed with it."""
    obs = turn.observation
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price)
    if isinstance(turn.action, Accept):
        theirs = obs.bid if turn.agent == "seller" else obs.ask
        return f"{translate('quick_accept')} {rupees(theirs)}"
    return translate("quick_walk")


def _amount(missed: Worth, game: Game, translate: Translate) -> str:
    """Rupees as fine as the prices, or the grade where a better grade earns no more rupees."""
    if missed.rupees <= 0:
        return translate("review_grade", grade=missed.grade)
    decimals = game.play.state.table.decimals
    return rupees(round(missed.rupees, decimals) or round(missed.rupees, 2))


def on_the_table(game: Game, translate: Translate) -> Markup | str:
    """What the buyer's price before each move would have won, as bars: all that is certain of a
    model. Empty where no price was named or none suited both sides.
    """
    low, high = limits(game)
    tables = [game.play.turns[i].observation.table for i in moves_of(game)]
    bids = [(number, table.bids[-1]) for number, table in enumerate(tables, 1) if table.bids]
    if not bids or high <= low:
        return ""
    shares = [(number, min(1.0, max(0.0, (bid - low) / (high - low)))) for number, bid in bids]
    best, share = max(shares, key=lambda bar: bar[1])
    summary = translate("review_table_best", number=best, share=share)
    return HTML.bars(translate("review_table"), summary, shares)
