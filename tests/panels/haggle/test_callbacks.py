"""What the Haggle tab does on each event, without a browser."""

from dataclasses import replace

import gradio as gr
import pytest

from panels.haggle import callbacks, model_callbacks
from panels.haggle.choices import BUY, HIDDEN, SELL
from panels.haggle.layout import ReplyRequest, SessionGeneration, lay_out
from panels.haggle.models import STAND_IN
from panels.haggle.screen import Screen, Visit
from panels.haggle.words import ENGLISH, HINDI, translator
from sauda.llm.backends.served import HERE
from sauda.llm.backends.worker import Failed, Loading, Ready
from sauda.llm.types import Reply, ReplyTimeout
from sauda.sessions.bazaar import start


class Model:
    """A language model that writes `texts`, one reply each; an error among them is raised."""

    name = HERE

    def __init__(self, *texts, stage=None):
        self.texts, self.stage = list(texts), stage or Ready(HERE, "canned", 1.0)

    def wait(self, seconds):
        return self.stage

    def stream(self, messages, seed, schema=None):
        text = self.texts.pop(0)
        if isinstance(text, Exception):
            raise text
        yield Reply(text[:5], "canned", 1)
        yield Reply(text, "canned", 9, "stop")


def screen_of(model: Model) -> Screen:
    with gr.Blocks():
        page = lay_out(translator(ENGLISH), {HERE: model})
    return Screen(page, {"buyer": {HERE: model}, "seller": {HERE: model}})


def visit_to(game, text: str = "") -> Visit:
    return Visit(game, None, text, HERE, ENGLISH)


@pytest.fixture
def screen() -> Screen:
    return screen_of(Model())


@pytest.fixture
def buying() -> Visit:
    """A visitor whose plain seller asks ₹60."""
    return visit_to(start("classic/single_deal", "", 5))


def test_a_price_makes_the_bid_and_empties_the_box(screen, buying):
    page, updates = screen.page, callbacks.send(screen, replace(buying, text="₹20"))
    assert len(updates[page.game].play.turns) > len(buying.game.play.turns)
    assert (updates[page.message], updates[page.problem]) == ("", "")
    assert updates[page.reply_request] is None


def test_text_without_a_price_changes_nothing_but_the_sentence(screen, buying):
    updates = callbacks.send(screen, replace(buying, text="namaste"))
    assert list(updates) == [screen.page.problem]


def test_a_button_of_an_earlier_turn_makes_no_move(screen, buying):
    turns = len(buying.game.play.turns)
    assert list(callbacks.press_quick_move(screen, 0, turns - 1, buying)) == [screen.page.problem]
    updates = callbacks.press_quick_move(screen, 0, turns, buying)
    assert updates[screen.page.game].over
    assert updates[screen.page.what_if].visible


def test_a_game_that_was_put_away_is_answered_in_words(screen):
    for callback in (callbacks.send, model_callbacks.show_effect):
        (sentence,) = callback(screen, visit_to(None, "₹20")).values()
        assert "put away after an hour" in sentence


def test_going_back_keeps_the_first_game_beside_the_second(screen, buying):
    after = callbacks.send(screen, replace(buying, text="₹20"))[screen.page.game]
    later = replace(buying, game=after)
    updates = callbacks.go_back(screen, SessionGeneration(), 0, later)
    assert updates[screen.page.first_game] is after
    assert updates[screen.page.game].play.turns == buying.game.play.turns
    assert list(callbacks.go_back(screen, SessionGeneration(), None, later)) == [
        screen.page.problem
    ]


def test_a_seat_keeps_a_market_it_offers_and_replaces_one_it_does_not(screen):
    page = screen.page
    kept = callbacks.choose_seat(screen, BUY, "bazaar/open", ENGLISH)
    assert kept[page.market].value == "bazaar/open"
    assert kept[page.opponent].visible
    changed = callbacks.choose_seat(screen, BUY, "hybrid city bicycle", ENGLISH)
    assert changed[page.market].value == "classic/amazon_realistic"
    assert (changed[page.opponent].value, changed[page.opponent].visible) == (HIDDEN, False)


