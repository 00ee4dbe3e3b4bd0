"""Role play: a script decides, a model says it, and what is read from its words is played."""

import re

import numpy as np
import pytest

from sauda.experiments import role_play
from sauda.experiments.role_play import ADAPTERS, FILE, SEATS, contrasts, play_role, scenarios
from sauda.experiments.verify import verify
from sauda.llm.types import Reply
from sauda.records.store import load, save

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
def test_what_is_read_from_the_words_is_played(seat):
    said = play_role("linear", seat, Talker(), SEEDS, batch=2)
    assert [row["seed"] for row in said] == SEEDS
    assert all(row["said"] == row["offers"] > 0 == row["unsaid"] for row in said)
    assert [row["share"] for row in said] == role_play.script_shares("linear", seat, SEEDS).tolist()
    wrong = play_role("linear", seat, Talker(more=7), SEEDS)
    assert all(row["said"] == row["unsaid"] == 0 < row["offers"] for row in wrong)
    lost = [
        row for row in play_role("linear", seat, Talker(silent_every=3), SEEDS) if row["unsaid"]
    ]
    assert lost
    assert all((row["unsaid"], row["share"]) == (1, 0.0) for row in lost)  # the game is forfeited
    assert all(row["said"] == row["offers"] - 1 for row in lost)


def test_the_artifact_is_replayed_from_the_recorded_words(tmp_path):
    assert verify(FILE) == []
    recorded = load(FILE)
    changed = recorded.data.as_json()
    del changed["games"][1:]
    changed["games"][0]["games"][0]["replies"][0] = "How about ₹1?"
    save(FILE, recorded.config, changed, tmp_path)
    assert any("games[0].games[0]" in fault for fault in verify(FILE, root=tmp_path))


# The nine contrasts ------------------------------------------------------------------------------


def shares(**more: float) -> dict:
    """Equal shares of all four models, and `more` of a model in a seat."""
    noise = np.random.default_rng(0).normal(size=N)
    return {
        (player, seat): noise + more.get(f"{player.rpartition('-')[2]}_{seat}", 0.0)
        for player in ("mini", *ADAPTERS)
        for seat in SEATS
    }


def by_pair(rows) -> dict:
    return {(row.player, row.beside, row.seat): row for row in rows}


def test_there_are_nine_and_each_is_the_mean_difference_of_its_two_players():
    rows = by_pair(contrasts(shares(buyer_buyer=0.3, buyer_seller=0.1, generalist_buyer=0.2)))
    assert {at: round(row.difference.mean, 6) for at, row in rows.items()} == {
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
    sure, equal = rows[BUYER, "mini", "buyer"], rows[SELLER, "mini", "seller"]
    assert (sure.n, sure.is_shown) == (N, True)
    assert (sure.p, sure.adjusted) == pytest.approx((2 / 10_001, 9 * sure.p))
    assert (equal.p, equal.adjusted, equal.is_shown) == (1, 1, False)
    sentence = role_play.contrasts_verdict(list(rows.values()), str)
    assert f"{BUYER} is not shown to be equivalent to {GENERALIST}" in sentence
    assert f"{SELLER} is equivalent to {GENERALIST}" in sentence
