"""Around a model: servers and their faults, which models a page serves, wrappers of their moves."""

from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from env import Accept, IllegalAction, Offer, WalkAway, get_task, rollout, shares
from panels.haggle import opponents
from panels.transcripts.episodes import able
from sauda.experiments.seller_games import word_hashes
from sauda.llm.backends import (
    ENDPOINT,
    OLLAMA,
    SEATS,
    THIS_PAGE,
    Endpoint,
    RetryPolicy,
    TransientError,
    check_answers,
    find_backends,
)
from sauda.llm.model import SPEECH, CannotLoad, adapter_folder, find_model, read_trained
from sauda.llm.types import ReplyError, ReplyTimeout
from sauda.llm.wrappers import honest, steer
from sauda.played import is_same_player, with_cpus
from sauda.players import PEOPLE, is_model, player_spec, row_name
from sauda.policies.bazaar import leave
from sauda.records.store import load as load_artifact
from sauda.records.store import sha256
from tests.support.bazaar_games import seen
from tests.support.endpoint import openai, server

# Backends -----------------------------------------------------------------------------------------

QUICK = RetryPolicy(attempt_timeout=0.5, total_timeout=3.0, attempts=3, first_pause=0.02)
CHAT = [{"role": "user", "content": "450?"}]
MOVE = '{"offer":45}'


def endpoint(url: str) -> Endpoint:
    return Endpoint(url, "m", retry=QUICK)


