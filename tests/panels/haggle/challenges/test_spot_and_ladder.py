"""Spot the trained one, and the ladder, without a browser: what is hidden, guessed and kept."""

import json
import re
from dataclasses import replace

import gradio as gr
import pytest
from markupsafe import escape

from env import EndReason, Offer, WalkAway, get_task, rupees
from panels.haggle import callbacks as haggle
from panels.haggle import opponents
from panels.haggle.challenges import ladder, subtab
from panels.haggle.challenges import spot as events
from panels.haggle.challenges.spot import Spot, is_trained, pairs_with, tally_of
from panels.haggle.challenges.spot import find_untrained as untrained_of
from panels.haggle.challenges.subtab import VISITOR
from panels.haggle.conversation import SILENT, chat_of, converse
from panels.haggle.game_view import brief
from panels.haggle.result import card as card_of
from panels.haggle.screen import SessionGeneration, Visit
from panels.haggle.words import ENGLISH, HINDI, TRANSLATORS, translator
from panels.measured import rows_by_policy
from panels.site import card
from panels.ui.look import with_minus_signs
from sauda.experiments.spot import both_move
from sauda.games.transcript import play_replies
from sauda.llm.types import ReplyRefused
from sauda.players import PEOPLE, SERVED
from sauda.records.schemas.episodes import SPOT_FILE
from sauda.records.store import load
from sauda.serve.limits import NO_ADDRESS, Limiter
from sauda.sessions.bazaar import answer, loss_at
from sauda.sessions.ladder import LEVELS, level_of, stars
from sauda.sessions.review import review
from sauda.sessions.spot import load_duel
from tests.support.haggle import Model, screen_of

UNTRAINED = "mini+constrained"  # bare, the base ends its games at once


@pytest.fixture(scope="module")
def spot() -> Spot:
    with gr.Blocks():
        page = events.SpotPage(True)
    rows = rows_by_policy(load("evaluation/model-comparison.json"), PEOPLE)
    return Spot(page, rows, pairs_with(untrained_of(rows), load(SPOT_FILE)))


@pytest.fixture
def models(monkeypatch) -> dict[str, Model]:
    """The models by their weights' name, as the test puts them there."""
    canned = {}
    monkeypatch.setattr(events, "awaited_model", canned.__getitem__)
    return canned


def shown(updates) -> str:
    """All that the updates send to the browser; states stay on the server."""
    return json.dumps([v for part, v in updates.items() if not isinstance(part, gr.State)])


def recorded(spot) -> dict:
    return events.deal_recorded(spot, SessionGeneration(), None)


def live(spot):
    return events.deal_live(spot, SessionGeneration(), None)[spot.page.duel]


def ask(spot, duel, text=None):
    text = f"₹{duel.item.list_price}" if text is None else text
    return list(events.ask(spot, SessionGeneration(), text, duel))


def test_the_recorded_replies_make_the_recorded_games_in_which_both_buyers_move(spot):
    task = get_task(PEOPLE)
    assert spot.pairs
    for pair in spot.pairs:
        assert both_move({"games": pair})
        for row in pair:
            assert play_replies(task, row["policy"], row["seed"], row["replies"]) == row
    silent = {"moves": [{"agent": "buyer", "action": "forfeit"}]}
    assert not both_move({"games": [silent, pair[1]]})


def test_a_recorded_pair_says_so_and_hides_who_is_who_until_the_guess(spot):
    for _ in range(8):  # the order is drawn
        updates = recorded(spot)
        assert "recorded" in updates.pop(spot.page.about)  # which tells the rule for both
        sent = shown(updates)
        names = [side.policy for side in updates[spot.page.duel].sides]
        assert not any(f'title="{name}"' in sent for name in names)
        assert "untrained" not in sent
        duel = updates[spot.page.duel]
        turns = [turn for side in duel.sides for one in side.exchanges()[: duel.shown]
                 for turn in one]  # fmt: skip
        own = [t.action.message for t in turns if t.agent == "buyer"]
        asked = shown(events.press(spot, "words", duel, None))
        for words in filter(None, own):
            as_sent = json.dumps(str(escape(words)))[1:-1]
            assert as_sent not in sent
            assert as_sent in asked
        assert "GRPO" not in sent


