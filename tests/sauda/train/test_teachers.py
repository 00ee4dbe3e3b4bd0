"""Teachers compared: one run each, judged by both, recomputed from moves, resumed when killed."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from env import Accept, Offer, WalkAway
from sauda.evaluation.market.regret import Config as Positions
from sauda.evaluation.market.regret import Judged, by_pilot
from sauda.records.store import measured, parsed
from sauda.train.stages import distill, teachers

pytestmark = pytest.mark.xdist_group("model")
TOY = teachers.Config(model="toy", init_adapter="", deals_per_round=8, constrained=True, states=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("teachers")


@pytest.fixture(scope="module")
def data(folder) -> dict:
    return json.loads(json.dumps(teachers.compared(TOY, folder)))


def test_every_student_differs_by_its_teacher_alone():
    pilot, belief = map(TOY.of_student, TOY.teachers)
    assert replace(pilot, shares=belief.shares) == belief
    assert {share.teacher for share in pilot.shares} == {"pilot", "expert"}
    assert {share.teacher for share in belief.shares} == {"belief", "expert"}
    assert [(share.task, share.part) for share in pilot.shares] == [
        (share.task, share.part) for share in belief.shares
    ]


def test_no_student_learns_from_a_position_in_which_it_is_judged():
    usual = teachers.Config()
    last = usual.first_seed + usual.deals_per_round * len(distill.Config().teacher_turns) * 2
    assert last < Positions().first_seed


@pytest.mark.slow
def test_the_data_is_of_its_kind_and_comes_out_again_from_its_moves(data):
    parsed("teachers/1", data)
    artifact = measured(teachers.FILE, asdict(TOY), data)
    assert teachers.recomputed(artifact, 1, Path()) == data
    assert [row["teacher"] for row in data["students"]] == ["pilot", "belief"]
    assert [(row["judge"], row["teacher"]) for row in data["rows"]] == [
        ("pilot", "pilot"), ("pilot", "belief"), ("belief", "pilot"), ("belief", "belief"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_changed_move_changes_a_regret(data):
    moves = dict(data["moves"], pilot=["accept"] * TOY.states)
    rows = teachers.judged(TOY, moves)["rows"]
    assert rows[0]["regret"]["mean"] > 0
    assert rows[1] == data["rows"][1]


@pytest.mark.slow
def test_a_comparison_that_was_stopped_goes_on_without_training_again(data, folder, monkeypatch):
    steps = []
    monkeypatch.setattr(distill, "soft_cross_entropy", lambda *_: steps.append(1))
    assert json.loads(json.dumps(teachers.compared(TOY, folder, resume=True))) == data
    assert steps == []


@pytest.mark.slow
def test_the_pilots_own_moves_cost_nothing_by_its_values():
    positions = Judged.of(Positions(TOY.states), by_pilot)
    best = [
        values.best(s.obs) for s, values in zip(positions.states, positions.values, strict=True)
    ]
    names = {Accept: "accept", WalkAway: "walk"}
    written = [move.price if isinstance(move, Offer) else names[type(move)] for move in best]
    rows = teachers.judged(TOY, {"pilot": written, "belief": [None] * TOY.states})["rows"]
    assert rows[0]["regret"]["mean"] == 0
    assert rows[1]["no_move"] == TOY.states
