"""The result card: what the game came to, in a glance, and the link that opens it for a friend."""

from markupsafe import Markup

from env import rupees
from panels.haggle.game_view import IN_ENGLISH, sells
from panels.haggle.opening.link import to_query
from panels.haggle.opponents.stages import opponent_name
from panels.haggle.review.result_view import (
    Board,
    board_of,
    ending_of,
    place_and_sharing,
    zopa_bar,
)
from panels.haggle.words import Translate
from panels.ui.look import note, stat, strip
from sauda.sessions.bazaar import Game, as_episode, stand


def card(game: Game, translate: Translate = IN_ENGLISH, board: Board | None = None) -> Markup:
    """Price, share, grade, place on this seed, who the opponent was, a link; empty before the end.

    `board` is the game's, where it is known already.
    """
    if not game.over:
        return Markup("")
    board = board or board_of(game)
    you = stand("you", game.task, as_episode(game), visitor=True)
    figures = [stat(f"{you.grade:.2f}", translate("grade"))]
    remark = Markup("")
    if board.rows:
        place, shared = place_and_sharing(board.rows, translate)
        figures.append(stat(place, translate("place"), note=shared))
    else:
        remark = note(translate("no_rank"))
    name = revealed(game, translate)
    return Markup(
        '<section class="sauda-result"><h3>{}</h3>{}{}{}{}<p class="sauda-who"><b>{}</b> '
        '<a class="sauda-share" href="{}" data-copied="{}" data-kept="{}">{}</a></p></section>'
    ).format(
        headline(game, translate), took(you.share, translate),
        zopa_bar(game, translate) if game.play.state.table.deals == 1 else "",
        strip(*figures), remark,
        translate("card_against", name=name) if name else "",
        to_query(game), translate("link_copied"), translate("link_not_copied"),
        translate("game_link"),
    )  # fmt: skip


def took(share: float, translate: Translate) -> Markup:
    """The share of the gain as a verdict, told by a mark and words as well as by colour."""
    tone, mark = ("good", "▲") if share > 0 else ("bad", "▼")
    return Markup('<p class="sauda-took sauda-{}">{} {} {}</p>').format(
        tone, mark, f"{share:.0%}", translate("zopa_yours")
    )


def headline(game: Game, translate: Translate) -> str:
    """How the game ended, in a few words."""
    table = game.play.state.table
    own = [deal for deal in table.past if deal.price is not None and deal.buyer == "buyer"]
    if table.deals > 1:
        return translate("card_deals", made=len(own), all=table.deals)
    if own:
        price = rupees(own[-1].price)
        return translate("card_sold" if sells(game) else "card_bought", price=price)
    return translate("card_no_deal", how=ending_of(game, translate))


def revealed(game: Game, translate: Translate) -> str:
    """Who the opponent of a finished game was; empty for the one seller of a classic market."""
    if game.opponent:
        return opponent_name(game.opponent, translate)
    if game.play.state.table.standing:
        stance = game.play.state.private["nature"][-1].seller["stance"]
        return translate(f"style_{stance.type}")
    return ""
