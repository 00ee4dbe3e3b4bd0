"""Experiments where any words count: manners, worth, the smallest rule, the seller's test."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import env
from env import Offer, corpus, get_task, rollout, speech
from sauda.experiments import ear, manners, simplest, worth
from sauda.experiments.seller_games import all_sides, play_seed, write_texts
from sauda.experiments.seller_quality import leaks_digits, own_cells, play_games, seller_quality
from sauda.language.faults import faults_in
from sauda.llm.seller import TRIES
from sauda.players import get_policy
from sauda.policies.bazaar import Says, boulware
from sauda.policies.listener import line_of
from sauda.policies.ruled import NEUTRAL, Ruled
from tests.support.models import Canned


@pytest.mark.parametrize("habit", manners.HABITS)
def test_a_visitor_never_asks_more_than_before_nor_sells_below_its_limit(habit):
    task = manners.task_of(habit)
    for seed in range(12):
        final = rollout(task, get_policy(get_task(manners.TASK), "linear"), seed).final
        asks, (deal,) = final.table.asks, final.table.past
        assert all(after <= before for before, after in itertools.pairwise(asks))
        assert deal.price is None or deal.price >= final.private["seller"]["reservation"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [("So, #.", "repeat"), ("I pay 12345678.", "price"), ("I see you moved. #.", "step")],
)
def test_faults_of_lines_are_counted(line, fault):
    parrot = Canned(lambda messages, seed: f'{{"raise":55,"say":"{line}"}}')
    games, replies = manners.play_model(parrot, "wall", range(50_000, 50_006))
    assert sum(game.faults.get(fault, 0) for game in games) > 0
    again, _ = manners.play_model(manners.Recorded(iter(replies)), "wall", range(50_000, 50_006))
    assert again == games


def test_a_silent_price_has_no_fault():
    play = rollout(get_task(manners.TASK), get_policy(get_task(manners.TASK), "linear"), 5)
    buys = [turn for turn in play.turns if turn.agent == "buyer" and isinstance(turn.action, Offer)]
    assert all(not list(faults_in(turn.observation, turn.action)) for turn in buys)


def test_a_rule_at_its_neutral_values_says_nothing_and_hears_nothing():
    rule = Ruled(**NEUTRAL)
    mute, open_3 = get_task("bazaar/mute-3"), get_task("bazaar/open-3")
    for seed in range(50_000, 50_020):
        turns = rollout(open_3, rule, seed).turns
        assert not any(turn.action.message for turn in turns if turn.agent == "buyer")
        assert rollout(mute, rule, seed).final.table.bids


def test_leaving_numbers_out_ends_where_it_costs_too_much():
    rule = replace(Ruled(**NEUTRAL), opening=0.45, firm=0.9)
    smallest, dropped = simplest.shrink(rule, range(10_000, 10_030))
    kept = [name for name, neutral in NEUTRAL.items() if getattr(smallest, name) != neutral]
    assert len(kept) + len(dropped) == 2


def test_ears_that_slip_hear_another_meaning_now_and_then():
    task = worth.task_of("open-3")
    lines = worth.opening_lines(task, range(50_000, 50_030))
    assert all(worth.Misreader(0.0)(line) == env.ear.hear(line) for line in lines)
    slips = [worth.Misreader(0.3)(line) != env.ear.hear(line) for line in lines]
    assert 0 < sum(slips) < len(lines)


def test_permuted_ears_hear_what_was_not_said():
    assert worth.hear_another("one line") == worth.hear_another("one line")
    assert len({worth.hear_another(str(number)).style for number in range(200)}) > 2


@pytest.mark.parametrize("name", worth.SPOKEN)
def test_a_seller_with_the_words_of_another_type_prices_sells_and_leaves_as_it_is(name):
    """A buyer whose words do not depend on what it hears meets the same game in other words."""
    task, pairs = worth.task_of(name), []
    buyer = Says(boulware, lambda obs: line_of(speech.PITCHES[obs.round % 4], obs))
    for seed in range(50_000, 50_060):
        true, other = (
            rollout(each, buyer, seed).final for each in (task, worth.with_other_words(task, seed))
        )
        assert true.table.asks == other.table.asks
        assert true.table.past == other.table.past
        pairs += zip(true.table.moves[::2], other.table.moves[::2], strict=True)
    lines = [(env.ear.hear(move.action.message), env.ear.hear(same.action.message))
             for move, same in pairs if isinstance(move.action, Offer)]  # fmt: skip
    assert np.mean([a.style == b.style for a, b in lines]) < 0.6


def test_differences_are_of_the_same_seeds():
    played = {("open-3", name): list(np.arange(4) + k) for k, name in enumerate(("silent", "both"))}
    deals = [{"market": "open-3", "type": ["fair"] * 4, "language": ["en", "hi"] * 2}]
    rows = worth.summarize(played, deals)["worth"]
    assert {row["what"] for row in rows} == {"both"}
    assert all(row["difference"]["mean"] == 1 for row in rows)


def test_a_seller_says_one_kind_of_sentences_where_one_is_asked_for():
    seeds = range(50_000, 50_030)
    draws = [draw / 10 for draw in range(10)]
    voice = {row.text for row in corpus.rows("seller", "evaluation") if row.kind == "voice"}
    said = {corpus.pick("en", "evaluation/voice", "time", "short", draw, None) for draw in draws}
    assert said <= voice
    task, usual = worth.task_of("open-3, voice"), worth.task_of("open-3")
    lines = [worth.opening_lines(each, seeds) for each in (task, usual)]
    assert lines[0] != lines[1]
    silent = worth.players(usual)["silent"](None)
    assert (worth.grades(task, silent, seeds) == worth.grades(usual, silent, seeds)).all()


def test_odd_texts_differ_and_none_is_a_sentence_of_the_corpus():
    texts = [text for _, text in ear.odd_texts()]
    assert len(texts) == len({*texts}) > 0
    learnt = {row.text for seat in env.ear.SEATS for row in corpus.rows(seat, "training")}
    assert not learnt & {*texts}


# The seller's test


CONFIG = {"models": ("null",), "published": 2, "hard": 1, "batch": 50}


def half_obedient(messages, seed) -> str:
    """The scripted line at every other seed, and a limit otherwise."""
    return messages[-1]["content"].rpartition("Say: ")[2] if seed % 2 else "My minimum is ₹1."


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return json.loads(json.dumps(seller_quality(**CONFIG, parts=tmp_path_factory.mktemp("parts"))))


def sides(data, criterion):
    return next(row["sides"] for row in data["rows"] if row["criterion"] == criterion)


def test_a_stub_keeps_to_every_decision_and_garbage_is_found(data):
    for criterion in ("below_floor", "ask_rose", "never_below_reservation"):
        assert {side["mean"] for side in sides(data, criterion).values()} == {0}
    assert sides(data, "own_words")["null"]["mean"] == 0
    assert sides(data, "tries")["null"]["mean"] == TRIES
    for criterion in ("says_the_decision", "topic_heard", "reaction_heard"):
        said = sides(data, criterion)
        stub, null, first = (said[side]["mean"] for side in ("stub", "null", "null, first tries"))
        assert stub == null > 0.8  # the ear mishears some of the scripted lines as well
        assert first == 0


def test_a_model_is_judged_on_its_own_texts_and_asked_for_each_once(tmp_path):
    played = play_games(CONFIG["published"], CONFIG["hard"])
    tries = {"canned": write_texts(Canned(half_obedient, "stop"), played, 7, tmp_path)}
    assert write_texts(Canned(None), played, 7, tmp_path) == tries["canned"]
    cells = own_cells(played, all_sides(played, tries), tries)
    limit = cells["speaks_of_limit"]
    assert 0.2 < limit["canned, first tries"]["mean"] < 0.8
    assert limit["canned"]["mean"] == 0 < cells["own_words"]["canned"]["mean"] < 1
    assert 1 < cells["tries"]["canned"]["mean"] < TRIES


def test_the_published_leak_test_sees_digits_and_is_blind_to_the_rest():
    game = play_seed("hard", "prober", "fair", 1)
    assert leaks_digits(game, [f"I paid {game.floor}, friend."])
    assert leaks_digits(game, ["My minimum is 5."])
    assert not leaks_digits(game, ["I could go a good deal lower."])
