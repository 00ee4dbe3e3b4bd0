"""The page as visitors use it: they haggle, compare, read, download, and type nonsense."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from playwright.sync_api import expect

from benchmarks.page import running_app
from env import TASKS, rollout
from panels.artifacts.snippets import SNIPPETS
from sauda.games.transcript import to_json
from sauda.llm.registry import get_policy
from sauda.records.kinds import FILES
from sauda.records.provenance import REPOSITORY
from sauda.records.store import ROOT
from tests.support.page import (
    DRAWN,
    bubbles,
    buy,
    buying,
    problem,
    say,
    selling,
    settle,
    show_question,
    show_tab,
    unfold,
    violations,
)

# Haggle


@pytest.mark.journey
def test_a_text_without_a_price_is_answered_in_the_chat_and_costs_no_round(open_page):
    page = buying(open_page)
    brief = page.locator(".sauda-brief").inner_text()
    for text in ("namaste ji", "NaN", "<script>alert('x')</script>"):
        before = bubbles(page)
        say(page, text)
        *kept, typed, answer = bubbles(page)
        assert (kept, typed) == (before, text)
        assert answer.endswith("?")
        assert problem(page) == ""
        assert page.locator(".sauda-brief").inner_text() == brief
    before = bubbles(page)
    say(page, "₹10")
    assert problem(page) == ""
    assert bubbles(page)[: len(before) + 1] == [*before, "₹10"]
    open_page.assert_no_trouble()


def test_what_cannot_be_answered_gets_one_sentence_and_the_game_goes_on(open_page):
    page = buying(open_page)
    before = bubbles(page)
    cannot = {"": "Name a price", "क" * 100_000: "at most 2,000 characters"}
    for text, expected in cannot.items():
        say(page, text)
        assert expected in problem(page)
        assert bubbles(page) == before
        assert page.locator("#haggle-price :is(input, textarea)").input_value() == text
    say(page, "₹10")
    assert problem(page) == ""
    open_page.assert_no_trouble()


@pytest.mark.parametrize("text", ["10 mein de do", "दस रुपये"])
def test_a_price_in_any_script_is_a_bid(open_page, text):
    page = buying(open_page)
    say(page, text)
    assert "bids from ₹10 to ₹10" in page.locator("#haggle-chart svg").get_attribute("aria-label")
    assert text in bubbles(page)


def test_after_the_end_the_result_stands_in_the_place_of_the_input(open_page):
    page = buying(open_page)
    page.get_by_role("button", name="Accept ₹").click()
    settle(page)
    expect(page.locator("#haggle-card")).to_be_visible()
    for dead in ("#haggle-price", "#haggle-quick"):
        expect(page.locator(dead)).to_be_hidden()
    page.get_by_role("button", name="New game").click()
    settle(page)
    assert len(bubbles(page)) == 1


def test_a_click_meant_for_the_move_before_is_not_a_second_move(open_page):
    page = buying(open_page)
    page.get_by_label("Market").click()
    page.get_by_role("option", name="Ten deals with one seller").click()
    settle(page)
    page.evaluate(
        """() => {
            const button = [...document.querySelectorAll('button')]
                .find(b => b.textContent.includes('Accept ₹60'));
            button.click();
            setTimeout(() => button.click(), 5);
        }"""
    )
    settle(page)
    closed = [text for text in bubbles(page) if text.startswith("(Deal")]
    assert len(closed) <= 1


def test_in_the_sellers_seat_the_visitor_speaks_in_the_sellers_colour(open_page):
    page = selling(open_page)
    page.get_by_role("button", name="Open at ₹").click()
    settle(page)
    hues = page.evaluate(
        """() => ['user', 'bot'].map(role => getComputedStyle(
            document.querySelector(`#haggle-chat .message.${role}`)).backgroundColor)"""
    )
    assert hues[0] != hues[1]


@pytest.mark.journey
def test_a_seller_can_sell_and_sees_limits_bonus_and_place_at_the_end(open_page):
    page = selling(open_page)
    page.get_by_role("button", name="Open at ₹").click()
    settle(page)
    page.get_by_role("button", name="Accept at a loss ₹").click()
    settle(page)
    assert "you would lose" in bubbles(page)[-1]
    page.get_by_role("button", name="Accept at a loss ₹").click()
    settle(page)
    result = page.locator("#haggle-result").inner_text()
    assert "The seller’s limit was" in result
    assert "Your bonus:" in result
    assert "Played now, at seed" in result
    assert "python -m sauda play --task bazaar/seller_brief" in (
        page.locator("#haggle-result").text_content()  # folded
    )


def test_two_visitors_never_see_each_others_game(open_page):
    first, second = buying(open_page), buying(open_page)
    say(first, "₹11")
    say(second, "₹12")
    say(first, "₹13")
    said_first, said_second = (
        [b for b in bubbles(page) if b in ("₹11", "₹12", "₹13")] for page in (first, second)
    )
    assert said_first in (["₹11", "₹13"], ["₹11"])  # a seller may leave after the first bid
    assert said_second == ["₹12"]


def prices(text: str) -> set[str]:
    """The prices in a text, each whole: ₹41 is not in "₹410"."""
    return set(re.findall(r"₹[\d,.]*\d", text.replace(r"\u20b9", "₹")))


@pytest.mark.journey
def test_nothing_hidden_crosses_the_network_while_the_game_runs(open_page):
    page = open_page()
    traffic: list[str] = []

    def keep(response) -> None:
        kind = response.headers.get("content-type", "")
        if any(part in kind for part in ("json", "html", "event-stream")):
            traffic.append(response.text())

    page.on("response", keep)
    page.reload()
    page.locator(".sauda-tabs [role=tab]").first.wait_for()
    settle(page)
    show_tab(page, "Haggle")
    public = prices("".join(traffic) + page.content())
    buy(page)
    for price in ("₹10", "₹11", "₹12"):
        say(page, price)
    sent = "".join(traffic) + page.content()
    public |= prices(" ".join(bubbles(page)))  # an ask may come down to the limit
    page.get_by_role("button", name="Walk away").click()
    settle(page)
    result = page.locator("#haggle-result").inner_text()
    limit = re.search(r"The seller’s limit was (₹[\d,.]+\d)", result)[1]
    # The command names the whole seed; the line above it shows only the first and last digits.
    (seed,) = re.findall(r"--seed (\d{20,})", page.locator("#haggle-result").text_content())
    assert len(sent) > 1000
    assert seed not in sent
    assert limit not in prices(sent) - public


# Results, Transcripts


TASK_BY_TASK = "One task at a time, classic tasks too"


def task_by_task(open_page, dark: bool = False):
    """Results with the open market's bars, table and CSV unfolded."""
    page = open_page(tab="Results", dark=dark)
    show_question(page, "Who wins the open market?")
    unfold(page, TASK_BY_TASK)
    return page


