"""Profiles: signals, beliefs, faults, the artifact, and any endpoint by one command."""

import json
from pathlib import Path

import numpy as np
import pytest
from sauda.policies.belief import claim_in

import sauda.__main__ as command_line
from env import CLAIMS, Offer, Tells, claim_at, get_task, rollout
from sauda.experiments import profiles
from sauda.experiments.profiles import (
    CANDID,
    FILE,
    LEVELS,
    MISLEADING,
    MODES,
    NEUTRAL,
    PHASES,
    EndpointModel,
    Player,
    Range,
    Trials,
    ask_for_range,
    ask_ranges,
    compliance,
    find_player,
    phase,
    prior,
    profile,
    read_range,
    score_ranges,
    with_signals,
)
from sauda.experiments.verify import verify
from sauda.games import BAZAAR
from sauda.games.adapter import Reply
from sauda.llm.backends import Endpoint
from sauda.llm.registry import PlayerSpec
from sauda.policies import BUYERS
from sauda.records.seeds import SPLITS
from sauda.records.store import load, renew_checksums, save, validate, write
from tests.support.endpoint import openai, server
from tests.support.models import Haggler

TASK = "bazaar/open"
SIZE = {"games": 5, "cues": 3, "states": 15}
TINY = {"players": ("linear", "belief", "null"), **SIZE}


@pytest.fixture(scope="module")
def trials() -> Trials:
    return Trials.of(**SIZE)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with the profiles of two scripts and of a model that never makes a move."""
    root = tmp_path_factory.mktemp("artifacts")
    save(FILE, TINY, profiles.profiles(**TINY, workers=1), root)
    return root


def test_a_profile_has_every_part(root):
    rows = {row.player: row for row in load(FILE, root).data.rows}
    assert list(rows) == list(TINY["players"])
    assert all(sum(part.n for part in row.phases) == SIZE["states"] for row in rows.values())
    assert rows["linear"].belief is None
    assert rows["belief"].belief.answered == rows["belief"].belief.n == SIZE["states"]
    assert rows["null"].belief.answered == 0
    assert rows["null"].compliance.invalid == rows["null"].compliance.games == 5
    assert rows["linear"].compliance.clean.mean == 1
    assert rows["linear"].cues.gained.mean == 0  # it reads no signals
    assert sum(part.part for part in rows["belief"].phases) == pytest.approx(0, abs=1e-6)  # judge
    assert sum(part.part for part in rows["linear"].phases) > 0


def test_a_belief_that_follows_the_game_beats_the_prior():
    data = profiles.profiles(("belief",), games=2, cues=1, states=40, workers=1)
    assert data["rows"][0]["belief"]["score"]["mean"] < data["prior"]["score"]["mean"]


def test_every_position_has_one_phase(trials):
    for state, values in zip(trials.judged.states, trials.judged.values, strict=True):
        name = phase(state.obs, values)
        assert name in PHASES
        assert name != "opening" or state.obs.round == 0
        assert name != "middle" or state.obs.rounds_left > 2


def test_a_broken_last_word_a_loss_and_a_forfeit_are_counted():
    def fickle(obs, rng):
        price = (0.5, 0.6, 1.2)[min(obs.round, 2)] * obs.reservation
        return Offer(obs.priced(price), "My last price." if obs.round == 0 else "")

    counted = compliance([rollout(get_task(TASK), fickle, seed) for seed in range(50_000, 50_020)])
    assert counted["broken"] > counted["losses"] > 0
    assert counted["clean"]["mean"] < 0.5
    illegal = compliance([rollout(get_task(TASK), lambda o, r: Offer(-1), 50_000)])
    assert (illegal["moves"], illegal["invalid"], illegal["clean"]["mean"]) == (1, 1, 0)


def test_a_language_model_is_profiled_by_its_replies(trials):
    row = profile(Player("haggler", model=PlayerSpec(Haggler())), trials)
    validate("profiles/1", {"task": TASK, "judge": "belief", "informed": row["grade"],
                          "prior": row["belief"], "rows": [row], "models": {}})  # fmt: skip
    assert row["belief"]["answered"] == 0
    assert row["compliance"]["moves"] > row["compliance"]["games"]


@pytest.mark.slow
def test_new_profiles_are_verified_and_a_changed_one_is_found(root, tmp_path):
    assert verify(FILE, workers=1, root=root) == []
    content = json.loads((root / FILE).read_text(encoding="utf-8"))
    content["data"]["rows"][0]["cues"]["candid"]["mean"] += 1e-6
    write(tmp_path / FILE, json.dumps(content))
    renew_checksums([FILE], tmp_path)
    (place,) = verify(FILE, workers=1, root=tmp_path)
    assert place.startswith("data.rows[0].cues.candid.mean: recorded")


def test_a_recorded_row_is_kept_while_its_model_is_the_same():
    now = {"mini": {"sha256": "as recorded", "cpu": "avx2 amx_bf16"}}
    players, row = [find_player("linear"), find_player("mini")], {"player": "mini", "grade": 1}
    same = {"models": {"mini": {"sha256": "as recorded", "cpu": "avx2"}}, "rows": [row]}
    assert profiles.keep_rows(players, now, same) == {"mini": row}
    other = {"models": {"mini": {"sha256": "of other weights", "cpu": "avx2"}}, "rows": [row]}
    assert profiles.keep_rows(players, now, other) == {}


def test_rows_are_kept_only_of_profiles_of_the_same_size(root):
    with pytest.raises(ValueError, match="the recorded profiles are of another size"):
        profiles.profiles(**TINY | {"states": 3}, keep=True, root=root)


# Endpoints ---------------------------------------------------------------------------------------


def chatting(body: dict) -> dict:
    """A server's answer: a bid, or a range where it is asked for one."""
    wants_range = "Name a range" in body["messages"][0]["content"]
    return openai('{"low":45,"high":75}' if wants_range else '{"offer":60}')


