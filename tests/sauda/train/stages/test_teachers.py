"""Teachers compared: one run each, judged by both, recomputed from moves, resumed when killed."""

import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from env import Accept, Offer, WalkAway
from sauda.evaluation.market.regret import Config as Positions
from sauda.evaluation.market.regret import Judged, by_pilot
from sauda.records.store import measured, parsed
from sauda.train.stages import distill, teachers

pytestmark = pytest.mark.xdist_group("model")
TOY = teachers.Config(model="toy", init_adapter="", deals_per_round=4, constrained=True, states=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("teachers")


@pytest.fixture(scope="module")
def data(folder) -> dict:
    return json.loads(json.dumps(teachers.compared(TOY, folder)))


def test_every_student_learns_as_the_others_do_but_from_its_own_teacher():
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


@pytest.mark.model
@pytest.mark.slow
def test_the_data_is_of_its_kind_and_comes_out_again_from_its_moves(data):
    parsed("teachers/1", data)
    artifact = measured(teachers.FILE, asdict(TOY), data)
    assert teachers.recomputed(artifact, 1, Path()) == data
    assert [row["teacher"] for row in data["students"]] == ["pilot", "belief"]
    assert [(row["judge"], row["teacher"]) for row in data["rows"]] == [
        ("pilot", "pilot"), ("pilot", "belief"), ("belief", "pilot"), ("belief", "belief"),
    ]  # fmt: skip


@pytest.mark.model
@pytest.mark.slow
def test_a_changed_move_changes_the_regret_of_its_student_alone(data):
    rows = teachers.judged(TOY, dict(data["moves"], pilot=["walk"] * TOY.states))["rows"]
    assert rows[0]["regret"] != data["rows"][0]["regret"]
    assert rows[1] == data["rows"][1]


@pytest.mark.model
@pytest.mark.slow
def test_the_moves_before_training_are_judged_and_differ_from_no_student(data):
    moves = {teachers.BEFORE: ["walk"] * TOY.states} | data["moves"]
    again = teachers.judged(TOY, moves)
    assert [row["teacher"] for row in again["rows"][:3]] == [teachers.BEFORE, "pilot", "belief"]
    assert again["rows"][1:3] == data["rows"][:2]
    assert again["differences"] == data["differences"]


@pytest.mark.model
@pytest.mark.slow
def test_runs_go_on_where_they_were_stopped_and_are_never_written_over(data, folder, monkeypatch):
    shutil.rmtree(folder / "belief")
    with pytest.raises(ValueError, match="has runs: go on with --resume"):
        teachers.compared(TOY, folder)
    train, resumed = distill.train, []

    def watched(config, run, resume):
        resumed.append(resume)
        return train(config, run, resume)

    monkeypatch.setattr(distill, "train", watched)
    again = json.loads(json.dumps(teachers.compared(TOY, folder, resume=True)))
    assert resumed == [True, False]
    assert [again[name] for name in ("rows", "moves")] == [data[name] for name in ("rows", "moves")]
    assert again["students"][0] == data["students"][0]


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
