"""Our classic family against the published game: rounds, figures, and where it differs."""

from dataclasses import replace

import numpy as np
import pytest

from env import Offer, get_task, rollout
from sauda.experiments.reproduction import CROWD, comparison, hold, without_rivals
from sauda.experiments.speeds import published_rows
from sauda.records.store import load

PUBLISHED = load("published.json")
EVERY_ROUND = published_rows(PUBLISHED, "reference-every-round")


def alone(name: str):
    game = get_task(f"classic/{name}")
    return without_rivals(game) if name == CROWD else game


@pytest.mark.parametrize("row", [r for r in EVERY_ROUND if r["policy"] == "hold"])
def test_a_buyer_that_holds_plays_as_many_rounds_as_in_the_published_game(row):
    game = alone(row["task"])
    deals = [d for seed in range(12) for d in rollout(game, hold, seed).final.table.past]
    assert max(deal.rounds for deal in deals) == row["longest"]


def test_a_figure_that_is_off_is_seen():
    cell = {"end": "A" * 100, "share": [0.5, 0.7] * 50, "rounds": [3] * 100}
    reference = {"task": "t", "policy": "p", "episodes": 100, "surplus": 0.6, "surplus_se": 0.01}
    assert comparison(cell, reference, "surplus")["z"] == 0
    far = comparison(cell, reference | {"surplus": 0.7}, "surplus")
    assert abs(far["z"]) > 3
    assert comparison(cell, reference | {"longest": 3}, "longest")["equal"]
    assert not comparison(cell, reference | {"longest": 2}, "longest")["equal"]


@pytest.mark.parametrize("name", ["single_deal", CROWD])
def test_a_price_of_numpys_is_played_like_pythons(name):
    def python(obs, rng):
        return Offer(round(0.4137 * obs.opening_ask + obs.round * 1.13, 2))

    def numpys(obs, rng):
        return replace(python(obs, rng), price=np.float64(python(obs, rng).price))

    game = get_task(f"classic/{name}")
    for seed in range(5):
        one, other = (rollout(game, policy, seed).final.table for policy in (python, numpys))
        assert one == other
        assert all(type(bid) is float for bid in other.bids)
