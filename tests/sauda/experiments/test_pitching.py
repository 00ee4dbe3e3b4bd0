"""The judged negotiation: it replays, it leaks nothing, and the adapting advocate learns."""

from collections import Counter

import numpy as np
import pytest

from env import arena
from sauda.experiments.pitching import (
    ADVERSARIAL,
    ADVOCATES,
    ARMS,
    CONTROL,
    DRAWN,
    LEARNER,
    MARKET,
    ROUNDS,
    chosen,
    judged,
    negotiation,
    next_round,
    opened,
    opponents_pitches,
    round_json,
    ucb1,
)
from sauda.experiments.verify import verify
from sauda.records.store import dumps, parsed, save

SMALL = {"episodes": 30, "split": "train", "advocates": DRAWN}


@pytest.fixture(scope="module")
def data() -> dict:
    return judged(**SMALL)


def row(data: dict, advocate: str) -> dict:
    return next(r for r in data["rows"] if r["advocate"] == advocate)


def test_a_negotiation_has_twenty_rounds_in_a_market_that_moves():
    rounds = list(negotiation(ADVOCATES[CONTROL], 3))
    markets = [r.state.market for r in rounds]
    assert [m.round_index for m in markets] == list(range(ROUNDS))
    assert all(
        before.blocks != after.blocks for before, after in zip(markets, markets[8:], strict=False)
    )
    done = [sum(j.completed for j in r.state.private[LEARNER].jobs) for r in rounds]
    assert done[0] == 0 < done[-1]
    assert [s.round_index for s in markets[-1].shock_history] == [4, 8, 11, 15]


def test_a_negotiation_replays_and_two_seeds_differ():
    once, again, other = (
        dumps([round_json(r) for r in negotiation(ADVOCATES["adapting"], seed)])
        for seed in (5, 5, 6)
    )
    assert once == again != other


def test_money_is_conserved_but_for_energy():
    for played in negotiation(ADVOCATES["honest_cycle"], 1):
        owns = [own for lab, own in played.state.private.items() if lab in played.state.market.labs]
        spent = sum(own.budget - own.started + own.energy for own in owns)
        assert spent == pytest.approx(0, abs=0.05)


def test_opponents_pitches_do_not_depend_on_anyones_jobs():
    for played in negotiation(ADVOCATES["honest_cycle"], 2):
        state = played.state
        blank = {
            lab: own._replace(jobs=())
            for lab, own in state.private.items()
            if lab in state.market.labs
        }
        bare = arena.State(state.market, {**state.private, **blank})
        pitches = opponents_pitches(state, 2)
        assert opponents_pitches(bare, 2) == pitches
        for lab, text in pitches.items():
            assert arena.judge(bare, lab, text) == arena.judge(state, lab, text)


def test_an_opponents_pitch_names_no_private_job():
    for played in negotiation(ADVOCATES[CONTROL], 4):
        for lab, verdict in played.decision.verdicts.items():
            if lab != LEARNER:
                for job in played.state.private[lab].jobs:
                    assert job.job_id not in verdict.text
                assert not {"due", "deadline", "job", "need"} & set(verdict.text.lower().split())


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
        history.append((arm, {ARMS[0]: 0.12, ARMS[1]: 0.08}.get(arm, 0.0)))
    assert {arm for arm, _ in history[: len(ARMS)]} == set(ARMS)
    count = Counter(arm for arm, _ in history)
    assert count[ARMS[0]] > count[ARMS[1]] > max(count[arm] for arm in ARMS[2:])


def test_the_advocates_choice_depends_on_the_totals_it_was_given():
    tried = [(arm, 0.1) for arm in ARMS]
    for best in ARMS:
        totals = [(arm, 0.5 if arm == best else total) for arm, total in tried]
        assert ucb1(totals, np.random.default_rng(0)) == best


def test_the_adapting_advocate_uses_no_strategy_that_the_judge_still_remembers():
    used = [played.strategy for played in negotiation(ADVOCATES["adapting"], 11)]
    for at, strategy in enumerate(used):
        assert strategy not in used[max(0, at - arena.JUDGE_MEMORY) : at]
    assert set(used[: len(ARMS)]) == set(ARMS)


