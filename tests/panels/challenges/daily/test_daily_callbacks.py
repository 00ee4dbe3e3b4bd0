"""What the bargain of the day shows and hides, without a browser."""

import re
from dataclasses import replace
from datetime import timedelta

import gradio as gr
import pytest
from markupsafe import Markup
from PIL import Image, ImageFont

from env import CATALOGUE, Accept, Offer, WalkAway, rupees
from panels.challenges.daily import callbacks, sauda_plays, view
from panels.challenges.daily.card import DEVANAGARI, ITEM_SIZES, fitting, picture
from panels.challenges.daily.layout import lay_out
from panels.challenges.daily.screen import DailyScreen, DailyVisit
from panels.haggle import callbacks as haggle
from panels.haggle.game_view import brief
from panels.haggle.review.result_view import placed
from panels.haggle.words import ENGLISH, HINDI, HINGLISH, WORDS, translator
from panels.ui.theme import FONTS
from sauda.language.lines import name_in
from sauda.llm.backends import THIS_PAGE
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import ReplyError
from sauda.sessions.bazaar import Standing, answer, finished
from sauda.sessions.daily import bargain_of, coded, player, replayed, today

DAY = today() - timedelta(days=40)
OPEN = DailyVisit(None, None, "", THIS_PAGE, ENGLISH, origin="https://sauda.example")


@pytest.fixture
def screen() -> DailyScreen:
    with gr.Blocks():
        return DailyScreen(lay_out(), {})


def address(day=DAY, **more) -> dict[str, str]:
    return {"tab": "haggle", "part": "daily", "day": day.isoformat(), **more}


def friends_code(day=DAY) -> str:
    """A friend's deal: two low bids, then the ask is accepted."""
    game = bargain_of(day)
    price = game.observation.table.item.list_price
    for move in (Offer(round(0.3 * price)), Offer(round(0.35 * price)), Accept()):
        game = answer(game, move)
    return coded(game)


def after(screen, visit: DailyVisit, updates) -> DailyVisit:
    """The visit once the page shows `updates`."""
    page = screen.page
    return replace(
        visit,
        game=updates.get(page.game, visit.game),
        talk=updates.get(page.talk, visit.talk),
        bargain=updates.get(page.bargain, visit.bargain),
        kept=updates.get(page.kept, visit.kept),
        text="",
    )


def opened(screen, visit=OPEN, **more) -> tuple[DailyVisit, dict]:
    updates = callbacks.open_day(screen, address(**more), visit)
    return after(screen, visit, updates), updates


def ended(screen, visit: DailyVisit) -> tuple[DailyVisit, dict]:
    """The visit after the visitor walked away."""
    updates = haggle.send(screen, replace(visit, text="goodbye"))
    return after(screen, visit, updates), updates


def bids(visit: DailyVisit) -> list[float]:
    return list(visit.game.play.state.table.bids)


def texts(updates) -> str:
    """All that the updates send to the browser; states stay on the server."""
    shown = [value for part, value in updates.items() if not isinstance(part, gr.State)]
    return repr(shown)


def sellers_limit(day=DAY) -> str:
    (instance,) = bargain_of(day).play.state.private["nature"]
    return rupees(instance.seller["reservation"])


def test_everybody_gets_the_same_bargain_of_a_day(screen):
    (first, _), (second, _) = opened(screen), opened(screen)
    assert first.game.play == second.game.play


def test_a_bid_is_answered_by_the_seller_and_markup_in_it_is_shown_as_typed(screen):
    visit, _ = opened(screen)
    updates = haggle.send(screen, replace(visit, text="<img src=x> hello"))
    assert "&lt;img src=x&gt; hello" in str(updates[screen.page.chat])
    bid = haggle.send(screen, replace(visit, text=f"{visit.game.observation.ask // 3} please"))
    assert len(bid[screen.page.game].play.turns) == 3