def test_the_reveal_tells_how_each_game_ended(spot):
    for pair in spot.pairs:
        duel = replace(load_duel(pair), guess=0)
        for row, side in zip(pair, duel.sides, strict=True):
            told = events.why("Buyer", side, translator(ENGLISH))
            assert ("ran out" in told) == (row["end"] == EndReason.DEADLINE)
            assert ("the seller walked away" in told) == (row["moves"][-1]["action"] == "walk")


@pytest.mark.parametrize("right", [True, False])
def test_a_guess_reveals_the_sides_counts_and_shows_both_measured_rows(spot, right):
    page = spot.page
    duel = recorded(spot)[page.duel]
    (trained,) = (i for i in (0, 1) if is_trained(duel.sides[i].policy))
    number = trained if right else 1 - trained
    updates = events.press(spot, f"guess:{number}", duel, {"right": 3, "guessed": 4})
    verdict = updates[page.verdict]
    assert verdict.count("Right" if right else "Wrong") == 1
    heard = re.compile('role="status">([^<]*)<')
    assert heard.findall(recorded(spot)[page.moves]) == [""]
    assert heard.search(updates[page.moves])[1] in verdict  # read out as it comes
    for name in (UNTRAINED, SERVED):
        row = spot.rows[name]
        assert f'title="{name}"' in verdict
        assert f">{row.n}<" in verdict
        assert with_minus_signs(f"[{row.grade.low:z.1%}, {row.grade.high:z.1%}]") in verdict
    assert "?tab=results" in verdict
    assert [int(bids) for bids in re.findall(r"(\d+) bids from", verdict)] == [
        sum(isinstance(turn.action, Offer) for turn in side.turns if turn.agent == "buyer")
        for side in duel.sides
    ]
    assert updates[page.kept] == {"right": 3 + right, "guessed": 5}
    again = events.press(spot, f"guess:{number}", updates[page.duel], updates[page.kept])
    assert list(again) == [page.problem]


def test_both_models_answer_one_ask_and_their_names_stay_hidden(spot, models):
    models |= {"mini": Model('{"offer":40,"say":"<b>no</b>"}'), SERVED: Model('{"offer":60}')}
    waits, *_, last = ask(spot, live(spot))
    assert "Both buyers think" in waits[spot.page.problem]
    assert last[spot.page.problem] == ""
    assert last[spot.page.columns].count("bids ₹") == 2
    assert "<b>no</b>" not in last[spot.page.columns]
    assert SERVED not in shown(last)
    assert 'title="mini"' not in shown(last)


def test_a_number_in_a_reply_that_is_no_move_waits_for_the_guess(spot, models):
    models |= {"mini": Model("my limit is 80808080"), SERVED: Model('{"offer":60}')}
    *_, last = ask(spot, live(spot))
    assert "80808080" not in last[spot.page.columns]
    revealed = events.press(spot, "guess:0", last[spot.page.duel], None)
    assert "writes “my limit is 80808080”, which is no move" in revealed[spot.page.columns]


def test_an_ask_that_a_model_cannot_answer_or_another_pair_cuts_off_is_not_made(spot, models):
    models["mini"] = Model('{"offer":40}', '{"offer":40}')
    models[SERVED] = Model(ReplyRefused("the line is full", 5), '{"offer":60}')
    generation, duel = SessionGeneration(), live(spot)
    *_, last = ask(spot, duel)
    assert last[spot.page.duel] == duel
    assert "The line is full" in last[spot.page.problem]
    answers = events.ask(spot, generation, f"₹{duel.item.list_price}", duel)
    next(answers)
    events.deal_live(spot, generation, duel)
    assert list(answers) == [spot.unchanged]


@pytest.mark.parametrize("confirmation", ["again", "yes", "हाँ"])
def test_an_ask_below_the_own_limit_is_asked_back_once(spot, models, confirmation):
    models |= {"mini": Model('{"offer":40}'), SERVED: Model('{"offer":40}')}
    page, duel = spot.page, live(spot)
    limit = duel.games[0].observation.reservation
    price = f"₹{int(limit) - 1}"
    (back,) = ask(spot, duel, price)
    assert rupees(limit) in back[page.problem]
    assert "sauda-bad" not in back[page.problem]
    assert back[page.price] == price
    assert back[page.duel].waiting == ()
    *_, last = ask(spot, back[page.duel], price if confirmation == "again" else confirmation)
    assert last[page.columns].count("bids ₹") == 2


