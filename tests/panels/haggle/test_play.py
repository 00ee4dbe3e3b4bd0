"""What the Haggle tab does on each event: choices, moves, replies of a model, the review."""

import re
from dataclasses import replace

import pytest

from env import Accept, Offer, WalkAway, begin, get_task
from panels.haggle import callbacks
from panels.haggle.game_view import IN_ENGLISH, open_moves
from panels.haggle.opponents import (
    ANY_ITEM,
    BUY,
    HIDDEN,
    MARKETS,
    SELL,
    SELLING_TASK,
    STAND_IN,
    bare_stages,
    item_of,
    new_game,
    opponent_name,
    weights_of,
)
from panels.haggle.result import compare
from panels.haggle.review import show_review
from panels.haggle.screen import FIRST, Request, Screen, Visit
from panels.haggle.tab import open_page
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, translator
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Failed, Loading, Ready, Waiting
from sauda.llm.types import NotReady, ReplyRefused, ReplyTimeout
from sauda.players import SERVED
from sauda.sessions.bazaar import answer, standings, start
from sauda.sessions.review import review
from tests.support.golden import plain
from tests.support.haggle import Model, screen_of
from tests.support.running import run

STAGES = bare_stages("bazaar/open-3")


@pytest.fixture(scope="module")
def screen() -> Screen:
    return screen_of(Model())


@pytest.fixture
def buying() -> Visit:
    """A visitor whose plain seller asks ₹60."""
    return Visit(start("classic/single_deal", "", 5))


def collect(stream) -> list[dict]:
    """Every update of an asynchronous event."""

    async def updates():
        return [update async for update in stream]

    return run(updates())


def pressable(updates: dict, part) -> set[str]:
    """What the buttons of a region do."""
    return set(re.findall(r'data-id="(\w+)', updates[part]))


# Choices


def take_seat(screen: Screen, seat: str, market: str, visit: Visit | None = None) -> dict:
    return callbacks.take_seat(screen, replace(visit or Visit(), seat=seat, market=market))


@pytest.mark.parametrize(
    "choice",
    [
        (SELL, "classic/single_deal", "firm"), (BUY, "classic/single_deal", "firm"), (BUY, "x", ""),
        ("neither", "bazaar/open-3", HIDDEN),
    ],
)  # fmt: skip
def test_a_seat_and_a_choice_must_go_together(choice):
    with pytest.raises(ValueError, match="Choose a market"):
        new_game(*choice)


def test_a_games_seed_is_too_long_to_be_searched_for_and_names_its_item():
    seeds = {new_game(BUY, "classic/single_deal", HIDDEN).play.seed for _ in range(5)}
    assert max(seeds) >= 2**120  # of 128 bits: all five are smaller once in 10**12 runs
    for seed in (*range(10), *seeds):
        assert item_of(seed) == begin(get_task(SELLING_TASK), seed).state.table.item.name


def test_a_chosen_ware_is_sold_and_a_model_that_is_not_ready_is_stood_in_for_by_name():
    model = SERVED
    for ready, plays, wanted in ((True, model, ""), (False, STAND_IN, model)):
        game = new_game(SELL, "hybrid city bicycle", model, ready)
        assert game.observation.table.item.name == "hybrid city bicycle"
        assert (game.opponent, game.stands_in_for) == (plays, wanted)
    game = new_game(BUY, "bazaar/open-3", "mini:firm", ready=False)
    assert (game.opponent, game.stands_in_for) == ("firm", "mini:firm")


def test_a_seat_keeps_a_market_it_offers_and_replaces_one_it_does_not(screen):
    page = screen.page
    for market, kept, opponent in (
        ("bazaar/open-3", "bazaar/open-3", HIDDEN),
        ("hybrid city bicycle", MARKETS[0], HIDDEN),
    ):
        taken = take_seat(screen, BUY, market)
        assert taken[page.market].value == taken[page.visit].game.task_name == kept
        assert taken[page.opponent].value == opponent
        assert taken[page.opponent].visible == (kept == "bazaar/open-3")
    opponents = take_seat(screen, BUY, "classic/amazon_realistic")[page.opponent]
    assert (opponents.value, opponents.visible) == (HIDDEN, False)