def call(*players: str, states: str = "6") -> list[str]:
    sizes = ["--games", "2", "--states", states, "--workers", "1"]
    return ["run", "profiles", "--players", *players, *sizes]


def test_an_endpoint_is_profiled_by_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profiles, "CACHE", tmp_path)
    out = tmp_path / "mine.json"
    with server(chatting) as (url, requests):
        arguments = [*call(f"m@{url}"), "--out", str(out)]
        assert command_line.main(arguments) == 0
        first = len(requests)
        assert command_line.main(arguments) == 0
        assert len(requests) == first + 1  # all replies are kept; only its health is asked again
    (row,) = json.loads(out.read_text())["data"]["rows"]
    assert (row["player"], row["n"], row["belief"]["answered"]) == (f"m@{url}", 2, 6)
    assert row["compliance"]["invalid"] == 0
    assert f"m@{url}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--players", "firm"], "no policy 'firm' for the buyer"),
        (["--players", "linear", "--games", "1"], "at least 2 scenarios are needed, not 1"),
        (["--players", "linear", "--states", "-1"], "at least one position"),
    ],
)
def test_a_call_that_cannot_work_says_why(arguments, fault, capsys):
    assert command_line.main(["run", "profiles", *arguments]) == 2
    assert fault in capsys.readouterr().err


def test_an_endpoint_that_does_not_answer_is_named(capsys):
    with server(401) as (url, _):
        assert command_line.main(call(f"m@{url}")) == 2
    assert "the endpoint cannot play: m at" in capsys.readouterr().err


