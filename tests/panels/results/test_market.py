"""What Results shows of the open market: its optimum, its sellers' manner and memory."""

import numpy as np
import pytest

from panels.results.market import oracle as oracle_panel
from panels.results.market import sellers as sellers_panel
from sauda.records.store import Artifact, load


@pytest.fixture(scope="module")
def oracle() -> Artifact:
    return load("oracle.json")


@pytest.fixture(scope="module")
def market() -> Artifact:
    return load("market.json")


def test_the_figure_of_yields_shows_the_best_response_ahead_of_every_script(oracle):
    for row in oracle.data.rows:
        figure = oracle_panel.yield_figure(oracle, row.task)
        best, *others = (np.array(trace.x) for trace in figure.data)
        assert list(figure.data[0].y) == [kind.type for kind in row.types]
        assert all((best >= other).all() for other in others)
        assert row.types[0].type in str(oracle_panel.yield_table(oracle, row.task))
        assert "nan" not in oracle_panel.yield_sentence(oracle, row.task)


def test_the_types_of_a_task_are_all_its_episodes(oracle):
    for row in oracle.data.rows:
        assert sum(kind.n for kind in row.types) == row.n
        mean = sum(kind.n * kind.informed.mean for kind in row.types) / row.n
        assert mean == pytest.approx(row.informed.mean, abs=1e-5)


def test_a_figure_of_manner_has_a_bar_for_each_signal_with_a_cause(market):
    for row in market.data.manner:
        (bar,) = sellers_panel.manner_figure(market, row.task).data
        assert len(bar.x) == 10
        assert min(bar.x) > 0
        assert "eye contact" in str(sellers_panel.manner_table(market, row.task))
