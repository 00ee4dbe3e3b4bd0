"""What the Haggle tab shows of a game: the talk, the brief, the offers, the reveal."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from env import Accept, Episode, Task, Turn, bonus, rupees, shares, zopa_width
from panels.haggle.words import ENGLISH, Say, speaking
from panels.ui.look import as_typed, note, stat, strip, table
from panels.ui.offers import LARGE, SMALL, Offers, ending, offer_chart
from sauda.language import money
from sauda.language.acts import line
from sauda.policies.best_response import informed_value, rivals_in
from sauda.sessions.bazaar import Game, Standing, finished, place, standing, standings

ENGLISH_WORDS = speaking(ENGLISH)
LISTINGS = "classic/amazon_realistic"  # the one published task whose prices are drawn


def sells(game: Game) -> bool:
    """Whether the visitor is the seller."""
    return game.task.learner == "seller"


def messages(game: Game) -> list[dict[str, str]]:
    """The conversation as plain text, the visitor as the user; `bubbles` makes it a chat."""
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


def bubbles(said: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Plain messages for `gr.Chatbot`, which renders HTML even where Markdown is off."""
    return [{**message, "content": as_typed(message["content"])} for message in said]


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


def brief(game: Game, say: Say = ENGLISH_WORDS) -> Markup:
    """What the visitor is told: the item, their limit, the rules of this game."""
    obs = game.observation
    item, sell = obs.table.item, obs.agent == "seller"
    limit = say("sell_above" if sell else "pay_at_most", price=rupees(obs.reservation))
    used = min(obs.round, obs.table.rounds)
    facts = [
        (say("limit"), limit),
        (say("rounds"), say("rounds_used", used=used, all=obs.table.rounds)),
    ]
    if sell:
        facts.insert(0, (say("list_price"), rupees(item.list_price)))
        most = bonus(item.list_price, item.list_price, obs.reservation)
        facts.append((say("bonus"), say("bonus_rule", most=rupees(most))))
    if obs.own.get("deadline"):
        late = "late_nothing" if "discount" in obs.own else "late_half"
        facts.append((say("deadline"), say(late, round=obs.own["deadline"])))
    if "discount" in obs.own:
        facts.append((say("time"), say("time_costs", share=f"{1 - obs.own['discount']:.1%}")))
    if "purse" in obs.own:
        facts.append((say("purse"), say("purse_holds", price=rupees(obs.own["purse"]))))
    if obs.table.deals > 1:
        now = min(len(obs.table.past) + 1, obs.table.deals)
        facts.append((say("deal"), say("deal_of", now=now, all=obs.table.deals)))
    for rival in obs.table.rivals:
        doing = say("bids_so_far", bids=rival.bids) if rival.active else say("has_left")
        facts.append((rival.name.replace("_", " "), doing))
    if obs.table.outbid and not game.over:
        facts.append((say("last_round"), say("outbid")))
    rows = Markup("").join(Markup("<dt>{}</dt><dd>{}</dd>").format(*fact) for fact in facts)
    condition = item.condition.replace("_", " ")
    return Markup(
        '<div class="sauda-brief"><p class="sauda-label">{}</p><h3>{}</h3>'
        '<p class="sauda-note">{}, {}</p><dl>{}</dl></div>'
    ).format(
        say("you_sell" if sell else "you_buy"),
        item.name[0].upper() + item.name[1:],
        item.category,
        condition,
        rows,
    )


def chart(game: Game, size: tuple[int, int] = LARGE) -> Markup:
    """The visitor's own view of the offers; the ZOPA once the game is over."""
    table = game.observation.table
    deal = table.past[-1] if game.over and table.past else None
    zopa = limits(game) if game.over else None
    return offer_chart(Offers(table.asks, table.bids, table.rounds, deal, zopa), size)


def limits(game: Game) -> tuple[float, float]:
    """Both reservation prices of the last deal: for the reveal, never before."""
    instance = game.play.state.private["nature"][-1]
    return instance.seller["reservation"], instance.buyer["reservation"]


def result(game: Game, say: Say = ENGLISH_WORDS) -> Markup:
    """After the end: the share won, the ZOPA, the comparison; before it, nothing."""
    if not game.over:
        fixed = game.task_name.startswith("classic/") and game.task_name != LISTINGS
        return note(say("hidden_limit") + (say("hidden_same") if fixed else ""))
    played = finished(game)
    you = standing("you", game.task, played, visitor=True)
    # Who buys by a model's moves cannot be met again by scripts; a seller's moves are code's.
    rows = [] if game.speaker and game.speaker.seat == "buyer" else standings(game)
    figures = [
        stat(f"{you.share:.0%}", say("zopa_yours")),
        stat(f"{you.grade:.2f}", say("grade")),
    ]
    if rows:
        figures.append(stat(place(rows), say("place")))
    past = played.final.table.past
    lines = [
        strip(*figures),
        deals_table(played) if played.final.table.deals > 1 else zopa_bar(game, say),
    ]
    if game.task_name.startswith("bazaar/") and not sells(game):
        lines += [seller_line(played), oracle_line(game.task, played)]
    if sells(game):
        lines += seller_lines(game, past[-1].price if past else None, say)
    if game.undone:
        lines.append(Markup("<p>{}</p>").format(say("undone", count=game.undone)))
    if rows:
        lines += [compared(rows), replay_note(game, rows)]
    return Markup("").join(lines)


