"""Work in pieces: shards of an evaluation, rollouts through servers, and what computes them.

Of a Ray cluster a node is killed.
"""

import importlib.util
import json
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest

from env import get_task
from sauda import __main__ as command
from sauda.cloud import CloudFault, pieces
from sauda.cloud.pieces import engine, play_pieces
from sauda.cloud.rollouts import Rollouts, Servers, play_missing, summarize_games
from sauda.cloud.shards import Plan, evaluate_on, merge
from sauda.experiments.comparison import play_model
from sauda.experiments.evaluate import EvaluationSpec, evaluate
from sauda.llm.backends import RetryPolicy
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Reply, ReplyError
from tests.support.endpoint import openai, server
from tests.support.models import Canned, own_moves
from tests.support.running import unavailable

BAZAAR = EvaluationSpec(
    ("classic/career_10", "bazaar/open"), ("rule_based", "linear"), episodes=13, split="holdout"
)
ARENA = EvaluationSpec(
    ("arena/single_trade",), ("autarky", "wait"), "train", episodes=5, baseline="autarky"
)


def here(function, items):
    """The engine of one process, the last item first."""
    return ((item, function(item)) for item in reversed(items))


def as_saved(data):
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("config", [BAZAAR, ARENA], ids=["bazaar", "arena"])
def test_the_merged_table_is_that_of_one_process_digit_for_digit(config, tmp_path):
    plan = Plan(config, shards=4)
    for shard in (3, 1, 4, 2):
        play_pieces(plan, plan.pieces([shard]), tmp_path, here)
    expected = as_saved(evaluate(config, workers=1))
    assert as_saved(merge(tmp_path)[1]) == expected
    assert as_saved(evaluate_on(here, config)) == expected


def test_a_stopped_shard_resumes_where_it_was_and_says_what_it_lacks(tmp_path):
    plan, computed = Plan(BAZAAR, shards=2), []

    def stops_after_four(function, items):
        for item in items[:4]:
            yield item, function(item)
        raise KeyboardInterrupt

    def noted(function, items):
        computed.extend(items)
        return here(function, items)

    with pytest.raises(KeyboardInterrupt):
        play_pieces(plan, plan.pieces(), tmp_path, stops_after_four)
    with pytest.raises(ValueError, match=r"lacks 8 of 12 pieces, of shards 1, 2; play them"):
        merge(tmp_path)
    assert play_pieces(plan, plan.pieces(), tmp_path, noted) == 8
    assert len(computed) == 8
    assert play_pieces(plan, plan.pieces(), tmp_path, noted) == 0
    assert len(merge(tmp_path)[1]["rows"]) == 4


def test_pieces_of_another_plan_or_of_other_code_and_damaged_ones_are_refused(tmp_path):
    plan, other = Plan(BAZAAR, 2), Plan(BAZAAR, 3)
    play_pieces(plan, plan.pieces(), tmp_path, here)
    with pytest.raises(ValueError, match="another plan, which differs in shards; choose another"):
        play_pieces(other, other.pieces(), tmp_path, here)
    piece = tmp_path / plan.pieces()[-1].file
    piece.write_text('{"end": ')
    with pytest.raises(ValueError, match=rf"{piece.name} is damaged"):
        merge(tmp_path)
    kept = json.loads((tmp_path / "plan.json").read_text())
    (tmp_path / "plan.json").write_text(json.dumps(kept | {"code": "0" * 64}))
    with pytest.raises(ValueError, match="differs in code"):
        merge(tmp_path)


def test_the_commands_play_two_shards_and_merge_their_table(tmp_path, capsys):
    folder = ["--folder", str(tmp_path / "parts")]
    what = ["--tasks", "bazaar/open", "--policies", "linear", "--episodes", "8", "--shards", "2"]
    assert command.main(["shards", "play", *what, *folder, "--workers", "1"]) == 0
    assert "played 4 pieces" in capsys.readouterr().out
    assert command.main(["shards", "merge", *folder, "--out", "gap.json"]) == 2
    assert "cannot hold an evaluation" in capsys.readouterr().err
    assert command.main(["shards", "merge", *folder]) == 0
    assert "bazaar/open" in capsys.readouterr().out
    assert (tmp_path / "parts" / "plan.json").exists()


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
        pytest.raises(CloudFault, match="what was computed before is kept"),
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
    plan = Plan(
        EvaluationSpec(("bazaar/open",), ("linear", "wait"), episodes=12, baseline="linear"), 4
    )
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
        parts = tmp_path / "parts"
        play_pieces(plan, plan.pieces(), parts, lambda compute, items: run(slowly(compute), items))
        killer.join()
        lost = [p.file for p in plan.pieces() if doomed in nodes_of(p.file)]
        assert lost
        assert all(len(nodes_of(file)) == 2 for file in lost)
    assert Counter(path.suffix for path in parts.iterdir()) == {".json": 13}
    assert merge(parts)[1] == evaluate(plan.config, workers=1)
    with (
        pytest.raises(ValueError, match=r"^13 is not squared$"),
        engine("ray", address=cluster.address) as run,
    ):
        list(run(refuses, [13]))
    monkeypatch.setattr(pieces, "source_digest", lambda: "of other code")
    with (
        pytest.raises(ValueError, match="has other code than the machine that asks it"),
        engine("ray", address=cluster.address) as run,
    ):
        list(run(abs, [1]))


# Rollouts through servers -------------------------------------------------------------------------

QUICK = RetryPolicy(attempt_timeout=5.0, total_timeout=6.0, attempts=2, first_pause=0.01)
TASK = "bazaar/open"


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
        play_missing(games, tmp_path, here)
        figures = summarize_games(games, tmp_path)
    own = play_model(get_task(TASK), PlayerSpec(Canned(haggle)), games.seeds())
    assert {**figures["columns"], "tokens": own["tokens"]} == json.loads(json.dumps(own))
    assert figures["n"] == 8
    assert sum(figures["replies"].values()) == len(first) + len(second)
    assert min(len(first), len(second)) >= 8


def test_games_stop_where_no_server_answers_and_go_on_with_one_that_does(tmp_path):
    with server(401) as (bad, _), pytest.raises(CloudFault, match=r"401.*before are kept"):
        play_missing(replace(wanted(bad), batch=4), tmp_path, here)
    with server(haggles) as (good, _):
        games = replace(wanted(good), batch=4)
        assert play_missing(games, tmp_path, here) == 2
    assert summarize_games(games, tmp_path)["n"] == 8
    with pytest.raises(ValueError, match="another plan, which differs in model"):
        play_missing(replace(games, model="other"), tmp_path, here)


class Named:
    """A backend that replies with its name, or raises."""

    def __init__(self, source: str, fails: bool = False) -> None:
        self.source, self.fails, self.asked = source, fails, 0

    def __call__(self, messages, seed, schema=None):
        self.asked += 1
        if self.fails:
            raise ReplyError(f"{self.source} is down")
        return Reply(self.source, self.source)


def test_a_server_that_failed_rests_and_is_asked_again_later():
    now = 0.0
    bad, good = Named("bad", fails=True), Named("good")
    servers = Servers([bad, good], clock=lambda: now)
    assert [servers((), 0).text for _ in range(3)] == ["good"] * 3
    assert bad.asked == 1
    bad.fails, now = False, 31.0
    assert servers((), 0).text == "bad"
    bad.fails = good.fails = True
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
