"""What a visitor's session keeps, and what is said once it is gone."""

import json
import uuid
from collections.abc import Iterator

import gradio as gr
import pytest

from panels.haggle.words import HINDI, translator
from panels.site import visitor
from panels.site.visitor import Page, Sessions
from tests.support.running import run
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
    kept = Sessions()
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


def test_the_oldest_session_goes_where_there_are_too_many(holder):
    holder.capacity = 2
    for name in ("one", "two", "one", "three"):
        assert holder[name]
    assert list(holder.session_data) == ["one", "three"]


def call(site: Site, name: str, session: str, *data: object) -> list:
    """The outputs of the first event outside the queue whose function is `name`."""
    number = site.event_number(*name.rsplit(".", 1))
    return json.loads(site.call(number, list(data), session))["data"]


def reloaded(site: Site, before: str, after: str) -> str:
    """What a tab shows whose session was `before` and is `after`, as text."""
    kept = json.dumps({"session": before, "moved": True, "opponent": "linear", "language": "hi"})
    opening = "haggle.tab.open_page"
    return json.dumps(call(site, opening, after, kept), ensure_ascii=False)


@pytest.mark.slow
def test_a_reload_finds_the_game_talk_and_language_again_and_leaves_the_former_session(site):
    first, second, third = (uuid.uuid4().hex for _ in range(3))
    choice = ["sell", "any item", "linear", "this page", "en"]
    call(site, "haggle.callbacks.begin", first, None, *choice)
    for text in ("₹900000 <b>only</b>", "is it raining?"):
        call(site, "haggle.callbacks.send", first, None, text)
    shown = reloaded(site, first, second)
    assert "₹900000 &lt;b&gt;only&lt;/b&gt;" in shown
    assert "is it raining?" in shown
    assert translator(HINDI)("quick_walk") in shown
    call(site, "haggle.callbacks.send", second, None, "₹800000")
    assert "₹8,00,000" in reloaded(site, second, third)
    assert "₹8,00,000" not in reloaded(site, first, uuid.uuid4().hex)


@pytest.mark.slow
def test_a_reloaded_page_shows_the_game_that_its_tab_had_begun(site):
    def press(name: str, session: str, value: str = "", kind: str = "input") -> str:
        sent = {"press": name, "fields": {"value": value}}
        (number,) = (n for n in site.event_numbers("gpu_arena.tab", "answer")
                     if site.blocks.fns[n].targets[0][1] == kind)  # fmt: skip
        return site.call(number, [None], session, sent)

    press("open", "before")
    press("wait", "before", kind="click")
    assert "Round 2 of 5" in press("open", "after", "before")
    assert "Round 2" not in press("open", "new")
    problem = press("open", "later", "of-another-page")
    assert "lost as the page was restarted; this is a new one" in problem
    del visitor.OPEN.session_data["before"]
    assert "this is a new one" in press("open", "latest", "before")


def test_an_answer_holds_what_the_event_set_and_leaves_the_rest_alone():
    with Page() as page:
        first, second, kept = gr.Textbox(), gr.Button(), gr.State(0)
        outputs = [first, second, kept]
        gr.Button().click(lambda: {second: gr.Button("Go"), kept: 3}, None, outputs)
        gr.Button().click(lambda: {first: "typed"}, None, outputs)
        gr.Button().click(lambda: {}, None, outputs)
        gr.Button().click(lambda: ("both", gr.skip(), 4), None, outputs)
    session = visitor.LeanSession(page)
    answers = [run(page.process_api(number, [], session))["data"] for number in sorted(page.fns)]
    button = answers[0][1]
    assert (button["value"], button["__type__"]) == ("Go", "update")
    assert answers[0][0] == gr.skip()
    assert answers[1] == ["typed", gr.skip(), None]
    assert answers[2] == [gr.skip(), gr.skip(), None]
    assert answers[3][:2] == ["both", gr.skip()]
    assert list(session.state_data.values()) == [4]
