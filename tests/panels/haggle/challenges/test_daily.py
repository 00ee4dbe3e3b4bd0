"""The bargain of the day and the games for the record, without a browser."""

import re
from dataclasses import replace
from datetime import date, timedelta
from html import unescape
from types import SimpleNamespace
from urllib.parse import parse_qsl

import gradio as gr
import pytest

from env import Accept, Offer, WalkAway, corpus, market, rupees
from panels.haggle import callbacks as haggle
from panels.haggle import result
from panels.haggle.challenges import daily, people, subtab
from panels.haggle.challenges.daily import VISITOR, DailyScreen, DailyVisit
from panels.haggle.challenges.people import PeopleScreen, PeopleVisit, enter, follow
from panels.haggle.challenges.people import opened as reopen
from panels.haggle.ending import outcome
from panels.haggle.game_view import brief
from panels.haggle.words import ENGLISH, HINDI, translator
from panels.site import card
from panels.ui.look import with_minus_signs
from sauda.llm.server import Failed, Loading, Ready
from sauda.llm.types import ReplyError
from sauda.serve.leaderboard import rules_of
from sauda.serve.limits import NO_ADDRESS, Limiter
from sauda.serve.people import GAMES, TASK, tally
from sauda.sessions.bazaar import Standing, answer, as_episode
from sauda.sessions.daily import bargain_of, encode, player, replay, today

DAY = date(2026, 11, 8)
OPEN = DailyVisit(origin="https://sauda.example")
READY = Ready("sauda-mini", "canned", 1.0)


@pytest.fixture(scope="module")
def screen() -> DailyScreen:
    with gr.Blocks():
        return DailyScreen(daily.DailyPage(), {})


def address(**more) -> dict[str, str]:
    return {"tab": "haggle", "part": "daily", "day": DAY.isoformat(), **more}


def friends_code() -> str:
    """A friend's deal: two low bids, then the ask is accepted."""
    game = bargain_of(DAY)
    price = game.observation.table.item.list_price
    for move in (Offer(round(0.3 * price)), Offer(round(0.35 * price)), Accept()):
        game = answer(game, move)
    return encode(game)


def after(screen, visit: DailyVisit, updates) -> DailyVisit:
    """The visit once the page shows `updates`."""
    page = screen.page
    visit = updates.get(page.visit, visit)
    return replace(visit, kept=updates.get(page.kept, visit.kept))


def opened(screen, visit=OPEN, **more) -> tuple[DailyVisit, dict]:
    updates = daily.open_day(screen, address(**more), "", visit)
    return after(screen, visit, updates), updates


def said(screen, visit: DailyVisit, text: str = "goodbye") -> tuple[DailyVisit, dict]:
    """The visit after the visitor said something, by default walked away."""
    updates = haggle.send(screen, visit, text)
    return after(screen, visit, updates), updates


def texts(updates) -> str:
    """All that the updates send to the browser; states stay on the server."""
    shown = [value for part, value in updates.items() if not isinstance(part, gr.State)]
    return repr(shown)


def sellers_limit() -> str:
    (instance,) = bargain_of(DAY).play.state.private["nature"]
    return rupees(instance.seller["reservation"])


