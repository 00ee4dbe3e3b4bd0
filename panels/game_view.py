"""What the Haggle tab shows of a game: the talk, the brief, the offers, the reveal."""

from markupsafe import Markup

from env import Accept, Episode, Task, Turn, bonus, rupees, shares, zopa_width
from panels.look import note, stat, strip, table
from panels.offers import Offers, ending, offer_chart
from sauda.haggle import Game, finished, place, standings
from sauda.language.acts import line
from sauda.policies.best_reply import informed_value, rivals_in

LISTINGS = "classic/amazon_realistic"  # the one published task whose prices are drawn


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.task.learner == "seller"


def messages(game: Game) -> list[dict[str, str]]:
    """The conversation, for `gr.Chatbot`: the visitor is the user."""
    said: list[dict[str, str]] = []
    closed = 0  # deals whose end has been told
    for turn in game.play.turns:
        if turn.agent not in ("seller", "buyer") or turn.action is None:
            continue  # rivals bid under seal
        now = turn.observation.table
        if len(now.past) > closed:
            closed = len(now.past)
            told = ending(now.past[-1])
            said.append(_narrator(f"Deal {closed}: {told}. Next: {now.item.name}."))
        said.append({"role": _role(game, turn), "content": _words(game, turn)})
    return said


def _role(game: Game, turn: Turn) -> str:
    return "user" if turn.agent == game.task.learner else "assistant"