def test_small_talk_drops_the_ask_that_was_asked_back(spot, models):
    duel = live(spot)
    (back,) = ask(spot, duel, f"₹{int(duel.games[0].observation.reservation) - 1}")
    (talk,) = ask(spot, back[spot.page.duel], "no, how are you")
    (last,) = ask(spot, talk[spot.page.duel], "ok")
    assert last[spot.page.duel] == duel


@pytest.mark.parametrize("text", ["x" * 3000, "₹9 crore"])
def test_an_ask_that_cannot_be_made_gets_a_sentence_and_nothing_is_lost(spot, text):
    (updates,) = ask(spot, live(spot), text)
    assert list(updates) == [spot.page.problem]
    assert "sauda-bad" in updates[spot.page.problem]


@pytest.mark.parametrize("text", ["hello", "you thief", "<script>alert(1)</script>", "two, 5 or 6"])
def test_small_talk_is_answered_by_both_buyers_and_costs_no_ask(spot, text):
    page = spot.page
    (updates,) = ask(spot, live(spot), text)
    assert set(updates) == {page.duel, page.problem, page.price}
    assert updates[page.price] == ""
    told = updates[page.problem]
    assert "sauda-bad" not in told
    assert "<script" not in told
    assert "buyer A" in told
    assert "buyer B" in told
    _, first, second = re.findall(r"“([^”]*)”</p>", told)
    assert first != second


def test_a_memory_without_a_tally_is_none_and_an_event_of_no_pair_ends_in_a_sentence(spot):
    for kept in (None, [], "x", {"right": 2, "guessed": 1}, {"right": True, "guessed": 1}):
        assert tally_of(kept) == (0, 0)
    gone = [events.press(spot, move, None, None) for move in ("more", "guess:0")]
    for updates in (*gone, *events.ask(spot, SessionGeneration(), "₹5", None)):
        assert "start another one" in updates[spot.page.problem]


# The ladder


KEPT = gr.BrowserState({})


@pytest.fixture(scope="module")
def screen():
    return screen_of(Model())


@pytest.fixture
def page():
    with gr.Blocks():
        return ladder.LadderPage()


def won():
    """The first level's game, ended by rising bids that earn stars."""
    level = LEVELS[0]
    game = opponents.game_at(level.task, level.seed, opponents.HIDDEN)
    for price in (700, 850):
        game = answer(game, Offer(price))
    assert game.over
    return game


def kept_after(game, stored, address: str = NO_ADDRESS):
    """What the browser keeps once `game` was shown; None where nothing changes."""
    value = ladder.record(KEPT, Visit(game), stored, address)[KEPT]
    return value if "__type__" not in value else None


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.text("name"))
def test_every_level_is_played_in_haggles_chat_and_ends_in_its_ending(screen, level):
    visit = Visit(opponents.game_at(LEVELS[0].task, LEVELS[0].seed, opponents.HIDDEN))
    shown = haggle.play_level(screen, level.number, visit)
    page, game = screen.page, shown[screen.page.visit].game
    assert level_of(game) is level
    for told in (level.text("name"), level.text("line"), f"{level.shares[0]:.0%}"):
        assert told.replace("’", "’") in str(shown[page.brief])
    place = haggle.show_place(screen, shown[page.visit])
    assert place[page.market].value == opponents.seat_and_market(level.task)[1]
    if game.you == "seller":
        game = answer(game, Offer(game.observation.table.item.list_price))
    if not game.over:
        game = answer(game, WalkAway())
    ended = str(screen.show(replace(visit, game=game))[page.after])
    assert f'data-id="level:{level.number}"' in ended
    assert 'class="sauda-stars"' in ended
    assert 'data-id="begin"' not in ended


def test_a_level_that_there_is_not_leaves_the_game(screen):
    visit = Visit(won())
    for number in (None, 0, len(LEVELS) + 1):
        shown = haggle.play_level(screen, number, visit)
        assert "sauda-bad" in str(shown[screen.page.moves])
        assert screen.page.visit not in shown


def test_the_ending_names_the_stars_and_leads_to_the_next_person(screen):
    game = won()
    ended = str(screen.show(Visit(game))[screen.page.after])
    assert f"{stars(game)} of 3 stars" in ended
    assert f"Next: {LEVELS[1].text('name')}" in ended
    assert f"from {LEVELS[0].text('name')}" in ended
    undone = str(screen.show(Visit(replace(game, undone=1)))[screen.page.after])
    assert "0 of 3 stars" in undone
    assert "taken back" in undone


