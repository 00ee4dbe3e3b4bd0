"""Losses of role runs, and two runs beside each other, paired by dialogue."""

import math

import pytest

from sauda.evaluation.language.roles import (
    NAMES,
    best_step,
    cause_sentences,
    comparison,
    contrast,
    loss_and_perplexity,
    recomputed_run,
)
from sauda.experiments.verify import differences
from sauda.records.schemas.roles import RoleContrast
from tests.support.roles import HOLDOUT, role_run

SHIFTS = {"control": 0.2, "cycle": 0.3, "rate": -0.1}  # nats a token, by the end of a name
RUNS = {name: role_run(name, SHIFTS.get(name.split("-")[-1], 0.0)).data for name in NAMES}


def test_a_perplexity_is_the_exponential_of_the_loss_over_all_tokens():
    figures = loss_and_perplexity([{"nats": 4.0, "tokens": 1}, {"nats": 2.0, "tokens": 5}])
    assert figures == {"loss": 1.0, "perplexity": math.e}


def test_the_best_checkpoint_is_the_first_with_the_lowest_loss_and_never_the_base():
    losses = {0: 1.0, 2: 3.0, 4: 2.0, 6: 2.0}
    assert best_step({"step": step, "loss": loss} for step, loss in losses.items()) == 4
    with pytest.raises(ValueError, match="no checkpoint has a validation loss"):
        best_step([{"step": 0, "loss": 1.0}])


def test_a_difference_is_paired_by_dialogue_and_weighs_dialogues_alike():
    row = contrast(RUNS, "schedule", "roles-buyer", "roles-buyer-control", "buyer")
    assert row["n"] == 3
    assert row["loss"] == pytest.approx(sum(loss for loss, _ in HOLDOUT.values()) / 3)
    assert row["difference"] == pytest.approx({"mean": -0.2, "low": -0.2, "high": -0.2})


def test_every_question_is_asked_of_both_roles():
    rows = comparison(RUNS)["contrasts"]
    asked = {(row["question"], row["run"], row["baseline"], row["role"]) for row in rows}
    assert len(asked) == len(rows) == 12
    assert ("off_role", "roles-seller", "roles-buyer", "buyer") in asked
    assert ("schedule", "roles-generalist", "roles-generalist-control", "seller") in asked
    assert ("cycles", "roles-generalist", "roles-generalist-one-cycle", "buyer") in asked
    assert ("layers", "roles-generalist", "roles-generalist-one-rate", "seller") in asked


def test_a_cause_is_told_with_its_sign_for_the_turns_of_both_roles():
    rows = [RoleContrast(**row) for row in comparison(RUNS)["contrasts"]]
    cycles, rates = cause_sentences(rows)
    assert cycles == (
        "Two cycles instead of one change the loss of the generalist by -0.300 [-0.300, -0.300] on"
        " the buyer's turns (lower) and -0.300 [-0.300, -0.300] on the seller's turns (lower)."
    )
    assert rates.count("+0.100 [+0.100, +0.100]") == rates.count("(higher)") == 2


def test_runs_on_other_dialogues_are_not_compared():
    rows = [row.as_json() for row in RUNS["roles-buyer"].holdout]
    shorter = RUNS | {"roles-buyer-control": role_run("roles-buyer", holdout=rows[1:]).data}
    with pytest.raises(ValueError, match="did not measure the same dialogues of the buyer"):
        comparison(shorter)


def test_a_changed_perplexity_or_best_step_does_not_verify(tmp_path):
    run = role_run("roles-buyer-control")
    assert recomputed_run(run, 1, tmp_path) == run.data.as_json()
    for changed in ({"best_step": 0}, {"num_tokens": 1}):
        wrong = role_run("roles-buyer-control", **changed)
        again = recomputed_run(wrong, 1, tmp_path)
        (fault,) = differences(wrong.data.as_json(), again, "data")
        assert next(iter(changed)) in fault
