"""The choice of the temperature: on training seeds only, and what is served is what was chosen."""

import numpy as np
import pytest

from panels.results.questions.decoding import decoding_sentence, decoding_table
from sauda.evaluation.models.config import OURS
from sauda.evaluation.models.decoding import Config, decoding, summarised
from sauda.llm.backends.decoding import DEFAULT_SAMPLING
from sauda.records.splits import SPLITS
from sauda.records.store import load, parsed


def test_rows_are_means_and_paired_differences_from_the_first_temperature():
    config = Config(temperatures=(0.0, 0.7), episodes=4)
    grades = {"bazaar/open": {"0.0": [0.5, 0.3, 0.0, 0.2], "0.7": [0.4, 0.2, 0.0, 0.2]}}
    first, second = summarised(config, grades)["rows"]
    assert first["grade"]["mean"] == pytest.approx(0.25)
    assert first["difference"] is None
    assert second["difference"]["mean"] == pytest.approx(-0.05)
    assert second["difference"]["low"] <= -0.05 <= second["difference"]["high"] <= 0


def test_only_training_seeds_and_bare_models_are_played():
    assert set(Config().seeds) <= set(SPLITS["train"])
    with pytest.raises(ValueError, match="leave the training split"):
        _ = Config(first_seed=SPLITS["train"][-1]).seeds
    with pytest.raises(ValueError, match="a bare model is decoded"):
        decoding(Config(policy=f"{OURS}+honest"))


def test_the_page_serves_the_temperature_that_was_chosen():
    report = load("evaluation/decoding.json")
    parsed("decoding/1", report.data.as_json())
    assert report.config["policy"] == OURS
    assert report.config["temperatures"][0] == DEFAULT_SAMPLING.temperature
    means = [row.grade.mean for row in report.data.rows]
    assert means[0] > np.max(means) - 0.02  # no other is clearly better
    assert f"{report.config['episodes']} training games" in decoding_sentence(report)
    assert all(f"{mean:.3f}" in decoding_table(report) for mean in means)
