"""Rollouts through OpenAI-style servers: many requests in flight, faults, resumed games."""

import json
from dataclasses import replace
from typing import ClassVar

import pytest

from env import get_task
from sauda import __main__ as command
from sauda.cloud import CloudFault
from sauda.cloud.rollouts import Rollouts, Servers, play_missing, summarize_games
from sauda.experiments.comparison import play_model
from sauda.llm.backends import RetryPolicy
from sauda.llm.turn import PlayerSpec
from sauda.llm.types import Reply, ReplyError
from tests.support.endpoint import openai, server

QUICK = RetryPolicy(attempt_timeout=5.0, total_timeout=6.0, attempts=2, first_pause=0.01)
TASK = "bazaar/open"


class Haggler:
    """Bids 50, then 75 percent of its limit, then accepts; sells at 150, 120, then accepts."""

    PRICES: ClassVar = {"buy": (50, 75), "sell": (150, 120)}

    def __call__(self, messages, seed, schema=None):
        seat = "sell" if "haggle to sell" in messages[0]["content"] else "buy"
        made = sum(message["role"] == "assistant" for message in messages)
        prices = self.PRICES[seat]
        move = {"offer": prices[made]} if made < len(prices) else {"accept": True}
        return Reply(json.dumps(move), "haggler", 5, "stop")

    def batch(self, chats, seeds, schemas):
        return [self(*request) for request in zip(chats, seeds, schemas, strict=True)]


def haggles(body: dict) -> dict:
    """What a server of the model Haggler answers."""
    return openai(Haggler()(body["messages"], body["seed"]).text)


def here(function, items):
    return ((item, function(item)) for item in items)


def wanted(*urls: str, **more) -> Rollouts:
    return Rollouts(TASK, servers=urls, model="m", episodes=8, batch=8, retry=QUICK, **more)


def test_games_through_two_servers_are_those_of_the_model_itself(tmp_path):
    with server(haggles) as (one, first), server(haggles) as (two, second):
        games = wanted(one, two, in_flight=4)
        play_missing(games, tmp_path, here)
        figures = summarize_games(games, tmp_path)
    own = play_model(get_task(TASK), PlayerSpec(Haggler()), games.seeds())
    assert {**figures["columns"], "tokens": own["tokens"]} == json.loads(json.dumps(own))
    assert figures["n"] == 8
    assert sum(figures["replies"].values()) == len(first) + len(second)
    assert min(len(first), len(second)) >= 8


def test_games_stop_where_no_server_answers_and_resume_where_they_were(tmp_path):
    def stops_after_one(function, items):
        yield items[0], function(items[0])
        raise KeyboardInterrupt

    with server(401) as (bad, _), pytest.raises(CloudFault, match=r"401.*before are kept"):
        play_missing(replace(wanted(bad), batch=4), tmp_path, here)
    with server(haggles) as (good, requests):
        games = replace(wanted(good), batch=4)
        with pytest.raises(KeyboardInterrupt):
            play_missing(games, tmp_path, stops_after_one)
        before = len(requests)
        assert play_missing(games, tmp_path, here) == 1
        assert len(requests) < 2 * before + 8
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
