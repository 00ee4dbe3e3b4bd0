"""The part on teachers, on made-up students that stand in for trained ones."""

import pytest

from panels.training.teachers import student_table, verdict
from sauda.records.schemas.training import Teachers
from tests.support.roles import role_run


def students(gap: tuple[float, float, float]) -> Teachers:
    """Two students and the adapter before training, with the same gap by both judges."""
    run = role_run("roles-buyer").data.as_json()
    interval = dict(zip(("mean", "low", "high"), gap, strict=True))
    figures = {
        "n": 400, "regret": {"mean": 0.03, "low": 0.02, "high": 0.04}, "mistakes": 0.25,
        "parts": {"overbid": 0.01, "underbid": 0.01, "missed_walk": 0.01, "other": 0.0},
        "price_error": 9.0, "prices": 100, "no_move": 0,
    }  # fmt: skip
    return Teachers.model_validate(
        {
            "base": run["base"],
            "hardware": run["hardware"],
            "students": [
                {"teacher": name, "num_tokens": 200_000, "states": 9, "seconds": 1.0, "log": "0"}
                for name in ("pilot", "belief")
            ],
            "rows": [
                {"teacher": name, "judge": judge} | figures
                for judge in ("pilot", "belief")
                for name in ("none", "pilot", "belief")
            ],
            "differences": [
                {"judge": judge, "teacher": "pilot", "other": "belief", "n": 400,
                 "difference": interval}
                for judge in ("pilot", "belief")
            ],
            "moves": {"none": [], "pilot": [], "belief": []},
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gap", "found"),
    [
        ((-0.01, -0.02, -0.005), "the student of the pilot gives away less"),
        ((0.01, 0.005, 0.02), "the student of the belief buyer gives away less"),
        ((0.01, -0.005, 0.02), "no clear difference"),
    ],
)
def test_the_verdict_follows_the_intervals_of_both_judges(gap, found):
    said = verdict(students(gap))
    assert said.count(found) == 2
    assert "By the values of the belief buyer:" in said


def test_the_table_has_a_row_a_student_and_one_before_training():
    shown = str(student_table(students((0.0, 0.0, 0.0))))
    assert shown.count("<tr") == 4
    assert shown.count("before training") == 1
    assert shown.count("25%") == 6
    assert "200,000" in shown
