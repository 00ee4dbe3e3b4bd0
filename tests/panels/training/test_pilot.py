"""The pilot's section of Training shows the log and the last weights, and nothing else."""

import pytest

from panels.training import pilot
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def run() -> Artifact:
    return load("training/pilot.json")


def test_a_figure_has_every_round_and_every_checkpoint_of_its_task(run):
    evaluated = [row for row in run.data.log if row.evaluations]
    for task in pilot.tasks_of(run):
        rounds, steady, shaken = pilot.grade_figure(run, task).data
        assert list(rounds.y) == [row.reward[task] for row in run.data.log]
        assert rounds.x[-1] == pytest.approx(sum(row.seconds for row in run.data.log) / 60)
        for trace, error in ((steady, 0.0), (shaken, 3.0)):
            cells = [c for r in evaluated for c in r.evaluations if c.task == task]
            assert list(trace.y) == [c.mean for c in cells if c.error == error]


def test_its_hold_out_games_can_be_played_again_on_every_task_that_it_learnt(run):
    own = pilot.own_rows(load(pilot.HOLDOUT))
    assert {cell.policy for _, cell in own.values()} == {pilot.PILOT}
    assert set(pilot.tasks_of(run)) <= {cell.task for _, cell in own.values()}


def test_the_sentence_holds_the_last_grades(run):
    for row in run.data.final:
        assert f"{row.mean:.3f}" in pilot.outcome(run, row.task)
