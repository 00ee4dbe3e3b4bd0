"""What the Haggle tab shows once a game is over: share, limits, comparison, "What if"."""

from markupsafe import Markup

from env import Episode, Task, bonus, rupees, shares, zopa_width
from panels.haggle.game_view import IN_ENGLISH, chart, limits, sells
from panels.haggle.words import Translate
from panels.ui.look import note, stat, strip, table
from panels.ui.offers import SMALL, ending
from panels.ui.provenance import missing
from sauda.policies.best_response.informed import informed_value, rivals_in
from sauda.records.kinds import ArtifactError
from sauda.sessions.bazaar import Game, Standing, finished, place, standing, standings

LISTINGS = "classic/amazon_realistic"  # the one published task whose prices are drawn


def result(game: Game, translate: Translate = IN_ENGLISH) -> Markup:
    """After the end: share, grade, limits and comparison. Before it: a note on what is hidden."""
    if not game.over:
        fixed = game.task_name.startswith("classic/") and game.task_name != LISTINGS
        return note(translate("hidden_limit") + (translate("hidden_same") if fixed else ""))
    played = finished(game)
    you = standing("you", game.task, played, visitor=True)
    rows, problem = comparison(game)
    figures = [
        stat(f"{you.share:.0%}", translate("zopa_yours")),
        stat(f"{you.grade:.2f}", translate("grade")),
    ]
    if rows:
        figures.append(stat(place(rows), translate("place")))
    past = played.final.table.past
    lines = [
        strip(*figures),
        deals_table(played) if played.final.table.deals > 1 else zopa_bar(game, translate),
    ]
    if game.task_name.startswith("bazaar/") and not sells(game):
        lines += [seller_line(played), oracle_line(game.task, played)]
    if sells(game):
        lines += seller_lines(game, past[-1].price if past else None, translate)
    if game.undone:
        lines.append(Markup("<p>{}</p>").format(translate("undone", count=game.undone)))
    if rows:
        lines += [compared(rows), replay_note(game, rows)]
    return Markup("").join([*lines, problem])


def comparison(game: Game) -> tuple[list[Standing], Markup]:
    """The visitor and every policy at the same seed; or none, and what a policy lacks."""
    # Policies cannot replay a game against a model buyer, whose moves the model makes; a model
    # seller only words moves that code makes, so they can.
    if game.model_seat and game.model_seat.agent == "buyer":
        return [], Markup("")
    try:
        return standings(game), Markup("")
    except ArtifactError as error:  # the pilot's weights
        return [], missing(error)


def seller_lines(game: Game, price: float | None, translate: Translate) -> list[Markup]:
    """For a visitor who sold: the bonus, the best possible price, and who bought."""
    _, limit = limits(game)
    sentences = [bonus_line(game, price, translate), translate("best_ask", price=rupees(limit))]
    if sources := {move.source for move in game.model_moves}:
        sentences.append(translate("written_by", source=", ".join(sorted(sources))))
    elif game.opponent:
        sentences.append(translate("buyer_was", name=game.opponent.replace("_", " ")))
    return [Markup("<p>{}</p>").format(sentence) for sentence in sentences]


def bonus_line(game: Game, price: float | None, translate: Translate) -> str:
    """The bonus that the seller earned, and the most it could earn."""
    obs = game.observation
    ask = obs.table.item.list_price
    earned, most = bonus(price, ask, obs.reservation), bonus(ask, ask, obs.reservation)
    return translate("your_bonus", earned=rupees(earned), most=rupees(most))


def compared(rows: list[Standing]) -> Markup:
    """Table of the visitor's and every policy's result at the same seed."""
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
    """The command that plays this game again."""
    name = next(row.name for row in rows if not row.visitor)
    against = f" --against {game.opponent}" if game.opponent else ""
    return note(
        f"Played now. The game was {game.task_name} at seed {game.play.seed}"
        + (f" against {game.opponent}" if game.opponent else "")
        + f"; play it again: python -m sauda play --task {game.task_name} --policy {name}"
        + f" --seed {game.play.seed}{against}"
    )


def zopa_bar(game: Game, translate: Translate = IN_ENGLISH) -> Markup:
    """The ZOPA as a bar, split at the price; a sentence where there is no deal inside it."""
    past, (seller, buyer) = game.play.state.table.past, limits(game)
    span = translate("limits", seller=rupees(round(seller, 2)), buyer=rupees(buyer))
    deal = past[-1] if past else None
    if buyer <= seller and (deal is None or deal.price is None):
        return Markup("<p>{} {}</p>").format(span, translate("no_zopa"))
    if deal is None or deal.price is None or deal.buyer != "buyer":
        how = "a forfeit ended it" if game.play.forfeit else ending(deal)
        nothing = translate("won_nothing", how=how[0].upper() + how[1:])
        return Markup("<p>{} {}</p>").format(span, nothing)
    price = rupees(deal.price)
    if not seller <= deal.price <= buyer:
        loser, limit = ("seller", seller) if deal.price < seller else ("buyer", buyer)
        lost = rupees(round(abs(deal.price - limit), 2))
        verdict = translate("loss", price=price, loss=lost, loser=translate(loser).lower())
        return Markup("<p>{} {}</p>").format(span, verdict)
    part = (deal.price - seller) / zopa_width(buyer, seller)
    split = translate("split", price=price, seller=f"{part:.0%}", buyer=f"{1 - part:.0%}")
    return Markup(
        '<div class="sauda-zopa" role="img" aria-label="{0} {1}">'
        '<span class="sauda-zopa-seller" style="width:{2}%"></span>'
        '<span class="sauda-zopa-buyer" style="width:{3}%"></span></div>'
        "<p>{0} {1}</p>"
    ).format(span, split, round(100 * part, 1), round(100 - 100 * part, 1))


def deals_table(played: Episode) -> Markup:
    """How each deal of a career ended."""
    past, won = played.final.table.past, shares(played.final, "buyer")
    rows = [
        (f"{number} {instance.item.name}", ending(deal), f"{share:.3f}")
        for number, (instance, deal, share) in enumerate(
            zip(played.final.private["nature"], past, won, strict=False), start=1
        )
    ]
    return table(("deal", "how it ended", "share"), rows, align="llr", caption="Your deals")


def seller_line(played: Episode) -> Markup:
    """The seller's type and its parameters."""
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
    """The expected grade of the best response to this seller."""
    deals = played.final.private["nature"]
    value = sum(informed_value(deal, rivals_in(task)) for deal in deals) / len(deals)
    most = "at most " if len(deals) > 1 else ""
    return Markup(
        "<p>An oracle that knew this seller would have expected a grade of {}{}.</p>"
    ).format(most, f"{value:.3f}")


def compared_games(first: Game | None, now: Game, translate: Translate) -> Markup:
    """The first game beside the branch that started from an earlier move."""
    if first is None:
        return Markup("")
    cards = [
        Markup('<section class="sauda-card"><h3>{}</h3>{}<p>{}</p></section>').format(
            translate(name), chart(game, SMALL), outcome(game, translate)
        )
        for name, game in (("whatif_first", first), ("whatif_now", now))
    ]
    return Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def outcome(game: Game, translate: Translate) -> str:
    """How a game ended in one line, or that it still runs."""
    past = game.play.state.table.past
    end = ending(past[-1] if past and game.over else None)
    if not game.over:
        return end
    you = standing("you", game.task, finished(game), visitor=True)
    return f"{end}; {you.share:.0%} {translate('zopa_yours')}"
