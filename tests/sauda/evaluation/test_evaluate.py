"""Evaluations: counts that add up, forfeits that count, and no comparison of different games."""

import json

import numpy as np
import pytest

import sauda.__main__ as command_line
from env import BATCH_TASKS, Accept, IllegalAction, Offer, get_task, rollout
from sauda.evaluation.evaluate import (
    Cell,
    Config,
    compare,
    evaluate,
    per_episode,
    play_cell,
    replay_cell,
    row,
)
from sauda.games.bazaar_columns import ENDS, deal_price, ends, rounds
from sauda.policies import BUYERS
from sauda.policies.vectorized import BATCH
from sauda.records.schemas.evaluation import Row
from sauda.records.seeds import SPLITS

SINGLE, CAREER, ARENA = (
    f"classic/{name}" for name in ("single_deal", "career_10", "marketplace_arena")
)
NAIVE = Cell("", SINGLE, "naive")
TINY = Config((SINGLE, CAREER, ARENA), ("rule_based", "aggressive"), episodes=6)


@pytest.fixture(scope="module")
def data() -> dict:
    """Two policies on three tasks, six training seeds each."""
    return evaluate(TINY, workers=1)


def row_of(data: dict, task_name: str, policy: str) -> dict:
    (match,) = [r for r in data["rows"] if (r["task"], r["policy"]) == (task_name, policy)]
    return match


def columns(end: str, share: list[float], grade: list[float]) -> dict:
    """Recorded columns with a price of 50 and two rounds wherever a deal was made."""
    return {
        "end": end,
        "price": [50.0 if letter == "A" else None for letter in end],
        "rounds": [0 if letter == "F" else 2 for letter in end],
        "share": share,
        "grade": grade,
    }


# Rows


def test_there_is_a_row_for_each_task_and_policy_in_the_order_they_were_asked_for(data):
    assert [(r["task"], r["policy"]) for r in data["rows"]] == [
        (t, p) for t in TINY.tasks for p in TINY.policies
    ]


def test_the_ways_to_end_add_up_to_the_deals_and_the_deals_to_the_episodes(data):
    for r in data["rows"]:
        assert sum(r["ends"].values()) == r["deals"]
        assert r["n"] == TINY.episodes
        assert r["deals"] == r["n"] * (10 if r["task"] == CAREER else 1)
        assert r["deal_rate"] == pytest.approx(r["ends"]["agreement"] / r["deals"], abs=1e-6)


def test_columns_have_one_value_a_deal_and_a_grade_an_episode(data):
    for by_policy in data["episodes"].values():
        for c in by_policy.values():
            deals = len(c["end"])
            assert [len(c[name]) for name in ("price", "rounds", "share")] == [deals] * 3
            assert len(c["grade"]) == TINY.episodes


def test_only_a_deal_of_ones_own_has_a_price_and_a_share(data):
    for by_policy in data["episodes"].values():
        for c in by_policy.values():
            assert set(c["end"]) <= set(ENDS)
            for letter, price, share in zip(c["end"], c["price"], c["share"], strict=True):
                assert (price is not None) == (letter == "A")
                assert share == 0 or letter == "A"


def test_a_share_is_the_part_of_the_zopa_from_30_to_100_that_the_price_leaves(data):
    c = data["episodes"][SINGLE]["rule_based"]
    deals = [(p, s) for p, s in zip(c["price"], c["share"], strict=True) if p is not None]
    assert deals
    for price, share in deals:
        assert share == pytest.approx((100 - price) / 70, abs=1e-6)


def test_a_mean_and_its_difference_are_those_of_the_columns(data):
    own, base = (per_episode(data["episodes"][CAREER][p], "share") for p in TINY.policies[::-1])
    share = row_of(data, CAREER, "aggressive")["share"]
    assert share["mean"] == pytest.approx(own.mean(), abs=1e-6)
    assert share["difference"] == pytest.approx((own - base).mean(), abs=1e-6)
    assert share["low"] <= share["mean"] <= share["high"]


def test_the_baseline_does_not_differ_from_itself(data):
    grade = row_of(data, SINGLE, "rule_based")["grade"]
    names = ("difference", "difference_low", "difference_high")
    assert [grade[name] for name in names] == [0, 0, 0]


def test_a_career_counts_as_the_mean_over_its_deals():
    two_careers = {"share": [1.0, 0.0, 0.5, 0.5, 0.0, 0.0], "grade": [0.4, 0.1]}
    assert list(per_episode(two_careers, "share")) == [0.5, pytest.approx(1 / 6)]
    assert list(per_episode(two_careers, "grade")) == [0.4, 0.1]


def test_forfeits_count_as_ends_of_their_own_and_as_nothing_won():
    recorded = columns("AFBF", [0.8, 0.0, 0.0, 0.0], [0.8, 0.0, 0.0, 0.0])
    measured_row = row(NAIVE, {NAIVE: recorded}, {}, "rule_based")
    assert measured_row["ends"]["forfeit"] == 2
    assert (measured_row["ends"]["agreement"], measured_row["ends"]["buyer walked"]) == (1, 1)
    assert measured_row["share"]["mean"] == 0.2
    assert measured_row["deal_rate"] == 0.25
    assert measured_row["rounds"] == 1  # 2 + 0 + 2 + 0 over four deals


def test_a_success_is_an_episode_graded_at_the_tasks_threshold_or_above():
    recorded = columns("AAAA", [0.1, 0.2, 0.3, 0.4], [0.1, 0.29, 0.3, 0.4])
    measured_row = row(NAIVE, {NAIVE: recorded}, {}, "rule_based")
    assert get_task(SINGLE).success == 0.3
    assert measured_row["success_rate"] == 0.5


