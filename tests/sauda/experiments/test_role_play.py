"""Role play: a script decides, a model says it, and what is read from its words is played."""

import json
import re

import numpy as np
import pytest

from env import Accept, Offer, begin
from sauda.evaluation.market.tournament.players import task_against
from sauda.evaluation.verification.verify import verify
from sauda.experiments import role_play
from sauda.experiments.role_play import (
    ADAPTERS,
    SEATS,
    contrasts,
    contrasts_verdict,
    of_role_play,
    of_tournament,
    play,
    scenarios,
)
from sauda.language.acts import Acts
from sauda.llm.role_seat import RoleSeat, price_said, prompt
from sauda.llm.types import Reply
from sauda.records.store import load, save

CONFIG = {
    "models": ["mini", "mini+roles-buyer", "mini+roles-generalist"],
    "script": "linear",
    "games": 3,
    "batch": 2,
}
SEEDS = scenarios(3)
BUYER, SELLER, GENERALIST = ADAPTERS
N = 30


class Talker:
    """Says the price of the intention, plus `more`; every `silent_every`-th reply has no price."""

    name = "talker"

    def __init__(self, more=0, silent_every=0):
        self.more, self.silent_every, self.replies = more, silent_every, 0

    def batch(self, chats, seeds, schemas):
        return [Reply(self._words(chat[-1]["content"]), "talker") for chat in chats]

    def _words(self, request):
        self.replies += 1
        if self.silent_every and self.replies % self.silent_every == 0:
            return "What a nice piece."
        price = re.search(r"₹([\d,]+)", request.splitlines()[-1])
        return f"How about ₹{int(price[1].replace(',', '')) + self.more}?" if price else "Goodbye."


@pytest.mark.parametrize("seat", SEATS)
def test_a_model_that_says_each_price_plays_as_the_script(seat):
    rows = play("linear", seat, Talker(), SEEDS, batch=2)
    assert [row["seed"] for row in rows] == SEEDS
    assert all(row["said"] == row["offers"] > 0 == row["unsaid"] for row in rows)
    assert [row["share"] for row in rows] == role_play.script_shares("linear", seat, SEEDS).tolist()


def test_a_price_that_is_said_wrongly_is_played():
    rows = play("linear", "buyer", Talker(more=7), SEEDS)
    assert all(row["said"] == row["unsaid"] == 0 < row["offers"] for row in rows)


def test_words_without_a_price_forfeit_the_game():
    rows = play("linear", "buyer", Talker(silent_every=3), SEEDS)
    lost = [row for row in rows if row["unsaid"]]
    assert lost
    assert all((row["unsaid"], row["share"]) == (1, 0.0) for row in lost)
    assert all(row["said"] == row["offers"] - 1 for row in lost)


@pytest.mark.parametrize("games", [1, role_play.MOST])
def test_too_few_or_too_many_games_are_refused(games):
    with pytest.raises(ValueError, match="games are 2 to"):
        scenarios(games)


# The seat ----------------------------------------------------------------------------------------


def observe(seat: str, *moves):
    """What `seat` sees after `moves` of the other seat and itself in turn, the seller first."""
    task = task_against("linear")
    state = begin(task, SEEDS[0]).state
    for action in moves:
        state = task.env.step(state, action)
    return task.env.observe(state, seat)


def test_the_prompt_has_the_game_in_words_the_own_limit_and_the_intention():
    obs = observe("buyer", Offer(140, "It is yours for ₹140."), Offer(30), Offer(130))
    chat = prompt(obs, Offer(45))
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "user"]
    assert f"Your limit is ₹{obs.reservation:,}" in chat[0]["content"]
    assert "seller: It is yours for ₹140." in chat[1]["content"]
    assert chat[3]["content"] == "seller: ₹130\n(Name another price: ₹45.)"
    assert prompt(obs, Accept())[-1]["content"].endswith("(Agree: ₹130.)")


@pytest.mark.parametrize(("seat", "other"), [("buyer", "seller"), ("seller", "buyer")])
def test_the_other_sides_limit_is_in_no_prompt(seat, other):
    obs = observe(seat, *([] if seat == "seller" else [Offer(140)]))
    hidden = begin(task_against("linear"), SEEDS[0]).state.private[other]["reservation"]
    assert f"{hidden:,}" not in json.dumps(prompt(obs, Offer(45)), ensure_ascii=False)


def test_to_accept_and_to_leave_are_buttons_whatever_is_said():
    seat = RoleSeat(lambda obs, rng: Accept())
    reply = seat.parse(observe("buyer", Offer(140)), Reply("I would rather pay ₹5.", "talker"))
    assert isinstance(reply.action, Accept)
    assert not reply.changes


def test_prices_are_read_as_from_the_line_of_a_script():
    obs, strategy = observe("buyer", Offer(140)), SEATS["buyer"]["linear"]
    read = {"How about ₹45?": 45, "₹45 then": 45, "Nice piece.": None, "": None}
    assert {words: price_said(obs, words) for words in read} == read
    line = Acts(strategy)(obs, np.random.default_rng(0)).message
    assert price_said(obs, line) == RoleSeat(strategy).decided(obs).price


