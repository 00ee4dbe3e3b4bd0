"""What the Haggle tab does on each event, without a browser."""

from dataclasses import replace
from functools import partial

import pytest

from panels.haggle import callbacks, model_callbacks
from panels.haggle.choices import ANY_ITEM, BUY, SELL
from panels.haggle.layout import ReplyRequest, SessionGeneration, choices_fold
from panels.haggle.models import STAND_IN
from panels.haggle.screen import Screen, Visit
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.fairness import Visitor
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import NotReady, ReplyRefused, ReplyTimeout
from sauda.sessions.bazaar import start
from tests.support.coroutines import run
from tests.support.haggle import Model, screen_of, visit_to

VISITOR = Visitor("a session", "10.0.0.1")


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


def test_small_talk_is_answered_in_the_chat_and_costs_no_round(screen, buying):
    page = screen.page
    updates = callbacks.send(screen, replace(buying, text="<b>namaste</b> ji"))
    assert updates[page.game].play == buying.game.play
    assert (updates[page.message], updates[page.problem]) == ("", "")
    said, answer = (message["content"] for message in updates[page.chat][-2:])
    assert said == "&lt;b&gt;namaste&lt;/b&gt; ji"
    assert answer.endswith("?")


def test_small_talk_survives_a_move_and_taking_it_back(screen, buying):
    page = screen.page
    talked = callbacks.send(screen, replace(buying, text="how are you?"))
    visit = replace(buying, game=talked[page.game], talk=talked[page.talk], text="₹20")
    moved = callbacks.send(screen, visit)
    later = replace(visit, game=moved[page.game])
    undone = callbacks.take_back(screen, SessionGeneration(), later)
    chat = [message["content"] for message in undone[page.chat]["value"]]
    assert "how are you?" in chat
    assert "₹20" not in chat


def test_an_empty_message_and_one_while_the_model_thinks_leave_the_box_alone(screen, buying):
    page = screen.page
    opening = visit_to(start("bazaar/open", "mini:friendly", 3), "₹300")
    waiting = replace(opening, reply_request=ReplyRequest())
    for visit in (replace(buying, text="  "), waiting):
        updates = callbacks.send(screen, visit)
        assert list(updates) == [page.problem]
        assert "sauda-bad" not in updates[page.problem]


def test_a_reply_leaves_what_is_typed_meanwhile_in_the_box():
    screen, visit = selling(Model('{"offer":50}'))
    for update in replies(screen, visit, ReplyRequest()):
        assert screen.page.message not in update


def test_an_accept_at_a_loss_by_button_is_asked_back_once(screen):
    page, visit = screen.page, visit_to(start("bazaar/seller_brief", "boulware", 3))
    price = visit.game.observation.table.item.list_price
    visit = replace(visit, game=callbacks.send(screen, replace(visit, text=f"{price}"))[page.game])
    turns = len(visit.game.play.turns)
    asked = callbacks.press_quick_move(screen, 0, turns, visit)
    assert not asked[page.game].over
    assert "you would lose" in asked[page.chat][-1]["content"]
    assert asked[page.problem] == ""
    sold = callbacks.press_quick_move(screen, 0, turns, replace(visit, game=asked[page.game]))
    assert sold[page.game].over


def test_a_mistake_is_told_in_hindi(screen, buying):
    hindi = replace(buying, language=HINDI, text="x" * 2001)
    assert "अक्षर लिखिए" in callbacks.send(screen, hindi)[screen.page.problem]


@pytest.mark.parametrize("text", ["₹20", "deal", "thank you"])
def test_what_is_said_after_the_end_is_answered_in_the_chat(screen, buying, text):
    page = screen.page
    over = callbacks.send(screen, replace(buying, text="deal"))[page.game]
    assert over.over
    updates = callbacks.send(screen, replace(buying, game=over, text=text))
    assert updates[page.problem] == ""
    assert updates[page.game].play == over.play
    assert "New game" in str(updates[page.chat][-1]) or "welcome" in str(updates[page.chat][-1])


