"""The tournament: figures and ranks that can be checked by hand, and an artifact that replays."""

import json
from typing import Any

import numpy as np
import pytest

from sauda.experiments.pairs import Payoffs, Scenarios
from sauda.experiments.tournament import FILE, exploitability
from sauda.experiments.verify import verify
from sauda.records.store import ROOT, renew_checksums, write

# Three scenarios with the limits 100 and 60, one without a ZOPA.
AT = Scenarios(
    seeds=(1, 2, 3, 4),
    list_price=np.array([120.0, 120, 120, 120]),
    buyer=np.array([100.0, 100, 100, 50]),
    seller=np.array([60.0, 60, 60, 60]),
    discount=np.array([0.9, 0.9, 0.9, 0.9]),
)
GAMES = {"end": "AABA", "price": [70, 110, None, 80], "rounds": [3, 1, 2, 1]}


def test_shares_sum_to_one_with_a_zopa_and_time_costs_the_buyer_its_gain_and_not_its_loss():
    won = Payoffs.of(GAMES, AT)
    np.testing.assert_allclose(won.share["buyer"], [0.75, -0.25, 0, -30 / 120])
    np.testing.assert_allclose(won.share["seller"], [0.25, 1.25, 0, 20 / 120])
    np.testing.assert_allclose(won.utility["buyer"], [0.75 * 0.81, -0.25, 0, -0.25])
    np.testing.assert_allclose(won.utility["seller"], won.share["seller"])


def test_the_exploiter_is_chosen_on_other_scenarios_than_it_is_measured_on():
    # One player, two opponents: the first takes all in even scenarios and nothing in odd ones.
    theirs = np.array([[[1.0, 0.0] * 4, [0.6, 0.6] * 4]])
    (row,) = exploitability("seller", ["s"], ["lucky", "steady"], theirs)
    assert (row["by"], row["n"]) == ("lucky", 4)
    means = [row[name]["mean"] for name in ("taken", "usual", "more")]
    assert means == pytest.approx([0, 0.3, -0.3])


# The artifact ------------------------------------------------------------------------------------


def pay_more(data: Any) -> None:
    prices = data["games"]["linear"]["linear"]["price"]
    place = next(i for i, price in enumerate(prices) if price is not None)
    prices[place] += 1


def raise_a_rank(data: Any) -> None:
    data["ranks"][-1]["rank"] -= 1


@pytest.mark.parametrize(
    ("change", "place"),
    [(None, ""), (pay_more, "data.games.linear.linear.price"), (raise_a_rank, "data.ranks[")],
)
def test_the_artifact_is_replayed_and_a_change_is_found_by_its_place(tmp_path, change, place):
    content = json.loads((ROOT / FILE).read_text(encoding="utf-8"))
    if change:
        change(content["data"])
    write(tmp_path / FILE, json.dumps(content))
    renew_checksums([FILE], tmp_path)
    faults = verify(FILE, root=tmp_path)
    assert bool(faults) is bool(change)
    assert all(fault.startswith(place) for fault in faults)
