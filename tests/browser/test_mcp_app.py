"""The views of the tools for agents, drawn by the official host of MCP Apps, from npm."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.support.page import overflow, violations
from tests.support.running import unavailable

HOST = Path(__file__).parents[1] / "support" / "mcp-host"
SHELL = """<!doctype html><html lang="en"><title>A chat</title>
<style>body { margin: 0 } iframe { width: 100%; border: 0 }</style>"""
FULL = {"serverTools": {}, "updateModelContext": {"text": {}}}
DEVANAGARI = re.compile("[\u0900-\u097f]")
LOOKS = [(800, "light", "en-IN"), (390, "dark", "en"), (390, "light", "hi-IN")]
PLAYED = ["bazaar/package", "bazaar/sell", "bazaar/open-3"]


@pytest.fixture(scope="session")
def bundle(tmp_path_factory) -> str:
    """The host as one script; skips where npm or its registry is missing, but fails on CI."""
    if (npm := shutil.which("npm")) is None:
        unavailable("no npm on this machine, so no host drew the views of the tools")
    folder = tmp_path_factory.mktemp("mcp-host")
    shutil.copytree(HOST, folder, dirs_exist_ok=True)
    for command in ([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], [
        npm, "exec", "--", "esbuild", "host.js", "--bundle", "--outfile=bundle.js",
    ]):  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        if done.returncode:
            unavailable(f"npm did not install the host of MCP Apps: {done.stderr[-300:]}")
    return (folder / "bundle.js").read_text(encoding="utf-8")


class Chat:
    """A chat in which the view of a tool is drawn; it notes what went wrong in the browser."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        # The client asks for a stream of events, which a server without sessions refuses by 405.
        if message.type in ("error", "warning") and "405" not in message.text:
            self.faults.append(message.text)

    def open(self, task: str, capabilities: dict = FULL, **context: str) -> dict[str, Any]:
        """Draw a new game of a task; returns what the tool answered."""
        opened = self.page.evaluate(
            "([task, context, can]) => openView('new_game', {task}, context, can)",
            [task, context, capabilities],
        )
        assert opened["mimeType"] == "text/html;profile=mcp-app"
        expect(self.view.locator("h1")).to_be_visible()
        return opened["game"]

    @property
    def view(self) -> FrameLocator:
        return self.page.frame_locator("iframe")

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        """What the agent of the chat is answered, whose call the view does not see."""
        code = "([name, given]) => host.client.callTool({name, arguments: given})"
        return self.page.evaluate(code, [tool, given])["structuredContent"]

    def seen(self, game: dict[str, Any]) -> dict[str, Any]:
        """The game as it now is."""
        return self.call("view_game", game_id=game["game_id"])

    def settle(self) -> None:
        """Wait until the view's own call is answered."""
        expect(self.view.locator("main:not([inert])")).to_be_visible()


@pytest.fixture
def chat(browser: Browser, server: str, bundle: str) -> Iterator[Callable[..., Chat]]:
    """`chat(width=800, dark=False)`: a page of the server's own origin, as a chat has its own."""
    opened = []

    def open_chat(width: int = 800, theme: str = "light") -> Chat:
        context = browser.new_context(
            viewport={"width": width, "height": 1400}, color_scheme=theme, has_touch=width < 700
        )
        opened.append(context)
        page = context.new_page()
        page.route("**/chat", lambda route: route.fulfill(body=SHELL, content_type="text/html"))
        page.goto(f"{server}/chat")
        page.add_script_tag(content=bundle)
        return Chat(page)

    yield open_chat
    for context in opened:
        context.close()