# The artifact ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    talkers = (Talker(), Talker(more=3), Talker(silent_every=4))
    games = [
        {"model": model, "seat": seat, "games": play("linear", seat, talker, SEEDS, batch=2)}
        for model, talker in zip(CONFIG["models"], talkers, strict=True)
        for seat in SEATS
    ]
    return role_play.summarize("linear", SEEDS, games) | {"models": {}}


def test_rows_and_contrasts_say_what_the_games_show(data):
    rows = {(row["model"], row["seat"]): row for row in data["rows"]}
    exact, off = rows["mini", "buyer"], rows[BUYER, "seller"]
    assert exact["said"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert exact["difference"]["mean"] == exact["wrong"] == exact["unsaid"] == 0
    assert (off["off_role"], off["wrong"]) == (True, off["offers"])
    base, specialist = (row for row in data["contrasts"] if row["seat"] == "buyer")
    assert (base["question"], base["difference"]["mean"]) == ("base", -1.0)
    assert specialist["beside"] == GENERALIST


def test_the_artifact_is_replayed_from_the_recorded_words(data, tmp_path):
    save(role_play.FILE, CONFIG, data, tmp_path)
    assert verify(role_play.FILE, root=tmp_path) == []
    changed = json.loads(json.dumps(data))
    changed["games"][0]["games"][0]["replies"][0] = "How about ₹1?"
    save(role_play.FILE, CONFIG, changed, tmp_path)
    assert any("games[0]" in fault for fault in verify(role_play.FILE, root=tmp_path))


# The nine contrasts ------------------------------------------------------------------------------


def shares(**more: float) -> dict:
    """Equal shares of all four models against two opponents, and `more` of a model in a seat."""
    noise = np.random.default_rng(0).normal(size=(2, N))
    gains = {
        (player, seat): more.get(f"{player.rpartition('-')[2]}_{seat}", 0.0)
        for player in ("mini", *ADAPTERS)
        for seat in SEATS
    }
    return {at: {"a": noise[0] + gain, "b": noise[1] + gain} for at, gain in gains.items()}


def by_pair(rows) -> dict:
    return {(row.player, row.beside, row.seat): row for row in rows}


def test_there_are_nine_and_each_is_the_mean_difference_of_its_two_players():
    rows = contrasts(shares(buyer_buyer=0.3, buyer_seller=0.1, generalist_buyer=0.2))
    means = {at: round(row.difference.mean, 6) for at, row in by_pair(rows).items()}
    assert means == {
        (BUYER, "mini", "buyer"): 0.3,
        (BUYER, "mini", "seller"): 0.1,
        (SELLER, "mini", "buyer"): 0,
        (SELLER, "mini", "seller"): 0,
        (GENERALIST, "mini", "buyer"): 0.2,
        (GENERALIST, "mini", "seller"): 0,
        (BUYER, GENERALIST, "buyer"): 0.1,
        (SELLER, GENERALIST, "seller"): 0,
        ("on role", "off role", "both"): 0.1,  # (0.3 - 0) and (0 - 0.1), pooled
    }


def test_a_difference_in_every_scenario_is_shown_after_the_correction_and_none_is_not():
    rows = contrasts(shares(buyer_buyer=0.3))
    sure, equal = (
        by_pair(rows)[at] for at in ((BUYER, "mini", "buyer"), (SELLER, "mini", "seller"))
    )
    assert (sure.n, sure.opponents, sure.is_shown) == (N, 2, True)
    assert sure.p == pytest.approx(2 / 10_001)
    assert sure.adjusted == pytest.approx(9 * sure.p)
    assert (equal.p, equal.adjusted, equal.is_shown) == (1, 1, False)
    sentence = contrasts_verdict(rows, str)
    assert sentence.startswith("3 of 9 contrasts show")
    assert f"{BUYER} is not shown to be equivalent to {GENERALIST}" in sentence
    assert f"{SELLER} is equivalent to {GENERALIST}" in sentence


def test_only_opponents_that_both_met_count_and_all_players_must_be_there():
    played = shares(buyer_buyer=0.3)
    played["mini", "buyer"].pop("b")
    played[BUYER, "buyer"]["b"] = np.full(N, 9.0)
    row = by_pair(contrasts(played))[BUYER, "mini", "buyer"]
    assert (row.opponents, round(row.difference.mean, 6)) == (1, 0.3)
    del played[GENERALIST, "seller"]
    assert contrasts(played) == []


def test_the_contrasts_of_recorded_games_are_differences_of_their_rows():
    tournament, played = load("tournament.json").data, load("role_play.json").data
    share = {(row.model, row.seat): [row.share.mean] for row in played.rows}
    cells = {
        (player, seat): [
            getattr(cell.share, seat).mean
            for cell in tournament.cells
            if getattr(cell, seat) == player
        ]
        for player, seat in share
    }
    for rows, means in ((of_role_play(played), share), (of_tournament(tournament), cells)):
        for (player, beside, seat), row in by_pair(rows).items():
            if seat != "both":
                expected = np.mean(means[player, seat]) - np.mean(means[beside, seat])
                assert row.difference.mean == pytest.approx(expected, abs=2e-6)
