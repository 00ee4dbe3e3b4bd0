"""The page in a browser: opening it, waiting until it is still, sitting down to haggle."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from env import Offer
from sauda.sessions.bazaar import answer, start
from sauda.sessions.ladder import Level, stars

LOADED = 120_000  # milliseconds: a busy machine takes a minute to import torch
# Gradio's client says so where a page is left while a stream of events, or a call, is open. A call
# that fails for another reason stands among the failed requests.
LEFT_OPEN = ("AbortError: signal is aborted without reason", "Connection errored out.")
DRAWN = 60_000  # milliseconds: Results has a dozen plots, and tests share the cores
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}
SETTLED = """([quiet, limit]) => new Promise(done => {
    let timer = setTimeout(still, quiet);
    const last = setTimeout(finish, limit);
    const watch = new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(still, quiet);
    });
    watch.observe(document.body, {subtree: true, childList: true, attributes: true});
    function still() {  // an answer on its way counts its seconds, and a busy machine skips some
        if (document.querySelector(".progress-text")) timer = setTimeout(still, quiet);
        else finish();
    }
    function finish() {
        clearTimeout(timer);
        clearTimeout(last);
        watch.disconnect();
        document.fonts.ready.then(() => done());
    }
})"""


@dataclass
class PageOpener:
    """Opens the page in fresh contexts and writes down what went wrong in any of them."""

    browser: Browser
    address: str
    console_errors: list[str] = field(default_factory=list)
    failed_requests: list[str] = field(default_factory=list)
    other_hosts: list[str] = field(default_factory=list)

    def __call__(
        self,
        width: int = 1280,
        dark: bool = False,
        tab: str | None = None,
        height: int = 800,
        query: str = "",
    ) -> Page:
        """The page `width` px wide, settled, on the tab titled `tab` (the first by default).

        `query` is what a link adds to the address: "tab=training&over=time".
        """
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, has_touch=width < 700
        )
        page = context.new_page()
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self._note_error(str(error)))
        page.on("requestfailed", self._note_failure)
        page.on("response", self._note_status)
        page.on("request", self._note_host)
        page.goto(f"{self.address}/?__theme={'dark' if dark else 'light'}&{query}")
        page.locator(".sauda-tabs [role=tab]").first.wait_for()
        settle(page)
        if tab is not None:
            show_tab(page, tab)
        return page

    def assert_no_trouble(self) -> None:
        """Fail where a console error, a failed request or a request to another host was seen."""
        seen = (self.console_errors, self.failed_requests, self.other_hosts)
        assert seen == ([], [], []), "console errors, failed requests, other hosts: " + repr(seen)

    def _note_console(self, message) -> None:
        if message.type == "error":
            self._note_error(message.text)

    def _note_error(self, text: str) -> None:
        if not any(told in text for told in LEFT_OPEN):
            self.console_errors.append(text)

    def _note_failure(self, request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the page itself ended it, as on closing
            self.failed_requests.append(f"{request.url}: {request.failure}")

    def _note_status(self, response) -> None:
        if response.status >= 400:
            self.failed_requests.append(f"{response.url}: {response.status}")

    def _note_host(self, request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.address).netloc:
            self.other_hosts.append(request.url)


def settle(page: Page, quiet: int = 300, limit: int = 8000) -> None:
    """Wait until the page has not changed for `quiet` ms (at most `limit` ms) and fonts are in."""
    page.evaluate(SETTLED, [quiet, limit])


def show_tab(page: Page, title: str) -> None:
    """Go to the tab titled `title`."""
    page.locator(".sauda-tabs").first.get_by_role("tab", name=title, exact=True).click()
    panel = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    panel.locator(":scope .block:visible, :scope button:visible").first.wait_for(timeout=DRAWN)
    plots = panel.locator(":scope .empty.large:visible")
    expect(plots).to_have_count(0, timeout=DRAWN)  # every plot is drawn
    settle(page)


def questions(page: Page) -> list[str]:
    """The titles of the sub-tabs of Results, which is open."""
    return _question_tabs(page).all_inner_texts()


def show_question(page: Page, title: str) -> None:
    """Go to the sub-tab of Results titled `title`, and to Results first."""
    if not page.locator("#results-questions").is_visible():
        show_tab(page, "Results")
    _question_tabs(page).filter(has_text=title).click()
    panel = page.locator("#results-questions > [role=tabpanel]:visible")
    panel.locator(":scope .block:visible").first.wait_for(timeout=DRAWN)
    expect(panel.locator(":scope .empty.large:visible")).to_have_count(0, timeout=DRAWN)
    settle(page)


def _question_tabs(page: Page) -> Locator:
    return page.locator("#results-questions > .tab-wrapper [role=tab]:visible")


def unfold(page: Page, title: str) -> None:
    """Open the folded part titled `title` of the sub-tab of Results that is shown."""
    folds = page.locator(":is(.sauda-fold > button, .sauda-more > summary):visible")
    folds.filter(has_text=title).click()
    plots = page.locator(".sauda-fold .empty.large:visible")
    expect(plots).to_have_count(0, timeout=DRAWN)
    settle(page)


@contextmanager
def holding(page: Page, requests: str = "**/run/**") -> Iterator[None]:
    """Context: these requests, by default of events outside the queue, wait until it ends."""
    held = []
    page.route(requests, lambda route: held.append(route))
    yield
    for route in held:
        route.continue_()
    page.unroute(requests)


def box(page: Page, part: str = "haggle") -> Locator:
    """Where a visitor types in a sub-tab of Haggle."""
    return page.locator(f"#{part}-price :is(input, textarea)")


def say(page: Page, text: str) -> None:
    """Say something in Haggle's chat."""
    box(page).fill(text)
    box(page).press("Enter")
    settle(page)


