"""What a visitor's session costs, how long it is kept, and what is said once it is gone."""

import json
import time
import uuid
from collections.abc import Iterator
from types import SimpleNamespace

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from panels.site import sessions
from panels.site.routes import Kind
from panels.site.sessions import Sessions
from panels.site.streams import Streams
from tests.support.site import Site


@pytest.fixture
def blocks() -> gr.Blocks:
    with gr.Blocks() as page:
        name = gr.Textbox("a")
        count = gr.State([0])
        button = gr.Button()
        button.click(lambda text, kept: (text, kept), [name, count], [name, count])
    return page


@pytest.fixture
def holder(blocks) -> Iterator[Sessions]:
    kept = Sessions(Streams())
    kept.set_blocks(blocks)
    return kept


def part(blocks: gr.Blocks, kind: type) -> int:
    return next(number for number, block in blocks.blocks.items() if isinstance(block, kind))


def test_states_and_changed_components_are_a_sessions_own(blocks, holder):
    name, count = part(blocks, gr.Textbox), part(blocks, gr.State)
    holder["one"][count].append(1)
    holder["one"][name] = changed = gr.Textbox(max_length=5, render=False)
    assert (holder["one"][count], holder["two"][count]) == ([0, 1], [0])
    assert holder["one"][name] is changed
    assert holder["two"][name] is blocks.blocks[name]
    assert name in holder["two"]


def test_a_lean_session_says_of_its_parts_what_gradios_own_does(blocks, holder):
    theirs, ours = SessionState(blocks), holder["one"]
    for number in [*blocks.blocks, 10**6]:
        assert (number in ours) == (number in theirs)
        assert ours.get(number) is theirs.get(number) or ours.get(number) == theirs.get(number)
    assert dict(ours.blocks_config.fns) == theirs.blocks_config.fns
    assert list(ours.components) == []  # no configurations: there are no links to a state


def test_a_session_goes_some_time_after_its_tab_and_not_before(holder, monkeypatch):
    now = time.monotonic()
    later = [now]
    clock = SimpleNamespace(monotonic=lambda: later[0])  # of the sessions alone: the page is served
    monkeypatch.setattr(sessions, "time", clock)
    assert holder["left"] is not holder["open"]
    with holder.streams.open("a", Kind.HEARTBEAT, "open"):
        later[0] = now + sessions.LEFT_FOR - 1
        holder.delete_all_expired_state()
        assert set(holder.session_data) == {"left", "open"}
        later[0] = now + sessions.LEFT_FOR + 1
        holder.delete_all_expired_state()
        assert set(holder.session_data) == set(holder.last_used) == {"open"}
    assert set(holder.put_away) == {"left"}


def test_one_address_cannot_push_out_the_sessions_of_another(holder, monkeypatch):
    monkeypatch.setattr(sessions, "OF_ADDRESS", 3)
    for name, address in [("polite", "a"), *((f"greedy {n}", "b") for n in range(5))]:
        holder.claim(name, address)
        assert holder[name]
    assert list(holder.session_data) == ["polite", "greedy 2", "greedy 3", "greedy 4"]
    holder.claim("polite", "b")  # the visitor's address changed
    assert list(holder.of_address["b"]) == ["greedy 3", "greedy 4", "polite"]
    assert "a" not in holder.of_address


def test_the_oldest_session_goes_where_there_are_too_many(holder):
    holder.capacity = 2
    for name in ("one", "two", "one", "three"):
        assert holder[name]
    assert list(holder.session_data) == ["one", "three"]


# The page


def call(site: Site, name: str, session: str, *data: object, nth: int = 0) -> list:
    """The outputs of the `nth` event outside the queue whose function is `name`."""
    number = site.event_numbers(*name.rsplit(".", 1))[nth]
    return json.loads(site.call(number, list(data), session))["data"]


def open_page(site: Site, session: str) -> None:
    """What a browser calls when it opens the page."""
    load = [n for n, e in site.blocks.fns.items() if e.fn and ("load" in {t[1] for t in e.targets})]
    for number in load:
        site.call(number, [None] * len(site.blocks.fns[number].inputs), session)


def reloaded(site: Site, before: str, after: str) -> str:
    """What a tab shows whose session was `before` and is `after`, as text."""
    kept = json.dumps({"session": before, "moved": True, "opponent": "linear", "language": "hi"})
    opening = "haggle.opening.open_callbacks.open_page"
    return json.dumps(call(site, opening, after, None, kept), ensure_ascii=False)


@pytest.mark.slow
def test_a_reload_finds_the_game_talk_and_language_again_and_leaves_the_former_session(site):
    first, second, third = (uuid.uuid4().hex for _ in range(3))
    choice = ["sell", "any item", "linear", "this page", "en"]
    call(site, "haggle.callbacks.begin", first, None, *choice)
    for text in ("₹900000 <b>only</b>", "is it raining?"):
        call(site, "haggle.callbacks.send", first, None, None, text, "this page", "en", None, None)
    shown = reloaded(site, first, second)
    assert "₹900000 &lt;b&gt;only&lt;/b&gt;" in shown
    assert "is it raining?" in shown
    assert "नया खेल" in shown
    call(
        site, "haggle.callbacks.send", second, None, None, "₹800000", "this page", "hi", None, None
    )
    assert "₹8,00,000" in reloaded(site, second, third)
    assert "₹8,00,000" not in reloaded(site, first, uuid.uuid4().hex)


@pytest.mark.slow
def test_a_reloaded_page_shows_the_game_that_its_tab_had_begun(site, monkeypatch):
    open_page(site, "before")
    site.call(site.event_number("gpu_arena.callbacks", "wait_for_round"), [None], "before")
    shown = json.dumps(call(site, "gpu_arena.callbacks.resume", "after", "before"))
    assert "Round 2 of 5" in shown
    strangers = json.dumps(call(site, "gpu_arena.callbacks.resume", "new", ""))
    assert "Round 2" not in strangers
    with monkeypatch.context() as patch:
        patch.setattr(sessions, "LEFT_FOR", 0)
        site.app.state_holder.delete_all_expired_state()
    problem = json.dumps(call(site, "gpu_arena.callbacks.resume", "later", "before"))
    assert "Your game was put away 10 minutes after its tab was left; this is a new one" in problem
    problem = json.dumps(call(site, "gpu_arena.callbacks.resume", "later", "of-another-page"))
    assert "The page was restarted, and your game was lost; this is a new one" in problem