def test_a_choice_that_cannot_be_is_answered_and_leaves_the_game_on_show(screen):
    refused = callbacks.begin(screen, Visit(seat=BUY, market="x"))
    assert "Choose a market" in "".join(map(str, refused.values()))
    assert screen.page.visit not in refused


def test_another_opponent_gets_the_same_item_and_seed(screen):
    def choose(opponent: str, game) -> dict:
        return callbacks.change_opponent(screen, replace(Visit(game), opponent=opponent))

    first = Visit(start("bazaar/sell", "boulware", 3))
    moved = callbacks.send(screen, first, "₹9,00,000")[screen.page.visit].game
    game = choose("linear", moved)[screen.page.visit].game
    assert (game.opponent, game.play.seed, len(game.play.turns)) == ("linear", 3, 0)
    for opponent, before in (("linear", game), ("boulware", moved)):  # a list that closes
        assert choose(opponent, before) == screen.unchanged
    assert list(choose("nobody", moved)) == [screen.page.moves]


def test_a_list_that_closes_without_a_choice_leaves_the_game_alone(screen):
    visit = open_page(screen, "", {}, "session")[screen.page.visit]
    assert take_seat(screen, FIRST.seat, FIRST.market, visit) == screen.unchanged
    chosen = take_seat(screen, BUY, "bazaar/open-3", visit)
    assert chosen[screen.page.visit].game.task_name == "bazaar/open-3"
    assert take_seat(screen, BUY, "bazaar/open-3", visit) == screen.unchanged


def test_of_two_choices_that_overlap_the_later_is_shown(screen, monkeypatch):
    visit, later = Visit(), {}

    def overlap(*choices):
        monkeypatch.setattr(callbacks.opponents, "new_game", new_game)
        later.update(take_seat(screen, BUY, "bazaar/open-3", visit))
        return new_game(*choices)

    monkeypatch.setattr(callbacks.opponents, "new_game", overlap)
    assert take_seat(screen, SELL, ANY_ITEM, visit) == screen.unchanged
    assert later[screen.page.visit].game.task_name == "bazaar/open-3"


def test_a_rematch_on_the_card_is_against_another_opponent_on_the_same_seed(screen):
    page, visit = screen.page, Visit(start("bazaar/sell", "boulware", 3))
    over = callbacks.send(screen, visit, "bye")
    offered = re.findall(r'option value="(\w*)"', over[page.after])
    assert {"linear", "listener", HIDDEN} <= set(offered)

    def pick(opponent: str) -> dict:
        return callbacks.replay_item(screen, replace(over[page.visit], opponent=opponent))

    assert pick("") == screen.unchanged  # "Choose an opponent"
    again = pick("linear")
    assert (again[page.visit].game.opponent, again[page.visit].game.play.seed) == ("linear", 3)
    assert "haggle-card" not in again[page.after]


def test_the_card_leads_to_a_new_game_in_the_other_seat(screen):
    page = screen.page
    over = callbacks.send(screen, Visit(start("bazaar/sell", "boulware", 3)), "bye")
    assert {"begin", "seat"} <= pressable(over, page.after)
    again = callbacks.change_seat(screen, BUY, over[page.visit])[page.visit]
    assert again.game.you == "buyer"
    assert callbacks.show_place(screen, again)[page.seat] == BUY


def test_a_language_changes_labels_and_no_value(screen):
    visit = Visit(opponent="linear", language=HINDI)
    updates = callbacks.change_language(screen, visit)
    assert set(updates) == set(screen.page.with_words)
    assert [value for _, value in updates[screen.page.seat].choices] == [BUY, SELL]
    assert updates[screen.page.market].label == translator(HINDI)("ware")


# Moves


def test_a_move_against_a_script_shows_the_game_after_it_and_empties_the_box(screen, buying):
    page = screen.page
    updates = callbacks.send(screen, buying, "₹20")
    assert len(updates[page.visit].game.play.turns) > len(buying.game.play.turns)
    assert updates[page.message] == ""
    assert updates[page.visit].reply_request is None
    whole = screen.show(Visit(updates[page.visit].game))
    assert updates[page.chat] == whole[page.chat]["value"]
    for part in (page.brief, page.moves, page.after, page.side):
        assert updates[part] == whole[part]
    assert not pressable(updates, page.moves) & {"stop", "ask_again", "stand_in"}