def buying(open_page) -> Page:
    """The Haggle tab in the buyer's seat, where a plain seller asks ₹60.

    The address names the game: chosen by hand, the small model would first open another.
    """
    page = _seated(open_page, "classic/single_deal", "hidden")
    page.locator("#haggle-chat [data-testid=bot]").first.wait_for()
    return page


def selling(open_page) -> Page:
    """The Haggle tab in the seller's seat, a script in the buyer's."""
    return _seated(open_page, "bazaar/sell", "linear")


def _seated(open_page, task: str, against: str) -> Page:
    game = {"task": task, "seed": 1, "against": against}
    return open_page(query=urlencode({"tab": "haggle"} | game, safe="/"))


def bubbles(page: Page) -> list[str]:
    """What the bubbles of the chat say: the words of one, or its price where it has no words."""
    return page.locator(
        "#haggle-chat [data-testid=user], #haggle-chat [data-testid=bot]"
    ).evaluate_all(
        """all => all.map(one => {
            const tag = one.querySelector("b")?.innerText ?? "";
            return one.innerText.slice(tag.length).trim() || tag;
        })"""
    )


def problem(page: Page) -> str:
    return page.locator("#haggle-problem").inner_text().strip()


def overflow(page: Page) -> float:
    """By how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


def violations(page: Page, within: str | None = None) -> list[str]:
    """What axe finds against WCAG 2.1 A and AA, one line a place; `within` is a CSS selector."""
    return [
        f"{violation['id']}: {node['target']}: {node['failureSummary']}"
        for violation in Axe().run(page, context=within, options=WCAG).response["violations"]
        for node in violation["nodes"]
    ]


def bids_that_beat(level: Level) -> list[int]:
    """Rising bids of which the level's seller takes the last, for a star at least."""
    game, bids = start(level.task, "", level.seed), []
    price = round(0.6 * game.observation.ask)
    while not game.over:
        bids.append(price)
        game = answer(game, Offer(price))
        price = round(price + 0.3 * (game.observation.ask - price))
    assert stars(game) > 0
    return bids