def test_a_row_without_its_baseline_has_no_difference():
    cells = {NAIVE: columns("A", [0.5], [0.5])}
    assert "difference" not in row(NAIVE, cells, {}, "rule_based")["share"]


# Episodes


def forfeits_at_deal(number: int):
    """Takes the opening ask of each deal before `number`, and then has no move."""

    def learner(obs, rng):
        if len(obs.table.past) + 1 == number:
            raise IllegalAction("no more")
        return Accept()

    return learner


def test_the_deals_after_a_forfeit_are_forfeits_of_no_rounds_and_no_price():
    played = rollout(get_task(CAREER), forfeits_at_deal(3), 0)
    assert ends(played, "buyer") == "AAFFFFFFFF"
    assert rounds(played) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert [deal_price(played, i, "buyer") for i in range(4)] == [60, 60, None, None]


def test_a_rivals_purchase_is_an_end_without_a_price_for_the_learner():
    played = rollout(get_task(ARENA), lambda obs, rng: Offer(1), 0)
    assert ends(played, "buyer") == "O"
    assert deal_price(played, 0, "buyer") is None


def test_the_same_cell_and_seeds_give_the_same_columns(data):
    assert play_cell("", SINGLE, "rule_based", range(6)) == data["episodes"][SINGLE]["rule_based"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BATCH_TASKS)
def test_the_batch_engine_records_what_the_scalar_one_does_to_the_letter(name: str):
    """As JSON, which tells 60 from 60.0."""
    seeds = range(50 if len(play_cell("", name, "wait", [0])["end"]) == 1 else 20)
    compared = ("leave", "pilot", "tuned") if name.startswith("bazaar/") else ()
    for buyer in (*BUYERS, *compared):
        batch, scalar = (play("", name, buyer, seeds) for play in (play_cell, replay_cell))
        assert json.dumps(batch) == json.dumps(scalar), buyer


def test_every_scripted_buyer_has_a_batch_form_and_the_scripted_sellers_do_without():
    assert set(BATCH) == set(BUYERS)
    brief = "bazaar/seller_brief"
    assert play_cell("", brief, "linear", range(3)) == replay_cell("", brief, "linear", range(3))


def test_two_workers_give_what_one_gives(data):
    assert evaluate(TINY, workers=2) == data


# Seeds


def test_training_and_hold_out_seeds_are_disjoint():
    assert not set(SPLITS["train"]) & set(SPLITS["holdout"])
    train, holdout = (Config((), (), split, 1000).seeds() for split in ("train", "holdout"))
    assert (train[0], train[-1], holdout[0]) == (0, 999, 50_000)


def test_a_split_gives_other_episodes():
    assert play_cell("", SINGLE, "rule_based", range(3)) != play_cell(
        "", SINGLE, "rule_based", range(50_000, 50_003)
    )


@pytest.mark.parametrize("episodes", [0, -1, 50_001])
def test_more_or_fewer_episodes_than_there_are_seeds_are_refused(episodes: int):
    with pytest.raises(ValueError, match="episodes must be from 1 to 50,000, not"):
        Config((), (), "train", episodes).seeds()


# Comparisons


def record_of(data, task: str, policy: str) -> Row:
    return Row.model_validate(row_of(data, task, policy))


def test_rows_of_one_game_may_be_compared(data):
    rows = [record_of(data, SINGLE, policy) for policy in TINY.policies]
    own, other = (row.share.mean for row in rows)
    assert compare(*rows, "share") == own - other


@pytest.mark.parametrize("part", ["task", "opponents"])
def test_rows_of_different_games_are_refused_with_both_hashes(data, part: str):
    own = record_of(data, SINGLE, "rule_based")
    hashes = own.hashes.model_copy(update={part: "0123456789ab"})
    other = own.model_copy(update={"hashes": hashes})
    with pytest.raises(ValueError, match=getattr(own.hashes, part)) as refused:
        compare(own, other, "share")
    assert "0123456789ab" in str(refused.value)


def test_a_task_with_rivals_is_no_comparison_for_one_without(data):
    with pytest.raises(ValueError, match="did not play the same game"):
        compare(*(record_of(data, task, "rule_based") for task in (SINGLE, ARENA)), "grade")


# The command line


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--tasks", "classic/nothing"], "no task 'classic/nothing'; tasks are classic/single"),
        (["--policies", "oracle"], "no policy 'oracle' for the buyer of classic/single_deal"),
        (["--split", "test"], "no split 'test'; splits are train, holdout"),
        (["--baseline", "oracle"], "the baseline 'oracle' must be one of the policies"),
        (["--episodes", "0"], "episodes must be from 1 to 50,000, not 0"),
        (["--out", "mine.json"], "no artifact 'mine.json'; artifacts are"),
        (["--policies", "wait"], "a part of the table needs a file of its own: say --out"),
        (["--out", "published.json"], "published.json is of kind published/1, so it cannot hold"),
    ],
)
def test_a_mistake_in_the_call_prints_one_sentence_and_no_traceback(capsys, arguments, sentence):
    assert command_line.main(["evaluate", *arguments]) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"sauda: {sentence}")
    assert output.err.count("\n") == 1
    assert output.out == ""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["play", "--policy", "oracle"], "no policy 'oracle'"),
        (["play", "--seed", "-1"], "a seed is a whole number from 0, not -1"),
        (["verify", "nothing.json"], "no artifact 'nothing.json'"),
    ],
)
def test_other_commands_answer_a_mistake_in_one_sentence_too(capsys, arguments, sentence):
    assert command_line.main(arguments) == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"sauda: {sentence}")
    assert errors.count("\n") == 1


def test_numbers_in_an_evaluation_are_plain_numbers(data):
    assert not any(isinstance(value, np.generic) for r in data["rows"] for value in r.values())
