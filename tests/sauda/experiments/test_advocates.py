"""The judged negotiation and the selector of policies: they replay, leak nothing, and learn."""

import copy
from collections import Counter
from dataclasses import asdict
from functools import reduce

import numpy as np
import pytest

from env import arena
from sauda.experiments.pitching import (
    ADVOCATES,
    ARMS,
    DRAWN,
    LEARNER,
    ROUNDS,
    negotiation,
    open_market,
    opponents_pitches,
    pitching,
    ucb1,
)
from sauda.experiments.verify import child, verify
from sauda.records.seeds import SPLITS
from sauda.records.store import dumps, save, validate
from sauda.train.selector import SelectorSettings, select, softmax, update

# The negotiation ----------------------------------------------------------------------------------

JUDGED = {"episodes": 5, "split": "train", "advocates": DRAWN}
SMALL = SelectorSettings(
    tasks=("arena/single_trade", "arena/market_round"), episodes=30, evaluated=6
)


@pytest.fixture(scope="module")
def judged() -> dict:
    return pitching(**JUDGED)


@pytest.fixture(scope="module")
def selected() -> dict:
    return select(SMALL)


def test_facts_copied_from_the_own_job_table_do_not_win_most_first_rounds():
    won, seeds = 0, SPLITS["holdout"][:200]
    for seed in seeds:
        state = open_market(seed)
        urgent = sorted(state.private[LEARNER].jobs, key=lambda job: job.deadline_round)[:2]
        copied = " ".join(
            f"{job.job_id} needs {job.gpu_hours_required} GPU-hours by round {job.deadline_round}"
            f" and pays {job.full_value:.1f}."
            for job in urgent
        )
        decision = arena.decide(state, {LEARNER: copied} | opponents_pitches(state, seed))
        assert decision.verdicts[LEARNER].lies == 0
        won += decision.winner == LEARNER
    assert 0 < won <= 0.6 * len(seeds)


def test_the_honest_strategies_never_lie_and_the_bluff_does():
    for name in arena.HONEST:
        verdicts = [r.decision.verdicts[LEARNER] for r in negotiation(ADVOCATES[name], 7)]
        assert sum(v.lies for v in verdicts) == 0
        assert all(f.status in ("holds", "repeated") for v in verdicts for f in v.findings)
    bluffs = [r.decision.verdicts[LEARNER] for r in negotiation(ADVOCATES["bluff"], 7)]
    assert all(v.lies for v in bluffs)


def test_ucb1_tries_every_arm_once_and_then_the_best_of_two_more_often():
    history, rng = [], np.random.default_rng(0)
    for _ in range(60):
        arm = ucb1(history, rng)
        history.append((arm, {ARMS[0]: 0.25, ARMS[1]: 0.17}.get(arm, 0.0)))
    assert {arm for arm, _ in history[: len(ARMS)]} == set(ARMS)
    count = Counter(arm for arm, _ in history)
    assert count[ARMS[0]] > count[ARMS[1]] > max(count[arm] for arm in ARMS[2:])


@pytest.mark.slow
def test_a_shown_round_holds_what_the_page_needs_and_nothing_private(judged):
    for game in judged["shown"]:
        assert len(game["rounds"]) == ROUNDS
        assert game["wins"] == sum(r["winner"] == LEARNER for r in game["rounds"])
        first = game["rounds"][0]
        assert first["verdicts"].keys() == first["margins"].keys() == first["reputations"].keys()
    words = dumps(judged["shown"])
    assert not any(f'"{name}"' in words for name in ("budget", "jobs", "archetype", "private"))


def test_the_step_is_the_gradient_of_the_log_probability_at_temperature_one():
    start, change = np.array([0.3, -0.2, 0.1]), 1e-6
    chances = softmax(start, 1.0)
    bumped = [softmax(start + change * np.eye(3)[i], 1.0)[1] for i in range(3)]
    slopes = (np.log(bumped) - np.log(chances[1])) / change
    np.testing.assert_allclose(update(start, chances, 1, 1.0) - start, slopes, atol=1e-5)


def test_the_selector_learns_which_arm_pays(selected):
    start, last = selected["curve"][0]["before"], selected["final"]
    assert start == [0.2] * 5
    for row in last:
        means = {arm: interval["mean"] for arm, interval in row["arms"].items()}
        chances = np.array(row["probabilities"])
        learned = float(chances @ list(means.values()))
        assert learned > np.mean(list(means.values()))
        assert row["policy"] == SMALL.arms[int(np.argmax(chances))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "kind", "config", "fixture", "keys"),
    [
        ("pitching.json", "pitching/1", JUDGED, "judged", ("shown", 0, "wins")),
        ("training/selector.json", "selector/1", asdict(SMALL), "selected",
         ("curve", 3, "after", 1)),
    ],
)  # fmt: skip
def test_the_artifact_is_of_its_kind_and_all_but_a_changed_number_comes_out_again(
    file, kind, config, fixture, keys, request, tmp_path
):
    changed = part = copy.deepcopy(request.getfixturevalue(fixture))
    validate(kind, changed)
    *path, last = keys
    for key in path:
        part = part[key]
    part[last] += 1
    save(file, config, changed, tmp_path)
    (place,) = verify(file, root=tmp_path)
    assert place.startswith(f"{reduce(child, keys, 'data')}: recorded")
