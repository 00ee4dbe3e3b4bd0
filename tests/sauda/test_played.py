"""Played games: chunks that are kept, engines that compute them, games through servers.

Of a Ray cluster a node is killed.
"""

import importlib.util
import json
import os
import signal
import tempfile
import threading
import time
from dataclasses import replace
from functools import partial

import pytest

from env import get_task
from sauda import __main__ as command
from sauda import pool
from sauda.cloud import CloudFault
from sauda.cloud.rollouts import Rollouts, Servers, play_rollouts
from sauda.experiments.evaluate import EvaluationSpec, cells_of, evaluate
from sauda.llm.backends import RetryPolicy
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import ReplyError
from sauda.played import Cell, Store, chunks_of, join, play_cell, play_chunks, play_model
from sauda.pool import WorkersLost, engine, here
from tests.support.endpoint import openai, server
from tests.support.models import Canned, own_moves
from tests.support.running import unavailable

BAZAAR = EvaluationSpec(
    ("classic/career_10", "bazaar/open-3"), ("rule_based", "linear"), episodes=13, split="holdout"
)
ARENA = EvaluationSpec(
    ("arena/single_trade",), ("autarky", "wait"), "train", episodes=5, baseline="autarky"
)


def backwards(function, items):
    """An engine that computes the last item first."""
    return here(function, items[::-1])


def as_saved(data):
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("config", [BAZAAR, ARENA], ids=["bazaar", "arena"])
def test_a_table_of_kept_chunks_is_that_of_one_process_digit_for_digit(config, tmp_path):
    store, chunks = Store(tmp_path), chunks_of(cells_of(config), 4)
    for shard in (3, 1, 0, 2):
        play_chunks(play_cell, chunks[shard::4], backwards, store)
    assert len([*tmp_path.iterdir()]) == len(chunks)
    expected = as_saved(evaluate(config, here))
    assert as_saved(evaluate(config, backwards, store)) == expected
    assert as_saved(evaluate(config, 2)) == expected


def test_a_stopped_run_loses_no_chunk_that_it_ended(tmp_path):
    store, chunks, computed = Store(tmp_path), chunks_of(cells_of(BAZAAR), 5), []

    def stops_after_four(function, items):
        yield from here(function, items[:4])
        raise KeyboardInterrupt

    def noted(function, items):
        computed.extend(items)
        return here(function, items)

    with pytest.raises(KeyboardInterrupt):
        play_chunks(play_cell, chunks, stops_after_four, store)
    assert play_chunks(play_cell, chunks, noted, store) == len(computed) == len(chunks) - 4
    assert play_chunks(play_cell, chunks, noted, store) == 0


def test_what_games_depend_on_names_their_file_and_a_damaged_one_is_refused(tmp_path, monkeypatch):
    cells = {Cell("bazaar/open-3", "linear"): range(3)}
    (chunk,) = chunks_of(cells)
    store = Store(tmp_path)
    others = [
        chunk._replace(cell=Cell("bazaar/open-3", "wait")),
        chunk._replace(cell=Cell("bazaar/mute-3", "linear")),
        chunk._replace(seeds=range(2)),
    ]
    files = {store.file(each) for each in (chunk, *others)}
    assert len(files) == 4
    monkeypatch.setattr("sauda.played.source_digest", lambda: "of other code")
    assert store.file(chunk) not in files
    play_chunks(play_cell, [chunk], here, store)
    store.file(chunk).write_text('{"end": ')
    with pytest.raises(ValueError, match=rf"{store.file(chunk).name} is damaged"):
        store.read(chunk)


def test_the_commands_play_two_shards_and_then_their_table(tmp_path, capsys):
    folder = ["--folder", str(tmp_path / "parts"), "--workers", "1"]
    what = ["evaluate", "--tasks", "bazaar/open-3", "--policies", "linear", "--episodes", "60"]
    for shard in ("2/2", "1/2"):
        assert command.main([*what, *folder, "--shard", shard]) == 0
        assert "played 2 of 2 chunks" in capsys.readouterr().out
    assert command.main([*what, *folder, "--shard", "1/2"]) == 0
    assert "played 0 of 2 chunks" in capsys.readouterr().out


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
    with (
        pytest.raises(WorkersLost, match="what was computed before is kept"),
        engine("process", workers=1) as run,
    ):
        list(run(dies, [1, 2]))


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
    config = EvaluationSpec(("bazaar/open-3",), ("linear", "wait"), episodes=12, baseline="linear")
    store, chunks = Store(tmp_path / "parts"), chunks_of(cells_of(config), 3)
    (second,) = cluster.worker_nodes
    doomed, begun = second.node_id, tmp_path / "begun"

    def slowly(compute):
        def computed(piece):
            import ray

            if ray.get_runtime_context().get_node_id() == doomed:
                begun.touch()
                time.sleep(60)  # so that it is killed with a piece under way
            time.sleep(0.1)
            return compute(piece)

        return computed

    def refuses(number):
        raise ValueError(f"{number} is not squared")

    def kill_once_it_computes():
        while not begun.exists():
            time.sleep(0.05)
        cluster.remove_node(second, allow_graceful=False)

    with engine("ray", address=cluster.address) as run:
        killer = threading.Thread(target=kill_once_it_computes)
        killer.start()
        play_chunks(play_cell, chunks, lambda play, items: run(slowly(play), items), store)
        killer.join(60)
    assert begun.exists()
    assert all(store.file(chunk).exists() for chunk in chunks)
    values = [store.read(chunk)["grade"] for chunk in chunks if chunk.cell.policy == "linear"]
    assert join(values) == evaluate(config, here)["episodes"]["bazaar/open-3"]["linear"]["grade"]
    with (
        pytest.raises(ValueError, match=r"^13 is not squared$"),
        engine("ray", address=cluster.address) as run,
    ):
        list(run(refuses, [13]))
    monkeypatch.setattr(pool, "source_digest", lambda: "of other code")
    with (
        pytest.raises(ValueError, match="has other code than the machine that asks it"),
        engine("ray", address=cluster.address) as run,
    ):
        list(run(abs, [1]))


