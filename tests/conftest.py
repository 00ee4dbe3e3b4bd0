"""What several tests share: a small evaluation, made by the real command's function."""

from dataclasses import asdict

import pytest

from sauda.evaluation.evaluate import Config, evaluate
from sauda.games.arena.opponents import DRAWN
from sauda.records.store import Artifact, measured


@pytest.fixture(scope="session")
def evaluation() -> Artifact:
    """Three policies on two tasks, eight training seeds."""
    config = Config(
        ("classic/single_deal", "classic/career_10"), ("rule_based", "naive", "wait"), episodes=8
    )
    data = evaluate(config, workers=1)
    return measured("evaluation/classic-train.json", asdict(config), data)


@pytest.fixture(scope="session")
def arena_evaluation() -> Artifact:
    """Four policies on two arena tasks, six hold-out seeds, labs as drawn and all selfish."""
    config = Config(
        ("arena/single_trade", "arena/coalition_market"),
        ("planner", "rule_based_expert", "greedy_hoarder", "wait"),
        split="holdout",
        episodes=6,
        baseline="rule_based_expert",
    )
    others = (DRAWN, "selfish")
    data = evaluate(config, others, workers=1)
    asked = {**asdict(config), "others": others}
    return measured("evaluation/arena-holdout.json", asked, data)
