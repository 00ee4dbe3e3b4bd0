"""What the Haggle tab shows of a game review: the verdict, and every own move with its cost."""

from collections.abc import Sequence
from dataclasses import asdict

from markupsafe import Markup

from env import Accept, Offer, Turn, rupees
from panels.haggle.game_view import IN_ENGLISH, limits
from panels.haggle.opponents import model_name
from panels.haggle.words import ENGLISH, Translate
from panels.ui.look import note
from panels.ui.provenance import missing
from sauda.experiments.gap import difficulty
from sauda.language.lines import translate_phrases
from sauda.records.kinds import ArtifactError
from sauda.sessions.bazaar import Game, moves_of
from sauda.sessions.review import CLASSES, Gap, OwnMove, Review, Worth, is_planned, is_recorded

WIDTH, HEIGHT, FOOT, TOP = 420, 92, 18, 14  # of the picture's viewBox; under and over the bars
LABELLED = 12  # bars that are labelled with their share


def is_reviewed(game: Game) -> bool:
    """Whether `game` gets a review: it is over, and the visitor made a move in it."""
    return game.over and bool(moves_of(game))


def review_pending(game: Game, translate: Translate = IN_ENGLISH) -> Markup | str:
    """What stands in the place of the review until it is there; empty while the game runs."""
    if not is_reviewed(game):
        return ""
    return _section(translate, note(translate("review_wait")))


def review_shown(review: Review, translate: Translate, language: str = ENGLISH) -> Markup:
    """The review of a finished game, and how it was made."""
    game = review.game
    rows = Markup("").join(_row(move, review, translate, language) for move in review.moves)
    notes = [remark(game, translate)]
    if review.gap:
        notes.insert(0, gap_line(review.gap, translate))
    if game.play.state.table.deals > 1:
        notes.append(translate("review_deals"))
    return _section(
        translate,
        Markup('<p class="sauda-verdict">{}</p>').format(verdict(review, translate)),
        on_the_table(game, translate) if game.you == "seller" else "",
        Markup('<ol class="sauda-own">{}</ol>').format(rows),
        *map(note, notes),
        difficulty_line(game, translate, language) if is_planned(game) else "",
    )


def gap_line(gap: Gap, translate: Translate) -> str:
    """The parts of the gap to a buyer that knows the seller, in a sentence."""
    figures = {name: f"{value:.2f}".replace("-", "−") for name, value in asdict(gap).items()}
    return translate("review_gap", **figures)


def difficulty_line(game: Game, translate: Translate, language: str) -> Markup:
    """How hard the finished game was; in English also why. The reason where it is not measured."""
    try:
        place, why = difficulty(game.play.state.private["nature"][-1])
    except ArtifactError as error:
        return missing(error)
    told = translate("review_difficulty", place=place)
    return note(f"{told} {why[0].upper()}{why[1:]}." if language == ENGLISH else told)


def remark(game: Game, translate: Translate) -> str:
    """How the review was made."""
    if is_planned(game):
        return translate("review_planned")
    if is_recorded(game):
        return translate("review_recorded", name=model_name(game.opponent, translate))
    return translate("review_searched")


def verdict(review: Review, translate: Translate) -> str:
    """What the visitor missed, and the move that cost most, in one sentence."""
    worst = review.costliest
    kind = "planned" if is_planned(review.game) else "missed"
    if worst is None:
        return translate("review_none_planned" if kind == "planned" else "review_none")
    amount = _amount(review.missed, review.game, translate)
    said = own_said(worst.turn, translate)
    return translate(f"review_{kind}_cost", amount=amount, number=worst.number + 1, said=said)


def sentence(move: OwnMove, translate: Translate, language: str = ENGLISH) -> str:
    """What would have been better than `move`; empty where nothing is known to be."""
    obs, better, deal = move.turn.observation, move.better, move.deal
    if better is None:
        return ""
    if isinstance(better, Accept):
        theirs = obs.bid if obs.agent == "seller" else obs.ask
        return translate("review_take", price=rupees(theirs))
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