def test_an_empty_message_and_one_while_the_model_thinks_leave_the_box_alone(screen, buying):
    opening = Visit(start("bazaar/open-3", "mini:fair", 3))
    waiting = replace(opening, reply_request=Request())
    for visit, text in ((buying, "  "), (waiting, "₹300")):
        updates = callbacks.send(screen, visit, text)
        assert list(updates) == [screen.page.moves]
        assert "sauda-bad" not in updates[screen.page.moves]


def test_a_button_makes_the_move_that_it_names_or_none_where_that_is_gone(screen, buying):
    accept, *others = open_moves(buying.game)
    for name in ("accept:1", "offer:1", "", "walk:again"):
        late = callbacks.press_quick_move(screen, name, buying)
        assert list(late) == [screen.page.moves]
    moved = callbacks.press_quick_move(screen, others[0], buying)[screen.page.visit]
    assert others[0] == f"offer:{moved.game.observation.table.bids[-1]}"
    assert list(callbacks.press_quick_move(screen, accept, moved)) == [screen.page.moves]
    updates = callbacks.press_quick_move(screen, accept, buying)
    assert updates[screen.page.visit].game.over
    assert "begin" in pressable(updates, screen.page.after)


def test_a_game_that_was_put_away_is_answered_in_words(screen):
    gone = Visit(None)
    assert [*callbacks.take_back(screen, gone)] == [*callbacks.go_back(screen, 0, gone)]
    (sentence,) = callbacks.send(screen, gone, "₹20").values()
    assert "put away after an hour" in sentence


# The language model


def replies(screen: Screen, visit: Visit, request: Request | None) -> list[dict]:
    return collect(callbacks.stream_reply(screen, replace(visit, reply_request=request)))


def selling(model: Model, language: str = ENGLISH) -> tuple[Screen, Visit]:
    """A visitor who has named a price to a language model, and waits for its move."""
    screen = screen_of(model)
    visit = replace(Visit(start(SELLING_TASK, SERVED, 3)), language=language)
    asked = callbacks.send(screen, visit, "₹900")[screen.page.visit]
    assert isinstance(asked.reply_request, Request)
    return screen, asked


@pytest.mark.parametrize("language", [ENGLISH, HINDI, HINGLISH])
def test_a_reply_grows_in_the_chat_in_its_own_words_and_then_makes_the_move(language):
    words = "I can pay that much today"
    screen, visit = selling(Model(f'{{"offer":50,"say":"{words}"}}'), language)
    _, thinking, *growing, last = replies(screen, visit, Request())
    chat = screen.page.chat
    assert len(thinking[chat][-1]["content"]) < 60  # that it thinks
    assert growing
    assert all(list(update) == [chat] for update in growing)  # what is typed meanwhile stays
    assert words in growing[-1][chat][-1]["content"]
    assert words in last[chat]["value"][-1]["content"]
    assert not last[screen.page.visit].game.waiting


def test_whoever_waits_for_a_busy_model_is_told_the_place_in_line():
    class Busy(Model):
        async def stream_async(self, messages, seed, schema=None):
            yield Waiting(2, 7.0)
            async for piece in super().stream_async(messages, seed, schema):
                yield piece

    screen, visit = selling(Busy('{"offer":50}'))
    told = [str(update.get(screen.page.chat)) for update in replies(screen, visit, Request())]
    assert any("number 2 in line, about 7 s" in chat for chat in told)


def test_a_request_is_answered_once_and_nothing_is_written_without_one():
    screen, visit = selling(Model('{"offer":50}'))
    request = Request()
    assert request.claim()
    for seen in (request, None):
        assert replies(screen, visit, seen) == [screen.unchanged]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_stream_of_an_earlier_generation_is_dropped_and_the_chat_sent_again(stopped):
    """A piece that was on its way may be shown after the answer that cut the stream."""
    screen, visit = selling(Model('{"offer":50}'))

    async def cut():
        stream = callbacks.stream_reply(screen, visit)
        await anext(stream), await anext(stream)
        if not stopped:
            return visit.generation.advance(), []
        updates = callbacks.stop(screen, visit)
        assert screen.page.asked in updates
        return updates, [update async for update in stream]

    updates, later = run(cut())
    if stopped:
        assert "ask_again" in pressable(updates, screen.page.moves)
        assert updates[screen.page.visit].reply_request is None
        assert later == [screen.unchanged]  # the last piece of the stream is not sent again
    else:
        (mended,) = replies(screen, visit, None)
        assert "₹900" in mended[screen.page.chat][-1]["content"]
        assert replies(screen, visit, None) == [screen.unchanged]


