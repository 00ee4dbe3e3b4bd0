"""Engines: processes of this machine, and a Ray cluster of two nodes, one of which is killed."""

import importlib.util
import os
import signal
import tempfile
import threading
import time
from collections import Counter

import pytest

from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.scale.pieces import engines
from sauda.scale.pieces.engines import EngineFault, engine
from sauda.scale.pieces.shards import Plan, merged, play
from tests.support.lanes import unavailable

CONFIG = EvaluationSpec(("bazaar/open",), ("linear", "wait"), episodes=12, baseline="linear")


def squared(number: int) -> int:
    if number == 13:
        raise ValueError("13 is not squared")
    return number**2


def dies(number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_an_engine_of_processes_yields_every_item_with_its_result():
    with engine("process", workers=1) as run:
        assert dict(run(squared, range(5))) == {n: n**2 for n in range(5)}
        with pytest.raises(ValueError, match="13 is not squared"):
            list(run(squared, [13, 1]))
        with pytest.raises(EngineFault, match="what was computed before is kept"):
            list(run(dies, [1, 2]))


@pytest.mark.parametrize(
    ("name", "workers", "fault"),
    [("dask", 1, "no engine 'dask'; engines are process, ray"), ("process", 0, "at least 1")],
)
def test_an_engine_that_there_is_not_is_refused_in_a_sentence(name, workers, fault):
    with pytest.raises(ValueError, match=fault), engine(name, workers):
        pass


@pytest.fixture
def cluster(monkeypatch):
    """A Ray cluster of two nodes with one CPU each, all of it on loopback."""
    if importlib.util.find_spec("ray") is None:
        unavailable("ray is not installed, so no evaluation was played on a cluster")
    # Ray then takes loopback for every address of this machine, so that nothing else reaches it.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False}
    head = node | {"no_monitor": True, "include_log_monitor": False}
    terminated = signal.getsignal(signal.SIGTERM)  # Ray sets a handler of its own
    with tempfile.TemporaryDirectory(prefix="ray") as folder:  # sockets have short paths
        monkeypatch.setenv("RAY_TMPDIR", folder)
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(**node)
        yield cluster
        cluster.shutdown()
    signal.signal(signal.SIGTERM, terminated)


@pytest.mark.nightly
def test_a_table_is_the_same_where_a_node_of_the_cluster_is_killed_in_the_middle(
    cluster, tmp_path, monkeypatch
):
    begun = tmp_path / "begun"
    begun.mkdir()
    (second,) = cluster.worker_nodes

    doomed = second.node_id

    def slowly(compute):
        def computed(piece):
            import ray

            node = ray.get_runtime_context().get_node_id()
            (begun / f"{piece.file} {node} {time.time_ns()}").touch()
            time.sleep(60 if node == doomed else 0.1)  # so that it is killed with a piece under way
            return compute(piece)

        return computed

    def refuses(number):
        raise ValueError(f"{number} is not squared")

    def nodes_of(file: str) -> list[str]:
        return [mark.name.split()[1] for mark in begun.glob(f"{file} *")]

    def kill_once_it_computes():
        while not any(doomed in mark.name for mark in begun.iterdir()):
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    with engine("ray", address=cluster.address) as run:
        killer = threading.Thread(target=kill_once_it_computes)
        killer.start()
        play(
            Plan(CONFIG, 4), tmp_path / "parts", lambda compute, items: run(slowly(compute), items)
        )
        killer.join()
        lost = [p.file for p in Plan(CONFIG, 4).pieces() if doomed in nodes_of(p.file)]
        assert lost
        assert all(len(nodes_of(file)) == 2 for file in lost)
        with pytest.raises(ValueError, match="13 is not squared"):
            list(run(refuses, [13]))
        monkeypatch.setattr(engines, "source_digest", lambda: "of other code")
        with pytest.raises(ValueError, match="has other code than the machine that asks it"):
            list(run(abs, [1]))
    assert Counter(path.suffix for path in (tmp_path / "parts").iterdir()) == {".json": 13}
    assert merged(tmp_path / "parts")[1] == evaluate(CONFIG, workers=1)
