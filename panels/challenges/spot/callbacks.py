"""What “Spot the trained one” does on each event.

A callback takes the part's `Game` and the values of its inputs, and returns new values by
component. Which side is the trained one stands in the session's state alone until the guess.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import gradio as gr
from markupsafe import Markup

from env import IllegalAction
from panels.challenges.language import followed
from panels.challenges.reload import former_state
from panels.challenges.spot import view
from panels.challenges.spot.layout import SIDES, Layout
from panels.challenges.spot.recorded import Pair
from panels.challenges.spot.stages import Stages
from panels.haggle.layout import SessionGeneration
from panels.haggle.screen import Updates
from panels.haggle.words import ENGLISH, Translate, Trouble, translated, translator
from panels.site.sessions import no_longer_here
from panels.transcripts.episodes import awaited_model
from panels.ui.look import heading, note, trouble
from panels.ui.wiring import button
from sauda.language.money import LONGEST_MESSAGE, find_price
from sauda.language.money import price as price_in
from sauda.language.small_talk import confirms, slip
from sauda.language.stances import read_stances, relative
from sauda.llm.registry import player_spec
from sauda.llm.types import ReplyError
from sauda.records.seeds import draw_seed
from sauda.sessions.spot import (
    Duel,
    answer_duel,
    live_duel,
    load_duel,
    make_guess,
    propose_to_both,
    without_open_ask,
)

MOST_GUESSES = 1_000_000  # of one browser; a larger number in its memory is no tally


@dataclass(frozen=True, eq=False)
class Spot:
    """The part's components, its two stages, its recorded pairs, and the visitor's language."""

    page: Layout
    stages: Stages
    pairs: Sequence[Pair]
    language: str = ENGLISH

    @property
    def translate(self) -> Translate:
        return translator(self.language)

    def problem(self, error: Exception, key: str = "spot_not_possible") -> Updates:
        """The sentence of `error`; that of `key` in a language in which it has none."""
        if self.language != ENGLISH and not isinstance(error, ReplyError):
            error = Trouble(key)
        return {self.page.problem: trouble(translated(error, self.language))}

    @property
    def unchanged(self) -> Updates:
        """No new value."""
        return {self.page.problem: gr.skip()}


def opened(
    spot: Spot, generation: SessionGeneration, duel: Duel | None, kept: object, former: str
) -> Updates:
    """The visitor's pair in the language; that of the tab's former session where it has none.

    Where that is gone, too, a sentence says so and another pair comes; so does a first one.
    """
    page = spot.page
    told = {page.tally: view.tally(*tally_of(kept), spot.translate)}
    if duel is not None:
        return show(spot, duel) | told
    if (before := former_state(former, page.duel)) is not None:
        return show(spot, without_open_ask(before)) | told
    start = deal_recorded if spot.pairs else deal_live
    gone = {page.problem: note(spot.translate("spot_gone"))} if former else {}
    return start(spot, generation, None) | told | gone


def words(spot: Spot) -> Updates:
    """The own words, in the visitor's language, of the components that a duel leaves alone."""
    page, translate = spot.page, spot.translate
    return followed(page.language, spot.language) | {
        page.title: heading(translate("tab_spot"), translate("spot_lead")),
        page.recorded: gr.update(value=translate("spot_recorded")),
        page.live: translate("spot_live"),
        page.ask: translate("spot_ask"),
        page.price: gr.update(
            label=translate("spot_price"), placeholder=translate("spot_placeholder")
        ),
    }


def deal_recorded(spot: Spot, generation: SessionGeneration, duel: Duel | None) -> Updates:
    """Another recorded pair, its sides in random order."""
    generation.advance()
    if not spot.pairs:
        return spot.problem(Trouble("spot_none_recorded"), "spot_none_recorded")
    others = [pair for pair in spot.pairs if duel is None or duel.is_live or pair.seed != duel.seed]
    pair = secrets.choice(others or spot.pairs)
    return show(spot, load_duel(_shuffled(pair.rows)))


def deal_live(spot: Spot, generation: SessionGeneration, duel: Duel | None) -> Updates:
    """A new item that the visitor sells to both, in random order."""
    generation.advance()
    players = _shuffled([spot.stages.untrained, spot.stages.trained])
    return show(spot, live_duel(players, draw_seed()))


def _shuffled(pair: Sequence) -> list:
    return secrets.SystemRandom().sample(list(pair), len(pair))


def show(spot: Spot, duel: Duel, problem: Markup | str = "") -> Updates:
    """Everything that shows the duel; who is who shows once a guess was made."""
    page, translate = spot.page, spot.translate
    verdict = view.verdict(duel, spot.stages, translate) if duel.guess is not None else ""
    return {
        page.duel: duel,
        page.about: view.about(duel, spot.language),
        page.columns: view.columns(duel, spot.language),
        page.problem: problem,
        page.moves: moves(duel, translate),
        page.verdict: verdict,
    }