def test_after_a_late_reply_another_price_takes_its_place_and_talk_asks_again():
    screen, visit = selling(Model(ReplyTimeout("too slow"), '{"offer":50,"say":"fine"}'))
    page, last = screen.page, replies(screen, visit, Request())[-1]
    late = last[page.visit]
    assert (late.game.play, late.reply_request) == (visit.game.play, None)
    assert "ask_again" in pressable(last, page.moves)
    assert "sauda-bad" in last[page.moves]
    other = callbacks.send(screen, late, "₹850")[page.visit]
    assert (other.game.observation.table.asks, other.game.undone) == ((850,), 0)
    assert other.game.waiting
    assert isinstance(other.reply_request, Request)
    asked = callbacks.send(screen, late, "hello?")[page.visit]
    assert asked.game.play == visit.game.play
    answered = collect(callbacks.stream_reply(screen, asked))[-1]
    assert not answered[page.visit].game.waiting


def test_a_model_that_writes_no_legal_move_forfeits_and_is_quoted():
    screen, visit = selling(Model("no <b>move</b> in this"))
    page, last = screen.page, replies(screen, visit, Request())[-1]
    assert last[page.visit].game.play.forfeit
    assert "no &lt;b&gt;move&lt;/b&gt; in this" in last[page.moves]
    assert "haggle-card" in last[page.after]
    assert "ask_again" not in pressable(last, page.moves)


@pytest.mark.parametrize(
    "error", [ReplyRefused("8 visitors are waiting", 9.0), NotReady("8 crashes in a row")]
)
def test_whoever_gets_no_reply_is_offered_a_script_that_is_marked_as_one(error):
    screen, visit = selling(Model(error))
    last = replies(screen, visit, Request())[-1]
    assert str(error) in last[screen.page.moves]
    assert "stand_in" in pressable(last, screen.page.moves)
    updates = callbacks.play_stand_in(screen, visit)
    game = updates[screen.page.visit].game
    assert (game.opponent, game.stands_in_for) == (STAND_IN, SERVED)
    assert game.play.seed == visit.game.play.seed
    assert "tit for tat" in updates[screen.page.brief]
    assert "stand_in" not in pressable(updates, screen.page.moves)


def test_a_model_takes_its_seat_once_it_has_loaded_and_no_other_game_was_chosen(monkeypatch):
    model = Model(stage=Loading(THIS_PAGE, 0.0))
    screen = screen_of(model)
    page = screen.page
    visit = callbacks.begin(screen, Visit(opponent=SERVED))[page.visit]
    assert visit.game.opponent == STAND_IN
    ticked = callbacks.tick(screen, visit)
    assert (page.visit in ticked, ticked[page.clock].active) == (False, True)
    model.stage = Ready(THIS_PAGE, "canned", 1.0)
    seated = callbacks.tick(screen, visit)
    assert (seated[page.visit].game.opponent, seated[page.clock].active) == (SERVED, False)

    def choose_meanwhile(*setup):
        visit.generation.choose()
        return start(*setup)

    monkeypatch.setattr(callbacks.bazaar, "start", choose_meanwhile)
    late = callbacks.tick(screen, visit)
    assert (page.visit in late, late[page.clock].active) == (False, True)


