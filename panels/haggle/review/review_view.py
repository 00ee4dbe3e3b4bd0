"""What the Haggle tab shows of a game review: the verdict, every own move, the best line."""

from collections.abc import Sequence

from markupsafe import Markup

from env import Accept, Offer, Turn, rupees
from panels.haggle.game_view import IN_ENGLISH, limits
from panels.haggle.words import Translate
from panels.ui.look import note
from sauda.sessions.bazaar import Game, moves_of
from sauda.sessions.review import Line, OwnMove, Review, Worth, deal_of, is_asked, outcome_of

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


def review_shown(review: Review, remarks: Sequence[str], translate: Translate) -> Markup:
    """The review of a finished game. `remarks` say how it was made, or how far it has come."""
    rows = Markup("").join(_row(move, review, translate) for move in review.moves)
    deals = review.game.play.state.table.deals
    notes = [*remarks]
    if "discount" in review.game.play.state.private["buyer"] and review.game.you == "buyer":
        notes.append(translate("review_time"))
    if deals > 1:
        notes.append(translate("review_deals"))
    return _section(
        translate,
        Markup('<p class="sauda-verdict">{}</p>').format(verdict(review, translate)),
        on_the_table(review.game, translate)
        if is_asked(review.game)
        else bar_picture(review, translate),
        Markup('<ol class="sauda-own">{}</ol>').format(rows),
        best_line(review, translate),
        *[note(remark) for remark in notes],
    )


def remark(review: Review, name: str, asked: int, translate: Translate) -> str:
    """How the review was made: by search, or by `asked` replies of the model called `name`."""
    if is_asked(review.game):
        return translate("review_asked", name=name, count=asked)
    return translate("review_searched")


def verdict(review: Review, translate: Translate) -> str:
    """What the visitor missed, and the move that cost most, in one sentence."""
    worst = review.costliest
    if worst is None and is_asked(review.game):
        return few_tried(review, translate)
    if worst is None:
        return translate("review_none")
    amount = _amount(review.missed, review.game, translate)
    said = own_said(own_turn(review.game, worst.number), translate)
    return translate("review_missed", amount=amount, number=worst.number + 1, said=said)


def few_tried(review: Review, translate: Translate) -> str:
    """That nothing better is known against a model, and how few other prices that rests on."""
    keys = ("review_none_tried", "review_one_tried")
    count = len(review.tried)
    return translate(keys[count] if count < len(keys) else "review_few_tried", count=count)


def replies_to_others(review: Review, move: OwnMove, translate: Translate) -> str:
    """What the model replied to the other prices that were tried at `move`; empty for none."""
    told = []
    for found in review.tried:
        after = found.line.play.turns[found.line.first + 1 :]
        if found.number == move.number and after:
            price, said = found.line.action.price, reply_said(after[0], translate)
            told.append(translate("review_tried", price=rupees(price), said=said))
    return " ".join(told)


def sentence(move: OwnMove, translate: Translate) -> str:
    """What would have been better than `move`; empty where nothing is known to be."""
    if move.line is None:
        return ""
    deal, action = outcome_of(move.line), move.line.action
    if isinstance(action, Accept):
        return translate("review_take", price=rupees(deal.price))
    if not isinstance(action, Offer):
        return translate("review_leave")
    first = rupees(action.price)
    if deal is None or deal.price is None:
        return translate("review_other", first=first)
    own = [turn.action for turn in _turns(move.line) if turn.agent == own_agent(move.line)]
    if len(own) == 1:
        return translate("review_at", price=first)
    if all(isinstance(other, Offer) and other.price == action.price for other in own):
        return translate("review_hold", price=first, round=deal.rounds)
    return translate("review_later", first=first, price=rupees(deal.price), round=deal.rounds)


def own_agent(line: Line) -> str:
    """The seat whose line it is."""
    return line.play.turns[line.first].agent


def own_turn(game: Game, number: int) -> Turn:
    """The visitor's move `number`, counted from 0, as a turn."""
    return game.play.turns[moves_of(game)[number]]


def own_said(turn: Turn, translate: Translate) -> str:
    """A move of the visitor as a price or an order, without what was typed with it."""
    table = turn.observation.table
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price)
    if isinstance(turn.action, Accept):
        theirs = table.bids if turn.agent == "seller" else table.asks
        return f"{translate('quick_accept')} {rupees(theirs[-1])}"
    return translate("quick_walk")


def reply_said(turn: Turn, translate: Translate) -> str:
    """A move of the other side in a price or a word."""
    if isinstance(turn.action, Offer):
        return rupees(turn.action.price)
    return translate("review_accepts" if isinstance(turn.action, Accept) else "review_walks")


def best_line(review: Review, translate: Translate) -> Markup:
    """The best line of the deal that the costliest move belongs to; empty where none is better."""
    line = review.best
    if line is None:
        return Markup("")
    rounds: list[list[str]] = []
    for turn in _turns(line):
        if turn.agent == own_agent(line):
            rounds.append([translate("review_you", said=own_said(turn, translate))])
        else:
            rounds[-1].append(translate("review_they", said=reply_said(turn, translate)))
    items = [Markup("<li>{}</li>").format(" · ".join(one)) for one in rounds]
    number = sum(turn.agent == own_agent(line) for turn in line.play.turns[: line.first]) + 1
    return Markup("<h4>{}</h4><ol class='sauda-line' start='{}'>{}</ol>").format(
        translate("review_best", number=number), number, Markup("").join(items)
    )


def _turns(line: Line) -> list[Turn]:
    """The turns of a line that both sides see, up to the end of its deal."""
    turns = line.play.turns[line.first :]
    deal = deal_of(turns[0])
    return [
        turn
        for turn in turns
        if turn.agent in ("seller", "buyer") and turn.action is not None and deal_of(turn) == deal
    ]


def bar_picture(review: Review, translate: Translate) -> Markup:
    """What was still to win at the start and after each move, as bars; empty where nothing was."""
    known = [(move.number + 1, move.left) for move in review.moves if move.left is not None]
    if not known:
        return Markup("")
    bars: list[tuple[str, float]] = [(translate("review_start"), 1.0)]
    bars += [(str(number), left) for number, left in known]
    summary = translate("review_bar_end", left=known[-1][1])
    return _bars(translate("review_bar"), summary, bars)


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


def _row(move: OwnMove, review: Review, translate: Translate) -> Markup:
    """One move: what was said, what it cost, what was better, and a button to try it.

    Against a model no cost is known where nothing better was found: only a few prices were tried.
    """
    number, game = move.number + 1, review.game
    said = own_said(own_turn(game, move.number), translate)
    cost = "−" + _amount(move.cost, game, translate) if move.line else "₹0"
    why = sentence(move, translate)
    if is_asked(game) and not move.line:
        cost, why = "", replies_to_others(review, move, translate)
    return Markup(
        '<li><span class="sauda-said">{}. {}</span><span class="{}">{}</span>'
        '<span class="sauda-why">{}</span>'
        '<button type="button" class="sauda-try" data-move="{}" aria-label="{}">{}</button></li>'
    ).format(
        number, said, "sauda-cost sauda-bad" if move.line else "sauda-cost", cost,
        why, move.number,
        translate("review_whatif_at", number=number), translate("review_whatif"),
    )  # fmt: skip


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