@pytest.mark.slow
def test_the_adapting_advocate_beats_the_control_and_by_more_in_late_rounds(data):
    assert row(data, "adapting")["difference"]["low"] > 0
    assert data["learning"]["low"] > 0
    early, late = (row(data, "adapting")[f"{half}_win_rate"]["mean"] for half in ("early", "late"))
    assert late > early


@pytest.mark.slow
def test_pitches_that_earn_nothing_are_dropped(data):
    for arm in ("plain", "bluff"):
        assert np.mean(data["frequencies"]["adapting"][arm][10:]) < 0.05
        assert np.mean(data["frequencies"][CONTROL][arm]) == pytest.approx(1 / 7, abs=0.03)


@pytest.mark.nightly
def test_every_hostile_advocate_ranks_below_every_honest_one():
    data = judged(6, "train")
    honest = [row(data, name) for name in (*arena.HONEST, "adapting", CONTROL)]
    hostile = [row(data, name) for name in ADVERSARIAL]
    assert max(r["win_rate"]["high"] for r in hostile) < min(r["win_rate"]["low"] for r in honest)
    assert max(r["total"]["high"] for r in hostile) < min(r["total"]["low"] for r in honest)


@pytest.mark.slow
def test_the_rows_follow_from_the_wins(data):
    wins = {name: np.array(column) / ROUNDS for name, column in data["wins"].items()}
    for name, column in wins.items():
        assert len(column) == SMALL["episodes"]
        assert row(data, name)["win_rate"]["mean"] == pytest.approx(column.mean(), abs=1e-6)
        gain = (column - wins[CONTROL]).mean()
        assert row(data, name)["difference"]["mean"] == pytest.approx(gain, abs=1e-6)
    curve = [point["mean"] for point in data["curves"]["adapting"]["won"]]
    assert np.mean(curve) == pytest.approx(wins["adapting"].mean(), abs=1e-6)


def test_the_shown_games_are_the_best_the_median_and_the_worst_by_the_rule():
    won = {"adapting": np.array([[1, 1], [0, 0], [1, 0], [1, 1], [0, 1]]), CONTROL: np.ones((5, 2))}
    assert chosen(won, range(10, 15)) == {"best": 10, "median": 12, "worst": 11}


@pytest.mark.slow
def test_a_shown_round_holds_what_the_page_needs_and_nothing_private(data):
    for game in data["shown"]:
        assert len(game["rounds"]) == ROUNDS
        assert game["wins"] == sum(r["winner"] == LEARNER for r in game["rounds"])
        first = game["rounds"][0]
        assert first["verdicts"].keys() == first["margins"].keys() == first["reputations"].keys()
    words = dumps(data["shown"])
    assert not any(f'"{name}"' in words for name in ("budget", "jobs", "archetype", "private"))


def test_a_pitch_of_ones_own_can_be_judged_against_a_shown_state_and_played_on():
    state = opened(9)
    verdict = arena.judge(state, LEARNER, "We never broke a pool.")
    assert verdict.total > 0
    decision = arena.decide(state, {LEARNER: verdict.text} | opponents_pitches(state, 9))
    after = next_round(state, decision)
    assert after.market.round_index == 1
    assert arena.judge(after, LEARNER, "We never broke a pool.").total == 0
    assert MARKET.to_act(after) is not None


@pytest.mark.slow
def test_the_artifact_is_of_its_kind_and_comes_out_again(data, tmp_path):
    small = SMALL | {"episodes": 3}
    again = judged(**small)
    parsed("pitching/1", again)
    save("pitching.json", small, again, tmp_path)
    assert verify("pitching.json", root=tmp_path) == []
    again["shown"][0]["rounds"][4]["verdicts"][LEARNER]["total"] += 0.0001
    save("pitching.json", small, again, tmp_path)
    (place,) = verify("pitching.json", root=tmp_path)
    assert place.startswith("data.shown[0].rounds[4].verdicts.lab_0.total: recorded")


def test_seeds_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="episodes must be from 1 to 50,000"):
        judged(episodes=0)
