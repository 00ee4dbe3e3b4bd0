"""What several tests share: a small evaluation, made by the real command's function."""

from dataclasses import asdict

import pytest

from sauda.artifact import Artifact, provenance
from sauda.evaluate import Config, evaluate


@pytest.fixture(scope="session")
def evaluation() -> Artifact:
    """Three policies on two tasks, eight training seeds."""
    config = Config(
        ("classic/single_deal", "classic/career_10"), ("rule_based", "naive", "wait"), episodes=8
    )
    data = evaluate(config, workers=1)
    file = "evaluation/classic-train.json"
    return Artifact(file, "evaluation/1", "measured", provenance(), asdict(config), data)