def test_a_first_move_and_a_model_that_takes_its_seat_do_not_undo_each_other():
    model = Model(stage=Loading(THIS_PAGE, 0.0))
    screen = screen_of(model)
    page = screen.page

    def loaded() -> tuple[Visit, str]:
        model.stage = Loading(THIS_PAGE, 0.0)
        visit = callbacks.begin(screen, Visit(opponent=SERVED))[page.visit]
        model.stage = Ready(THIS_PAGE, "canned", 1.0)
        price = visit.game.observation.table.item.list_price
        return visit, f"{price} and not a rupee less"

    visit, text = loaded()  # both events begin with it: first the move is answered, then the tick
    moved = callbacks.send(screen, visit, text)
    late = callbacks.tick(screen, visit)
    assert moved[page.message] == ""
    assert moved[page.visit].chat.own_words == (text,)
    assert not {page.visit, page.chat, page.moves} & late.keys()
    assert late[page.clock].active
    assert page.visit not in callbacks.tick(screen, moved[page.visit])

    visit, text = loaded()
    seated = callbacks.tick(screen, visit)
    waiting = callbacks.send(screen, visit, text)
    assert seated[page.visit].game.opponent == SERVED
    assert not {page.visit, page.chat, page.message} & waiting.keys()
    assert "Sauda has just taken over" in waiting[page.moves]
    again = callbacks.send(screen, seated[page.visit], text)
    assert again[page.visit].chat.own_words == (text,)


def test_a_model_that_failed_is_loaded_again_on_demand():
    model = Model(stage=Failed(THIS_PAGE, "no weights"))
    model.start = lambda again: setattr(model, "stage", Loading(THIS_PAGE, 0.0))
    screen = screen_of(model)
    assert "no weights" in screen.model(Visit(None))
    updates = callbacks.check_health(screen, Visit(None))
    assert list(updates) == [screen.page.model]
    assert isinstance(model.stage, Loading)


# After the end: the review, and the stages of the model on the same seed


def review_after(screen: Screen, visit: Visit) -> list[str]:
    """What the review shows, one after another."""
    shown = [each[screen.page.review] for each in collect(callbacks.stream_review(screen, visit))]
    return [text for text in shown if isinstance(text, str)]


@pytest.fixture
def bought(screen, buying) -> dict:
    """What shows that a visitor takes the plain seller's ₹60."""
    return callbacks.send(screen, buying, "deal")


def test_the_last_move_shows_the_result_at_once_and_the_review_once_after_it(
    screen, buying, bought
):
    page = screen.page
    assert "Played now, at seed" in bought[page.side]
    pending, shown = review_after(screen, bought[page.visit])
    assert "Looking for better moves" in pending
    assert "Move 1 (Accept ₹60) cost you most" in shown
    assert review_after(screen, bought[page.visit]) == []
    moved = callbacks.send(screen, buying, "₹20")
    assert review_after(screen, moved[page.visit]) == [""]  # that game still runs


def test_the_review_asks_for_a_better_move_and_answers_a_choice_or_a_typed_price(
    screen, buying, bought
):
    visit, review = bought[screen.page.visit], screen.page.review
    assert callbacks.ask_of_move(screen, 0, visit) == screen.unchanged  # it is not there yet
    _, asked = review_after(screen, visit)
    assert "find a better move" in asked
    choices = visit.generation.reviewed.moves[0].choices
    assert len(choices) == asked.count('data-id="answer:') > 1
    best = choices.index(visit.generation.reviewed.moves[0].better)

    def answered(**given) -> str:
        return callbacks.ask_of_move(screen, 0, visit, **given)[review]

    assert "Right." in answered(choice=best)
    assert "Right." not in answered(choice=(best + 1) % len(choices))
    assert "of 100" in answered(text="30")
    for text in ("nothing", "1e9", "₹2000"):
        assert 'class="sauda-bad"' in answered(text=text)
    assert callbacks.ask_of_move(screen, 7, visit) == screen.unchanged


def reviewed_answers(game, language: str = ENGLISH) -> list[str]:
    """What the review of a game says of each move; where it asks, after the worst answer."""
    judged, translate = review(game), translator(language)
    answers = [
        min(move.choices, key=lambda each: each.grade, default=None) for move in judged.moves
    ]
    return [
        show_review(judged, translate, language, number, answer)
        for number, answer in enumerate(answers)
    ]