def moves(duel: Duel, translate: Translate) -> Markup:
    """The next exchange of a recorded pair, and the guesses; the price box shows by it."""
    more = button(translate("spot_more"), press="more") if not duel.is_live else ""
    guesses = [
        button(
            translate("spot_guess", side=side), is_off=not duel.can_guess, press="guess", number=i
        )
        for i, side in enumerate(SIDES)
    ]
    asks = Markup(" data-asks") if duel.has_more and duel.is_live else ""
    return Markup('<div class="sauda-quick"{}>{}</div>').format(
        asks, Markup("").join([more if duel.has_more else "", *guesses])
    )


def show_more(spot: Spot, duel: Duel | None) -> Updates:
    """One more exchange of a recorded pair."""
    try:
        kept = _kept(duel)
    except IllegalAction as error:
        return spot.problem(error)
    more = kept.has_more and not kept.is_live
    return show(spot, replace(kept, shown=kept.shown + 1) if more else kept)


def ask(
    spot: Spot, generation: SessionGeneration, text: str, duel: Duel | None
) -> Iterator[Updates]:
    """Both buyers' answers to the visitor's ask, one after the other.

    Where a model cannot reply the ask counts as not made. Another pair ends the answers. Small talk
    is answered at once and is no ask; an ask that may be a slip is asked back once.
    """
    page = spot.page
    again = duel is not None and duel.unconfirmed is not None and confirms(text or "")
    open_for_talk = duel is not None and duel.has_more and not again
    if open_for_talk and (talk := _small_talk(spot, text or "", duel)):
        yield talk
        return
    current = generation.advance()
    thinking, why = note(spot.translate("spot_thinking")), "spot_not_possible"
    try:
        before, why = _kept(duel), "spot_bad_ask"
        price = before.unconfirmed if again else _whole(price_in(read_stances(text).offered))
        asked = propose_to_both(before, price)
    except ValueError as error:  # no pair, no price, or one that the rules forbid
        yield spot.problem(error, why)
        return
    if asked.unconfirmed is not None:
        question = view.asked_back(asked, spot.translate)
        yield {page.duel: asked, page.problem: note(question), page.price: text}
        return
    yield show(spot, asked, thinking) | {page.price: ""}
    try:
        for number in asked.waiting:
            model = awaited_model(player_spec(asked.games[number].opponent).weights)
            asked = answer_duel(asked, number, model)
            if generation.number != current:
                yield spot.unchanged  # Gradio sends what was yielded last once more
                return
            yield show(spot, asked, thinking if asked.waiting else "")
    except ReplyError as error:
        if generation.number == current:
            yield show(spot, before) | spot.problem(error) | {page.price: text}


def _small_talk(spot: Spot, text: str, duel: Duel) -> Updates:
    """The buyers' answers to a text without a price; empty for an ask, or a text that is too long.

    They are written by code, one for each buyer, so that they tell nothing of who is who.
    """
    page = spot.page
    if not text.strip():
        return {page.problem: note(spot.translate("say_price"))}
    if len(text) > LONGEST_MESSAGE:
        return {}
    offered = read_stances(text).offered
    if not relative(text) and not slip(offered) and find_price(offered) is not None:
        return {}
    return {page.problem: view.small_talk(duel, text.strip(), spot.language), page.price: ""}


def _whole(price: float) -> float:
    """A whole price as an int, which is how the rules count rupees."""
    return int(price) if price == int(price) else price


def guess(spot: Spot, number: int | None, duel: Duel | None, kept: object) -> Updates:
    """The reveal, and the tally with this guess."""
    page = spot.page
    try:
        if number not in range(len(SIDES)):
            raise Trouble("no_such_move")
        after = make_guess(_kept(duel), number)
    except IllegalAction as error:
        return spot.problem(error)
    right, count = tally_of(kept)
    right, count = right + view.is_right(after, spot.stages), count + 1
    return show(spot, after) | {
        page.kept: {"right": right, "guessed": count},
        page.tally: view.tally(right, count, spot.translate),
    }


def _kept(duel: Duel | None) -> Duel:
    if duel is None:
        raise IllegalAction(f"{no_longer_here('this pair was')}; start another one")
    return duel


def tally_of(kept: object) -> tuple[int, int]:
    """Right guesses and all guesses that a browser sent; (0, 0) for what is no tally."""
    right, count = (kept.get("right"), kept.get("guessed")) if isinstance(kept, Mapping) else (0, 0)
    numbers = all(isinstance(n, int) and not isinstance(n, bool) for n in (right, count))
    return (right, count) if numbers and 0 <= right <= count < MOST_GUESSES else (0, 0)
