"""The selector is a REINFORCE run: its curve follows from its choices and comes out again."""

from dataclasses import asdict

import numpy as np
import pytest

from sauda.experiments.verify import verify
from sauda.records.store import save
from sauda.train.selector import SelectorSettings, select, softmax, update

SMALL = SelectorSettings(
    tasks=("arena/single_trade", "arena/market_round"), episodes=30, evaluated=6
)


@pytest.fixture(scope="module")
def data() -> dict:
    return select(SMALL)


def test_the_step_is_the_gradient_of_the_log_probability_at_temperature_one():
    start, change = np.array([0.3, -0.2, 0.1]), 1e-6
    chances = softmax(start, 1.0)
    bumped = [softmax(start + change * np.eye(3)[i], 1.0)[1] for i in range(3)]
    slopes = (np.log(bumped) - np.log(chances[1])) / change
    np.testing.assert_allclose(update(start, chances, 1, 1.0) - start, slopes, atol=1e-5)


def test_the_selector_learns_which_arm_pays(data):
    start, last = data["curve"][0]["before"], data["final"]
    assert start == [0.2] * 5
    for row in last:
        means = {arm: interval["mean"] for arm, interval in row["arms"].items()}
        chances = np.array(row["probabilities"])
        learned = float(chances @ list(means.values()))
        assert learned > np.mean(list(means.values()))
        assert row["policy"] == SMALL.arms[int(np.argmax(chances))]


@pytest.mark.slow
def test_the_artifact_is_of_its_kind_and_all_but_a_changed_number_comes_out_again(data, tmp_path):
    data["curve"][3]["after"][1] += 1e-6
    save("training/selector.json", asdict(SMALL), data, tmp_path)
    (place,) = verify("training/selector.json", root=tmp_path)
    assert place.startswith("data.curve[3].after[1]: recorded")
