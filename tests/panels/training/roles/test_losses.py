"""The part on roles, on small made-up runs that stand in for real ones."""

from dataclasses import replace

import pytest

from panels.training.roles import losses
from sauda.experiments.roles import NAMES, RoleContrast, compare, schedule_verdict
from sauda.records.schemas.base import Interval
from sauda.records.store import load
from tests.support.roles import role_run


@pytest.fixture(scope="module")
def runs():
    return {name: role_run(name, 0.2 if "control" in name else 0.0) for name in NAMES}


@pytest.fixture(scope="module")
def figures():
    return {figure.id: figure for figure in load("published.json").data.figures}


@pytest.fixture(scope="module")
def contrasts(runs):
    rows = compare({name: run.data for name, run in runs.items()})["contrasts"]
    return [RoleContrast.model_validate(row) for row in rows]


def test_both_losses_of_a_role_are_drawn_with_and_without_the_schedule(runs):
    drawn = {trace.name: trace for trace in losses.loss_figure(runs, "buyer").data}
    assert set(drawn) == {
        f"{kind}, {run}" for kind in ("training", "validation") for run in ("schedule", "control")
    }
    assert list(drawn["validation, control"].x) == [0, 2]
    assert list(drawn["validation, control"].y) == [4.0, 1.0]
    assert len(losses.rate_figure(runs, "buyer").data) == 4
    assert len(losses.loss_figure({"roles-buyer": runs["roles-buyer"]}, "buyer").data) == 2


def test_the_published_curves_are_those_of_the_role(figures):
    training, validation, average = losses.published_figure(figures, "generalist").data
    assert training.y[0] == average.y[0] == 7.9786
    assert validation.y[-1] == 4.0429
    assert not losses.published_figure({}, "buyer").data


def test_perplexity_stands_beside_its_loss_and_what_was_said_of_it(runs, figures):
    shown = str(losses.run_table(runs, figures))
    assert shown.count("<tr") == 1 + len(NAMES) + 3
    assert ">2.72<" in shown  # of the loss 1.000
    assert "57.4 (said: 3.6)" in shown
    assert "3.672 (said: 5.184)" in shown
    assert shown.count("sauda-published") == 3
    assert str(losses.run_table(runs, {})).count("<tr") == 1 + len(NAMES)


def test_the_verdict_counts_what_the_intervals_say(contrasts):
    assert schedule_verdict(contrasts) == (
        "Yes: with the schedule, the loss was lower in all 4 comparisons with a control."
    )
    shown = str(losses.contrast_table(contrasts))
    assert "−0.200 [−0.200, −0.200]" in shown
    assert shown.count("off role, compared with own role") == 2


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        (
            [(0.1, 0.2)] * 2,
            "No: with the schedule, the loss was higher in all 2 comparisons with a control.",
        ),
        (
            [(-0.2, -0.1), (0.1, 0.2)],
            "Partly: with the schedule, the loss was lower in 1 of 2 comparisons with a control and"
            " higher in 1 of 2 comparisons with a control.",
        ),
        (
            [(0.1, 0.2), (-0.1, 0.2)],
            "No: with the schedule, the loss was higher in 1 of 2 comparisons with a control; in 1"
            " of 2 comparisons with a control the interval holds 0.",
        ),
        (
            [(-0.1, 0.2)],
            "Not shown: in all 1 comparisons with a control the interval holds 0.",
        ),
    ],
)
def test_the_verdict_on_the_schedule_is_worded_in_every_case(contrasts, ends, told):
    row = next(row for row in contrasts if row.question == "schedule")
    rows = [
        row.model_copy(update={"difference": Interval(mean=(a + b) / 2, low=a, high=b)})
        for a, b in ends
    ]
    assert schedule_verdict(rows) == told


def test_a_reply_in_the_other_role_is_marked_and_escaped(runs):
    buyer = runs["roles-buyer"]
    shown = str(losses.reply_table(buyer.data.replies, "roles-buyer"))
    assert shown.count("seller, off role") == 1
    assert "buyer, off role" not in shown
    assert "&lt;b&gt;₹1,500" in shown
    line = losses.check_line({"roles-buyer": buyer})
    assert line.endswith("buyer 100% of 1, off role 0% of 1.")


def test_a_run_below_what_the_check_asks_is_marked_as_failed(runs):
    buyer = runs["roles-buyer"]
    check = buyer.data.acceptance.model_copy(update={"valid": 0.5, "passed": False})
    data = buyer.data.model_copy(update={"acceptance": check})
    line = losses.check_line({"roles-buyer": replace(buyer, data=data)})
    assert "80% are asked: buyer 50% of 1, failed, off role" in line


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("roles-buyer", "buyer"),
        ("roles-buyer-control", "buyer, control"),
        ("roles-generalist-one-cycle", "generalist, one cycle"),
    ],
)
def test_a_run_is_named_in_words(name, words):
    assert losses.plain(name) == words