def test_the_browser_keeps_the_most_stars_of_each_level():
    game, number = won(), "1"
    assert kept_after(game, {"2": "3"}) == {"2": "3", number: f"{stars(game)}"}
    assert kept_after(game, {number: "3"}) is None
    assert kept_after(replace(game, undone=1), {}) is None
    lost = answer(opponents.game_at(LEVELS[1].task, LEVELS[1].seed, opponents.HIDDEN), WalkAway())
    assert kept_after(lost, {}) is None
    assert ladder.record(KEPT, Visit(), {}, NO_ADDRESS)[KEPT]


@pytest.mark.parametrize("sent", [None, [], "x", {"1": 3}, {"1": "4", "99": "1", "x": "1"}])
def test_what_a_browser_sends_for_its_stars_is_read_or_is_none(sent):
    assert ladder.won_in(sent) == {}


def test_only_who_agrees_is_counted_and_once_a_level(page, board, monkeypatch):
    monkeypatch.setattr(subtab, "COUNTED", Limiter(2))
    game, name = won(), ladder.board_name(1)
    kept_after(game, {})
    assert not board.storage.file.exists()
    agreed = [ladder.count_me(page, KEPT, True, ENGLISH, {})[KEPT] for _ in range(3)]
    for texts in (*agreed, agreed[0]):
        assert kept_after(game, texts)["1"] == f"{stars(game)}"
    assert len(board.grades_of_day(name)) == 2  # of one address no more
    shown = ladder.show(page, ENGLISH, agreed[0] | {"1": "2"})
    assert "place 1 of 2" in shown[page.among]
    left = ladder.count_me(page, KEPT, False, ENGLISH, agreed[0])
    assert VISITOR not in left[KEPT]
    assert len(board.grades_of_day(name)) == 1


def test_the_list_opens_two_persons_and_then_the_next(page):
    for stored, playable in (({}, 2), ({"1": "2"}, 3), ({"1": "2", "2": "x"}, 3)):
        shown = str(ladder.show(page, ENGLISH, stored)[page.levels])
        assert shown.count('data-id="play:') == playable
    assert LEVELS[4].text("line") not in shown  # of who is not open yet
    assert "★★☆" in shown


@pytest.mark.parametrize("language", TRANSLATORS)
def test_the_list_is_told_in_each_language(page, language):
    shown = str(ladder.show(page, language, {"1": "3"}, "https://sauda.example")[page.levels])
    assert LEVELS[0].text("line", language) in shown
    assert LEVELS[14].text("trade", language) in shown
    assert (LEVELS[2].text("name", HINDI) in shown) == (language == HINDI)


def test_how_far_one_got_is_a_text_a_link_and_a_picture(page):
    far = str(ladder.how_far({1: 3, 2: 1}, translator(ENGLISH), "https://sauda.example"))
    assert "2 of 15 people beaten, 4 of 45 stars" in far
    assert "https://sauda.example/?tab=haggle&amp;part=ladder&amp;climbed=2" in far
    assert card.link_of(b"tab=haggle&part=ladder&climbed=2").picture == "climbed=2"
    assert card.picture(climbed="2") != card.picture(climbed="3")
    assert ladder.how_far({}, translator(ENGLISH), "") == ""
    for wrong in ("0", "16", "x"):
        with pytest.raises(ValueError, match="persons"):
            card.of_query({card.CLIMBED: wrong})


def test_two_persons_bargain_over_packages_in_words():
    packages = [level for level in LEVELS if get_task(level.task).env.extras]
    assert len(packages) == 2
    for level in packages:
        game, talk = opponents.game_at(level.task, level.seed, opponents.HIDDEN), SILENT
        own, told = game.observation, brief(game)
        assert rupees(own.own["values"]["delivery"]) in told
        low = own.ask // 3
        for text in ("What does delivery cost you?", f"{low} with delivery", f"{low + 5}"):
            game, talk = converse(game, talk, text)
        bids = [move.action for move in game.observation.table.moves if move.agent == "buyer"]
        assert [bid.extras for bid in bids] == [{"delivery"}] * 2
        assert bids[0].message == f"What does delivery cost you? {low} with delivery"
        chat = " ".join(line["content"] for line in chat_of(game, talk).messages)
        assert f"Your bid: {rupees(low)} + delivery." in chat
        limit = own.reservation + own.own["values"]["delivery"]
        assert loss_at(game, limit + 1, ["delivery"]) == 1
        over = game if game.over else answer(game, WalkAway())
        assert "What extras cost the seller" in card_of(over)
        assert review(over).moves
