"""A visitor brings a model: the tab plays an entry with it, and its key goes to nobody else."""

import itertools
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.page import TRUSTED, RunningPage, running_app
from panels.results.leaderboard import SIGNS_IN
from sauda.serve.leaderboard import VARIABLE
from tests.support.endpoint import openai
from tests.support.endpoint import server as provider_of
from tests.support.page import overflow, settle, show_question, unfold, violations

KEY = "sk-0123456789-secret"
WALKS = openai('I leave. {"walk": true} Good bye!')
NAMES = map("visitor {}".format, itertools.count())
WHOLE = 120_000  # milliseconds, for an entry


@pytest.fixture(scope="module")
def app(tmp_path_factory) -> Iterator[RunningPage]:
    """A page on which visitors can sign in at OpenRouter."""
    data = {VARIABLE: str(tmp_path_factory.mktemp("data")), SIGNS_IN: "1"}
    with running_app(environment=TRUSTED | data) as running:
        yield running


@pytest.fixture(scope="module")
def server(app) -> str:
    """Its address, which `open_page` opens."""
    return app.address


@pytest.fixture
def bring(open_page):
    """`bring(provider, width=1280)`: the form, filled in; the page notes each request in `sent`."""

    def fill(provider: str, width: int = 1280, dark: bool = False) -> Page:
        page = open_page(width=width, dark=dark)
        page.sent = []
        page.on("request", lambda request: page.sent.append(request))
        show_question(page, "Leaderboard")
        unfold(page, "Bring your model")
        for name, value in {
            "name": next(NAMES), "base": f"{provider}/v1/", "model": "m", "key": KEY,
            "read_price": "1", "written_price": "2",
        }.items():  # fmt: skip
            field(page, name).fill(value)
        field(page, "task").select_option("bazaar/people")
        return page

    return fill


def field(page: Page, name: str):
    return page.locator(f"#leaderboard-bring [name={name}]")


def press(page: Page, name: str) -> None:
    page.locator(f"#leaderboard-bring [data-press={name}]").click()


def part_of(page: Page, part: str):
    return page.locator(f"#leaderboard-bring .sauda-{part}")


def begin(page: Page) -> None:
    """Ask what the entry costs, without which none is begun, and begin it."""
    expect(page.locator("#leaderboard-bring [data-press=begin]")).to_be_disabled()
    press(page, "cost")
    expect(part_of(page, "now")).to_contain_text(
        re.compile(r"About \d+ calls, [\d,]+ tokens read, [\d,]+ written, 0.\d\d in money")
    )
    press(page, "begin")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_model_plays_a_whole_entry_and_its_key_is_in_no_request_to_the_page_and_in_no_storage(
    open_page, app, bring, width, dark
):
    with provider_of(WALKS) as (provider, asked):
        page = bring(provider, width, dark)
        assert asked == []
        begin(page)
        expect(part_of(page, "now")).to_contain_text("Complete: mean grade", timeout=WHOLE)
    expect(part_of(page, "now")).to_contain_text("450 tokens read, 350 written, 0.00 in money")
    expect(part_of(page, "log").locator("li")).to_have_count(50)
    assert len(asked) == 50
    assert {authorization for _, _, authorization in asked} == {f"Bearer {KEY}"}
    to_others = [each for each in page.sent if not each.url.startswith(provider)]
    assert sum(each.url.endswith("/leaderboard/turn") for each in to_others) > 50
    for request in to_others:
        assert KEY not in f"{request.url} {request.all_headers()} {request.post_data_buffer}"
    for storage in ("localStorage", "sessionStorage", "document.cookie"):
        assert KEY not in page.evaluate(f"JSON.stringify({storage})")
    assert KEY not in page.url
    assert KEY not in app.log()
    rows = page.request.get(f"{open_page.address}/leaderboard?task=bazaar/people").json()
    assert rows["entries"][0]["total_episodes"] == 50
    settle(page)
    assert violations(page) == []
    assert overflow(page) <= 0
    page.reload()
    show_question(page, "Leaderboard")
    unfold(page, "Bring your model")
    expect(field(page, "key")).to_have_value("")
    hosts = {urlsplit(url).netloc for url in open_page.other_hosts}
    assert (hosts, open_page.console_errors) == ({urlsplit(provider).netloc}, [])


