"""The part on roles, on small made-up runs that stand in for real ones."""

import pytest

from panels.training import roles
from sauda.experiments.role_play import FILE, SaidRow, contrasts_of, price_verdict
from sauda.experiments.roles import NAMES
from sauda.records.store import load
from tests.support.roles import role_run


@pytest.fixture(scope="module")
def runs():
    return {name: role_run(name, 0.2 if "control" in name else 0.0) for name in NAMES}


def test_both_losses_of_a_role_are_drawn_with_and_without_the_schedule(runs):
    drawn = {trace.name: trace for trace in roles.loss_figure(runs, "buyer").data}
    assert set(drawn) == {
        f"{kind}, {run}" for kind in ("training", "validation") for run in ("schedule", "control")
    }
    assert list(drawn["validation, control"].x) == [0, 2]
    assert list(drawn["validation, control"].y) == [4.0, 1.0]
    assert len(roles.rate_figure(runs, "buyer").data) == 4
    assert len(roles.loss_figure({"roles-buyer": runs["roles-buyer"]}, "buyer").data) == 2


def test_a_reply_in_the_other_role_is_marked_and_escaped(runs):
    buyer = runs["roles-buyer"]
    shown = str(roles.reply_table(buyer.data.replies, "roles-buyer"))
    assert shown.count("seller, off role") == 1
    assert "buyer, off role" not in shown
    assert "&lt;b&gt;₹1,500" in shown
    line = roles.check_line({"roles-buyer": buyer})
    assert line.endswith("buyer 100% of 1, off role 0% of 1.")


def interval(mean):
    return {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}


@pytest.fixture
def rows():
    said = {"mini": 0.0, "mini+roles-buyer": 0.9, "mini+roles-seller": 0.4,
            "mini+roles-generalist": 0.8}  # fmt: skip
    return [
        SaidRow(
            model=model, seat=seat, off_role=f"mini+roles-{other}" == model, n=20, offers=100,
            said=interval(share), wrong=6, unsaid=2, share=interval(0.1),
            script_share=interval(0.3), difference=interval(-0.2), losses=1,
        )
        for seat, other in (("buyer", "seller"), ("seller", "buyer"))
        for model, share in said.items()
    ]  # fmt: skip


def test_a_sentence_a_seat_compares_specialist_generalist_and_base(rows):
    buyer, seller = price_verdict(rows)
    assert buyer.startswith("As a buyer in 20 games, the specialist says 90% [80%, 100%]")
    assert "the generalist 80%" in buyer
    assert "the untrained base 0%" in buyer
    assert seller.startswith("As a seller in 20 games, the specialist says 40%")
    assert list(price_verdict(rows[:3])) == []


def test_the_table_marks_a_model_in_the_other_role(rows):
    shown = str(roles.said_table(rows))
    assert shown.count("off role") == 2
    assert "0.90 [0.80, 1.00]" in shown
    assert "−0.200 [−0.300, −0.100]" in shown


def test_every_contrast_of_shares_stands_below_what_they_say_together():
    rows = contrasts_of(load(FILE).data)
    told = roles.shares_told(rows)
    assert "Does training for a role win more?" in told
    assert told.count("<tr>") == len(rows) + 1
    assert roles.shares_told([]) == ""