# Rollouts through servers -------------------------------------------------------------------------

QUICK = RetryPolicy(attempt_timeout=5.0, total_timeout=6.0, attempts=2, first_pause=0.01)
TASK = "bazaar/open-3"


def haggle(messages, seed) -> str:
    """Bids 50, then 75 percent of its limit, then accepts; sells at 150, 120, then accepts."""
    prices = (150, 120) if "haggle to sell" in messages[0]["content"] else (50, 75)
    made = own_moves(messages)
    return json.dumps({"offer": prices[made]} if made < len(prices) else {"accept": True})


def haggles(body: dict) -> dict:
    """What a server of the model `haggle` answers."""
    return openai(haggle(body["messages"], body["seed"]))


def wanted(*urls: str, **more) -> Rollouts:
    return Rollouts(TASK, servers=urls, model="m", episodes=8, batch=8, retry=QUICK, **more)


def test_games_through_two_servers_are_those_of_the_model_itself(tmp_path):
    with server(haggles) as (one, first), server(haggles) as (two, second):
        games = wanted(one, two, in_flight=4)
        figures = play_rollouts(games, tmp_path, here)
    own = play_model(get_task(TASK), PlayerSpec(Canned(haggle)), games.seeds())
    assert {**figures["columns"], "tokens": own["tokens"]} == json.loads(json.dumps(own))
    assert figures["n"] == 8
    assert sum(figures["replies"].values()) == len(first) + len(second)
    assert min(len(first), len(second)) >= 8


def test_games_stop_where_no_server_answers_and_go_on_with_one_that_does(tmp_path):
    with server(401) as (bad, _), pytest.raises(CloudFault, match=r"401.*before are kept"):
        play_rollouts(replace(wanted(bad), batch=4), tmp_path, here)
    with server(haggles) as (good, seen):
        games = replace(wanted(good), batch=4)
        assert play_rollouts(games, tmp_path, here)["n"] == 8
        asked = len(seen)
        assert play_rollouts(games, tmp_path, here)["n"] == 8
        assert len(seen) == asked > 0
        play_rollouts(replace(games, model="other"), tmp_path, here)
        assert len(seen) > asked


def test_a_server_that_failed_rests_and_is_asked_again_later():
    now, down, asked = 0.0, {"bad"}, []

    def reply(name, messages, seed):
        asked.append(name)
        if name in down:
            raise ReplyError(f"{name} is down")
        return name

    backends = [Canned(partial(reply, name)) for name in ("bad", "good")]
    servers = Servers(backends, clock=lambda: now)
    assert [servers((), 0).text for _ in range(3)] == ["good"] * 3
    assert asked.count("bad") == 1
    now, down = 31.0, set()
    assert servers((), 0).text == "bad"
    down = {"bad", "good"}
    with pytest.raises(ReplyError, match="no server answered: bad is down; good is down"):
        servers((), 0)


def test_the_command_plays_prints_and_writes(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SAUDA_ENDPOINT_TOKEN", "not-to-be-seen")
    out = tmp_path / "out.json"
    arguments = ["--task", TASK, "--episodes", "4", "--workers", "1", "--out", str(out)]
    with server(haggles) as (url, _):
        folder = ["--folder", str(tmp_path / "parts"), "--server", url, "--model", "m"]
        assert command.main(["rollouts", *arguments, *folder]) == 0
    printed = capsys.readouterr().out
    assert "n 4  grade" in printed
    assert f"replies of m at {url}" in printed
    assert len(json.loads(out.read_text())["data"]["columns"]["grade"]) == 4
    kept = [path.read_text() for path in (tmp_path / "parts").iterdir()]
    assert not any("not-to-be-seen" in text for text in [printed, out.read_text(), *kept])
