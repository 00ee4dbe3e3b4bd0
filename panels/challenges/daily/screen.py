"""What the bargain of the day shows of a visitor's game: new values by component.

It is the screen of Haggle with other components, so that Haggle's callbacks make the moves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.challenges.daily import view
from panels.challenges.daily.card import picture_file
from panels.challenges.daily.layout import Layout
from panels.challenges.language import followed
from panels.haggle.game_view import brief, bubbles, chart
from panels.haggle.review.result_view import placed
from panels.haggle.screen import Screen, Updates, Visit, quick_buttons
from panels.haggle.talk.conversation import chat_of
from panels.site.sessions import no_longer_here
from panels.ui.downloads import offered
from panels.ui.look import heading, note
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
    origin: str = ""  # scheme and host of the page; "" where the browser did not say
    former: str = ""  # the name of this tab's session before it was loaded again

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
            page.share_title: heading(translate("daily_share"), translate("daily_share_lead")),
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
            page.game: game,
            page.talk: visit.talk,
            page.bargain: visit.bargain,
            page.shown_turns: len(game.play.turns),
            page.head: view.day_line(visit.bargain.day, translate),
            page.problem: problem,
            page.saying: gr.update(visible=not game.over),
            page.quick: gr.update(visible=not game.over),
            page.brief: brief(game, translate, visit.language),
            page.chat: gr.update(value=bubbles(chat.messages), placeholder=translate("unpacking")),
            page.offers: chart(game, translate=translate),
            **dict(zip(page.quick_moves, quick_buttons(game, translate), strict=True)),
            **self._friend(visit),
            **self._end(visit),
        }

    def show_move(self, before: DailyVisit, after: DailyVisit) -> Updates:
        """What a move changes: nearly everything here."""
        return self.show(after)

    def _friend(self, visit: DailyVisit) -> Updates:
        page, friend, bargain = self.page, visit.friend, visit.bargain
        shown: Markup | str = note(visit.translate("daily_own_link")) if bargain.friend else ""
        if friend is not None:
            words = (visit.translate, visit.language)
            shown = view.friend_part(friend, visit.game, bargain.watched, words)
        offered_first = friend is not None and not (visit.game.over or bargain.watched)
        watch = gr.update(value=visit.translate("daily_watch"), visible=offered_first)
        return {page.friend: shown, page.watch: watch}

    def _end(self, visit: DailyVisit) -> Updates:
        """The result, the players and what can be shared; before the end, none of it."""
        page, game, translate = self.page, visit.game, visit.translate
        if not game.over:
            return {
                page.result: note(translate("hidden_limit")),
                page.players: "",
                page.ask_sauda: gr.update(value=translate("daily_ask_sauda"), visible=False),
                page.shared: gr.update(visible=False),
                page.text: gr.update(value="", label=translate("daily_text")),
                page.picture: "",
                page.download: gr.update(value=None, label=translate("daily_picture")),
            }
        others, you = scripts(visit.bargain.day), visit.you
        return {
            page.ask_sauda: gr.update(value=translate("daily_ask_sauda")),
            page.result: view.result(game, you, others, translate),
            page.players: view.players(self.rows(visit), translate("daily_waits"), translate),
            **self._shared(visit, placed([you, *others], translate)),
        }

    def rows(self, visit: DailyVisit, *more: Standing) -> Sequence[Standing]:
        """All who played the day's seed, best first: the visitor, a friend, scripts and `more`."""
        name = visit.translate("daily_friend").lower()
        friends = [player(name, as_episode(visit.friend))] if visit.friend else []
        return rank_standings([visit.you, *friends, *scripts(visit.bargain.day), *more])

    def _shared(self, visit: DailyVisit, where: str) -> Updates:
        """The text, the link and the picture of a finished game."""
        page, game, day = self.page, visit.game, visit.bargain.day
        address = f"{visit.origin}/{view.day_address(day, encode(game))}"
        words = (visit.translate, visit.language)
        text = view.share_text(day, game, visit.you, where, words) + f"\n{address}"
        path, problem = offered(
            lambda: picture_file(day, game, visit.you.share, where, visit.origin, words)
        )
        seen = Markup('<img class="sauda-picture" src="gradio_api/file={}" alt="{}">')
        return {
            page.shared: gr.update(visible=visit.you.share > 0),  # nobody sends a loss around
            page.text: gr.update(value=text, label=visit.translate("daily_text")),
            page.picture: seen.format(path, "; ".join(text.split("\n")[:2])) if path else problem,
            page.download: gr.update(value=path, label=visit.translate("daily_picture")),
        }
