"""What the load test counts, and what it sends and takes for an answer."""

import time
from typing import Any

import httpx
import pytest

from benchmarks.load import Crowd, Failure, Missed, RefusedByPage, Script, checkout, merge

PARTS = (
    (1, "textbox", {"elem_id": "haggle-price", "value": ""}),
    (2, "chatbot", {"elem_id": "haggle-chat"}),
    (3, "html", {"elem_id": "haggle-problem"}),
    (4, "html", {"elem_id": "haggle-badge"}),
    (5, "dropdown", {"elem_id": "haggle-market", "value": "tea", "choices": [["Tea", "tea"]]}),
    (6, "radio", {"elem_id": "haggle-other", "value": "model"}),
    (7, "button", {"value": "New game"}),
    (8, "button", {"value": "Ask again"}),
    (9, "button", {"value": "Accept", "size": "sm"}),
    (10, "button", {"value": "Halfway", "size": "sm"}),
    (11, "state", {}),
)
SHOWN = [2, 3, 4, 8, 9, 10]
EVENTS = (
    {"id": 20, "targets": [[7, "click"]], "inputs": [5, 6], "outputs": SHOWN},
    {"id": 21, "targets": [[1, "submit"]], "inputs": [1], "outputs": SHOWN},
    {"id": 22, "targets": [[8, "click"]], "inputs": [], "outputs": SHOWN},
    {"id": 23, "targets": [], "trigger_after": 21, "inputs": [], "outputs": SHOWN, "queue": True},
    {"id": 24, "targets": [[11, "change"]], "inputs": [11], "outputs": [], "queue": True},
    {"id": 25, "targets": [[5, "input"]], "inputs": [5], "outputs": [3]},
    {"id": 26, "targets": [[0, "load"]], "inputs": [], "outputs": [3]},
)


@pytest.fixture
def script() -> Script:
    parts = [{"id": number, "type": kind, "props": props} for number, kind, props in PARTS]
    events = [{"backend_fn": True, "queue": False, **event} for event in EVENTS]
    return Script({"components": parts, "dependencies": events})


def show(
    *texts: str,
    buttons: tuple[str, str] = ("Accept ₹60", "Halfway ₹40"),
    problem: str = "",
    waits: bool = False,
) -> list[Any]:
    """What the page answers; a game whose buttons are empty is over."""
    chat = [{"content": [{"text": text}]} for text in texts]
    places = [{"value": label, "interactive": bool(label)} for label in buttons]
    return [chat, problem, None, {"visible": waits}, *places]


def test_a_page_says_which_events_a_visitor_starts(script):
    assert (script.begin, script.reply, script.again) == (20, 21, 22)
    assert script.followers(21) == [23]
    assert (script.on_load, script.reads, script.by_state) == ([26], [25], {11: 24})
    assert script.defaults(20) == ["tea", "model"]


def test_a_visitor_bids_what_a_button_would_and_otherwise_takes_the_ask(script):
    assert script.choose(show()) == "₹40 mein de do"
    assert script.choose(show(buttons=("Accept ₹60", "Halfway"))) == "ok"
    assert script.choose(show(buttons=("Walk away", ""))) == "walk away"
    assert not script.is_open(show(buttons=("", "")))


def test_an_answer_holds_the_words_and_a_reply_to_them_unless_the_game_is_over(script):
    script.check(show("₹60"), show("₹60", "₹40", "₹55"), "₹40")
    script.check(show("₹60"), show("₹60", "ok", buttons=("", "")), "ok")
    for after in (show("₹60"), show("₹60", "₹40"), show("₹60", "₹40", "₹55", waits=True)):
        with pytest.raises(Failure, match="answer"):
            script.check(show("₹60"), after, "₹40")
    with pytest.raises(Failure, match=r"^at most N$"):
        script.check(show("₹60"), show("₹60", problem="<b>at most 40</b>"), "₹40")
    full = "12 others are waiting for the language model"
    with pytest.raises(RefusedByPage):
        script.check(show("₹60"), show("₹60", problem=full), "₹40")


def test_what_a_second_event_leaves_alone_stays():
    unchanged = {"__type__": "update"}
    assert merge([1, 2, 3], [None, unchanged, {"__type__": "update", "value": 4}])[:2] == [1, 2]
    assert merge([1], [5]) == [5]


def test_successes_refusals_and_failures_are_counted_apart(script):
    crowd = Crowd(None, script, deadline=time.monotonic())
    errors = (RefusedByPage("full"), Failure("wrong"), Failure("wrong"), httpx.ReadTimeout("late"))
    for error in (*errors, TimeoutError()):
        with pytest.raises(Missed), crowd.time("reply"):
            raise error
    with pytest.raises(KeyError), crowd.time("reply"):
        raise KeyError("a fault of the load test itself")
    with crowd.time("reply"):
        pass
    (row,) = crowd.rows()
    assert (row["n"], row["refused"], row["failures"]) == (1, 1, 4)
    assert row["reasons"] == {"wrong": 2, "no answer in time": 2}


def test_a_commit_that_git_does_not_know_is_refused():
    with pytest.raises(Exception, match="no-such-commit"), checkout("no-such-commit"):
        pass
