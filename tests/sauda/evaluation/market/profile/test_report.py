"""The profile: its parts, its artifact, and any endpoint by one command."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sauda.__main__ as command_line
from env import Offer, get_task, rollout
from sauda.evaluation.market.profile import report
from sauda.evaluation.market.profile.endpoint import EndpointModel
from sauda.evaluation.market.profile.players import Player, named
from sauda.evaluation.market.profile.report import (
    PHASES,
    Bench,
    Config,
    compliance,
    phase,
    profile,
    profiles,
)
from sauda.evaluation.verification.verify import verify
from sauda.llm.backends import Endpoint
from sauda.llm.turn import PlayerSpec
from sauda.records.store import load, parsed, renew_checksums, save, write
from tests.support.endpoint import openai, server
from tests.support.models import Haggler

FILE = "profiles.json"
TINY = Config(("linear", "belief", "null"), games=5, cues=3, states=15)


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench.of(TINY)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with the profiles of two scripts and of a model that never makes a move."""
    root = tmp_path_factory.mktemp("artifacts")
    save(FILE, asdict(TINY), profiles(TINY, workers=1), root)
    return root


def test_a_profile_has_every_part(root):
    rows = {row.player: row for row in load(FILE, root).data.rows}
    assert list(rows) == list(TINY.players)
    assert all(sum(part.n for part in row.phases) == TINY.states for row in rows.values())
    assert rows["linear"].belief is None
    assert rows["belief"].belief.answered == rows["belief"].belief.n == TINY.states
    assert rows["null"].belief.answered == 0
    assert rows["null"].compliance.invalid == rows["null"].compliance.games == 5
    assert rows["linear"].compliance.clean.mean == 1
    assert rows["linear"].cues.gained.mean == 0  # it reads no signals


def test_the_judge_regrets_nothing_of_its_own_moves(root):
    rows = {row.player: row for row in load(FILE, root).data.rows}
    assert sum(part.part for part in rows["belief"].phases) == pytest.approx(0, abs=1e-6)
    assert sum(part.part for part in rows["linear"].phases) > 0


def test_a_belief_that_follows_the_game_beats_the_prior():
    config = Config(("belief",), games=2, cues=1, states=40)
    data = profiles(config, workers=1)
    assert data["rows"][0]["belief"]["score"]["mean"] < data["prior"]["score"]["mean"]


def test_every_position_has_one_phase(bench):
    pairs = zip(bench.judged.states, bench.judged.values, strict=True)
    found = [phase(state.obs, values) for state, values in pairs]
    assert set(found) <= set(PHASES)
    for name, state in zip(found, bench.judged.states, strict=True):
        assert name != "opening" or state.obs.round == 0
        assert name != "middle" or state.obs.rounds_left > 2


def test_a_broken_last_word_a_loss_and_a_forfeit_are_counted():
    def fickle(obs, rng):
        price = (0.5, 0.6, 1.2)[min(obs.round, 2)] * obs.reservation
        return Offer(obs.priced(price), "My last price." if obs.round == 0 else "")

    games = [rollout(get_task("bazaar/open"), fickle, seed) for seed in range(50_000, 50_020)]
    counted = compliance(games)
    assert counted["broken"] > counted["losses"] > 0
    assert counted["clean"]["mean"] < 0.5
    illegal = compliance([rollout(get_task("bazaar/open"), lambda o, r: Offer(-1), 50_000)])
    assert (illegal["moves"], illegal["invalid"], illegal["clean"]["mean"]) == (1, 1, 0)


def test_a_language_model_is_profiled_by_its_replies(bench):
    row = profile(Player("haggler", model=PlayerSpec(Haggler())), bench)
    parsed("profiles/1", {"task": "bazaar/open", "judge": "belief", "informed": row["grade"],
                          "prior": row["belief"], "rows": [row], "models": {}})  # fmt: skip
    assert row["belief"]["answered"] == 0
    assert row["compliance"]["moves"] > row["compliance"]["games"]
    assert np.isfinite(row["grade"]["mean"])


def test_a_name_that_cannot_buy_is_refused():
    with pytest.raises(ValueError, match="no policy 'firm' for the buyer of bazaar/open"):
        named("firm")


# The artifact


@pytest.fixture
def changed(root: Path, tmp_path: Path) -> Callable[..., list[str]]:
    """Verifies a copy with `change` made to its content and a new checksum."""

    def check(change: Callable[[Any], None]) -> list[str]:
        content = json.loads((root / FILE).read_text(encoding="utf-8"))
        change(content["data"])
        write(tmp_path / FILE, json.dumps(content))
        renew_checksums([FILE], tmp_path)
        return verify(FILE, workers=1, root=tmp_path)

    return check


