"""What roles say in games, on made-up rows."""

import pytest

from panels.training.roles import role_play
from sauda.experiments.role_play import SaidContrast, SaidRow, said_verdict


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
    buyer, seller = said_verdict(rows)
    assert buyer.startswith("As a buyer in 20 games, the specialist says 90% [80%, 100%]")
    assert "the generalist 80%" in buyer
    assert "the untrained base 0%" in buyer
    assert seller.startswith("As a seller in 20 games, the specialist says 40%")
    assert list(said_verdict(rows[:3])) == []


def test_the_table_marks_a_model_in_the_other_role(rows):
    shown = str(role_play.said_table(rows))
    assert shown.count("off role") == 2
    assert "0.90 [0.80, 1.00]" in shown
    assert "6 of 100" in shown
    assert "−0.200 [−0.300, −0.100]" in shown


def test_contrasts_name_both_models_in_words():
    row = SaidContrast(
        question="specialist", model="mini+roles-buyer", beside="mini+roles-generalist",
        seat="buyer", n=20, difference=interval(0.1),
    )  # fmt: skip
    shown = str(role_play.contrast_table([row]))
    assert "role model: buyer" in shown
    assert "role model: generalist" in shown
    assert "+0.10 [+0.00, +0.20]" in shown