def _narrator(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": f"({text})"}


def _words(game: Game, turn: Turn) -> str:
    now = turn.observation.table
    last = turn is game.play.turns[-1]
    winner = game.play.state.table.past[-1].buyer if game.over and last else "buyer"
    if isinstance(turn.action, Accept) and turn.agent == "seller" and winner != "buyer":
        return f"({winner.capitalize().replace('_', ' ')} bought it.)"
    theirs = now.bids if turn.agent == "seller" else now.asks
    number = len(now.asks if turn.agent == "seller" else now.bids)
    standing = theirs[-1] if theirs else None
    return line(turn.action, turn.agent, standing, now.item.name, number)


def brief(game: Game) -> Markup:
    """What the visitor is told: the item, their limit, the rules of this game."""
    obs = game.observation
    item, sell = obs.table.item, obs.agent == "seller"
    facts = [
        ("Your limit", f"{'sell above' if sell else 'pay at most'} {rupees(obs.reservation)}"),
        ("Rounds", f"{min(obs.round, obs.table.rounds)} of {obs.table.rounds} used"),
    ]
    if sell:
        facts.insert(0, ("List price", rupees(item.list_price)))
        most = bonus(item.list_price, item.list_price, obs.reservation)
        facts.append(
            (
                "Bonus",
                f"₹1 per full ₹10 above your limit; all {rupees(most)} at the list price",
            )
        )
    if obs.own.get("deadline"):
        late = "is worth nothing" if "discount" in obs.own else "counts half"
        facts.append(("Your deadline", f"round {obs.own['deadline']}; a later deal {late}"))
    if "discount" in obs.own:
        facts.append(("Time", f"each round after the first costs {1 - obs.own['discount']:.1%}"))
    if "purse" in obs.own:
        facts.append(("Your purse", f"holds {rupees(obs.own['purse'])}"))
    if obs.table.deals > 1:
        facts.append(
            ("Deal", f"{min(len(obs.table.past) + 1, obs.table.deals)} of {obs.table.deals}")
        )
    for rival in obs.table.rivals:
        doing = f"bids so far: {rival.bids}" if rival.active else "has left"
        facts.append((rival.name.replace("_", " "), doing))
    if obs.table.outbid and not game.over:
        facts.append(("Last round", "somebody bid more than you"))
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    condition = item.condition.replace("_", " ")
    return Markup(
        '<div class="sauda-brief"><p class="sauda-label">{}</p><h3>{}</h3>'
        '<p class="sauda-note">{}, {}</p><dl>{}</dl></div>'
    ).format(
        "You sell" if sell else "You buy", item.name.capitalize(), item.category, condition, rows
    )


def chart(game: Game) -> Markup:
    """The visitor's own view of the offers; the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    return offer_chart(Offers(table.asks, table.bids, table.rounds, deal, zopa))


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal: for the reveal, never before."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def result(game: Game) -> Markup:
    """After the end: the share won, the ZOPA, the comparison; before it, nothing."""
    if not game.over:
        fixed = game.task_name.startswith("classic/") and game.task_name != LISTINGS
        also = " In this published task it is the same in every game." if fixed else ""
        return note(f"The other side’s limit shows when the game ends.{also}")
    rows = standings(game)
    you = next(row for row in rows if row.visitor)
    played = finished(game)
    past = played.final.table.past
    lines = [
        strip(
            stat(f"{you.share:.0%}", "of the ZOPA is yours"),
            stat(f"{you.grade:.2f}", "grade, 1 at best"),
            stat(place(rows), "your place on this seed"),
        ),
        deals_table(played) if played.final.table.deals > 1 else zopa_bar(game),
    ]
    if game.task_name.startswith("bazaar/") and not sells(game):
        lines += [seller_line(played), oracle_line(game.task, played)]
    if sells(game) and game.opponent:
        lines.append(Markup("<p>The buyer was {}.</p>").format(game.opponent.replace("_", " ")))
    if sells(game) and past:
        lines.append(bonus_line(game, past[-1].price))
    lines.append(
        table(
            ("player", "grade", "share", "price"),
            [
                (
                    Markup('<b class="sauda-you">you</b>') if row.visitor else row.name,
                    f"{row.grade:.3f}",
                    f"{row.share:.3f}",
                    "–" if row.price is None else rupees(row.price),
                )
                for row in rows
            ],
            caption="The same game, the same seed, played by every policy",
        )
    )
    name = next(row.name for row in rows if not row.visitor)
    lines.append(
        note(
            f"Played now. The game was {game.task_name} at seed {game.play.seed}"
            + (f" against {game.opponent}" if game.opponent else "")
            + f"; play it again: python -m sauda play --task {game.task_name} --policy {name}"
            + f" --seed {game.play.seed}"
            + (f" --against {game.opponent}" if game.opponent else "")
        )
    )
    return Markup("").join(lines)


def zopa_bar(game: Game) -> Markup:
    """The span between the limits, cut where the price fell."""
    past, (seller, buyer) = game.play.state.table.past, limits(game)
    span = f"The seller’s limit was {rupees(round(seller, 2))}, the buyer’s {rupees(buyer)}."
    deal = past[-1] if past else None
    if buyer <= seller and (deal is None or deal.price is None):
        return Markup("<p>{} No price suited both: to make no deal was right.</p>").format(span)
    if deal is None or deal.price is None or deal.buyer != "buyer":
        how = "a forfeit ended it" if game.play.forfeit else ending(deal)
        return Markup("<p>{} {}, so you won nothing.</p>").format(span, how[0].upper() + how[1:])
    if not seller <= deal.price <= buyer:
        loser, limit = ("seller", seller) if deal.price < seller else ("buyer", buyer)
        return Markup("<p>{} The price fell at {}: a loss of {} to the {}.</p>").format(
            span, rupees(deal.price), rupees(round(abs(deal.price - limit), 2)), loser
        )
    part = (deal.price - seller) / zopa_width(buyer, seller)
    return Markup(
        '<div class="sauda-zopa" role="img" aria-label="{} The price was {}.">'
        '<span class="sauda-zopa-seller" style="width:{}%"></span>'
        '<span class="sauda-zopa-buyer" style="width:{}%"></span></div>'
        "<p>{} The price fell at {}: {} to the seller, {} to the buyer.</p>"
    ).format(
        span, rupees(deal.price), round(100 * part, 1), round(100 - 100 * part, 1),
        span, rupees(deal.price), f"{part:.0%}", f"{1 - part:.0%}",
    )  # fmt: skip


def deals_table(played: Episode) -> Markup:
    """How each deal of a career came out."""
    past, won = played.final.table.past, shares(played.final, "buyer")
    rows = [
        (f"{number} {instance.item.name}", ending(deal), f"{share:.3f}")
        for number, (instance, deal, share) in enumerate(
            zip(played.final.private["nature"], past, won, strict=False), start=1
        )
    ]
    return table(("deal", "how it ended", "share"), rows, align="llr", caption="Your deals")


def seller_line(played: Episode) -> Markup:
    """Who the seller was: its type and what that means in numbers."""
    stance = played.final.private["nature"][-1].seller["stance"]
    kind = stance.type
    concedes = "late" if kind.exponent < 0.7 else "early" if kind.exponent > 1.4 else "evenly"
    return Markup(
        "<p>The seller was of the type <b>{}</b>: it opened at {:.2f} of the list price, concedes"
        " {}, gives {:.0%} of its concession in answer to the buyer’s movement, and makes {:.0%} of"
        " the claims that would not be true{}.</p>"
    ).format(
        kind.name,
        kind.markup,
        concedes,
        kind.reciprocity,
        kind.bluff_rate,
        "; another buyer really waited" if stance.rival else "; no other buyer waited",
    )


def oracle_line(here: Task, played: Episode) -> Markup:
    """What the best reply to this very seller would have expected, before luck."""
    deals = played.final.private["nature"]
    value = sum(informed_value(deal, rivals_in(here)) for deal in deals) / len(deals)
    most = "at most " if len(deals) > 1 else ""
    return Markup(
        "<p>An oracle that knew this seller would have expected a grade of {}{}.</p>"
    ).format(most, f"{value:.3f}")


def bonus_line(game: Game, price: float | None) -> Markup:
    """What the seller's brief pays."""
    obs = game.observation
    ask = obs.table.item.list_price
    earned, most = bonus(price, ask, obs.reservation), bonus(ask, ask, obs.reservation)
    return Markup("<p>Your bonus: {} of at most {}.</p>").format(rupees(earned), rupees(most))
