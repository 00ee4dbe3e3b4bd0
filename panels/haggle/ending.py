"""How a finished bargain is told, in every sub-tab alike: who took how much from whom.

The shares are of what lies between both limits. Nothing here tells a hidden value of a game that
still runs.
"""

from dataclasses import dataclass

from markupsafe import Markup

from env import rupees, zopa_width
from panels.haggle.game_view import HTML, face_of, limits, sells
from panels.haggle.opponents import model_name
from panels.haggle.words import Translate
from panels.site.card import mouths, recorded_share
from panels.ui.look import star_row, with_minus_signs
from sauda.language.lines import name_in
from sauda.sessions import bazaar, ladder
from sauda.sessions.bazaar import Game, Standing

WON, EVEN, LOST = "won", "even", "lost"  # the bands, each with a colour and a mark
NEAR_HALF = (0.45, 0.55)  # shares that are told as an even split


@dataclass(frozen=True)
class Outcome:
    """A finished game in a headline; both shares are 0 where nobody won anything."""

    band: str
    headline: str
    share: float  # of the visitor, negative beyond the own limit
    other_share: float
    other: str  # the name of the other side
    item: str
    goods: str  # the item's name in the catalogue

    @property
    def mouths(self) -> tuple[str, str]:
        """The visitor's mouth and the other side's."""
        return mouths(self.share, self.other_share)


def standing_of(game: Game) -> Standing:
    """The visitor's result in a finished game."""
    return bazaar.stand("you", game.task, bazaar.as_episode(game), visitor=True)


def outcome(game: Game, translate: Translate, language: str, after_time: bool = False) -> Outcome:
    """How `game` ended; beside Sauda's share of the same game, where that is recorded.

    With `after_time` the visitor's share is what the rounds left of it, which counts in a rank.
    """
    past, table = game.play.state.table.past, game.play.state.table
    is_deal, standing = has_deal(game), standing_of(game)
    other = 1 - standing.share if is_deal else 0.0
    share = standing.share
    if after_time and is_deal and share > 0:
        share = standing.grade
    name = other_name(game, translate, language)
    sauda = recorded_share(game.task_name, game.play.seed)
    figures = {"share": f"{share:z.0%}", "other": f"{other:.0%}", "name": name}
    is_one = is_deal and table.deals == 1
    loss = bazaar.loss_at(game, past[-1].price, past[-1].extras) if is_one else 0
    if not is_deal:
        width = zopa_width(*limits(game)[::-1])
        band, key = (LOST, "end_nothing") if width else (EVEN, "end_right")
        figures["amount"] = rupees(width)
    elif loss > 0:
        band, key = LOST, "end_undersold" if sells(game) else "end_overpaid"
        figures["loss"] = rupees(round(loss, 2))
    elif sauda is not None and share != sauda:
        band, key = (WON, "end_beat") if share > sauda else (LOST, "end_short")
        figures["sauda"] = f"{sauda:.0%}"
    elif NEAR_HALF[0] <= share <= NEAR_HALF[1]:
        band, key = EVEN, "end_even"
    else:
        band, key = (WON, "end_won") if share > NEAR_HALF[1] else (LOST, "end_lost")
    headline = with_minus_signs(translate(key, **figures))
    item = name_in(language, table.item.name)
    return Outcome(
        band, headline[0].upper() + headline[1:], share, other, name,
        item[0].upper() + item[1:], table.item.name,
    )  # fmt: skip


def has_deal(game: Game) -> bool:
    """Whether the visitor agreed with the other side, at least once."""
    past = game.play.state.table.past
    return any(deal.price is not None and deal.buyer == "buyer" for deal in past)


def advice(game: Game, translate: Translate) -> str:
    """What to do better next time, in the units of the game; "" where nothing was left to win.

    Only of a game of one deal, by both limits, which show once it is over.
    """
    table, (seller, buyer) = game.play.state.table, limits(game)
    if table.deals > 1 or buyer <= seller:
        return ""
    mine, theirs = (seller, buyer) if sells(game) else (buyer, seller)
    prices, across = (table.bids, table.asks)[:: -1 if sells(game) else 1]
    way = 1 if sells(game) else -1  # in which prices are better for the visitor
    seat, values = "seller" if sells(game) else "buyer", {"limit": rupees(round(theirs))}
    if not has_deal(game):
        gain = round(way * (across[-1] - mine)) if across else 0
        values |= {"low": rupees(round(seller)), "high": rupees(round(buyer))}
        if gain > 0:
            return translate("coach_take", price=rupees(across[-1]), gain=rupees(gain))
        return translate(f"coach_meet_{seat}", **values)
    price = table.past[-1].price
    if way * (price - mine) < 0:
        return translate(f"coach_walk_{seat}", limit=rupees(round(mine)))
    left = round(way * (theirs - price))
    if left <= 0:
        return translate("coach_all")
    values |= {"left": rupees(left), "price": rupees(price)}
    if not prices:
        return translate(f"coach_first_{seat}", **values)
    values["first"] = rupees(prices[0])
    beyond = way * (prices[0] - theirs) > 0
    return translate(f"coach_{'slow' if beyond else 'open'}_{seat}", **values)


def other_name(game: Game, translate: Translate, language: str) -> str:
    """The other side within a sentence: a model or a person by its name, a script by its seat."""
    if person := ladder.person_of(game):
        return person.text("name", language)
    if game.model_seat is not None:
        return model_name(game.opponent, translate)
    return translate("end_buyer" if sells(game) else "end_seller")


def show(game: Game, translate: Translate, language: str, after_time: bool = False) -> Markup:
    """The headline in the colour of its band, both faces with the split between them, the goods.

    In a game of the ladder also its stars; then what to do better.
    """
    end = outcome(game, translate, language, after_time)
    shown = HTML.ending(end, face_of(game), game.you, translate) + stars_of(game, translate)
    return shown + HTML.coach(advice(game, translate))


def stars_of(game: Game, translate: Translate) -> Markup | str:
    """The stars of a level's finished game and what the next one asks; "" for any other game."""
    level = ladder.level_of(game)
    if level is None:
        return ""
    won, least = ladder.stars(game), 0.0
    if game.undone:
        key = "ladder_undone"
    elif won < len(level.shares):
        key, least = "ladder_next_star", level.shares[won]
    else:
        key = "ladder_all_stars"
    return star_row(won, len(level.shares), translate(key, share=f"{least:.0%}"), translate)
