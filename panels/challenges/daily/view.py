"""What the bargain of the day shows beside the running game: result, players, a friend's game."""

from collections.abc import Sequence
from datetime import date, timedelta

from markupsafe import Markup

from env import Deal, EndReason, rupees
from panels.haggle.game_view import bubbles, chart
from panels.haggle.review.result_view import (
    compared,
    oracle_line,
    placed,
    replay_note,
    seller_line,
    zopa_bar,
)
from panels.haggle.talk.conversation import chat_of
from panels.haggle.words import Translate
from panels.ui.look import note, stat, strip
from panels.ui.offers import SMALL, ending
from sauda.sessions.bazaar import Game, Standing, finished, ranked
from sauda.sessions.daily import player

FAR, MIDDLE, NEAR = 0.30, 0.15, 0.05  # of the list price, between a bid and the ask before it
BLOCKS = {FAR: "🟥", MIDDLE: "🟧", NEAR: "🟨"}
CLOSE = "🟩"
ENDS = {EndReason.AGREEMENT: "🤝", EndReason.WALKAWAY: "🚶", EndReason.DEADLINE: "⌛"}
PLAY_FIRST = (
    "A friend has sent you this bargain. Play it yourself first: the replay shows how low the"
    " seller went."
)
STILL_HIDDEN = (
    "The seller’s limit, your friend’s share and place stay hidden until you have played this"
    " bargain yourself."
)


def day_in_words(day: date) -> str:
    """The day as "23 November 2026"."""
    return f"{day.day} {day:%B %Y}"


def day_address(day: date, code: str = "") -> str:
    """The query string that opens a day's bargain, with the game of `code` if there is one."""
    moves = f"&moves={code}" if code else ""
    return f"?tab=haggle&part=daily&day={day.isoformat()}{moves}"


def day_line(day: date) -> Markup:
    """Which day's bargain is open, how its seed is chosen, and a link to the day before."""
    return Markup(
        '<p class="sauda-note"><b>{}</b>. The seed is a digest of the date, among seeds that no'
        ' training and no evaluation uses, and always leaves room for a deal. <a href="{}">The day'
        " before</a></p>"
    ).format(day_in_words(day), day_address(day - timedelta(days=1)))


# A friend's game --------------------------------------------------------------------------------


def friend_part(friend: Game, mine: Game, watched: bool, words: tuple[Translate, str]) -> Markup:
    """The game that a link holds: who may see it now, its replay, both games once both are over.

    `words` are the visitor's words and language. Limits show only when the visitor's own game is
    over.
    """
    translate, language = words
    if not (mine.over or watched):
        return Markup("<p>{}</p>").format(PLAY_FIRST)
    shown = replay(friend, language)
    if not mine.over:
        return shown + note(STILL_HIDDEN)
    cards = [
        Markup('<section class="sauda-card"><h3>{}</h3>{}<p>{}</p></section>').format(
            name, chart(game, SMALL, translate), _outcome(game)
        )
        for name, game in (("You", mine), ("Your friend", friend))
    ]
    return shown + Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def _outcome(game: Game) -> str:
    share = player("", finished(game)).share
    return f"{ending(deal_of(game))}; {share:.0%} of what could be won"


def replay(friend: Game, language: str) -> Markup:
    """A friend's moves and the seller's answers, which appear one after another."""
    names = {"user": ("buyer", "Your friend"), "assistant": ("seller", "The seller")}
    said = bubbles(chat_of(friend, language=language).messages)
    rows = [
        Markup('<li class="sauda-{}" style="--row: {}"><b>{}</b> {}</li>').format(
            names[message["role"]][0], row, names[message["role"]][1], Markup(message["content"])
        )
        for row, message in enumerate(said)
    ]
    how = ending(deal_of(friend))
    end = Markup('<li style="--row: {}"><b>{}.</b></li>').format(
        len(rows), f"{how[0].upper()}{how[1:]}"
    )
    return Markup('<ol class="sauda-talk sauda-replay">{}</ol>').format(
        Markup("").join([*rows, end])
    )


# The end ----------------------------------------------------------------------------------------


def result(game: Game, you: Standing, scripts: Sequence[Standing], translate: Translate) -> Markup:
    """The visitor's share, grade and place among the scripts, and what was hidden."""
    played = finished(game)
    return Markup("").join(
        [
            strip(
                stat(f"{you.share:.0%}", translate("zopa_yours")),
                stat(f"{you.grade:.2f}", translate("grade")),
                stat(placed([you, *scripts], translate), translate("place")),
            ),
            zopa_bar(game, translate),
            seller_line(played, translate),
            oracle_line(game.task, played, translate),
            replay_note(game, ranked([you, *scripts]), translate),
        ]
    )


def players(rows: Sequence[Standing], about_sauda: str, translate: Translate) -> Markup:
    """Everybody who played this seed, best first, and whether Sauda did."""
    return compared(rows, translate) + note(about_sauda)


def versus(you: Standing, sauda: Standing) -> str:
    """Whether the visitor did better than Sauda, in a sentence."""
    ahead = (you.grade, you.share) > (sauda.grade, sauda.share)
    level = (you.grade, you.share) == (sauda.grade, sauda.share)
    return "You did as well." if level else f"You did {'better' if ahead else 'worse'}."


def share_text(day: date, game: Game, you: Standing, where: str, address: str) -> str:
    """What a visitor pastes: share, place among the scripts, a block a bid, the link."""
    item = deal_item(game)
    return "\n".join(
        [
            f"Sauda, bargain of {day_in_words(day)}: {item}",
            f"{you.share:.0%} of what could be won; place among the scripts: {where}",
            blocks(game),
            address,
        ]
    )


def blocks(game: Game) -> str:
    """A coloured block a bid, by its distance from the ask, then how the game ended: no price."""
    table = game.play.state.table
    shown = []
    for ask, bid in zip(table.asks, table.bids, strict=False):
        gap = (ask - bid) / table.item.list_price
        shown.append(next((block for share, block in BLOCKS.items() if gap > share), CLOSE))
    return "".join(shown) + ENDS.get(deal_of(game).end, "")


def deal_of(game: Game) -> Deal:
    """How the one deal of a finished game ended."""
    (deal,) = game.play.state.table.past
    return deal


def deal_item(game: Game) -> str:
    """The item and its list price."""
    item = game.play.state.table.item
    return f"{item.name}, list price {rupees(item.list_price)}"