def own_said(turn: Turn, translate: Translate) -> str:
    """A move of the visitor as a price or an order, without what was typed with it."""
    obs = turn.observation
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price)
    if isinstance(turn.action, Accept):
        theirs = obs.bid if turn.agent == "seller" else obs.ask
        return f"{translate('quick_accept')} {rupees(theirs)}"
    return translate("quick_walk")


def on_the_table(game: Game, translate: Translate) -> Markup:
    """What the buyer's price before each move would have won, as bars: all that is certain of a
    model. Empty where no price was named or none suited both sides.
    """
    low, high = limits(game)
    tables = [game.play.turns[i].observation.table for i in moves_of(game)]
    bids = [(str(number), table.bids[-1]) for number, table in enumerate(tables, 1) if table.bids]
    if not bids or high <= low:
        return Markup("")
    bars = [(label, min(1.0, max(0.0, (bid - low) / (high - low)))) for label, bid in bids]
    best, share = max(bars, key=lambda bar: bar[1])
    summary = translate("review_table_best", number=best, share=share)
    return _bars(translate("review_table"), summary, bars)


def _bars(title: str, summary: str, bars: Sequence[tuple[str, float]]) -> Markup:
    """A picture of labelled shares, with its title above and a sentence for whoever cannot see."""
    step = WIDTH / len(bars)
    drawn = [_bar(i * step, step, label, left, len(bars)) for i, (label, left) in enumerate(bars)]
    return Markup(
        '<p class="sauda-note">{}</p>'
        '<svg class="sauda-left" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>'
    ).format(title, WIDTH, HEIGHT, summary, Markup("").join(drawn))


def _bar(x: float, step: float, label: str, left: float, bars: int) -> Markup:
    """One bar: the whole faint behind what is left."""
    full = HEIGHT - FOOT - TOP
    width, height = round(0.7 * step, 1), round(full * left, 1)
    start, middle = round(x + 0.15 * step, 1), round(x + step / 2, 1)
    parts = [
        Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>').format(
            name, start, HEIGHT - FOOT - tall, width, tall
        )
        for name, tall in (("whole", full), ("part", height))
    ]
    text = Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>')
    if bars <= LABELLED + 1:
        parts.append(text.format(middle, HEIGHT - 4, label))
        parts.append(text.format(middle, TOP - 3, f"{left:.0%}"))
    return Markup("").join(parts)


def _row(move: OwnMove, review: Review, translate: Translate, language: str) -> Markup:
    """One own move with its cost, what was better, and a button that goes back to it."""
    number, costs = move.number + 1, move.better is not None
    cost = "−" + _amount(move.cost, review.game, translate) if costs else "₹0"
    if not costs and (is_planned(review.game) or is_recorded(review.game)):
        cost = ""
    return Markup(
        '<li><span class="sauda-said">{}. {} {}</span><span class="{}">{}</span>'
        '<span class="sauda-why">{}</span>'
        '<button type="button" class="sauda-try" data-press="what_if" data-number="{}"'
        ' data-show="haggle-chat" aria-label="{}">{}</button></li>'
    ).format(
        number, own_said(move.turn, translate), _kind(move, review, translate),
        "sauda-cost sauda-bad" if costs else "sauda-cost", cost,
        sentence(move, translate, language), move.number,
        translate("review_whatif_at", number=number), translate("review_whatif"),
    )  # fmt: skip


def _kind(move: OwnMove, review: Review, translate: Translate) -> Markup:
    """The class of a move; none where all that is known is that no named price was better."""
    if is_recorded(review.game) and move.kind in CLASSES and move.better is None:
        return Markup("")
    return Markup('<span class="sauda-kind sauda-kind-{}">{}</span>').format(
        move.kind, translate(f"kind_{move.kind}")
    )


def _amount(missed: Worth, game: Game, translate: Translate) -> str:
    """Rupees as fine as the prices, or the grade where a better grade earns no more rupees."""
    if missed.rupees <= 0:
        return translate("review_grade", grade=missed.grade)
    decimals = game.play.state.table.decimals
    return rupees(round(missed.rupees, decimals) or round(missed.rupees, 2))


def _section(translate: Translate, *parts: str) -> Markup:
    return Markup('<section class="sauda-review"><h3>{}</h3>{}</section>').format(
        translate("review"), Markup("").join(parts)
    )
