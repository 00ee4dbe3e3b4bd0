"""The bargain of the day, its seed and link; two hidden buyers before one seller."""

from datetime import date, timedelta

import pytest

from env import Accept, IllegalAction, Offer, WalkAway, get_task
from sauda.sessions.bazaar import answer
from sauda.sessions.daily import (
    TASK,
    BadLink,
    bargain_of,
    day_of,
    encode,
    gaining_scripts,
    replay,
    resume,
    seed_of_day,
    today,
)
from sauda.sessions.review import informed_grade
from sauda.sessions.spot import answer_duel, ask_both, live_duel, make_guess, without_open_ask
from tests.support.models import Canned

DAY = date(2026, 11, 24)


def played(day: date, *moves):
    """The game of a day after these moves; each bid is a share of the list price."""
    game = bargain_of(day)
    for one in moves:
        price = isinstance(one, float) and round(one * game.observation.table.item.list_price)
        game = answer(game, Offer(price) if price else one)
    return game


@pytest.mark.nightly
def test_each_of_the_next_400_days_has_a_bargain_of_its_own_that_can_be_won():
    seeds = [seed_of_day(today() + timedelta(days=n)) for n in range(400)]
    assert len(set(seeds)) == len(seeds)
    assert all(gaining_scripts(seed) >= 3 for seed in seeds)
    assert all(informed_grade(get_task(TASK), seed) > 0 for seed in seeds)


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        (("", "today", "2026-02-30", "20261101", "2026-W48-1", "٢٠٢٦-١١-٠١"), "month and date"),
        (("0001-01-01", "1999-12-31"), "before"),
        (("9999-12-31",), "a day to come"),
    ],
)
def test_a_link_to_no_day_that_has_a_bargain_is_refused_with_a_sentence(texts, why):
    for text in texts:
        with pytest.raises(BadLink, match=why):
            day_of(text)


@pytest.mark.parametrize("moves", [(WalkAway(),), (0.3, 0.4, Accept()), (0.3, 0.35, WalkAway())])
def test_a_link_replays_the_very_game(moves):
    game = played(DAY, *moves)
    assert replay(DAY, encode(game)).play.state == game.play.state


@pytest.mark.parametrize(
    "words", ["chai piyenge?", "cash, right now", "the shop next door asks 50", "You thief", "hm"]
)
def test_a_link_keeps_what_the_seller_heard_in_the_words(words):
    """A false price annoys, cash pleases: without them the game would go on differently."""
    game = bargain_of(DAY)
    for share in (0.35, 0.4, 0.45):
        if not game.over:
            bid = round(share * game.observation.table.item.list_price)
            game = answer(game, Offer(bid, words))
    again = resume(DAY, encode(game))
    assert again.play.state.table.asks == game.play.state.table.asks
    assert again.over == game.over
    assert encode(again) == encode(game)


def test_a_link_that_was_cut_or_changed_anywhere_is_refused():
    code = encode(played(DAY, 0.3, 0.4, Accept()))
    more = [code + "AAAA", code * 9, f" {code}", code + "=", "3é", "3<b>x</b>", f"2{code[1:]}"]
    more += [code[:end] for end in range(len(code))]
    more += [code[:at] + "AB"[letter == "A"] + code[at + 1 :] for at, letter in enumerate(code)]
    for other in more:
        with pytest.raises(BadLink):
            replay(DAY, other)
    with pytest.raises(BadLink):
        replay(DAY + timedelta(days=1), code)


def replies(text: str) -> Canned:
    return Canned(lambda messages, seed: text)


def ask(duel, price, *texts):
    """The duel after an ask and an answer of each side that is there."""
    duel = ask_both(duel, price)
    for number in duel.waiting:
        duel = answer_duel(duel, number, replies(texts[number]))
    return duel


@pytest.fixture
def live():
    return live_duel(("mini", "sauda-mini"), 7)


def asks(duel):
    return [[turn.action.price for turn, *_ in side.exchanges()] for side in duel.sides]


def test_nothing_can_be_guessed_before_both_have_answered(live):
    for duel in (live, ask_both(live, live.item.list_price)):
        assert not duel.can_guess
        with pytest.raises(IllegalAction, match="nothing to guess"):
            make_guess(duel, 0)


def test_an_ask_without_all_its_answers_can_be_taken_back(live):
    price = live.item.list_price
    first = ask(live, price, '{"offer":40}', '{"offer":41}')
    one = answer_duel(ask_both(first, price - 1), 0, replies('{"offer":42}'))
    assert asks(without_open_ask(one)) == asks(first)
    assert without_open_ask(one).has_more
    assert without_open_ask(first) == first
