"""The bargain of the day, its seed and link; two hidden buyers before one seller; the ladder."""

import re
from dataclasses import replace
from datetime import date, timedelta
from itertools import chain

import pytest

from env import TYPES, Accept, IllegalAction, Offer, Policy, WalkAway, get_task, rollout
from env.bazaar.people import PATIENCES
from sauda.players import CUSTOMERS, PEOPLE, scripts_of
from sauda.policies.customers import Vendor
from sauda.policies.people import Planner
from sauda.policies.values import play_informed
from sauda.records.seeds import DAILY, SPLITS, deal_at
from sauda.sessions import daily
from sauda.sessions.bazaar import answer, back, stand, start
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
from sauda.sessions.ladder import LEVELS, Level, level_of, open_numbers, person_of, stars
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


# The ladder


OF_A_MAN = re.compile(r"(ta|raha) h(oo|u)n\b|[uo]nga\b|my wife|ता हूँ|रहा हूँ|ूँगा|ऊँगा", re.IGNORECASE)
BY_NAME = [pytest.param(level, id=level.text("name")) for level in LEVELS]


def is_a_woman(level: Level) -> bool:
    return level.text("trade", "hi").endswith("ी हैं")


def manner_of(level: Level) -> str:
    """The manner as the seed draws it."""
    deal = deal_at(get_task(level.task), level.seed)
    if level.task != CUSTOMERS:
        return deal.seller["stance"].type
    person = deal.buyer["stance"]
    return "rival" if person.rival else PATIENCES[person.patience]


def informed(level: Level) -> Policy:
    """A player that is told all of the person across."""
    task = get_task(level.task)
    deal = deal_at(task, level.seed)
    if level.task == CUSTOMERS:
        return Vendor(truth=deal.buyer["stance"])
    if level.task == PEOPLE:
        return Planner(truth=deal.seller["stance"])
    return play_informed(task, level.seed)


def share_of(level: Level, policy) -> float:
    task = get_task(level.task)
    return stand("", task, rollout(task, policy, level.seed)).share


@pytest.mark.parametrize("level", BY_NAME)
def test_the_table_tells_the_manner_and_a_seed_that_nothing_else_uses(level: Level):
    assert level.manner == manner_of(level)
    assert not any(level.seed in used for used in (*SPLITS.values(), DAILY))
    assert 0 < level.shares[0] < level.shares[1] < level.shares[2] < 1
    for what in ("name", "trade", "line"):
        assert all(map(str.isascii, (level.text(what, "hinglish").replace("’", "'"),)))
        assert any("\u0900" <= letter <= "\u097f" for letter in level.text(what, "hi"))


@pytest.mark.parametrize("level", BY_NAME)
def test_the_oracle_earns_all_stars_and_three_scripts_one(level: Level):
    assert share_of(level, informed(level)) >= level.shares[-1]
    scripts = {
        name: share_of(level, policy) for name, policy in scripts_of(get_task(level.task)).items()
    }
    assert sum(share >= level.shares[0] for share in scripts.values()) >= 3, scripts


@pytest.mark.parametrize("level", [each for each in BY_NAME if is_a_woman(each.values[0])])
def test_no_woman_speaks_of_herself_as_a_man(level: Level):
    task = get_task(level.task)
    games = (rollout(task, policy, level.seed) for policy in scripts_of(task).values())
    for turn in chain.from_iterable(game.turns for game in games):
        speaks = turn.agent == ("buyer" if level.task == CUSTOMERS else "seller")
        assert not (speaks and OF_A_MAN.search(turn.action.message)), turn.action.message


def test_stars_are_for_a_finished_game_without_a_move_taken_back():
    level = LEVELS[0]
    begun = start(level.task, "", level.seed)
    game, price = begun, begun.observation.ask // 2
    while not game.over:
        price = min(price + begun.observation.ask // 8, int(game.observation.budget))
        game = answer(game, Offer(min(price, int(game.observation.ask) - 1)))
    assert level_of(game) is level
    assert stars(game) > 0
    assert stars(begun) == stars(answer(begun, WalkAway())) == 0
    assert stars(replace(game, undone=1)) == 0
    assert back(game, 0).undone
    assert level_of(start(level.task, "", level.seed + 1)) is None


def test_a_beaten_level_opens_the_next_and_two_are_open_from_the_start():
    assert open_numbers({}) == {1, 2}
    assert open_numbers({2: 1}) == {1, 2, 3}
    assert open_numbers({level.number: 3 for level in LEVELS}) == set(range(1, 16))


def test_the_bargain_of_a_day_is_with_a_person_of_the_ladder_of_the_sellers_manner():
    met = set()
    assert {level.manner for level in LEVELS if level.task == daily.TASK} == set(TYPES)
    for back_by in range(1, 13):
        game = daily.bargain_of(daily.today() - timedelta(days=back_by))
        person = person_of(game)
        assert person.manner == game.play.state.private["nature"][-1].seller["stance"].type
        assert person.task == game.task_name
        met.add(person.number)
    assert len(met) > 2
