"""The judged negotiation: it replays, it leaks nothing, and the adapting advocate learns."""

import copy
from collections import Counter

import numpy as np
import pytest

from env import arena
from env.arena.planning import spare_blocks
from sauda.experiments.pitching import DRAWN, pitching
from sauda.experiments.verify import verify
from sauda.games.negotiation import (
    ADVOCATES,
    ARMS,
    LEARNER,
    MARKET,
    ROUNDS,
    negotiation,
    open_market,
    opponents_pitches,
    ucb1,
)
from sauda.records.seeds import SPLITS
from sauda.records.store import dumps, save

JUDGED = {"episodes": 5, "split": "train", "advocates": DRAWN}


@pytest.fixture(scope="module")
def judged() -> dict:
    return pitching(**JUDGED)


def facts_of_own_papers(state: arena.State) -> dict[str, str]:
    """What a visitor can copy from the papers of its lab, a sentence each."""
    lab, jobs = state.market.labs[LEARNER], state.private[LEARNER].jobs
    first, second, *_ = sorted(jobs, key=lambda job: job.deadline_round)
    spare = len(spare_blocks(obs := MARKET.observe(state, LEARNER), arena.own_plan(obs)))
    return {
        "due": f"{first.job_id} is due in round {first.deadline_round}.",
        "next": f"{second.job_id} is due in round {second.deadline_round}.",
        "hours": f"{first.job_id} needs {first.gpu_hours_required} GPU-hours.",
        "worth": f"{first.job_id} pays {first.full_value:.2f}.",
        "demand": f"Our demand is {lab.public_demand}.",
        "reputation": f"Our reputation is {lab.reputation:.2f}.",
        "pools": "We never broke a pool.",
        "budget": f"Our budget is {state.private[LEARNER].budget:.2f}.",
        "spare": f"We can spare {spare} block{'s' * (spare != 1)}." if spare else "",
    }


@pytest.mark.parametrize(
    "names",
    [
        ("hours", "due", "reputation"),
        ("due", "demand", "hours", "worth", "reputation", "spare"),
        ("hours", "worth", "budget", "due", "pools", "spare"),
        (),  # all of them
    ],
)
def test_facts_copied_from_the_own_papers_win_some_first_rounds_and_not_most(names):
    won, seeds = 0, SPLITS["holdout"][:200]
    for seed in seeds:
        state = open_market(seed)
        facts = facts_of_own_papers(state)
        copied = " ".join(facts[name] for name in names or facts)
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


@pytest.mark.slow
def test_the_artifact_is_of_its_kind_and_all_but_a_changed_number_comes_out_again(judged, tmp_path):
    changed = copy.deepcopy(judged)
    changed["shown"][0]["rounds"][4]["verdicts"][LEARNER]["total"] += 0.0001
    save("pitching.json", JUDGED, changed, tmp_path)
    (place,) = verify("pitching.json", root=tmp_path)
    assert place.startswith("data.shown[0].rounds[4].verdicts.lab_0.total: recorded")
