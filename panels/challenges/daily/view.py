"""What the bargain of the day shows beside the running game: result, players, a friend's game."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

from markupsafe import Markup

from env import Accept, Deal, EndReason, Offer, Turn, rupees
from panels.haggle.conversation import chart_words, chat_of
from panels.haggle.game_view import IN_ENGLISH, bubbles, chart
from panels.haggle.result import (
    compared,
    ending_of,
    oracle_line,
    placed,
    replay_note,
    seller_line,
    took,
    zopa_bar,
)
from panels.haggle.words import Translate
from panels.ui.look import note, stat, strip
from panels.ui.offers import SMALL, ending
from sauda.language.lines import name_in
from sauda.sessions.bazaar import Action, Game, Standing, as_episode, rank_standings
from sauda.sessions.daily import player

FAR, MIDDLE, NEAR = 0.30, 0.15, 0.05  # of the list price, between a bid and the ask before it
BLOCKS = {FAR: "🟥", MIDDLE: "🟧", NEAR: "🟨"}
CLOSE = "🟩"
ENDS = {EndReason.AGREEMENT: "🤝", EndReason.WALKAWAY: "🚶", EndReason.DEADLINE: "⌛"}
Words = tuple[Translate, str]  # the visitor's words, and the language


def day_in_words(day: date, translate: Translate = IN_ENGLISH) -> str:
    """The day as "23 November 2026"."""
    month = translate("daily_months").split()[day.month - 1]
    return f"{day.day} {month} {day.year}"


def day_address(day: date, code: str = "") -> str:
    """The query string that opens a day's bargain, with the game of `code` if there is one."""
    moves = f"&moves={code}" if code else ""
    return f"?tab=haggle&part=daily&day={day.isoformat()}{moves}"


def day_line(day: date, translate: Translate) -> Markup:
    """Which day's bargain is open, how its seed is chosen, and a link to the day before."""
    return Markup(
        '<p class="sauda-note"><b>{}</b>{} <span class="sauda-seed">{}</span> '
        '<a href="{}">{}</a></p>'
    ).format(
        day_in_words(day, translate),
        translate("daily_full_stop"),
        translate("daily_seed"),
        day_address(day - timedelta(days=1)),
        translate("daily_before"),
    )


def in_bare_prices(game: Game, translate: Translate) -> Game:
    """The game for its chat alone: an own move without words says its price and nothing else.

    Nobody knows the words of a move that a link, a browser's memory or a button made.
    """
    turns = tuple(
        replace(turn, action=_bare(turn, translate)) if turn.agent == game.you else turn
        for turn in game.play.turns
    )
    return replace(game, play=replace(game.play, turns=turns))


def _bare(turn: Turn, translate: Translate) -> Action:
    """The visitor's move with words: those that it came with, else its price or its kind."""
    action = turn.action
    if action.message:
        return action
    if isinstance(action, Offer):
        return replace(action, message=rupees(action.price))
    if isinstance(action, Accept):
        price = rupees(turn.observation.table.asks[-1])
        return replace(action, message=f"{translate('quick_accept')} {price}")
    return replace(action, message=translate("quick_walk"))


# A friend's game --------------------------------------------------------------------------------


def friend_part(friend: Game, mine: Game, watched: bool, words: Words) -> Markup:
    """The game that a link holds: who may see it now, its replay, both games once both are over.

    Limits show only when the visitor's own game is over.
    """
    translate, _ = words
    if not (mine.over or watched):
        return Markup("<p>{}</p>").format(translate("daily_play_first"))
    shown = replay(friend, words)
    if not mine.over:
        return shown + note(translate("daily_still_hidden"))
    cards = [
        Markup('<section class="sauda-card"><h3>{}</h3>{}<p>{}</p></section>').format(
            translate(name), chart(game, SMALL, translate), f"{how}; {_won(game, translate)}"
        )
        for name, game, how in (
            ("daily_you", mine, ending_of(mine, translate)),
            ("daily_friend", friend, friends_end(friend, translate)),
        )
    ]
    return shown + Markup('<div class="sauda-cards">{}</div>').format(Markup("").join(cards))


def friends_end(friend: Game, translate: Translate) -> str:
    """How a friend's game ended; nobody is "you" in it."""
    return ending(deal_of(friend), chart_words(translate))


def _won(game: Game, translate: Translate) -> str:
    return translate("daily_won", share=f"{player('', as_episode(game)).share:.0%}")


def replay(friend: Game, words: Words) -> Markup:
    """A friend's moves and the seller's answers, which appear one after another."""
    translate, language = words
    names = {
        "user": ("buyer", translate("daily_friend")),
        "assistant": ("seller", translate("daily_the_seller")),
    }
    told = in_bare_prices(friend, translate)
    said = bubbles(chat_of(told, language=language).messages)
    rows = [
        Markup('<li class="sauda-{}" style="--row: {}"><b>{}</b> {}</li>').format(
            names[message["role"]][0], row, names[message["role"]][1], Markup(message["content"])
        )
        for row, message in enumerate(said)
    ]
    how = friends_end(friend, translate)
    end = Markup('<li style="--row: {}"><b>{}{}</b></li>').format(
        len(rows), f"{how[0].upper()}{how[1:]}", translate("daily_full_stop")
    )
    return Markup('<ol class="sauda-talk sauda-replay">{}</ol>').format(
        Markup("").join([*rows, end])
    )


# The end ----------------------------------------------------------------------------------------


def result(
    game: Game, you: Standing, scripts: Sequence[Standing], streak: int, translate: Translate
) -> Markup:
    """The visitor's share, grade, place among the scripts and days in a row; what was hidden."""
    played = as_episode(game)
    return Markup("").join(
        [
            took(you, translate),
            strip(
                stat(f"{you.grade:.2f}", translate("grade")),
                stat(placed([you, *scripts], translate), translate("place")),
                stat(f"{streak}", translate("daily_streak")),
            ),
            zopa_bar(game, translate),
            seller_line(played, translate),
            oracle_line(game.task, played, translate),
            replay_note(game, rank_standings([you, *scripts]), translate),
        ]
    )


def players(rows: Sequence[Standing], about_sauda: str, translate: Translate) -> Markup:
    """Everybody who played this seed, best first, and whether Sauda did."""
    return compared(rows, translate) + note(about_sauda)


def versus(you: Standing, sauda: Standing, translate: Translate) -> str:
    """Whether the visitor did better than Sauda, in a sentence."""
    ahead = (you.grade, you.share) > (sauda.grade, sauda.share)
    level = (you.grade, you.share) == (sauda.grade, sauda.share)
    return translate(f"daily_{'level' if level else 'better' if ahead else 'worse'}")


def share_text(day: date, game: Game, you: Standing, where: str, words: Words) -> str:
    """What a visitor pastes above the link: share, place among the scripts, a block a bid."""
    translate, _ = words
    won = translate("daily_won", share=f"{you.share:.0%}")
    return "\n".join(
        [
            translate("daily_title", day=day_in_words(day, translate), item=deal_item(game, words)),
            f"{won}; {translate('daily_place', place=where)}",
            blocks(game),
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


def deal_item(game: Game, words: Words) -> str:
    """The item and its list price."""
    translate, language = words
    item = game.play.state.table.item
    name = name_in(language, item.name)
    return translate("daily_item", item=name, price=rupees(item.list_price))
