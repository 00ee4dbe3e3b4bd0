"""What the bargain of the day shows of a visitor's game: new values by component.

It is the screen of Haggle with other components, so that Haggle's callbacks make the moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import count, takewhile

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.challenges.daily import view
from panels.challenges.daily.card import picture_file
from panels.challenges.daily.layout import VISITOR, Layout
from panels.challenges.language import followed
from panels.haggle.conversation import chat_of
from panels.haggle.game_view import brief, bubbles, chart, quick_buttons
from panels.haggle.result import placed
from panels.haggle.screen import Screen, Updates, Visit
from panels.site.sessions import no_longer_here
from panels.ui.downloads import offered
from panels.ui.look import heading, note
from panels.ui.wiring import button, region
from sauda.sessions.bazaar import Game, Standing, as_episode, moves_of, rank_standings
from sauda.sessions.daily import encode, player, scripts, today

MOST_KEPT = 60  # games in a browser, the newest days


@dataclass(frozen=True)
class Bargain:
    """The day that is open, and the finished game that its link holds, if any."""

    day: date
    asked: tuple[str | None, str | None]  # day and moves of the address, as they came
    friend: Game | None = None
    watched: bool = False  # whether the visitor asked for the friend's game before the own one


@dataclass(frozen=True)
class DailyVisit(Visit):
    """The values of a visitor's screen."""

    bargain: Bargain | None = None
    kept: Mapping[str, str] = field(default_factory=dict)  # own games, running or over: day -> code
    address: str = ""  # of the network
    origin: str = ""  # scheme and host of the page; "" where the browser did not say
    former: str = ""  # the name of this tab's session before it was loaded again
    notice: Markup | str = ""  # what is wrong with the address

    @property
    def kept_game(self) -> Game:
        if self.game is None or self.bargain is None:
            raise IllegalAction(f"{no_longer_here('this game was')}; open the page again")
        return self.game

    @property
    def you(self) -> Standing:
        """The visitor's standing in the finished game."""
        return player("you", as_episode(self.game), visitor=True)

    @property
    def streak(self) -> int:
        """How many days in a row, up to the open one, this browser has a game of."""
        days = (self.bargain.day - timedelta(days=back) for back in count())
        return sum(1 for _ in takewhile(lambda day: day.isoformat() in self.kept, days))

    @property
    def friend(self) -> Game | None:
        """The friend's game of the link; None where the link holds the visitor's own."""
        friend = self.bargain.friend
        own = friend is not None and self.kept.get(self.bargain.day.isoformat()) == encode(friend)
        return None if own else friend