def test_a_button_of_an_earlier_turn_makes_no_move(screen, buying):
    turns = len(buying.game.play.turns)
    assert list(callbacks.press_quick_move(screen, 0, turns - 1, buying)) == [screen.page.problem]
    updates = callbacks.press_quick_move(screen, 0, turns, buying)
    assert updates[screen.page.game].over
    assert updates[screen.page.what_if]["visible"]


def test_a_move_against_a_script_shows_what_it_changes_and_leaves_out_the_rest(screen, buying):
    page, text = screen.page, replace(buying, text="₹20")
    updates = callbacks.send(screen, text)
    after = visit_to(updates[page.game])
    whole, before = screen.show(after), screen.show(text)
    for part, value in whole.items():
        if part is page.chat:
            assert updates[part] == value["value"]
        elif part in updates:
            assert updates[part] == value
        else:
            assert value == before[part]
    left_out = {page.stop, page.ask_again, page.stand_in, page.show_effect}
    assert not left_out & updates.keys()
    assert {page.offers, page.shown_turns, *page.quick_moves[:1]} <= updates.keys()


def test_a_game_that_was_put_away_is_answered_in_words(screen):
    show_effect = partial(model_callbacks.show_effect, visitor=VISITOR)
    for callback in (callbacks.send, show_effect):
        (sentence,) = callback(screen, visit=visit_to(None, "₹20")).values()
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


def test_a_language_changes_labels_and_no_value(screen):
    updates = callbacks.change_language(screen, SELL, ANY_ITEM, "linear", HINDI)
    assert set(updates) == set(screen.page.with_words)
    assert [value for _, value in updates[screen.page.seat].choices] == [BUY, SELL]
    assert updates[screen.page.market].label == translator(HINDI)("ware")


def test_the_fold_of_a_phone_stays_open_where_a_language_is_chosen_and_opens_closed(screen):
    updates = callbacks.change_language(screen, SELL, ANY_ITEM, "linear", HINDI)
    assert '<details class="sauda-choose" open>' in updates[screen.page.choose]
    assert '<details class="sauda-choose">' in choices_fold(translator(HINDI))


# The language model


def replies(screen: Screen, visit: Visit, request: ReplyRequest | None, generation=None):
    generation = generation or SessionGeneration()

    async def collected():
        stream = model_callbacks.stream_reply(screen, VISITOR, generation, request, visit)
        return [updates async for updates in stream]

    return run(collected())


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
    assert last[screen.page.show_effect]["visible"]


def test_a_request_is_answered_once_and_nothing_is_written_without_one():
    screen, visit = selling(Model('{"offer":50}'))
    request = ReplyRequest()
    assert request.claim()
    for seen in (request, None):
        assert replies(screen, visit, seen) == [screen.unchanged]


@pytest.mark.slow
def test_a_stream_of_an_earlier_generation_is_dropped():
    screen, visit = selling(Model('{"offer":50}'))
    generation = SessionGeneration()

    async def stopped_after_two():
        stream = model_callbacks.stream_reply(screen, VISITOR, generation, ReplyRequest(), visit)
        await anext(stream), await anext(stream)
        updates = model_callbacks.stop(screen, generation, visit)
        return updates, [update async for update in stream]

    updates, later = run(stopped_after_two())
    assert updates[screen.page.ask_again]["visible"]
    assert updates[screen.page.reply_request] is None
    assert later == [screen.unchanged]  # the last piece of the stream is not sent again


def test_after_a_stream_that_was_cut_the_chat_is_sent_again():
    """A piece of it that was on its way is shown after the answer that cut it."""
    screen, visit = selling(Model('{"offer":50}'))
    generation = SessionGeneration()

    async def cut():
        stream = model_callbacks.stream_reply(screen, VISITOR, generation, ReplyRequest(), visit)
        await anext(stream), await anext(stream)
        generation.advance()

    run(cut())
    (mended,) = replies(screen, visit, None, generation)
    assert "₹900" in mended[screen.page.chat][-1]["content"]
    assert replies(screen, visit, None, generation) == [screen.unchanged]


def test_a_model_that_gives_no_reply_leaves_the_game_to_be_asked_again():
    screen, visit = selling(Model(ReplyTimeout("too slow")))
    last = replies(screen, visit, ReplyRequest())[-1]
    assert last[screen.page.game].play == visit.game.play
    assert last[screen.page.ask_again]["visible"]
    assert last[screen.page.problem]
    assert last[screen.page.reply_request] is None