def test_the_limit_and_the_seed_stay_hidden_until_the_end(screen):
    visit, shown = opened(screen)
    bid = haggle.send(screen, replace(visit, text=str(visit.game.observation.ask // 3)))
    for updates in (shown, bid):
        assert sellers_limit() not in texts(updates)
        assert str(visit.game.play.seed) not in texts(updates)
    _, last = ended(screen, visit)
    assert sellers_limit() in last[screen.page.result]


def test_in_hindi_no_english_word_of_the_page_is_left(screen):
    visit, shown = opened(screen, replace(OPEN, language=HINDI), moves=friends_code())
    _, last = ended(screen, visit)
    page = screen.page
    parts = (page.title, page.head, page.friend, page.watch, page.message, page.send, page.text)
    told = "".join(str(updates.get(part, "")) for updates in (shown, last) for part in parts)
    for key, text in WORDS[ENGLISH].items():
        if key.startswith("daily_") and text != WORDS[HINDI][key] and len(text) > 8:
            assert text not in told
    assert WORDS[HINDI]["tab_daily"] in told
    wrong = callbacks.open_day(screen, {"day": "never"}, replace(OPEN, language=HINDI))
    assert WORDS[HINDI]["daily_bad_link"] in wrong[page.notice]


def test_the_end_shows_share_place_players_and_what_to_share(screen):
    visit, _ = opened(screen)
    _, updates = ended(screen, visit)
    page = screen.page
    assert "your place on this seed" in updates[page.result]
    assert "linear" in updates[page.players]
    *_, blocks, link = updates[page.text]["value"].split("\n")
    assert blocks.endswith("🚶")
    assert link.startswith("https://sauda.example/?tab=haggle&part=daily&day=")
    code = link.partition("&moves=")[2]
    assert code == coded(updates[page.game]) == coded(replayed(DAY, code))
    assert updates[page.kept] == {DAY.isoformat(): code}
    with Image.open(updates[page.download]["value"]) as card:
        assert card.size == (1200, 630)


@pytest.mark.parametrize("text", ["₹500", "hello", "ok"])
@pytest.mark.parametrize(
    ("language", "sentence"), [(ENGLISH, "a day’s bargain is played once"), (HINDI, "एक ही बार")]
)
def test_after_the_end_a_text_is_answered_plainly(screen, text, language, sentence):
    visit, _ = opened(screen, replace(OPEN, language=language))
    over, _ = ended(screen, visit)
    updates = haggle.send(screen, replace(over, text=text))
    assert sentence in updates[screen.page.problem]
    assert "sauda-bad" not in updates[screen.page.problem]


def test_after_todays_end_the_page_says_when_the_next_bargain_comes(screen):
    fresh = callbacks.open_day(screen, address(today()), OPEN)
    over, _ = ended(screen, after(screen, OPEN, fresh))
    updates = haggle.send(screen, replace(over, text="₹500"))
    told = "Today’s bargain is over; the next one comes at midnight UTC."
    assert told in updates[screen.page.problem]


def test_a_finished_game_is_shown_again_from_the_browsers_memory(screen):
    visit, _ = opened(screen)
    kept = ended(screen, visit)[0].kept
    again, updates = opened(screen, replace(OPEN, kept=kept))
    assert again.game.over
    assert sellers_limit() in updates[screen.page.result]


@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_coming_back_keeps_the_game_under_way(screen, language):
    visit, _ = opened(screen)
    moved = after(screen, visit, haggle.send(screen, replace(visit, text="₹100")))
    for query in (address(), {"tab": "haggle", "part": "daily"}):
        updates = callbacks.open_day(screen, query, replace(moved, language=language))
        assert updates[screen.page.game].play == moved.game.play


def test_a_friends_game_waits_until_it_is_asked_for_and_never_tells_the_limit(screen):
    visit, updates = opened(screen, moves=friends_code())
    page, friend = screen.page, replayed(DAY, friends_code())
    bids = [rupees(price) for price in friend.play.state.table.bids]
    assert "Play it yourself first" in updates[page.friend]
    assert not any(bid in texts(updates) for bid in bids)
    watched = callbacks.watch(screen, visit)
    assert all(bid in watched[page.friend] for bid in bids)
    assert "stay hidden" in watched[page.friend]
    assert sellers_limit() not in texts(watched)
    assert not watched[page.game].over


def test_after_the_own_game_both_games_stand_side_by_side(screen):
    visit, _ = opened(screen, moves=friends_code())
    _, updates = ended(screen, visit)
    assert "Your friend" in updates[screen.page.friend]
    assert "your friend" in updates[screen.page.players]


def test_a_link_with_the_visitors_own_moves_says_so(screen):
    visit, _ = opened(screen)
    kept = ended(screen, visit)[0].kept
    _, updates = opened(screen, replace(OPEN, kept=kept), moves=kept[DAY.isoformat()])
    assert "your own game" in updates[screen.page.friend]


@pytest.mark.parametrize(
    "query",
    [
        {"day": "<b>never</b>"},
        {"day": DAY.isoformat(), "moves": "<script>alert(1)</script>"},
        {"day": DAY.isoformat(), "moves": ""},
        {"day": DAY.isoformat(), "moves": friends_code()[:-1] + "!"},
        {"day": (today() + timedelta(days=3)).isoformat(), "moves": friends_code()},
    ],
)
def test_a_wrong_address_gets_a_sentence_and_a_bargain_that_can_be_played(screen, query):
    updates = callbacks.open_day(screen, query, OPEN)
    notice = updates[screen.page.notice]
    assert notice.count("<p") == 1
    assert "<script" not in notice
    assert "<b>" not in notice
    assert not updates[screen.page.game].over
    assert updates[screen.page.friend] == ""


@pytest.mark.parametrize("kept", [None, [], "x", 7, {DAY.isoformat(): 3}, {"a": "b" * 500}])
def test_a_browsers_memory_that_holds_no_games_is_none(kept):
    assert callbacks.own_games(kept) == {}


def test_a_running_game_is_found_again_from_the_browsers_memory(screen):
    visit, _ = opened(screen)
    prices = [visit.game.observation.ask // 3 + more for more in (0, 1)]
    for price in prices:
        visit = after(screen, visit, haggle.send(screen, replace(visit, text=f"{price} please")))
    again, updates = opened(screen, replace(OPEN, kept=visit.kept))
    assert bids(again) == bids(visit) == prices
    assert updates[screen.page.brief] == brief(visit.game)
    assert updates[screen.page.notice] == ""


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_moves_whose_words_are_unknown_are_told_by_their_price_alone(screen, language):
    code = friends_code()
    words, friend = (translator(language), language), replayed(DAY, code)
    low, more = (rupees(bid) for bid in friend.play.state.table.bids[:2])
    told = re.findall(
        r'class="sauda-buyer"[^>]*><b>[^<]*</b> (.*?)</li>', view.replay(friend, words)
    )
    ask = rupees(friend.play.state.table.asks[-1])
    accepted = f"{ask} {words[0]('quick_accept')} {ask}"
    assert [Markup(text).striptags() for text in told] == [low, more, accepted]
    _, updates = opened(screen, replace(OPEN, language=language, kept={DAY.isoformat(): code}))
    chat = updates[screen.page.chat]["value"]
    assert [m["content"] for m in chat if m["role"] == "user"] == told


def test_a_friend_who_walked_away_is_not_told_to_be_the_visitor(screen):
    code = coded(answer(bargain_of(DAY), WalkAway()))
    visit, _ = opened(screen, moves=code)
    watched = callbacks.watch(screen, visit)[screen.page.friend]
    assert "you walked away" not in watched.lower()
    assert "buyer walked away" in watched.lower()


def test_what_a_visitor_typed_stays_as_typed(screen):
    visit, _ = opened(screen)
    text = f"{visit.game.observation.ask // 3} bhaiya"
    updates = haggle.send(screen, replace(visit, text=text))
    assert text in str(updates[screen.page.chat])


def test_after_the_end_nothing_can_be_said_any_more(screen):
    visit, first = opened(screen)
    _, last = ended(screen, visit)
    for part in (screen.page.saying, screen.page.quick):
        assert first[part]["visible"]
        assert not last[part]["visible"]


def test_no_hindi_sentence_of_the_page_ends_in_a_latin_full_stop(screen):
    visit = replace(OPEN, language=HINDI)
    visit, updates = opened(screen, visit, moves=friends_code())
    watched = callbacks.watch(screen, visit)
    for told in (updates[screen.page.head], watched[screen.page.friend]):
        assert "।</b>" in told or "</b>।" in told
        assert not re.search("[\u0900-\u097f0-9]\\.(</| )", told)


def test_a_game_not_begun_is_not_kept(screen):
    assert opened(screen)[1][screen.page.kept] == {}


def test_a_kept_game_that_cannot_be_replayed_is_told_and_the_day_can_be_played(screen):
    visit = replace(OPEN, kept={DAY.isoformat(): "1AAAA"})
    game, updates = opened(screen, visit)
    assert "begins anew: what this browser kept" in updates[screen.page.notice]
    assert not game.game.over


def test_an_event_of_a_game_that_is_gone_ends_in_a_sentence(screen):
    updates = haggle.send(screen, replace(OPEN, text="₹100"))
    assert "open the page again" in updates[screen.page.problem]
    assert screen.page.friend not in callbacks.watch(screen, OPEN)


def sauda(screen, visit) -> dict:
    return callbacks.let_sauda_play(screen, visit)


def test_sauda_plays_the_same_seed_once_the_game_is_over(screen, monkeypatch):
    page, visit = screen.page, opened(screen)[0]
    assert "grade" not in str(sauda(screen, visit)[page.players])
    monkeypatch.setattr(sauda_plays, "stage", lambda: Ready("sauda-mini", "canned", 1.0))
    monkeypatch.setattr(
        sauda_plays, "standing_of", lambda day: Standing(sauda_plays.LABEL, 0.5, 0.4, 100)
    )
    shown = sauda(screen, ended(screen, visit)[0])[page.players]
    assert "0.400" in shown
    assert "You did worse." in shown
    assert "guard rails on" in shown


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        (Loading("sauda-mini", 0.0), "still loading"),
        (Failed("sauda-mini", "There are no weights."), "There are no weights."),
        (Ready("sauda-mini", "canned", 1.0), "the line is full"),
    ],
)
def test_why_sauda_has_no_row_is_said(screen, monkeypatch, stage, sentence):
    def refuses(day):
        raise ReplyError("the line is full")

    monkeypatch.setattr(sauda_plays, "stage", lambda: stage)
    monkeypatch.setattr(sauda_plays, "standing_of", refuses)
    visit, _ = ended(screen, opened(screen)[0])
    assert sentence in sauda(screen, visit)[screen.page.players]


def test_the_blocks_tell_distance_and_end_and_no_price():
    game = replayed(DAY, friends_code())
    blocks = view.blocks(game)
    assert len(blocks) == len(game.play.state.table.bids) + 1
    assert blocks.endswith("🤝")
    assert not any(letter.isdigit() for letter in blocks)


def test_a_long_name_is_cut_to_its_room_on_the_picture():
    game = answer(bargain_of(DAY), WalkAway())
    table = game.play.state.table
    long = table._replace(item=replace(table.item, name="very " * 40 + "long"))
    wide = replace(game, play=replace(game.play, state=replace(game.play.state, table=long)))
    words = (translator(ENGLISH), ENGLISH)
    card = picture(DAY, wide, 0.0, "1 of 13", "https://" + "host." * 60, words)
    background = card.getpixel((2, 2))
    assert finished(game).end == "walkaway"
    assert all(card.getpixel((1198, y)) == background for y in range(630))


@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_each_name_of_the_catalogue_has_room_on_the_picture(language):
    names = [name_in(language, item.name) for item in CATALOGUE]
    names = [f"{name[0].upper()}{name[1:]}" for name in names]
    assert all(fitting(name, (*ITEM_SIZES, 1), 600) > 1 for name in names)


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_a_place_that_scripts_share_is_said_to_be_shared(screen, language):
    _, updates = ended(screen, opened(screen, replace(OPEN, language=language))[0])
    page, shared = screen.page, WORDS[language]["place_shared"]
    assert shared in updates[page.result]
    assert shared in updates[page.text]["value"]


@pytest.mark.parametrize("language", [ENGLISH, HINGLISH, HINDI])
def test_the_picture_has_room_for_a_shared_place(language):
    game, translate = answer(bargain_of(DAY), WalkAway()), translator(language)
    you = player("you", finished(game), visitor=True)
    level, better = replace(you, visitor=False), replace(you, visitor=False, grade=1.0)
    place = placed([you, level, *[better] * 11], translate)  # a number of two digits
    *_, last = place.split(", ")

    def drawn(where: str) -> bytes:
        return picture(DAY, game, 0.0, where, "https://host", (translate, language)).tobytes()

    assert last == translate("place_shared")
    assert drawn(place) != drawn(place[:-1] + "।")


@pytest.mark.parametrize("box", [(64, 40, 600, 110), (64, 118, 600, 160), (64, 560, 600, 600)])
def test_the_picture_is_in_the_visitors_language(box):
    game = answer(bargain_of(DAY), WalkAway())
    seen = {
        language: picture(DAY, game, 0.0, "1", "https://host", (translator(language), language))
        for language in (ENGLISH, HINDI)
    }
    assert seen[HINDI].crop(box).tobytes() != seen[ENGLISH].crop(box).tobytes()


def test_the_picture_has_a_glyph_for_each_hindi_letter():
    font = ImageFont.truetype(FONTS / DEVANAGARI, 32)
    none = bytes(font.getmask("\u0e01"))
    letters = {
        letter
        for key in WORDS[HINDI]
        for letter in WORDS[HINDI][key]
        if "\u0904" <= letter <= "\u0939"
    }
    assert len(letters) > 30
    assert all(bytes(font.getmask(letter)) != none for letter in letters)