def played(task: str, seed: int, *shares: float):
    """A game of which the visitor names these shares of the list price, then leaves."""
    game = start(task, "", seed)
    for share in shares:
        game = answer(game, Offer(round(share * game.observation.table.item.list_price)))
    return game if game.over else answer(game, WalkAway())


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_planners_review_gives_reasons_and_names_the_own_move_and_the_answer_apart(language):
    translate = translator(language)
    game = played("bazaar/people", 39, 0.5, 0.58, 0.66)
    first, second, third = reviewed_answers(game, language)
    assert all(translate("review_judged") in shown for shown in (first, second, third))
    assert first.partition('role="status"')[2].count("₹675: ") == 1  # how often taken and left
    assert translate("review_answer") in first
    assert translate("review_own", said="₹675", points="#").partition("#")[0] in first
    assert translate("review_gamble") in third
    assert translate("review_gamble") not in second
    done = [translate("review_done") in shown for shown in (first, second, third)]
    assert done == [False, False, True]  # by cost, the third is the last one


def test_a_review_says_in_how_many_games_leaving_is_right_and_whether_this_was_one():
    shares = (1.3, 1.23, 1.16, 1.09, 1.02, 0.95)
    game = played("bazaar/customers", 159, *shares)  # most such games have no price for both
    *_, left = reviewed_answers(game)
    assert re.search(r"no price suits both sides in 8\d of 100", left)
    assert IN_ENGLISH("review_was_deal", width="₹2,887") in left


def test_what_was_missed_adds_up_and_a_loss_has_one_scale_in_the_table():
    game = answer(answer(start("bazaar/open-3", "", 7), Offer(1560)), Accept())
    shown = reviewed_answers(game)[0]
    made, informed, *parts = (
        int(number.replace("−", "-"))
        for number in re.search(
            r"You made (\S+); .* expect (\S+)\. Of the (\d+) points between, (\S+) were luck, "
            r"(\S+) your prices, (\S+) mis",
            shown,
        ).groups()
    )
    assert informed - made == parts[0] == sum(parts[1:])
    assert IN_ENGLISH("review_loss") in shown
    row = plain(compare(standings(game))).partition("you ")[2]
    share, after = re.findall(r"−\d+%", row)[:2]
    assert share == after


def test_what_if_goes_back_in_the_reviewed_game_and_keeps_the_first(screen, buying, bought):
    page, ended = screen.page, bought[screen.page.visit]
    branched = callbacks.go_back(screen, 0, ended)
    assert branched[page.visit].first_game is ended.game
    assert branched[page.visit].game.play.turns == buying.game.play.turns
    assert review_after(screen, branched[page.visit]) == [""]
    for number in (None, 5, "0"):
        assert list(callbacks.go_back(screen, number, ended)) == [page.moves]


@pytest.mark.parametrize("market", MARKETS)
def test_a_game_of_every_market_is_shown_from_its_first_move_to_its_end(screen, market):
    game = start(market, "", 7)
    while not game.over:
        bid = max(1, round(0.6 * game.observation.ask))
        game = answer(game, Offer(bid, "Cash in my pocket, is there a scratch on it?"))
        shown = screen.show(replace(Visit(game), language=HINDI))
        assert shown[screen.page.chat]
    assert shown[screen.page.side]


def test_a_seller_like_people_is_heard_and_hears_by_the_ear(screen):
    game = answer(start("bazaar/people", "", 12), Offer(60, "Bhaiya, paise jeb mein hain"))
    side = screen.show(Visit(game))[screen.page.side]
    assert "cash" in side.lower()
    ended = game if game.over else answer(game, WalkAway())
    assert "What did my words change?" in screen.show(Visit(ended))[screen.page.side]


def test_each_stage_plays_the_seed_or_is_said_not_to_and_the_place_counts_them():
    leaves, asked = ['{"walk":true}'] * (len(STAGES) - 1), []
    model = Model(ReplyTimeout("too slow"), *leaves)
    screen = replace(screen_of(model), by_name=lambda name: asked.append(name) or model)
    game = answer(start("bazaar/open-3", "", 7), WalkAway())
    shown = collect(callbacks.ask_stages(screen, Visit(game)))
    last = shown[-1][screen.page.side]
    assert asked == [weights_of(stage) for stage in STAGES]
    names = [f"{opponent_name(stage, IN_ENGLISH)}</abbr></th>" for stage in STAGES]
    assert [name in last for name in names] == [False] + [True] * (len(STAGES) - 1)
    assert "too slow" in last
    assert f"of {last.count('<tr') - 1}" in shown[-1][screen.page.after]