def test_the_limit_and_the_seed_stay_hidden_until_the_end(screen):
    visit, shown = opened(screen)
    _, bid = said(screen, visit, str(visit.game.observation.ask // 3))
    for updates in (shown, bid):
        assert sellers_limit() not in texts(updates)
        assert str(visit.game.play.seed) not in texts(updates)
    _, last = said(screen, visit)
    assert sellers_limit() in last[screen.page.result]
    assert "Anybody can practise this game" in last[screen.page.result]


def test_a_gain_can_be_shared_as_text_with_a_link_and_as_a_picture():
    gained = bargain_of(DAY)
    while not gained.over:
        gained = answer(gained, Offer(round(0.9 * gained.observation.budget)))
    shown = daily.show_share(replace(OPEN, day=DAY, game=gained), "1 of 9")
    *_, blocks, link = re.search(r"readonly>(.*?)</textarea>", shown, re.DOTALL)[1].split("\n")
    assert blocks.endswith("🤝")
    assert link.startswith("https://sauda.example/?tab=haggle&amp;part=daily&amp;day=")
    code, _, won = link.partition("moves=")[2].partition("&amp;won=")
    assert code == encode(gained) == encode(replay(DAY, code))
    assert int(won) == round(100 * player("you", as_episode(gained)).share)
    ranks = re.findall(r"[^<>\n;]*among the scripts; anybody may practise", shown)
    assert len(ranks) == 2  # the text and the label of the picture
    assert all("1 of 9" in rank for rank in ranks)
    asked = dict(parse_qsl(unescape(re.search(r'src="card.png\?([^"]*)"', shown)[1])))
    assert card.of_query(asked) == card.of_query({"day": DAY.isoformat(), "won": won})


@pytest.mark.parametrize("language", [ENGLISH, HINDI])
def test_coming_back_keeps_the_game_under_way(screen, language):
    moved, _ = said(screen, opened(screen)[0], "₹100")
    for query in (address(), {"tab": "haggle", "part": "daily"}):
        updates = daily.open_day(screen, query, "", replace(moved, language=language))
        assert updates[screen.page.visit].game.play == moved.game.play


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ({"day": "<b>never</b>"}, ""),
        (address(moves="<script>alert(1)</script>"), ""),
        (address(moves=""), ""),
        (address(moves=friends_code()[:-1] + "!"), ""),
        ({"day": (today() + timedelta(days=3)).isoformat(), "moves": friends_code()}, ""),
        (address(), "1AAAA"),
    ],
)
def test_a_wrong_address_or_memory_is_told_and_a_bargain_can_be_played(screen, query, kept):
    visit = replace(OPEN, kept={DAY.isoformat(): kept} if kept else {})
    updates = daily.open_day(screen, query, "", visit)
    shown = updates[screen.page.head]
    assert shown.count('role="alert"') == 1
    assert ("starts over: what this browser kept" in shown) == bool(kept)
    assert "<script" not in shown
    assert "<b>never" not in shown
    assert not updates[screen.page.visit].game.over
    assert 'id="daily-friend"></div>' in shown


@pytest.mark.parametrize("kept", [None, [], "x", 7, {DAY.isoformat(): 3}, {"a": "b" * 500}])
def test_a_browsers_memory_that_holds_no_games_is_none(kept):
    assert subtab.texts_in(kept) == {}