def stuck(*texts: str) -> tuple[Screen, Visit]:
    """A visitor whose price has no reply: the model took too long. `texts` are its next ones."""
    screen, visit = selling(Model(ReplyTimeout("too slow"), *texts))
    last = replies(screen, visit, ReplyRequest())[-1]
    updates = (screen.page.game, screen.page.talk, screen.page.reply_request)
    game, talk, request = (last[part] for part in updates)
    return screen, replace(visit, game=game, talk=talk, reply_request=request)


def test_after_a_late_reply_another_price_takes_the_place_of_the_unanswered_one():
    screen, visit = stuck()
    page = screen.page
    updates = callbacks.send(screen, replace(visit, text="₹850"))
    game = updates[page.game]
    assert game.observation.table.asks == (850,)
    assert (game.undone, game.waiting) == (0, True)
    assert isinstance(updates[page.reply_request], ReplyRequest)
    assert (updates[page.message], updates[page.problem]) == ("", "")


def test_after_a_late_reply_the_buttons_name_moves_and_make_them():
    screen, visit = stuck()
    page, game = screen.page, visit.game
    shown = screen.show(visit, "too slow")
    labels = [shown[button]["value"] for button in page.quick_moves]
    assert "…" not in labels
    assert any(shown[button]["interactive"] for button in page.quick_moves)
    left = callbacks.press_quick_move(screen, 3, len(game.play.turns), visit)
    assert left[page.game].over


def test_after_a_late_reply_talk_keeps_the_price_and_asks_the_model_again():
    screen, visit = stuck('{"offer":50,"say":"fine"}')
    page = screen.page
    updates = callbacks.send(screen, replace(visit, text="hello?"))
    assert updates[page.game].play == visit.game.play
    said = [message["content"] for message in updates[page.chat]["value"]]
    assert said.index("hello?") == len(said) - 2
    request = updates[page.reply_request]
    assert isinstance(request, ReplyRequest)
    again = replace(visit, game=updates[page.game], talk=updates[page.talk])
    assert not replies(screen, again, request)[-1][page.game].waiting


def test_after_a_late_reply_a_doubtful_price_is_asked_back_and_a_yes_makes_it():
    screen, visit = stuck()
    page = screen.page
    asked = callbacks.send(screen, replace(visit, text="₹2"))
    assert asked[page.game].unconfirmed is not None
    sure = replace(visit, game=asked[page.game], talk=asked[page.talk], text="yes")
    made = callbacks.send(screen, sure)
    assert made[page.game].observation.table.asks == (2,)
    assert isinstance(made[page.reply_request], ReplyRequest)


def test_a_model_that_gave_no_opening_is_asked_again_by_whatever_is_sent():
    game = start("bazaar/open", "mini:friendly", 3)
    screen = screen_of(Model(ReplyTimeout("too slow")))
    last = replies(screen, visit_to(game), ReplyRequest())[-1]
    assert last[screen.page.reply_request] is None
    updates = callbacks.send(screen, visit_to(game, "₹300"))
    assert isinstance(updates[screen.page.reply_request], ReplyRequest)
    assert screen.page.message not in updates


def test_while_a_reply_is_on_its_way_a_price_waits_in_the_box():
    screen, visit = selling(Model())
    on_its_way = replace(visit, reply_request=ReplyRequest(), text="₹850")
    assert list(callbacks.send(screen, on_its_way)) == [screen.page.problem]


@pytest.mark.parametrize("language", [HINDI, HINGLISH])
def test_what_a_model_writes_in_another_language_than_the_chat_does_not_show(language):
    words = "I can pay that much today"
    screen, visit = selling(Model(f'{{"offer":50,"say":"{words}"}}'))
    *growing, last = replies(screen, replace(visit, language=language), ReplyRequest())
    shown = [update[screen.page.chat] for update in growing if screen.page.chat in update]
    assert shown
    assert not any(words[:8] in chat[-1]["content"] for chat in shown)
    assert words not in last[screen.page.chat]["value"][-1]["content"]


