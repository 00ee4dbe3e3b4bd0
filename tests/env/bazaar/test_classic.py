"""The published game: its seller's schedule, terms, graders and the figures without error.

A ZOPA of 70 rupees (budget 100, cost 30) stands behind nearly every number here.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from env import Deal, EndReason, begin, bonus, get_task, rollout, shares
from sauda.llm.registry import get_policy
from tests.support.cases import cases


def published(check: str):
    return pytest.mark.parametrize("row", cases("published_game.csv", check), ids=":".join)


def seller_of(name: str) -> Any:
    return begin(get_task(f"classic/{name}"), 0).state.private["seller"]["terms"]


def ended(name: str, *deals: tuple[float | None, int]) -> float:
    """The grade of an episode with these deals, each a price and the rounds it took."""
    played = get_task(f"classic/{name}")
    past = tuple(
        Deal(EndReason.WALKAWAY if price is None else EndReason.AGREEMENT, "buyer", price, n, 60)
        for price, n in deals
    )
    state = begin(played, 0).state
    return played.grade(replace(state, table=state.table._replace(past=past)))


@published("terms")
def test_a_personality_s_terms_are_the_published_ones(row: tuple[str, ...]):
    terms = seller_of(row[0])
    shown = (terms.anchor, terms.reserve, terms.rounds, terms.accept_at)
    assert (*shown, terms.walk_probability, terms.late) == pytest.approx(list(map(float, row[1:])))


@pytest.mark.parametrize(
    ("price", "grade"),
    [
        (65, 0.5),  # the middle of the ZOPA: no bonus
        (47.5, 0.75 + 0.075),  # halfway from there to the cost: half of 0.15
        (37, 1.0),  # 0.9 + 0.15 x 0.8 is more
        (30, 1.0),
        (72, 0.4),
    ],
)
def test_reading_the_tells_earns_up_to_0_15_below_the_middle_at_most_1(price: float, grade: float):
    assert ended("read_the_tells", *[(price, 1)] * 5) == pytest.approx(grade)


@published("figure")
def test_a_published_figure_without_error_comes_out_at_every_seed(row: tuple[str, ...]):
    name, buyer, share, grade = row
    played = get_task(f"classic/{name}")
    for seed in range(30):
        final = rollout(played, get_policy(played, buyer), seed).final
        assert round(float(np.mean(shares(final, "buyer"))), 4) == float(share)
        assert round(played.grade(final), 4) == float(grade)


def test_every_full_ten_rupees_above_the_reservation_price_earn_one():
    assert [bonus(p, 1000, 780) for p in (789, 790, 799.5, 800, 900)] == [0, 1, 1, 2, 12]