def test_a_running_game_is_found_again_from_the_browsers_memory(screen):
    visit, _ = opened(screen)
    prices = [visit.game.observation.ask // 3 + more for more in (0, 1)]
    for price in prices:
        visit, _ = said(screen, visit, f"{price} please")
    again, updates = opened(screen, replace(OPEN, kept=visit.kept))
    assert list(again.game.play.state.table.bids) == prices
    assert updates[screen.page.brief] == brief(visit.game)
    assert 'role="alert"' not in updates[screen.page.head]


def test_a_tab_that_another_one_has_overtaken_shows_that_game_and_makes_no_move(screen):
    first, behind = opened(screen)[0], opened(screen)[0]
    bid = first.game.observation.ask // 2
    ahead, _ = said(screen, first, f"{bid}")
    overtaken = replace(behind, kept=ahead.kept)
    updates = screen.from_another_tab(overtaken)
    shown = after(screen, overtaken, updates)
    assert shown.game.play.state.table.bids == (bid,)
    assert shown.kept == ahead.kept
    assert "another tab" in updates[screen.page.moves]
    assert screen.from_another_tab(shown) is None
    assert screen.from_another_tab(replace(behind, kept={DAY.isoformat(): "1AAAA"})) is None


def stands(monkeypatch, stage) -> None:
    """Let the page's model be loading, ready or failed."""
    monkeypatch.setattr(subtab, "in_page", lambda name: SimpleNamespace(stage=stage))


def sauda(screen, visit) -> str:
    return str(daily.let_sauda_play(screen, visit)[screen.page.players])


def test_sauda_plays_the_same_seed_once_the_game_is_over(screen, monkeypatch):
    visit, _ = opened(screen)
    assert "grade" not in sauda(screen, visit)
    stands(monkeypatch, READY)
    monkeypatch.setattr(subtab, "standing_of", lambda seed: Standing("Sauda", 0.5, 0.4, 100))
    shown = sauda(screen, said(screen, visit)[0])
    assert "0.400" in shown
    assert "and took 50%; you took 0%" in shown


def test_only_people_who_agree_are_counted_and_each_of_them_once(screen, board, monkeypatch):
    stands(monkeypatch, Failed("sauda-mini", "none here"))
    silent, _ = said(screen, opened(screen)[0])
    assert "place 1 of" not in sauda(screen, silent)
    assert board.grades_of_day(DAY.isoformat()) == {}
    for n in (1, 2):
        counted = after(screen, silent, daily.count_me(screen, True, silent))
        for _ in range(2):
            told = sauda(screen, counted)
        assert f"place 1 of {n}, open to practice" in told
    again = after(screen, counted, daily.count_me(screen, False, counted))
    assert "place 1 of" not in sauda(screen, again)
    assert len(board.grades_of_day(DAY.isoformat())) == 1  # that of the visitor before


def test_a_game_that_cannot_be_deleted_now_still_counts_and_its_visitor_is_told(screen, board):
    counted = replace(OPEN, day=DAY, kept={VISITOR: "a"})
    board.storage.file.parent.mkdir()
    board.storage.file.write_text("no database at all, but long enough to be read as one" * 9)
    shown = daily.count_me(screen, False, counted)
    assert shown[screen.page.counted] is True
    assert screen.page.kept not in shown
    assert "sauda-bad" in shown[screen.page.moves]


def test_one_visitor_takes_few_of_the_places_of_a_day(screen, board, monkeypatch):
    """By a new token each time, as whoever empties the memory of a browser gets one."""
    monkeypatch.setattr(subtab, "COUNTED", Limiter(daily.PLACES))
    stands(monkeypatch, Failed("sauda-mini", "none here"))
    over, _ = said(screen, opened(screen)[0])
    made_up = [after(screen, over, daily.count_me(screen, True, over)) for _ in range(12)]
    told = [sauda(screen, visit) for visit in made_up]
    assert len(board.grades_of_day(DAY.isoformat())) == daily.PLACES
    assert "so yours does not" in told[-1]
    assert f"of {daily.PLACES}" in sauda(screen, made_up[0])  # who is counted already stays
    other = replace(made_up[-1], address="192.0.2.7")
    assert f"of {daily.PLACES + 1}" in sauda(screen, other)


def test_days_in_a_row_end_at_the_first_day_without_a_game():
    days = {(DAY - timedelta(days=back)).isoformat(): "" for back in (0, 1, 3)}
    visit = replace(OPEN, day=DAY, kept=days | {VISITOR: "a"})
    assert visit.streak == 2


@pytest.mark.parametrize(
    ("stage", "sentence"),
    [
        (Loading("sauda-mini", 0.0), "still loading"),
        (Failed("sauda-mini", "There are no weights."), "There are no weights."),
        (READY, "the line is full"),
    ],
)
def test_why_sauda_has_no_row_is_said(screen, monkeypatch, stage, sentence):
    def refuses(seed):
        raise ReplyError("the line is full")

    stands(monkeypatch, stage)
    monkeypatch.setattr(subtab, "standing_of", refuses)
    assert sentence in sauda(screen, said(screen, opened(screen)[0])[0])


@pytest.fixture
def record(monkeypatch) -> PeopleScreen:
    """The screen of the games for the record, where nobody has entered."""
    monkeypatch.setattr(people, "ENTERED", people.Limiter(1))
    with gr.Blocks():
        return PeopleScreen(people.PeoplePage(), {})


def of_person(language: str = ENGLISH, token: str = "") -> PeopleVisit:
    tokens = (token,) if token else ()
    return PeopleVisit(language=language, address=NO_ADDRESS, tokens=tokens)


def entered_visit(record) -> PeopleVisit:
    return enter(record, "Asha", True, of_person())[record.page.visit]


@pytest.mark.parametrize(("name", "consent"), [("Asha", False), ("Asha", "yes"), ("Sauda 2", True)])
def test_nobody_enters_without_consent_or_with_a_name_of_ours(record, board, name, consent):
    for language in (ENGLISH, HINDI):
        shown = enter(record, name, consent, of_person(language))
        assert "sauda-bad" in shown[record.page.head]
    assert not board.storage.file.exists()


def test_an_address_enters_so_often_and_no_more(record, board):
    entered_visit(record)
    assert "sauda-bad" in enter(record, "Bela", True, of_person())[record.page.head]


def test_a_move_that_cannot_be_stored_is_not_made(record, board):
    there = entered_visit(record)
    shown = haggle.send(record, replace(there, tokens=("none",)), "₹1")
    assert "sauda-bad" in shown[record.page.moves]
    assert record.page.visit not in shown


def test_a_browser_finds_its_game_again_and_plays_to_the_end(record, board):
    there = entered_visit(record)
    for number in range(1, GAMES + 1):
        shown = haggle.send(record, there, "I walk away")
        game, page = shown[record.page.visit].game, record.page
        assert game.over
        assert ('data-id="next"' in shown[page.result]) == (number < GAMES)
        assert str(game.play.seed) not in str(shown[page.result])
        if number < GAMES:
            there = reopen(record, of_person(token=there.token))[page.visit]
            assert there.place.number == number + 1
    (entry,) = board.all_entries()
    assert (entry.person, entry.n) == (1, GAMES)
    assert "sauda-bad" in follow(record, there)[page.moves]
    again = reopen(record, of_person(token=there.token))
    assert again[page.visit].game is None
    assert again[page.kept] == {"tokens": [there.token]}  # by which it can be withdrawn


def test_a_bargain_for_the_record_is_told_by_the_grade_that_its_row_has(record, board):
    there = entered_visit(record)
    while not there.game.over:
        bid = f"₹{round(0.9 * there.game.observation.budget)}"
        there = haggle.send(record, there, bid)[record.page.visit]
    grade = board.storage.rows("SELECT grade FROM games WHERE number = 1")[0][0]
    counted = with_minus_signs(f"counts {grade:z.0%}")
    assert counted in people.result(there)
    if outcome(there.game, translator(ENGLISH), ENGLISH).share > 0:
        assert outcome(there.game, translator(ENGLISH), ENGLISH, after_time=True).share == grade


def test_a_person_withdraws_all_entries_of_the_browser_and_their_number_stays(
    record, board, monkeypatch
):
    monkeypatch.setattr(people, "ENTERED", Limiter(2))
    first = entered_visit(record)
    second = enter(record, "Asha too", True, replace(first, game=None))[record.page.visit]
    board.pair(second.place.entry, 1, 0.5, 0.5)
    assert len(second.tokens) == 2
    assert 'data-id="withdraw"' in record.words(second)[record.page.leave]
    gone = people.withdraw(record, second)
    assert gone[record.page.kept] == {"tokens": []}
    assert gone[record.page.visit].game is None
    assert gone[record.page.leave] == ""
    for table in ("entries", "games", "moves", "pairs"):
        assert board.storage.rows(f"SELECT * FROM {table}") == []
    assert tally(board).withdrawn == 2


@pytest.mark.parametrize("sent", [None, [], {"tokens": 3}, {"tokens": [3, None, ""]}, {"token": 1}])
def test_what_a_browser_sends_for_its_tokens_is_read_or_is_none(record, sent):
    assert record.read(sent)["tokens"] == ()
    assert record.read({"token": "abc"})["tokens"] == ("abc",)  # of the former page


def test_sauda_stands_beside_a_person_whose_browser_decides_nothing_of_the_tally(
    record, board, monkeypatch
):
    stands(monkeypatch, READY)
    monkeypatch.setattr(subtab, "standing_of", lambda seed: Standing("Sauda", 0.5, 0.4, 100))
    there = entered_visit(record)
    for number in range(1, GAMES + 1):
        there = haggle.send(record, there, "I walk away")[record.page.visit]
        if number == 1:  # the one game after which the browser asks
            assert "0.400" in people.let_sauda_play(record, there)[record.page.players]
        last, there = there, follow(record, there).get(record.page.visit)
    assert "Your place among people: 1 / 1" in people.head(last)
    token = there.token if there else last.token
    for visit in (last, reopen(record, of_person(token=token))[record.page.visit]):
        end = people.let_sauda_play(record, visit)
        assert str(end[record.page.players]).count(">40%<") >= GAMES + 1  # and their mean
        assert re.search("sauda-took.*(beat|Even with)", end[record.page.head])
        assert "&amp;sauda=40" in end[record.page.head]
    rows = board.pairs(TASK, rules_of(TASK))
    assert [row["sauda"] for row in rows] == [None] * GAMES
    assert "count once Sauda has played" in people.show_tally(translator(ENGLISH))


@pytest.mark.parametrize("spoken", [True, False])
def test_the_end_tells_whether_the_visitor_said_what_moves_the_seller(spoken):
    game = bargain_of(DAY)
    key = market.KEYS[game.play.state.private["nature"][-1].seller["stance"].type]
    words = corpus.buyer_line(key, int(game.observation.ask) - 1, 0.0) if spoken else ""
    game = answer(answer(game, Offer(round(0.3 * game.observation.ask), words)), WalkAway())
    shown = str(result.revealed(game, translator(ENGLISH)))
    assert ("you said that" in shown) == spoken
    assert ("you did not say that" in shown) != spoken
    assert ("What did my words change?" in shown) == spoken
