"""The search for the tuned rule: it repeats, it improves, and `verify` does it over."""

from dataclasses import asdict

from sauda.records.store import ROOT, measured
from sauda.train.pilot.tuned import Config, recomputed, search

TINY = Config(population=12, elite=3, generations=4, games=40)


def test_the_search_finds_better_numbers_and_the_same_ones_again():
    found, again = search(TINY), search(TINY)
    assert {**found, "seconds": 0} == {**again, "seconds": 0}
    assert found["log"][-1]["elite"] > found["log"][0]["mean"]
    assert search(Config(**{**vars(TINY), "seed": 1}))["price"] != found["price"]


def test_verify_searches_again_with_the_recorded_settings():
    found = search(TINY)
    artifact = measured("training/tuned.json", asdict(TINY), found)
    assert recomputed(artifact, 1, ROOT) == found
