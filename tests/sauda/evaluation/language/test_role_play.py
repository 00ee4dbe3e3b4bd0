"""Role play: a script decides, a model says it, and what is read from its words is played."""

import json
import re
from dataclasses import asdict

import numpy as np
import pytest

from env import Accept, Offer, begin
from sauda.evaluation.language import role_play
from sauda.evaluation.language.role_play import SEATS, Config
from sauda.evaluation.market.tournament.players import task_against
from sauda.evaluation.verification.verify import verify
from sauda.language.acts import Acts
from sauda.llm.seats import RoleSeat, price_said, prompt
from sauda.llm.types import Reply
from sauda.records.store import load, parsed, save

TINY = Config(models=("mini", "mini+roles-buyer", "mini+roles-generalist"), games=3, batch=2)


class Talker:
    """Says the price of the intention, plus `more`; every `silent_every`-th reply has no price."""

    name = "talker"

    def __init__(self, more=0, silent_every=0):
        self.more, self.silent_every, self.replies = more, silent_every, 0

    def batch(self, chats, seeds, schemas):
        return [Reply(self._words(chat[-1]["content"]), "talker") for chat in chats]

    def _words(self, told):
        self.replies += 1
        if self.silent_every and self.replies % self.silent_every == 0:
            return "What a nice piece."
        intention = told.splitlines()[-1]
        price = re.search(r"₹([\d,]+)", intention)
        return f"How about ₹{int(price[1].replace(',', '')) + self.more}?" if price else "Goodbye."


@pytest.mark.parametrize("seat", SEATS)
def test_a_model_that_says_each_price_plays_as_the_script(seat):
    rows = role_play.played(TINY, seat, Talker())
    assert [row["seed"] for row in rows] == list(TINY.seeds)
    assert all(row["said"] == row["offers"] > 0 == row["unsaid"] for row in rows)
    script = role_play.script_shares(TINY, seat)
    assert [row["share"] for row in rows] == script.tolist()


def test_a_price_that_is_said_wrongly_is_played():
    rows = role_play.played(TINY, "buyer", Talker(more=7))
    assert all(row["said"] == row["unsaid"] == 0 < row["offers"] for row in rows)


def test_words_without_a_price_forfeit_the_game():
    rows = role_play.played(TINY, "buyer", Talker(silent_every=3))
    lost = [row for row in rows if row["unsaid"]]
    assert lost
    assert all((row["unsaid"], row["share"]) == (1, 0.0) for row in lost)
    assert all(row["said"] == row["offers"] - 1 for row in lost)


def observed(seat: str, *moves):
    """What `seat` sees after `moves` of the other seat and itself in turn, the seller first."""
    task = task_against("linear")
    state = begin(task, TINY.seeds[0]).state
    for action in moves:
        state = task.env.step(state, action)
    return task.env.observe(state, seat)


def test_the_prompt_has_the_game_in_words_the_own_limit_and_the_intention():
    obs = observed("buyer", Offer(140, "It is yours for ₹140."), Offer(30), Offer(130))
    chat = prompt(obs, Offer(45))
    assert [message["role"] for message in chat] == ["system", "user", "assistant", "user"]
    assert f"Your limit is ₹{obs.reservation:,}" in chat[0]["content"]
    assert "seller: It is yours for ₹140." in chat[1]["content"]
    assert chat[2]["content"] == "₹30"
    assert chat[3]["content"] == "seller: ₹130\n(Name another price: ₹45.)"
    closing = prompt(obs, Accept())[-1]["content"]
    assert closing.endswith("(Agree: ₹130.)")


def test_the_other_sides_limit_is_in_no_prompt():
    task = task_against("linear")
    for seat in SEATS:
        obs = observed(seat, *([] if seat == "seller" else [Offer(140)]))
        (other,) = (name for name in SEATS if name != seat)
        hidden = begin(task, TINY.seeds[0]).state.private[other]["reservation"]
        said = json.dumps(prompt(obs, Offer(45)), ensure_ascii=False)
        assert f"{hidden:,}" not in said


def test_to_accept_and_to_leave_are_buttons_whatever_is_said():
    obs = observed("buyer", Offer(140))
    seat = RoleSeat(lambda obs, rng: Accept())
    parsed_reply = seat.parse(obs, Reply("I would rather pay ₹5.", "talker"))
    assert isinstance(parsed_reply.action, Accept)
    assert not parsed_reply.changes


@pytest.mark.parametrize(
    ("words", "price"),
    [("How about ₹45?", 45), ("₹45 then", 45), ("Nice piece.", None), ("", None)],
)
def test_a_price_is_read_from_words_as_from_those_of_the_dialogues(words, price):
    assert price_said(observed("buyer", Offer(140)), words) == price


@pytest.fixture(scope="module")
def data():
    talkers = (Talker(), Talker(more=3), Talker(silent_every=4))
    games = [
        {"model": model, "seat": seat, "games": role_play.played(TINY, seat, talker)}
        for model, talker in zip(TINY.models, talkers, strict=True)
        for seat in SEATS
    ]
    return role_play.summarised(TINY, games) | {"models": {}}


def test_rows_and_contrasts_say_what_the_games_show(data):
    parsed("role_play/1", json.loads(json.dumps(data)))
    rows = {(row["model"], row["seat"]): row for row in data["rows"]}
    exact = rows["mini", "buyer"]
    assert exact["said"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert exact["difference"]["mean"] == exact["wrong"] == exact["unsaid"] == 0
    off = rows["mini+roles-buyer", "seller"]
    assert off["off_role"]
    assert off["wrong"] == off["offers"]
    base, specialist = (row for row in data["contrasts"] if row["seat"] == "buyer")
    assert (base["question"], base["difference"]["mean"]) == ("base", -1.0)
    assert specialist["beside"] == "mini+roles-generalist"


def test_the_artifact_is_replayed_from_the_recorded_words(data, tmp_path):
    save(role_play.FILE, asdict(TINY), data, tmp_path)
    assert verify(role_play.FILE, root=tmp_path) == []
    recorded = load(role_play.FILE, tmp_path)
    changed = recorded.data.as_json()
    changed["games"][0]["games"][0]["replies"][0] = "How about ₹1?"
    save(role_play.FILE, asdict(TINY), changed, tmp_path)
    assert any("games[0]" in fault for fault in verify(role_play.FILE, root=tmp_path))


def test_too_few_games_are_refused():
    with pytest.raises(ValueError, match="games are 2 to"):
        _ = Config(games=1).seeds


def test_a_script_through_words_and_the_seat_read_prices_alike():
    """Both read the line of a script as the price that the script decided."""
    strategy = SEATS["buyer"]["linear"]
    obs = observed("buyer", Offer(140))
    line = Acts(strategy)(obs, np.random.default_rng(0))
    assert price_said(obs, line.message) == RoleSeat(strategy).decide(obs).price