@pytest.mark.parametrize("token", [None, "secret"])
@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_a_reply_names_its_backend_and_seed_and_schema_travel_with_the_request(path, token):
    with server(openai(MOVE)) as (url, requests):
        reply = Endpoint(url + path, "m", token, retry=QUICK)(CHAT, 11, {"type": "object"})
    assert (reply.text, reply.tokens, reply.finish) == (MOVE, 7, "stop")
    assert url in reply.source
    assert requests[0][0] == "/v1/chat/completions"
    assert requests[0][1]["seed"] == 11
    assert requests[0][1]["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert requests[0][2] == (token and f"Bearer {token}")  # no token of this machine
    assert "secret" not in repr(reply)


@pytest.mark.parametrize(
    ("fault", "error", "again"),
    [
        *((passing, TransientError, True) for passing in (503, 429, "close")),
        ("hang", ReplyTimeout, True),
        *((lasting, ReplyError, False) for lasting in (401, 404, b"<html>", {"no": "reply"})),
    ],
)
def test_a_passing_fault_is_tried_again_and_one_that_stays_is_raised(fault, error, again):
    with server(fault) as (url, requests), pytest.raises(error):
        endpoint(url)(CHAT, 0)
    assert (len(requests) > 1) == again
    if error is TransientError:
        with server(fault, fault, openai(MOVE)) as (url, _):
            assert endpoint(url)(CHAT, 0).text == MOVE
        with pytest.raises(TransientError, match="cannot be reached"):  # it is gone
            endpoint(url)(CHAT, 0)


@pytest.mark.parametrize("answer", [401, {"no": "reply"}, openai("  "), openai(" … ")])
def test_only_a_real_answer_is_healthy(answer):
    with server(answer, openai("OK.")) as (url, _):
        with pytest.raises(CannotLoad, match=f"m at {url}.* gave no real answer: "):
            check_answers(endpoint(url))
        assert check_answers(endpoint(url)).source


@pytest.mark.parametrize("fault", [None, 401, 500, b"<html>", "close", "nobody there"])
def test_a_password_in_the_address_is_sent_and_shown_to_nobody(fault):
    with server(openai(MOVE) if fault in (None, "nobody there") else fault) as (url, requests):
        backend = endpoint(url.replace("//", "//me:s3cret@") + "?key=s3cret")
        if fault != "nobody there":
            shown = _everything_shown(backend)
            assert requests[0][2] == "Basic bWU6czNjcmV0"
            assert requests[0][0].endswith("?key=s3cret")
    if fault == "nobody there":
        shown = _everything_shown(backend)
    assert url in shown
    assert "s3cret" not in shown


def _everything_shown(backend) -> str:
    """All that a visitor or a log may be shown of a backend and of its reply."""
    try:
        reply = repr(backend(CHAT, 0))
    except ReplyError as error:
        reply = str(error)
    try:
        health = repr(check_answers(backend))
    except CannotLoad as error:
        health = str(error)
    return f"{reply} {backend.source} {backend!r} {health}"


def test_only_names_of_our_own_configure_the_backends():
    strange = {"USERNAME": "x", "URL": "http://x", "MODEL": "y", "OLLAMA_HOST": "z"}
    assert list(find_backends(strange)["buyer"]) == [THIS_PAGE]
    ours = {
        "SAUDA_ENDPOINT_URL": "http://127.0.0.1:9", "SAUDA_ENDPOINT_MODEL": "m",
        "SAUDA_OLLAMA_URL": "http://127.0.0.1:9", "SAUDA_OLLAMA_MODEL": "m",
    }  # fmt: skip
    assert list(find_backends(ours)["seller"]) == [THIS_PAGE, ENDPOINT, OLLAMA]
    with pytest.raises(ValueError, match="SAUDA_ENDPOINT_URL and SAUDA_ENDPOINT_MODEL go together"):
        find_backends({"SAUDA_ENDPOINT_URL": "http://127.0.0.1:9"})


def test_every_buyer_on_the_page_has_rows_in_the_model_comparison():
    """Weights, adapter, wrapper and sampling of each buyer on the page are those of its rows."""
    data = load_artifact("evaluation/model-comparison.json").data.as_json()
    older = "bazaar/open-3"
    in_transcripts = [(older, name) for name in able(older) if is_model(name)]
    for task, name in [*product([PEOPLE], opponents.buyer_models()), *in_transcripts]:
        row, served = row_name(name), player_spec(name)
        measured = player_spec(row)
        assert (served.constrained, served.wrapper) == (measured.constrained, measured.wrapper)
        assert row in data["episodes"][task]
        model = data["models"][measured.weights]
        folder = adapter_folder(find_model(served.weights).adapter)
        trained = read_trained(folder) if folder else {}
        speech = {name: trained[name] for name in SPEECH if name in trained}
        assert model["sampling"] == asdict(SEATS["buyer"].sampling) | speech
        adapter = "" if folder is None else sha256(folder / "adapter_model.safetensors")[:16]
        assert model["sha256"].partition("+")[2] == adapter


def test_the_model_sellers_on_the_page_are_those_whose_words_were_measured():
    artifact, seat = load_artifact("seller_quality.json"), SEATS["seller"]
    data = artifact.data.as_json()
    assert {name.partition(":")[0] for name in opponents.SELLER_MODELS} == {seat.model}
    personas = {name.partition(":")[2] for name in opponents.SELLER_MODELS}
    assert {game["persona"] for game in data["games"]} == personas
    measured = data["models"][seat.model]
    assert measured["sampling"] == asdict(seat.sampling)
    assert {name: measured[name] for name in ("prompt", "check")} == word_hashes()


THEN = {"mini": {"sha256": "a", "cpu": "avx2 or avx2 amx"}, "gone": {"sha256": "g", "cpu": "sse"}}
NOW = {"mini": {"sha256": "a", "cpu": "avx512"}, "mini+talks": {"sha256": "b", "cpu": "avx512"}}


def test_a_model_names_all_kinds_of_cpu_that_played_its_games_and_is_known_by_its_weights():
    sources = with_cpus(NOW, THEN, {"mini"}, {"mini", "mini+talks"})
    assert sources["mini"] == {"sha256": "a", "cpu": "avx2 or avx2 amx or avx512"}
    assert sources["mini+talks"] == NOW["mini+talks"]
    assert with_cpus(NOW, THEN, {"mini"}, ())["mini"]["cpu"] == THEN["mini"]["cpu"]
    assert is_same_player(THEN["mini"], NOW["mini"])
    assert not is_same_player(THEN["mini"], NOW["mini+talks"])
    assert not is_same_player(None, NOW["mini"])


# Wrappers -----------------------------------------------------------------------------------------


def garbage(obs, rng):
    raise IllegalAction("no move")


def share(proposer, name: str, seeds: int = 60) -> tuple[float, float]:
    """Mean share of the ZOPA and mean rounds of `proposer` under the published steering."""

    def policy(obs, rng):
        try:
            proposal = proposer(obs, rng)
        except IllegalAction as error:
            proposal = error
        return steer(obs, proposal).action

    played = [rollout(get_task(name), policy, seed) for seed in range(seeds)]
    won = [shares(e.final, "buyer")[0] for e in played]
    return round(float(np.mean(won)), 4), float(np.mean([e.final.table.round for e in played]))


@pytest.mark.parametrize(
    ("proposer", "name", "published"),
    [  # spec bazaar.md 7b: what the steering alone achieves, with no model
        (garbage, "classic/single_deal", (0.8249, 3.0)),
        (garbage, "classic/asymmetric_pressure", (0.8211, 4.0)),
        (leave, "classic/single_deal", (0.7977, 3.0)),
        (leave, "classic/asymmetric_pressure", (0.7820, 3.0)),
    ],
)
def test_the_published_steering_scores_what_it_scored_to_four_decimals(proposer, name, published):
    assert share(proposer, name) == published


def test_every_change_is_logged_and_no_change_is_no_log():
    obs = seen()
    inside = steer(obs, Offer(600, "₹600"))
    assert (inside.action, inside.changes) == (Offer(600, "₹600"), ())
    raised = steer(obs, Offer(410, "₹410"))
    assert raised.action.price > 410
    assert raised.action.message == ""  # the words went with their price
    assert raised.changes == (f"price 410 → {raised.action.price:g}",)
    filled = steer(obs, IllegalAction("?"))
    assert filled.changes[0] == "no legal move: bids 0.3 of the budget"


prices = st.lists(st.integers(1, 2000), min_size=1, max_size=4)


@given(prices, prices, st.integers(1, 2000), st.integers(-5, 5000), st.booleans())
def test_an_honest_offer_never_retreats_and_never_passes_budget_or_ask(
    asks, bids, limit, price, accepts
):
    bids = sorted(min(bid, limit) for bid in bids)
    obs = seen(asks=tuple(asks), bids=tuple(bids), reservation=limit)
    action = honest(obs, Accept() if accepts else Offer(price)).action
    paid = asks[-1] if isinstance(action, Accept) else action.price
    assert paid <= limit
    if isinstance(action, Offer):
        assert action.price >= bids[-1]
        assert action.price <= max(asks[-1], bids[-1])


@given(prices, st.integers(1, 2000), st.integers(1, 5000))
def test_an_honest_ask_never_rises_and_never_goes_below_the_limit(asks, limit, price):
    asks = sorted((max(ask, limit) for ask in asks), reverse=True)
    obs = seen(asks=tuple(asks), bids=(300,), reservation=limit, agent="seller")
    action = honest(obs, Offer(price)).action
    got = 300 if isinstance(action, Accept) else action.price
    assert got >= limit
    assert isinstance(action, Accept) or action.price <= asks[-1]


def test_the_honest_wrapper_leaves_walks_good_moves_and_forfeits_alone():
    obs = seen()
    assert honest(obs, Offer(500, "₹500")).changes == ()
    assert honest(obs, WalkAway("bye")).action == WalkAway("bye")
    with pytest.raises(IllegalAction, match="gibberish"):
        honest(obs, IllegalAction("gibberish"))


def test_the_ask_that_meets_an_honest_bid_is_taken_and_one_beyond_the_limit_is_not():
    assert honest(seen(asks=(1000, 500), bids=(400,)), Offer(600)).action == Accept()
    over = honest(seen(reservation=800.0), Accept())
    assert over.action == Offer(800)
    assert over.changes == ("does not take a price beyond its limit",)