@pytest.mark.slow
def test_new_profiles_are_verified_and_a_changed_one_is_found(root, changed):
    assert verify(FILE, workers=1, root=root) == []

    def change(data):
        data["rows"][0]["cues"]["candid"]["mean"] += 1e-6

    (place,) = changed(change)
    assert place.startswith("data.rows[0].cues.candid.mean: recorded")


# Endpoints


def chatting(body: dict) -> dict:
    """A server's answer: a bid, or a range where it is asked for one."""
    wants_range = "Name a range" in body["messages"][0]["content"]
    return openai('{"low":45,"high":75}' if wants_range else '{"offer":60}')


def test_an_endpoint_is_profiled_by_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sauda.commands.measurements.CACHE", tmp_path)
    out = tmp_path / "mine.json"
    with server(chatting) as (url, requests):
        call = ["profile", "--endpoint", url, "--model", "m", "--games", "2", "--states", "6",
                "--workers", "1", "--out", str(out)]  # fmt: skip
        assert command_line.main(call) == 0
        first = len(requests)
        assert command_line.main(call) == 0
        assert len(requests) == first + 1  # all replies are kept; only its health is asked again
    (row,) = json.loads(out.read_text())["data"]["rows"]
    assert (row["player"], row["n"], row["belief"]["answered"]) == ("m", 2, 6)
    assert row["compliance"]["invalid"] == 0
    assert "m  n 2  grade" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--endpoint", "http://127.0.0.1:9"], "an endpoint needs both --endpoint URL and --model"),
        (["firm"], "no policy 'firm' for the buyer"),
        (["linear", "--games", "1"], "at least 2 scenarios are needed, not 1"),
        (["linear", "--states", "-1"], "at least one position"),
        (["--out", "mine.json"], "--out is for the profiles of named players"),
    ],
)
def test_a_call_that_cannot_work_says_why(arguments, fault, capsys):
    assert command_line.main(["profile", *arguments]) == 2
    assert fault in capsys.readouterr().err


def test_an_endpoint_that_does_not_answer_is_named(capsys):
    with server(401) as (url, _):
        assert command_line.main(["profile", "--endpoint", url, "--model", "m"]) == 2
    assert "the endpoint cannot play: m at" in capsys.readouterr().err


def test_an_endpoint_that_fails_on_the_way_loses_no_reply(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sauda.commands.measurements.CACHE", tmp_path)
    answers = [openai("OK"), chatting, chatting, 401]
    call = ["--model", "m", "--games", "2", "--states", "2", "--workers", "1"]
    with server(*answers) as (url, _):
        assert command_line.main(["profile", "--endpoint", url, *call]) == 2
    assert "run this again to resume" in capsys.readouterr().err
    assert len(list((tmp_path / "profiles").iterdir())) == 2


def test_replies_of_other_seeds_are_other_replies(tmp_path):
    answers = iter(('{"offer":10}', '{"offer":20}'))
    with server(lambda body: openai(next(answers))) as (url, requests):
        model = EndpointModel(Endpoint(url, "m"), tmp_path)
        chat = [{"role": "user", "content": "450?"}]
        texts = [model(chat, seed).text for seed in (1, 2, 1)]
    assert texts == ['{"offer":10}', '{"offer":20}', '{"offer":10}']
    assert len(requests) == 2


def test_a_recorded_row_is_kept_while_its_model_is_the_same(monkeypatch):
    now = {"mini": {"sha256": "as recorded", "cpu": "avx2 amx_bf16"}}
    monkeypatch.setattr(report, "model_sources", lambda names, game: dict(now))
    config = Config(("linear", "mini"), games=3, cues=2, states=4)
    row = {"player": "mini", "grade": "as recorded"}
    same = {"models": {"mini": {"sha256": "as recorded", "cpu": "avx2"}}, "rows": [row]}
    kept = profiles(config, 1, recorded=same)
    assert kept["rows"][1] == row
    assert kept["models"] == same["models"]  # the CPU that the games were played on

    def played(player, bench):
        return {"player": player.name, "grade": "as played"}

    monkeypatch.setattr(report, "kept_profile", played)
    other = {"models": {"mini": {"sha256": "of other weights", "cpu": "avx2"}}, "rows": [row]}
    assert profiles(config, 1, recorded=other)["rows"][1]["grade"] == "as played"


def test_rows_are_kept_only_of_profiles_of_the_same_size(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sauda.commands.measurements.load", lambda file: load(file, tmp_path))
    save(FILE, asdict(TINY), profiles(Config(("linear",), 5, 3, 15), workers=1), tmp_path)
    assert command_line.main(["profile", "--keep"]) == 2
    assert "the recorded profiles are of another size" in capsys.readouterr().err


def test_the_default_profiles_are_those_of_all_buyers():
    assert set(report.Config().players) >= {"pilot", "belief", "linear", "expert"}