def test_what_a_model_writes_in_the_language_of_the_chat_grows_there():
    words = "I can pay that much today"
    screen, visit = selling(Model(f'{{"offer":50,"say":"{words}"}}'))
    *growing, _ = replies(screen, visit, ReplyRequest())
    shown = [update[screen.page.chat] for update in growing if screen.page.chat in update]
    assert words in shown[-1][-1]["content"]


def test_a_model_that_writes_no_legal_move_forfeits_and_is_quoted():
    screen, visit = selling(Model("no <b>move</b> in this"))
    page, last = screen.page, replies(screen, visit, ReplyRequest())[-1]
    assert last[page.game].over
    assert last[page.game].play.forfeit
    assert "no &lt;b&gt;move&lt;/b&gt; in this" in last[page.problem]
    assert "No deal: a forfeit ended it" in last[page.card_text]
    assert (last[page.card]["visible"], last[page.ask_again]["visible"]) == (True, False)


def test_another_stage_of_training_is_played_by_weights_of_its_own():
    asked, served = [], Model()
    screen = screen_of(served)
    screen = replace(screen, by_name=lambda name: asked.append(name) or served)
    for opponent in ("mini+sft", "mini", "sauda-mini", "linear"):
        assert screen.model_of(opponent, THIS_PAGE) is served
    assert asked == ["mini+sft", "mini"]


@pytest.mark.parametrize(
    "error", [ReplyRefused("8 visitors are waiting", 9.0), NotReady("8 crashes in a row")]
)
def test_whoever_gets_no_reply_is_offered_a_script_that_is_marked_as_one(error):
    screen, visit = selling(Model(error))
    last = replies(screen, visit, ReplyRequest())[-1]
    assert str(error) in last[screen.page.problem]
    assert last[screen.page.stand_in]["visible"]
    updates = model_callbacks.play_stand_in(screen, SessionGeneration(), visit)
    game = updates[screen.page.game]
    assert (game.opponent, game.stands_in_for) == (STAND_IN, "mini")
    assert game.play.seed == visit.game.play.seed
    assert "tit for tat" in updates[screen.page.badge]
    assert not updates[screen.page.stand_in]["visible"]


def test_a_model_takes_its_seat_once_it_has_loaded():
    model = Model(stage=Loading(THIS_PAGE, 0.0))
    screen = screen_of(model)
    page = screen.page
    begun = callbacks.begin(
        screen, SessionGeneration(), SELL, "any item", "sauda-mini", THIS_PAGE, ENGLISH
    )
    assert begun[page.game].opponent == STAND_IN
    visit = visit_to(begun[page.game])
    ticked = model_callbacks.tick(screen, SessionGeneration(), visit)
    assert page.game not in ticked
    assert ticked[page.clock].active
    model.stage = Ready(THIS_PAGE, "canned", 1.0)
    seated = model_callbacks.tick(screen, SessionGeneration(), visit)
    assert (seated[page.game].opponent, seated[page.clock].active) == ("sauda-mini", False)


def test_a_model_that_loads_while_another_game_is_chosen_leaves_that_game_alone(monkeypatch):
    model = Model(stage=Ready(THIS_PAGE, "canned", 1.0))
    screen, generation = screen_of(model), SessionGeneration()
    game = start("bazaar/seller_brief", STAND_IN, 3)
    visit = visit_to(replace(game, stands_in_for="sauda-mini"))

    def chosen_meanwhile(*setup):
        generation.choose()
        return start(*setup)

    monkeypatch.setattr(model_callbacks, "start", chosen_meanwhile)
    ticked = model_callbacks.tick(screen, generation, visit)
    assert screen.page.game not in ticked
    assert ticked[screen.page.clock].active


def test_a_model_that_failed_is_loaded_again_on_demand():
    model = Model(stage=Failed(THIS_PAGE, "no weights"))
    model.start = lambda again: setattr(model, "stage", Loading(THIS_PAGE, 0.0))
    screen = screen_of(model)
    updates = model_callbacks.check_health(screen, visit_to(None))
    assert updates[screen.page.clock].active
    assert isinstance(model.stage, Loading)