def test_another_task_draws_other_bars_and_another_table(open_page):
    page = task_by_task(open_page)
    table = page.locator("#results-bazaar-table")
    before = table.inner_text()
    page.get_by_label("Task").first.click()
    page.get_by_role("option", name="Five quick deals").click()
    settle(page)
    assert "five quick deals" in table.inner_text()
    assert table.inner_text() != before
    assert page.locator("#results-bazaar-bars .barlayer .point").count() == 11


def test_the_table_of_policies_is_sorted_by_number_and_searched(open_page):
    page = task_by_task(open_page)
    table = page.locator("#results-bazaar-table")
    names = table.locator("[role=gridcell].first-column")
    expect(names.first).to_have_text("pilot")
    header = table.get_by_role("columnheader", name="mean [95 % interval]").last
    header.hover()
    header.get_by_label("Open cell menu").click()
    page.get_by_text("Sort ascending").click()
    expect(names.first).to_have_text("aggressive")
    table.locator(".search-input").fill("tit for")
    expect(names).to_have_text(["tit for tat"])
    open_page.assert_no_trouble()


def test_a_figure_is_never_white_on_a_dark_page(open_page):
    page = task_by_task(open_page, dark=True)
    colours = page.evaluate(
        """() => [...document.querySelectorAll('#results-bazaar-bars .main-svg')]
            .map(svg => getComputedStyle(svg).backgroundColor)"""
    )
    assert colours
    assert all(colour == "rgba(0, 0, 0, 0)" for colour in colours)