def seller_lines(game: Game, price: float | None, say: Say) -> list[Markup]:
    """For a visitor who sold: who bought, the bonus, and the most that could be had."""
    _, limit = limits(game)
    told = [bonus_line(game, price, say), say("best_ask", price=rupees(limit))]
    if sources := {heard.source for heard in game.heard}:
        told.append(say("written_by", source=", ".join(sorted(sources))))
    elif game.opponent:
        told.append(say("buyer_was", name=game.opponent.replace("_", " ")))
    return [Markup("<p>{}</p>").format(sentence) for sentence in told]


def compared(rows: list[Standing]) -> Markup:
    """The visitor beside every policy on the same seed."""
    return table(
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


def replay_note(game: Game, rows: list[Standing]) -> Markup:
    """What plays this very game again."""
    name = next(row.name for row in rows if not row.visitor)
    against = f" --against {game.opponent}" if game.opponent else ""
    return note(
        f"Played now. The game was {game.task_name} at seed {game.play.seed}"
        + (f" against {game.opponent}" if game.opponent else "")
        + f"; play it again: python -m sauda play --task {game.task_name} --policy {name}"
        + f" --seed {game.play.seed}{against}"
    )


def zopa_bar(game: Game, say: Say = ENGLISH_WORDS) -> Markup:
    """The span between the limits, cut where the price fell."""
    past, (seller, buyer) = game.play.state.table.past, limits(game)
    span = say("limits", seller=rupees(round(seller, 2)), buyer=rupees(buyer))
    deal = past[-1] if past else None
    if buyer <= seller and (deal is None or deal.price is None):
        return Markup("<p>{} {}</p>").format(span, say("no_zopa"))
    if deal is None or deal.price is None or deal.buyer != "buyer":
        how = "a forfeit ended it" if game.play.forfeit else ending(deal)
        nothing = say("won_nothing", how=how[0].upper() + how[1:])
        return Markup("<p>{} {}</p>").format(span, nothing)
    price = rupees(deal.price)
    if not seller <= deal.price <= buyer:
        loser, limit = ("seller", seller) if deal.price < seller else ("buyer", buyer)
        lost = rupees(round(abs(deal.price - limit), 2))
        told = say("loss", price=price, loss=lost, loser=say(loser).lower())
        return Markup("<p>{} {}</p>").format(span, told)
    part = (deal.price - seller) / zopa_width(buyer, seller)
    split = say("split", price=price, seller=f"{part:.0%}", buyer=f"{1 - part:.0%}")
    return Markup(
        '<div class="sauda-zopa" role="img" aria-label="{0} {1}">'
        '<span class="sauda-zopa-seller" style="width:{2}%"></span>'
        '<span class="sauda-zopa-buyer" style="width:{3}%"></span></div>'
        "<p>{0} {1}</p>"
    ).format(span, split, round(100 * part, 1), round(100 - 100 * part, 1))


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


def oracle_line(task: Task, played: Episode) -> Markup:
    """What the best reply to this very seller would have expected, before luck."""
    deals = played.final.private["nature"]
    value = sum(informed_value(deal, rivals_in(task)) for deal in deals) / len(deals)
    most = "at most " if len(deals) > 1 else ""
    return Markup(
        "<p>An oracle that knew this seller would have expected a grade of {}{}.</p>"
    ).format(most, f"{value:.3f}")


def bonus_line(game: Game, price: float | None, say: Say) -> str:
    """What the seller's brief pays."""
    obs = game.observation
    ask = obs.table.item.list_price
    earned, most = bonus(price, ask, obs.reservation), bonus(ask, ask, obs.reservation)
    return say("your_bonus", earned=rupees(earned), most=rupees(most))


def raw(game: Game, say: Say) -> Markup:
    """The language model's last completion as it came, and what was made of it.

    While the game runs, one that names a number is kept back: its numbers are percent of its limit,
    and beside the price that came of them they would tell it.
    """
    if not game.heard and not game.missed:
        return note(say("raw_none"))
    replies = list(game.missed)
    if game.heard and not game.missed:
        last = game.heard[-1]
        replies = [*last.missed, last.reply.text]
    parts = [
        Markup("<pre><code>{}</code></pre>").format(text)
        if game.over or not game.speaker.knows or not names_a_number(text)
        else note(say("raw_later"))
        for text in replies
    ]
    if game.heard and not game.missed:
        changes = "; ".join(last.changes)
        shows = game.over or not game.speaker.knows  # a change may name the limit
        told = say("changed", changes=changes if shows else "…") if changes else say("unchanged")
        parts.append(note(f"{last.source}, {last.reply.tokens} tokens. {told}"))
    return Markup("").join(parts)


def names_a_number(completion: str) -> bool:
    """Whether a completion holds a number, in digits or words."""
    return any(c.isdigit() for c in completion) or bool(money.prices(completion))


def compared_games(first: Game | None, now: Game, say: Say) -> Markup:
    """The first game and the one played on from one of its moves, side by side."""
    if first is None:
        return Markup("")
    cards = [
        Markup('<section class="sauda-card"><h3>{}</h3>{}<p>{}</p></section>').format(
            say(name), chart(game, SMALL), outcome(game, say)
        )
        for name, game in (("whatif_first", first), ("whatif_now", now))
    ]
    return Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def outcome(game: Game, say: Say) -> str:
    """How a game came out in one line; while it runs, that it does."""
    past = game.play.state.table.past
    told = ending(past[-1] if past and game.over else None)
    if not game.over:
        return told
    you = standing("you", game.task, finished(game), visitor=True)
    return f"{told}; {you.share:.0%} {say('zopa_yours')}"