@pytest.mark.parametrize(
    ("task", "width", "theme", "locale"),
    [(task, *look) for task, look in zip(PLAYED, LOOKS, strict=True)],
)
def test_a_game_is_played_by_keyboard_to_its_end_and_looks_as_the_chat_does(
    chat, task, width, theme, locale
):
    here = chat(width, theme)
    game = here.open(task, theme=theme, locale=locale)
    paper = here.view.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
    assert paper == ("rgb(20, 19, 26)" if theme == "dark" else "rgb(250, 247, 240)")
    assert violations(here.page) == []
    for _ in range(3):
        if game["over"]:
            break
        here.view.locator("#words").fill("<b>I pay cash</b> right now.")
        here.view.locator("#words").press("Enter")
        here.settle()
        game = here.seen(game)
    if not game["over"]:
        assert len(game["bazaar"]["asks" if task == "bazaar/sell" else "bids"]) == 3
        here.view.locator("#leave").press("Enter")
        expect(here.view.locator("#leave")).to_be_focused()  # it asks once
        here.view.locator("#leave").press("Enter")
    expect(here.view.locator(".verdict")).to_be_visible()
    best, limit = ("1 at best", "limit was") if locale != "hi-IN" else ("सबसे अच्छा 1", "सीमा थी")
    expect(here.view.locator(".verdict")).to_contain_text(best)
    expect(here.view.locator(".side", has_text=limit)).to_have_count(1)
    assert here.view.locator(".log b + span b").count() == 0  # markup stays text
    expect(here.view.locator(".log")).to_contain_text("<b>I pay cash</b> right now.")
    assert overflow(here.page) <= 0
    assert here.view.locator("html").evaluate("e => e.scrollWidth - innerWidth") <= 0
    assert violations(here.page) == []
    assert all(game["game_id"] in text for text in here.page.evaluate("told"))
    assert here.page.evaluate("told.length") > 0
    assert here.faults == []


def test_words_in_devanagari_have_a_gloss_in_the_language_of_the_caller(chat):
    here = chat()
    for _ in range(40):  # a seller speaks one of three languages
        game = here.open("bazaar/open-3", locale="en-US", theme="light")
        if DEVANAGARI.search(game["bazaar"]["moves"][0]["message"]):
            break
    expect(here.view.locator(".log li [lang=hi]")).to_have_count(1)
    gloss = here.view.locator(".log li .gloss").inner_text()
    assert re.search("[a-z]", gloss)
    assert not DEVANAGARI.search(gloss)
    expect(here.view.locator("h1")).to_have_text(game["bazaar"]["item"]["name"])
    here.page.evaluate("host.bridge.setHostContext({locale: 'hi', theme: 'dark'})")
    expect(here.view.locator(".gloss")).to_have_count(0)  # its own words need none
    expect(here.view.locator("h1")).to_have_text(DEVANAGARI)
    expect(here.view.locator("html")).to_have_css("color-scheme", "dark")


def test_a_move_at_a_table_that_went_on_elsewhere_is_not_made_and_what_was_typed_stays(chat):
    here = chat()
    game = here.open("bazaar/open-3", locale="en", theme="light")
    after = here.call("offer", game_id=game["game_id"], price=1)
    here.view.locator("#words").fill("Deal!")
    here.view.locator("#accept").click()
    expect(here.view.locator("#fault")).to_contain_text("Your move was not made")
    assert here.seen(game) == after
    if not after["over"]:
        expect(here.view.locator("#words")).to_have_value("Deal!")
        expect(here.view.locator(".log li")).to_have_count(len(after["bazaar"]["moves"]))


def test_a_move_that_the_rules_refuse_is_told_in_a_sentence(chat):
    here = chat()
    game = here.open("bazaar/open-3", locale="en", theme="light")
    here.view.locator("#price").fill(str(100 * game["bazaar"]["own"]["purse"]))
    here.view.locator("#words").fill("All of it.")
    here.view.locator("#offer").click()
    expect(here.view.locator("#fault")).to_contain_text("The rules refuse this move")
    expect(here.view.locator("#words")).to_have_value("All of it.")
    assert here.seen(game) == game


@pytest.mark.parametrize(("width", "theme", "locale"), LOOKS)
def test_a_lab_trades_in_the_arena_to_the_end(chat, width, theme, locale):
    here = chat(width, theme)
    game = here.open("arena/market_round", theme=theme, locale=locale)
    expect(here.view.locator("#which option").first).to_be_attached()
    assert violations(here.page) == []
    acted = 0
    while not game["over"]:
        expect(here.view.locator("#which option").first).to_be_attached()
        here.view.locator("#act").click()
        here.settle()
        now = here.seen(game)
        assert now != game, here.view.locator("#fault").inner_text()
        game, acted = now, acted + 1
    assert acted > 1
    expect(here.view.locator("#again")).to_be_visible()
    assert here.view.locator("html").evaluate("e => e.scrollWidth - innerWidth") <= 0
    assert here.faults == []
    here.view.locator("#again").click()
    expect(here.view.locator("#act")).to_be_visible()


def test_a_chat_that_calls_no_tools_for_a_view_shows_the_table_without_buttons(chat):
    here = chat()
    game = here.open("bazaar/open-3", {}, locale="en", theme="light")
    expect(here.view.locator(".log li")).to_have_count(len(game["bazaar"]["moves"]))
    assert here.view.locator("button").count() == 0
    expect(here.view.locator("main")).to_contain_text("ask its agent to play")
