"""The chart of a deal's offers."""

import re

import pytest

from env import get_task, rollout
from panels.ui import offers
from panels.ui.offers import Offers, nice_ticks, offer_chart, offers_of
from sauda.llm.registry import get_policy


@pytest.fixture(scope="module")
def naive():
    """naive on single_deal: 60, 48, 54, 51, accepted at 51 in round 2."""
    task = get_task("classic/single_deal")
    return rollout(task, get_policy(task, "naive"), 0)


def test_a_charts_sentence_tells_the_whole_deal(naive):
    sentence = offers.summary(offers_of(naive))
    assert sentence == (
        "Offers over 8 rounds: asks from ₹60 to ₹54, bids from ₹48 to ₹51; "
        "closed at ₹51 in round 2."
    )


def test_a_chart_of_a_running_deal_holds_no_limit():
    running = str(offer_chart(Offers((60.0, 54.0), (48.0,), 8)))
    assert "limit" not in running
    assert "still open" in running


def test_the_limits_of_a_narrow_zopa_have_labels_apart_the_higher_above():
    drawn = str(offer_chart(Offers((100.0,), (), 8, None, (52, 56))))
    seats = dict(re.findall(r'class="limit" x="\d+" y="([\d.]+)">(\w+)', drawn))
    (upper, buyer), (lower, seller) = sorted((float(y), who) for y, who in seats.items())
    assert (buyer, seller) == ("buyer", "seller")
    assert lower - upper == pytest.approx(offers.LINE, abs=0.1)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(0, 100, [0, 50, 100]), (0, 60, [0, 20, 40, 60]), (0, 8, [0, 2, 4, 6, 8])],
)
def test_ticks_are_round_and_cover_the_prices(low, high, ticks):
    assert nice_ticks(low, high) == ticks