@pytest.mark.journey
def test_the_csv_is_the_table_of_the_chosen_task(open_page):
    page = task_by_task(open_page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    assert text.startswith("task,split,policy,n,")
    assert "bazaar/open,holdout,expert,500" in text


def any_game(open_page):
    """A fresh page on the games of the visitor's choice."""
    page = open_page(tab="Transcripts")
    page.get_by_role("tab", name="Any game").click()
    return page


def test_before_and_after_opens_on_a_game_that_ends_in_a_deal(open_page):
    page = open_page(tab="Transcripts")
    expect(
        page.get_by_role("heading", name=re.compile(r"^Better in \d+ of \d+ games"))
    ).to_be_visible()
    expect(page.locator(".sauda-pair .sauda-card").last).to_contain_text("losed at ₹")


@pytest.mark.journey
def test_the_moves_are_played_one_after_another_and_pause(open_page):
    page = any_game(open_page)
    box = page.locator(".sauda-talk").first
    whole = box.locator("li").count()
    page.get_by_role("button", name="Play", exact=False).first.click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(box.locator("li")).not_to_have_count(whole)
    page.get_by_role("button", name="Pause").click()
    settle(page)
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()


def test_the_shoot_out_starts_from_a_recorded_game(open_page):
    page = any_game(open_page)
    page.get_by_role("button", name="Shoot-out").click()
    expect(
        page.get_by_text("Recorded in episodes/before_after.json: untrained base, ")
    ).to_be_visible()
    expect(page.locator(".sauda-talk")).to_have_count(4)


def test_the_step_slider_shows_so_many_moves(open_page):
    page = any_game(open_page)
    box = page.locator(".sauda-talk").first
    assert box.locator("li").count() > 2
    slider = page.locator(".sauda-steps input[type=range]:visible")
    slider.focus()
    slider.press("Home")
    slider.press("ArrowRight")
    expect(box.locator("li")).to_have_count(2)
    assert page.locator(".sauda-talk").count() == 4


def test_a_seed_out_of_range_is_refused_in_words(open_page):
    page = any_game(open_page)
    page.get_by_label("Seed").fill("-4")
    page.get_by_label("Seed").press("Enter")
    page.get_by_text("A seed is a whole number from 0").first.wait_for()
    assert page.locator(".sauda-talk").count() == 4
    open_page.assert_no_trouble()


# Artifacts & API, and what happens when a file is broken


def test_every_artifact_downloads_as_it_lies_in_the_repository(open_page):
    page = open_page(query="tab=artifacts&part=files")
    groups = page.locator("details.sauda-more:visible")
    groups.first.wait_for(timeout=DRAWN)
    for group in groups.all():
        if group.get_attribute("open") is None:
            group.locator("summary").click()
    links = page.locator(".sauda-table a[download]:visible")
    assert links.count() == len(FILES)
    assert violations(page) == []
    for index in range(links.count()):
        links.nth(index).scroll_into_view_if_needed()
        settle(page)
        with page.expect_download(timeout=120_000) as download:  # tests share the cores
            links.nth(index).click()
        content = download.value.path().read_bytes()
        local = (ROOT / links.nth(index).inner_text()).read_bytes()
        assert hashlib.sha256(content).digest() == hashlib.sha256(local).digest()


def test_the_zip_of_all_artifacts_is_made_when_it_is_asked_for(open_page):
    page = open_page(query="tab=artifacts&part=files")
    ready = page.get_by_role("button", name="Download the zip")
    assert not ready.is_visible()
    page.get_by_role("button", name="Pack all files in one zip").click()
    ready.wait_for(timeout=120_000)
    with page.expect_download(timeout=120_000) as download:
        ready.click()
    assert download.value.suggested_filename == "sauda-artifacts.zip"
    with zipfile.ZipFile(download.value.path()) as archive:
        assert {f"artifacts/{entry.file}" for entry in FILES} <= set(archive.namelist())
    open_page.assert_no_trouble()


def test_the_page_answers_as_an_api(server):
    client = Client(server, verbose=False)
    task = TASKS["classic/single_deal"]
    expected = to_json(rollout(task, get_policy(task, "expert"), 7), "expert") | {"seed": "7"}
    answer = client.predict("classic/single_deal", "expert", "7", api_name="/play")
    assert answer == json.loads(json.dumps(expected))


def test_an_unknown_policy_is_answered_by_the_api_with_those_there_are(server):
    client = Client(server, verbose=False)
    for name in ("oracle", "mini", "mini+/etc/passwd"):
        with pytest.raises(AppError, match="no policy of that name; choose one of expert, wait"):
            client.predict("classic/single_deal", name, "7", api_name="/play")


def test_the_snippets_of_the_page_run_as_printed(server, open_page, capsys):
    page, printed = open_page(tab="Artifacts & API"), {}
    for name, group in SNIPPETS.items():
        page.get_by_role("tab", name=name, exact=True).click()
        for snippet in group:
            shown = page.locator(f"#{snippet.elem_id} .cm-content")
            expect(shown).to_contain_text(server)
            printed[snippet.elem_id] = shown.inner_text()
    assert violations(page) == []
    exec(printed["api-client"], {})
    assert "'policy': 'expert'" in capsys.readouterr().out
    assert '"policy": "expert"' in output_of("bash", printed["api-curl"])
    with page.expect_console_message() as logged:
        page.evaluate(f"async () => {{ {printed['api-javascript']} }}")
    assert logged.value.args[0].json_value()["policy"] == "expert"
    assert json.loads(printed["api-mcp"])["mcpServers"]["sauda"]["url"] in printed["api-agent"]
    assert "'policy': 'you'" in output_of(sys.executable, printed["api-agent"])
    open_page.assert_no_trouble()


def output_of(interpreter: str, program: str) -> str:
    """What a program prints that ends without a fault."""
    done = subprocess.run([interpreter, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_broken_and_missing_artifacts_show_their_command_and_spare_the_other_tabs(
    open_page, tmp_path
):
    for part in ("app.py", "env", "sauda", "panels", "artifacts"):
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        copy(REPOSITORY / part, tmp_path / part)
    (tmp_path / "artifacts/evaluation/classic-holdout.json").write_text('{"kind": ')
    (tmp_path / "artifacts/episodes/before_after.json").unlink()
    broken = tmp_path / "artifacts/evaluation/reproduction.json"
    content = json.loads(broken.read_text())
    del content["data"]["agreement"]
    broken.write_text(json.dumps(content))
    with running_app(tmp_path) as app:
        open_page.address = app.address
        page = task_by_task(open_page)
        assert page.locator("#results-bazaar-bars .barlayer .point").count() == 12
        expect(page.locator(".sauda-empty:visible")).to_contain_text("--split holdout")
        show_question(page, "Everything else")
        unfold(page, "Does the classic game play like the published one?")
        expect(page.locator(".sauda-empty:visible")).to_contain_text("sauda run reproduction")
        show_tab(page, "Tour")
        assert any("before-after" in t for t in page.locator(".sauda-empty").all_inner_texts())
        show_tab(page, "Haggle")
        price = page.get_by_role("button", name="Open at ₹").inner_text().removeprefix("Open ")
        say(page, price)
        assert price in bubbles(page)
