"""The page in a browser: readable, fitting a phone, from one host, markup shown as it was typed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from panels import PANELS
from tests.support.page import bubbles, buying, overflow, say, selling, settle, show_tab, violations

TITLES = [panel.TITLE for panel in PANELS]
WIDE = 1280
VIEWS = [  # what fits a width does so in both colours
    pytest.param(WIDE, False, id="wide, light", marks=pytest.mark.journey),
    pytest.param(390, True, id="phone, dark"),
]


@pytest.mark.parametrize(("width", "dark"), VIEWS)
def test_every_tab_keeps_wcag_fits_its_width_and_logs_no_error(open_page, width, dark):
    page = open_page(width=width, dark=dark)
    faults = {}
    for title in TITLES:
        show_tab(page, title)
        faults[title] = violations(page)
        assert overflow(page) <= 0, title
    assert faults == {title: [] for title in TITLES}
    open_page.assert_no_trouble()


def test_every_part_of_training_judge_and_artifacts_keeps_wcag(open_page):
    page = open_page(dark=True)
    faults = {}
    for title in ("Training", "Judge", "Artifacts & API"):
        show_tab(page, title)
        parts = page.locator(".sauda-subtabs:visible").first.locator(":scope > .tab-wrapper")
        for part in parts.get_by_role("tab").all():
            part.click()
            settle(page)
            faults[part.inner_text()] = violations(page)
    assert faults
    assert not any(faults.values()), faults
    open_page.assert_no_trouble()


MARKUP = (
    '<img src=x onerror="fetch(`/x`)">',
    '<svg onload="fetch(`/x`)"><circle r=x /></svg>',
    "<form action=/x><input name=q><button>go</button></form>",
    '<a href="/x">press</a>',
    "<h1>loud</h1>",
    "<iframe src=/x></iframe>",
    "<style>body {display: none}</style>",
    "<script>fetch('/x')</script>",
    '<pre class="mermaid">graph TD; a-->b</pre>',
    "<thinking>hm</thinking>",
    "![x](http://x.example/x.png)",
    "[press](javascript:alert) [press](http://x.example) <http://x.example>",
    "javascript:alert() http://x.example www.x.example",
    "&lt;b&gt; &amp; &nbsp;|",
    "**bold** _low_ `code` ~~gone~~ # head | a | b |",
    r"$$\frac{a}{b}$$ $a$ \(a\)",
    "{{value}} ${value}",
)
ELEMENTS = (
    "img, form, a, h1, iframe, style:not(svg *), script, em, strong, del, "
    "code:not([class], pre > *), .katex, .mermaid, input[name=q], circle[r=x]"
)
OWN = ("/gradio_api/", "/assets/", "/static/", "/theme.css")


@contextmanager
def nothing_new(page: Page, address: str) -> Iterator[None]:
    """Fail where the tab on show gained an element of ELEMENTS, or asked for more than Gradio's."""
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url))
    page.on("dialog", lambda dialog: events.append(f"dialog: {dialog.message}"))
    before = elements(page)
    yield
    settle(page)
    assert elements(page) == before
    own = tuple(address + path for path in OWN)
    assert [url for url in events if not url.startswith(own)] == []


def elements(page: Page) -> list[str]:
    """The beginning of each element of ELEMENTS on the tab on show."""
    tab = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    return tab.locator(ELEMENTS).evaluate_all("all => all.map(one => one.outerHTML.slice(0, 80))")


@pytest.mark.parametrize("seat", [buying, selling])
def test_markup_with_a_price_stands_in_the_chat_as_it_was_typed(open_page, seat):
    page = seat(open_page)
    price = page.get_by_role("button", name="Open at ₹").inner_text().removeprefix("Open ")
    text = f"{' '.join(MARKUP)} {price}"
    with nothing_new(page, open_page.address):
        say(page, text)
        expect(page.locator("#haggle-problem")).to_be_empty()
        assert text in bubbles(page)
    open_page.assert_no_trouble()