def test_a_visitor_pauses_and_goes_on_also_in_a_new_tab_by_the_token(bring):
    def slowly(body):
        time.sleep(0.1)
        return WALKS

    with provider_of(slowly) as (provider, asked):
        page = bring(provider)
        begin(page)
        expect(part_of(page, "log").locator("li")).not_to_have_count(0)
        press(page, "pause")
        expect(part_of(page, "now")).to_contain_text("Paused.")
        calls = len(asked)
        page.wait_for_timeout(1000)
        assert len(asked) == calls < 50
        press(page, "begin")
        expect(part_of(page, "log").locator("li")).not_to_have_count(calls)
        press(page, "pause")
        expect(part_of(page, "now")).to_contain_text("Paused.")
        token, done = field(page, "token").input_value(), len(asked)
    with provider_of(WALKS) as (provider, asked):
        page = bring(provider)
        field(page, "token").fill(token)
        begin(page)
        expect(part_of(page, "now")).to_contain_text("Complete", timeout=WHOLE)
    assert len(asked) == 50 - done


FAULTS = [
    (401, "The provider does not take the key (status 401)"),
    (b"<html>", "The provider answers no JSON object"),
    (openai(""), "three times without words (it ended by stop)"),
    ("close", "does not answer, or lets no page of another site ask (CORS)"),
]


def test_a_fault_of_the_provider_is_told_in_a_sentence_and_nothing_is_lost(bring):
    script = [WALKS, *(fault for fault, _ in FAULTS)]
    script[3:4] = 3 * [openai("")]
    script[-1:] = 4 * ["close"]
    with provider_of(*script, 429, 503, WALKS) as (provider, asked):
        page = bring(provider)
        begin(page)
        for _, sentence in FAULTS:
            expect(part_of(page, "fault")).to_contain_text(sentence, timeout=WHOLE)
            expect(part_of(page, "fault")).to_contain_text("Nothing is lost", timeout=WHOLE)
            expect(part_of(page, "log").locator("li")).to_have_count(1)
            press(page, "begin")
        expect(part_of(page, "now")).to_contain_text("Complete", timeout=WHOLE)
    assert len(asked) == 50 + len(script) - 1 + 2


def test_a_sign_in_at_openrouter_fills_in_a_key_that_the_page_never_sees(bring, open_page):
    given = {"key": KEY}

    def authorize(route):
        asked = parse_qs(urlsplit(route.request.url).query)
        challenges.extend(asked["code_challenge"])
        (back,) = asked["callback_url"]
        route.fulfill(status=302, headers={"location": f"{back}?code=one-time"})

    def exchange(route):
        exchanged.append(route.request.post_data_json)
        route.fulfill(json=given, headers={"access-control-allow-origin": "*"})

    challenges, exchanged = [], []
    with provider_of(WALKS) as (provider, _):
        page = bring(provider)
        page.context.route("https://openrouter.ai/auth?**", authorize)
        page.context.route("https://openrouter.ai/api/v1/auth/keys", exchange)
        field(page, "key").fill("")
        press(page, "sign")
        expect(field(page, "key")).to_have_value(KEY)
    expect(field(page, "base")).to_have_value("https://openrouter.ai/api/v1")
    (sent,) = exchanged
    assert (sent["code"], sent["code_challenge_method"]) == ("one-time", "S256")
    verifier = sent["code_verifier"].encode()
    assert challenges == [urlsafe_b64encode(sha256(verifier).digest()).decode().rstrip("=")]
    assert all(KEY not in f"{each.url} {each.post_data}" for each in page.sent)
