"""Losses of role runs, and two runs beside each other, paired by dialogue."""

import math

import pytest

from sauda.experiments.runs import (
    NAMES,
    ROLES_FILE,
    best_step,
    cause_sentences,
    compare,
    loss_and_perplexity,
    recompute_role,
    schedule_verdict,
)
from sauda.experiments.verify import differences, verify
from sauda.records.schemas.base import Row
from tests.support.roles import role_run

SHIFTS = {"control": 0.2, "cycle": 0.3, "rate": -0.1}  # nats per token, by the end of a name
RUNS = {name: role_run(name, SHIFTS.get(name.split("-")[-1], 0.0)).data for name in NAMES}


def test_the_best_checkpoint_is_the_first_with_the_lowest_loss_and_never_the_base():
    figures = loss_and_perplexity([{"nats": 4.0, "tokens": 1}, {"nats": 2.0, "tokens": 5}])
    assert figures == {"loss": 1.0, "perplexity": math.e}
    losses = {0: 1.0, 2: 3.0, 4: 2.0, 6: 2.0}
    assert best_step({"step": step, "loss": loss} for step, loss in losses.items()) == 4
    with pytest.raises(ValueError, match="no checkpoint has a validation loss"):
        best_step([{"step": 0, "loss": 1.0}])


def test_differences_are_paired_by_dialogue_and_told_with_their_sign():
    rows = [Row(**row) for row in compare(RUNS)["contrasts"]]
    assert (rows[0].n, rows[0].tokens) == (3, 40)
    assert rows[0].difference.as_json() == pytest.approx({"mean": -0.2, "low": -0.2, "high": -0.2})
    cycles, rates = cause_sentences(rows)
    assert cycles.count("-0.300 [-0.300, -0.300]") == cycles.count("(lower)") == 2
    assert rates.count("+0.100 [+0.100, +0.100]") == rates.count("(higher)") == 2
    assert schedule_verdict(rows).startswith("Yes: ")
    assert verify(ROLES_FILE) == []


@pytest.mark.parametrize("changed", [{}, {"best_step": 0}, {"num_tokens": 1}])
def test_a_changed_best_step_or_count_of_tokens_does_not_verify(changed, tmp_path):
    run = role_run("roles-buyer-control", **changed)
    faults = list(differences(run.data.as_json(), recompute_role(run, 1, tmp_path), "data"))
    assert [fault.partition(":")[0] for fault in faults] == [f"data.{name}" for name in changed]