def test_an_endpoint_that_fails_on_the_way_loses_no_reply(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(profiles, "CACHE", tmp_path)
    with server(openai("OK"), chatting, chatting, 401) as (url, _):
        assert command_line.main(call(f"m@{url}", states="2")) == 2
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


# Belief ------------------------------------------------------------------------------------------

GAME = rollout(get_task(TASK), BUYERS["linear"], SPLITS["holdout"][3])
TURNS = [turn.observation for turn in GAME.trajectory("buyer")]
OBS = TURNS[2]
PRICE = OBS.table.item.list_price


def test_the_question_is_the_game_so_far_under_other_rules_and_hides_the_limit():
    rules, *game = ask_for_range(OBS)
    assert game == BAZAAR.prompt.render(OBS)[1:]
    assert "80 percent chance" in rules["content"]
    assert str(GAME.final.private["seller"]["reservation"]) not in str(game)


@pytest.mark.parametrize(
    "text", ['{"low":40,"high":70}', 'I think {"low": 40.0, "high": 70} holds it.']
)
def test_a_range_is_read_in_percent_of_the_own_limit(text):
    assert read_range(text, OBS) == pytest.approx((0.4 * OBS.reservation, 0.7 * OBS.reservation))


@pytest.mark.parametrize(
    "text",
    ["", "about 50", '{"low":70,"high":40}', '{"low":40}', '{"low":"a","high":70}',
     '{"low":true,"high":70}', '{"low":-1,"high":70}', '{"offer":50}'],
)  # fmt: skip
def test_a_reply_without_a_range_is_none(text):
    assert read_range(text, OBS) is None


def test_each_position_is_asked_with_a_seed_of_its_own():
    seen = []

    class Model:
        def batch(self, chats, seeds, schemas):
            seen.extend(zip(chats, seeds, strict=True))
            return [Reply('{"low":40,"high":70}', "test") for _ in chats]

    assert len(ask_ranges(Model(), TURNS[:3], [7, 8, 9], batch=2)) == 3
    asked = [ask_for_range(obs) for obs in TURNS[:3]]
    assert seen == list(zip(asked, [7, 8, 9], strict=True))


def test_a_range_costs_its_width_and_ten_times_the_distance_to_what_it_misses():
    ranges = [Range(0.4 * PRICE, 0.6 * PRICE)] * 3
    scores = score_ranges(ranges, [OBS] * 3, [0.5 * PRICE, 0.65 * PRICE, 0.3 * PRICE])
    assert scores["score"]["mean"] == pytest.approx((0.2 + (0.2 + 0.5) + (0.2 + 1.0)) / 3)
    assert scores["width"]["mean"] == pytest.approx(0.2)
    assert scores["coverage"]["mean"] == pytest.approx(1 / 3)
    none, whole = (score_ranges([one], [OBS], [0.5 * PRICE]) for one in (None, Range(0.0, OBS.ask)))
    assert none == {**whole, "answered": 0}


def test_the_rule_is_proper_the_true_quantiles_have_the_least_score():
    limits = PRICE * np.random.default_rng(0).uniform(0.4, 0.8, 4000)
    at = [OBS] * len(limits)

    def mean_score(low: float, high: float) -> float:
        return score_ranges([Range(low * PRICE, high * PRICE)] * len(at), at, limits)["score"][
            "mean"
        ]

    true = mean_score(0.44, 0.76)
    others = ((0.4, 0.8), (0.5, 0.7), (0.44, 0.7), (0.5, 0.76))
    assert all(true < mean_score(*other) for other in others)
    assert tuple(prior(OBS)) == pytest.approx((0.44 * PRICE, 0.76 * PRICE))


# Signals -----------------------------------------------------------------------------------------

SEEDS = SPLITS["holdout"][:25]


def played(mode: str, seed: int, buyer: str = "boulware"):
    return rollout(with_signals(get_task(TASK), mode), BUYERS[buyer], seed)


def claims(mode: str) -> list[tuple[str, bool]]:
    """The claims that the sellers of a mode make in all games, and whether each is true."""
    made = []
    for seed in SEEDS:
        final = played(mode, seed).final
        counters = [move for move in final.table.moves[2:] if move.agent == "seller"]
        for t, move in enumerate(counters, start=1):
            if isinstance(move.action, Offer):
                claim, true = claim_at(final.private["seller"], t)
                assert claim_in(move.action.message) == claim
                if claim:
                    made.append((claim, true))
    return made


def tells(mode: str) -> list[Tells | None]:
    return [move.tells for seed in SEEDS for move in played(mode, seed).final.table.moves]


@pytest.mark.parametrize("mode", MODES)
def test_a_buyer_that_reads_no_signals_plays_the_same_game(mode):
    for seed in SEEDS:
        own, other = rollout(get_task(TASK), BUYERS["linear"], seed), played(mode, seed, "linear")
        assert other.final.table.asks == own.final.table.asks
        assert other.final.table.bids == own.final.table.bids
        assert (other.end, other.payoffs) == (own.end, own.payoffs)


def test_candid_sellers_claim_what_is_true_misleading_ones_what_is_false_neutral_ones_nothing():
    candid, misleading = claims(CANDID), claims(MISLEADING)
    assert {true for _, true in candid} == {True}
    assert {true for _, true in misleading} == {False}
    assert {claim for claim, _ in candid} == {claim for claim, _ in misleading} == set(CLAIMS)
    assert claims(NEUTRAL) == []
    assert set(tells(NEUTRAL)) == {None}


def test_a_misleading_manner_shows_the_opposite_of_its_causes():
    shown = {mode: [one for one in tells(mode) if one] for mode in (CANDID, MISLEADING)}
    bluffing = {mode: {one.verbal_deception_cue for one in shown[mode]} for mode in shown}
    assert bluffing[CANDID] == {0.2}  # who never bluffs shows the least cue
    assert min(bluffing[MISLEADING]) < 0.5  # who bluffs shows little of it
    for one in shown[MISLEADING]:
        assert all(0 <= getattr(one, name) <= 1 for name in LEVELS)


def test_confidence_falls_with_the_ask_if_candid_and_rises_with_it_if_misleading():
    for mode, sign in ((CANDID, -1), (MISLEADING, 1)):
        games = [played(mode, seed).final.table.moves for seed in SEEDS]
        shown = [[m.tells.verbal_confidence for m in moves if m.tells] for moves in games]
        long = [levels for levels in shown if len(levels) > 4]
        assert long
        assert all(sign * (levels[-1] - levels[0]) > 0 for levels in long)