@dataclass(frozen=True, eq=False)
class DailyScreen(Screen):
    """The components of the bargain of the day."""

    page: Layout

    def words(self, visit: DailyVisit) -> Updates:
        """The own words, in the visitor's language, of the components that a game leaves alone."""
        page, translate = self.page, visit.translate
        return followed(page.language, visit.language) | {
            page.title: heading(translate("tab_daily"), translate("daily_lead")),
            page.message: gr.update(label=translate("price"), placeholder=translate("placeholder")),
            page.send: translate("send"),
            page.counted: gr.update(value=VISITOR in visit.kept, label=translate("daily_count")),
        }

    def after_the_end(self, visit: DailyVisit) -> str:
        """That the bargain is over, whatever was written."""
        of_today = visit.bargain is not None and visit.bargain.day == today()
        return visit.translate("daily_over" if of_today else "daily_over_before")

    def show(self, visit: DailyVisit, problem: Markup | str = "") -> Updates:
        """Everything that shows the game of `visit`; what is hidden shows once it is over."""
        page, game, translate = self.page, visit.game, visit.translate
        chat = chat_of(view.in_bare_prices(game, translate), visit.talk, visit.language)
        if moves_of(game):
            kept = {**visit.kept, visit.bargain.day.isoformat(): encode(game)}
            visit = replace(visit, kept=dict(sorted(kept.items())[-MOST_KEPT:]))
        return {
            page.kept: dict(visit.kept),
            page.visit: visit,
            page.head: self._head(visit),
            page.brief: brief(game, translate, visit.language),
            page.chat: gr.update(value=bubbles(chat.messages), placeholder=translate("unpacking")),
            page.moves: self.moves(visit, problem),
            page.offers: chart(game, translate=translate),
            page.result: self._result(visit) if game.over else note(translate("hidden_limit")),
            page.players: self.players(visit, translate("daily_waits")) if game.over else "",
        }

    def show_move(self, before: DailyVisit, after: DailyVisit) -> Updates:
        return self.show(after)

    def moves(self, visit: DailyVisit, problem: Markup | str = "") -> Markup:
        """What is wrong, and the quick moves until the game is over."""
        game = visit.game
        quick = quick_buttons(game, len(game.play.turns), visit.translate)
        return region("daily-problem", problem) + (quick if not game.over else "")

    def _head(self, visit: DailyVisit) -> Markup:
        """Which day's bargain is open, what is wrong with the address, a friend's game."""
        friend, bargain, translate = visit.friend, visit.bargain, visit.translate
        shown: Markup | str = note(translate("daily_own_link")) if bargain.friend else ""
        if friend is not None:
            words = (translate, visit.language)
            shown = view.friend_part(friend, visit.game, bargain.watched, words)
        if friend is not None and not (visit.game.over or bargain.watched):
            shown += button(translate("daily_watch"), press="watch")
        return (
            view.day_line(bargain.day, translate)
            + region("daily-notice", visit.notice)
            + region("daily-friend", shown)
        )

    def players(self, visit: DailyVisit, said: str, *more: Standing, ask: bool = False) -> Markup:
        """All who played the seed and `more`, what is said of Sauda, the place among people.

        With `ask`, a button asks Sauda to play.
        """
        shown = view.players(self.rows(visit, *more), said, visit.translate)
        return shown + (button(visit.translate("daily_ask_sauda"), press="ask") if ask else "")

    def rows(self, visit: DailyVisit, *more: Standing) -> Sequence[Standing]:
        """All who played the day's seed, best first: the visitor, a friend, scripts and `more`."""
        name = visit.translate("daily_friend").lower()
        friends = [player(name, as_episode(visit.friend))] if visit.friend else []
        return rank_standings([visit.you, *friends, *scripts(visit.bargain.day), *more])

    def _result(self, visit: DailyVisit) -> Markup:
        """The result of a finished game, and unless it is a loss, what can be shared."""
        others, you = scripts(visit.bargain.day), visit.you
        shown = view.result(visit.game, you, others, visit.streak, visit.translate)
        if you.share <= 0:  # nobody sends a loss around
            return shown
        return shown + self.share(visit, placed([you, *others], visit.translate))

    def share(self, visit: DailyVisit, where: str) -> Markup:
        """The text, the link and the picture of a finished game."""
        game, day, translate = visit.game, visit.bargain.day, visit.translate
        words = (translate, visit.language)
        text = view.share_text(day, game, visit.you, where, words)
        address = f"{visit.origin}/{view.day_address(day, encode(game))}"
        path, problem = offered(
            lambda: picture_file(day, game, visit.you.share, where, visit.origin, words)
        )
        picture: Markup | str = problem
        if path:
            picture = Markup(
                '<img class="sauda-picture" src="gradio_api/file={0}" alt="{1}">'
                '<p><a href="gradio_api/file={0}" download="sauda.png">{2}</a></p>'
            ).format(path, "; ".join(text.split("\n")[:2]), translate("daily_picture"))
        return Markup(
            '<section class="sauda-share">{}<div id="daily-share">'
            '<label for="daily-text">{}</label>'
            '<textarea id="daily-text" rows="5" readonly>{}</textarea><p class="sauda-press">{}'
            '<span class="sauda-note" role="status"></span></p></div>{}</section>'
        ).format(
            heading(translate("daily_share"), translate("daily_share_lead")),
            translate("daily_text"),
            f"{text}\n{address}",
            button(
                translate("daily_copy"), copy="#daily-text", copied=translate("link_copied"),
                kept=translate("link_not_copied"),
            ),
            picture,
        )  # fmt: skip