def test_a_language_changes_labels_and_no_value(screen):
    updates = callbacks.change_language(screen, SELL, HINDI)
    assert set(updates) == set(screen.page.with_words)
    assert [value for _, value in updates[screen.page.seat].choices] == [BUY, SELL]
    assert updates[screen.page.market].label == translator(HINDI)("ware")


# The language model


def replies(screen: Screen, visit: Visit, request: ReplyRequest | None, generation=None):
    return list(
        model_callbacks.stream_reply(screen, generation or SessionGeneration(), request, visit)
    )


def selling(model: Model) -> tuple[Screen, Visit]:
    """A visitor who has named a price to a language model, and waits for its move."""
    screen = screen_of(model)
    visit = visit_to(start("bazaar/seller_brief", "mini", 3), "₹900")
    updates = callbacks.send(screen, visit)
    assert isinstance(updates[screen.page.reply_request], ReplyRequest)
    return screen, replace(visit, game=updates[screen.page.game], text="")


def test_a_reply_grows_in_the_chat_and_then_makes_the_move():
    screen, visit = selling(Model('{"offer":50,"say":"fine"}'))
    _, thinking, *growing, last = replies(screen, visit, ReplyRequest())
    assert "thinking" in thinking[screen.page.chat][-1]["content"]
    assert all(list(update) == [screen.page.chat] for update in growing)
    assert not last[screen.page.game].waiting
    assert last[screen.page.show_effect].visible


def test_a_request_is_answered_once_and_nothing_is_written_without_one():
    screen, visit = selling(Model('{"offer":50}'))
    request = ReplyRequest()
    assert request.claim()
    for seen in (request, None):
        assert replies(screen, visit, seen) == [screen.unchanged]


def test_a_stream_of_an_earlier_generation_is_dropped():
    screen, visit = selling(Model('{"offer":50}'))
    generation = SessionGeneration()
    stream = model_callbacks.stream_reply(screen, generation, ReplyRequest(), visit)
    next(stream), next(stream)
    updates = model_callbacks.stop(screen, generation, visit)
    assert updates[screen.page.ask_again].visible
    assert updates[screen.page.reply_request] is None
    assert list(stream) == []


@pytest.mark.parametrize("failure", ["no move in this", ReplyTimeout("too slow")])
def test_a_reply_that_makes_no_move_leaves_the_game_to_be_asked_again(failure):
    screen, visit = selling(Model(failure))
    last = replies(screen, visit, ReplyRequest())[-1]
    assert last[screen.page.game].play == visit.game.play
    assert last[screen.page.ask_again].visible
    assert last[screen.page.problem]
    assert last[screen.page.reply_request] is None


def test_a_model_takes_its_seat_once_it_has_loaded():
    model = Model(stage=Loading(HERE, 0.0))
    screen = screen_of(model)
    page = screen.page
    begun = callbacks.begin(
        screen, SessionGeneration(), SELL, "any item", "sauda-mini", HERE, ENGLISH
    )
    assert begun[page.game].opponent == STAND_IN
    visit = visit_to(begun[page.game])
    ticked = model_callbacks.tick(screen, visit)
    assert page.game not in ticked
    assert ticked[page.clock].active
    model.stage = Ready(HERE, "canned", 1.0)
    seated = model_callbacks.tick(screen, visit)
    assert (seated[page.game].opponent, seated[page.clock].active) == ("sauda-mini", False)


def test_a_model_that_failed_is_loaded_again_on_demand():
    model = Model(stage=Failed(HERE, "no weights"))
    model.start = lambda again: setattr(model, "stage", Loading(HERE, 0.0))
    screen = screen_of(model)
    updates = model_callbacks.check_health(screen, visit_to(None))
    assert updates[screen.page.clock].active
    assert isinstance(model.stage, Loading)
