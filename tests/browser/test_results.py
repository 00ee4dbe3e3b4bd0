"""Results, Training, Artifacts and the API in a browser, and what a broken file spoils there."""

import csv
import io
import json
import re
import shutil
import sys
import zipfile

import pytest
from playwright.sync_api import Page, expect

from benchmarks.load import FILE, MIXES, REVIEW, play_mix
from benchmarks.page import running_app
from panels.artifacts import ADDRESS, PROGRAMS
from panels.results.leaderboard import CODE
from sauda.players import SERVED, buyer_name
from sauda.records.kinds import FILES
from sauda.records.schemas.speeds import recompute_load
from sauda.records.store import REPOSITORY, load, save
from tests.support.page import (
    DRAWN,
    bubbles,
    overflow,
    questions,
    say,
    settle,
    show_question,
    show_tab,
    unfold,
    violations,
)
from tests.support.running import output_of, run

STACK = "training-curves"  # id of the stack of panels


@pytest.mark.parametrize("width", [1280, 390])
def test_every_folded_part_unfolds_with_its_figures_as_wide_as_the_page(open_page, width):
    page = open_page(width=width, tab="Results")
    for title in questions(page):
        show_question(page, title)
        for fold in page.locator(".sauda-fold:visible > button").all_inner_texts():
            name = fold.split("\n")[0]
            unfold(page, name)
            assert page.locator(".sauda-fold:visible > button.open").count() == 1, (title, name)
            widths = page.locator(".js-plotly-plot:visible .main-svg:first-child").evaluate_all(
                "plots => plots.map(plot => plot.getBoundingClientRect().width)"
            )
            assert min(widths, default=width) > 0.8 * width, (name, widths)
        page.locator(".sauda-more:visible").evaluate_all("all => all.map(one => one.open = true)")
        assert overflow(page) <= 0, title
    open_page.assert_no_trouble()


def test_the_explorer_pages_through_examples(open_page):
    page = open_page(tab="Training")
    page.get_by_role("tab", name="Data explorer").click()
    place = page.locator("#data-place")
    expect(place).to_contain_text("Example 1 of", timeout=DRAWN)
    of_all = place.inner_text()
    page.locator("#data-search :is(input, textarea)").fill("lamp")
    expect(place).not_to_have_text(of_all)
    page.locator("#data-next").click()
    expect(place).to_contain_text("Example 2 of")
    page.locator(".sauda-fold > button:visible", has_text="loss mask").click()
    page.get_by_role("button", name="Show the tokens").click()
    mask = page.locator("#data-mask")
    expect(mask).to_contain_text(re.compile("tokens are in the loss|sauda weights"))
    open_page.assert_no_trouble()


def test_an_agent_that_enters_by_the_code_on_the_page_stands_there_with_its_games(
    open_page, server
):
    exec(re.sub(r"http://127[\d.:]+", server, CODE), {})
    page = open_page(tab="Results")
    show_question(page, "Leaderboard")
    expect(page.locator("#results-leaderboard-verdict")).to_contain_text(
        re.compile(r"“rising bids \w+” (leads|is the only entry)")
    )
    figure = page.locator("#results-leaderboard-figure")
    for name in ("rising bids", buyer_name(SERVED), "bound of what can be won"):
        expect(figure.get_by_text(name).first).to_be_visible()
    unfold(page, "Open a game of an entry")
    game = page.locator("#leaderboard-game")
    expect(game).to_contain_text(re.compile(r"Game 1 of 50 of “rising bids \w+”: [\d.]+% of what"))
    page.get_by_role("spinbutton", name="Game of the entry").fill("50")
    expect(game).to_contain_text("Game 50 of 50")
    unfold(page, "Enter your agent: the whole code")
    expect(page.locator("#results-leaderboard-code")).to_contain_text(f'page = "{server}"')
    open_page.assert_no_trouble()


@pytest.mark.journey
def test_a_table_is_sorted_searched_and_saved_with_all_its_digits(open_page):
    page = open_page(tab="Results")
    show_question(page, "Who wins the open market?")
    unfold(page, "One task at a time, classic tasks too")
    table = page.locator("#results-bazaar-rows")
    rows = table.locator("[role=row]:has([role=gridcell])")
    expect(rows.first).to_contain_text("tuned script")
    count = int(table.get_by_role("grid").get_attribute("aria-rowcount")) - 1
    head = table.get_by_role("columnheader", name="policy")
    head.hover()
    head.get_by_label("Open cell menu").click()
    page.get_by_role("menuitem", name="Sort ascending").click()
    expect(rows.first).to_contain_text("aggressive")
    table.get_by_title("Enter text to search the table").fill("linear")
    expect(rows).to_have_count(1)
    table.get_by_label("Fullscreen").click()
    settle(page)
    assert violations(page, "#results-bazaar-rows") == []
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.locator("#results-bazaar-table").get_by_text("Download as CSV").click()
    heads, *lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert heads.startswith("policy,n,What was won mean,What was won low,")
    assert len(lines) == count


def test_the_moves_are_played_one_after_another_and_pause(open_page):
    page = open_page(tab="Transcripts")
    page.get_by_role("tab", name="Any game").click()
    box = page.locator(".sauda-talk:visible").first
    expect(box).to_be_visible()
    whole = box.locator("li").count()
    page.get_by_role("button", name="Play", exact=False).first.click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(box.locator("li")).not_to_have_count(whole)
    page.get_by_role("button", name="Pause").click()
    settle(page)
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()


# Training, Artifacts and the API


def opened(open_page, query: str) -> Page:
    """The page at a link to Training, its curves drawn."""
    page = open_page(query=f"tab=training&{query}")
    expect(page.locator(f"#{STACK} .main-svg").first).to_be_visible(timeout=DRAWN)
    settle(page)
    return page


def line(page: Page) -> str:
    """The path of the first averaged curve."""
    return page.locator(f"#{STACK} .js-line").first.get_attribute("d")


def test_a_link_opens_the_tab_at_its_view_and_other_settings_redraw_it(open_page):
    page = opened(open_page, "run=sft&over=time&smoothing=0.9&log=1")
    expect(page.get_by_role("tab", name="Training")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#training-over").get_by_label("time")).to_be_checked()
    expect(page.get_by_label("logarithmic")).to_be_checked()
    assert page.locator(f"#{STACK} .xtitle").text_content() == "minutes of SFT, mini"
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0.9)")

    before, slider = line(page), page.locator("#training-smoothing input[type=range]")
    slider.focus()
    slider.press("Home")
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0)")
    settle(page)
    assert line(page) != before
    page.wait_for_url("**smoothing=0&**")
    page.go_back()
    expect(page.locator("#training-captions")).to_contain_text("smoothed (0.9)", timeout=DRAWN)
    open_page.assert_no_trouble()


def test_the_shown_log_downloads_as_csv_and_as_a_picture(open_page):
    page = opened(open_page, "run=sft")
    panel = page.locator(".sauda-tabs > [role=tabpanel]:visible")
    with page.expect_download() as download:
        panel.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "sauda-sft.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8"))))
    log = load("training/sft.json").data.log
    assert [float(row["loss"]) for row in rows] == [row.loss for row in log]
    with page.expect_download() as download:
        panel.get_by_role("button", name="PNG").click()
    assert download.value.suggested_filename == "sauda-sft.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    open_page.assert_no_trouble()


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


def test_the_snippets_of_the_page_run_as_printed(server, open_page, capsys):
    page, printed = open_page(tab="Artifacts & API"), {}
    for program in (each for each in PROGRAMS if ADDRESS in each.text):
        page.get_by_role("tab", name=program.tab, exact=True).click()
        shown = page.locator(f"#{program.elem_id}")
        expect(shown).to_contain_text(server)
        printed[program.elem_id] = shown.inner_text()
    exec(printed["api-client"], {})
    assert "'policy': 'expert'" in capsys.readouterr().out
    assert '"policy": "expert"' in output_of("bash", "-c", printed["api-curl"], timeout=60)
    with page.expect_console_message() as logged:
        page.evaluate(f"async () => {{ {printed['api-javascript']} }}")
    assert logged.value.args[0].json_value()["policy"] == "expert"
    assert json.loads(printed["api-mcp"])["mcpServers"]["sauda"]["url"] in printed["api-agent"]
    assert "'policy': 'you'" in output_of(sys.executable, "-c", printed["api-agent"], timeout=60)
    open_page.assert_no_trouble()


def test_broken_and_missing_artifacts_show_their_command_and_spare_the_other_tabs(
    open_page, tmp_path
):
    for part in ("app.py", "env", "sauda", "panels", "docs", "artifacts"):
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        copy(REPOSITORY / part, tmp_path / part)
    (tmp_path / "artifacts/evaluation/classic-holdout.json").write_text('{"kind": ')
    (tmp_path / "artifacts/episodes/duel.json").unlink()
    broken = tmp_path / "artifacts/evaluation/reproduction.json"
    content = json.loads(broken.read_text())
    del content["data"]["agreement"]
    broken.write_text(json.dumps(content))
    with running_app(tmp_path) as app:
        open_page.address = app.address
        page = open_page(tab="Results")
        show_question(page, "Who wins the open market?")
        unfold(page, "One task at a time, classic tasks too")
        expect(page.locator(".sauda-empty:visible")).to_contain_text("--split holdout")
        show_question(page, "Everything else")
        expect(page.locator(".sauda-empty:visible")).to_contain_text("sauda run reproduction")
        show_tab(page, "Tour")
        empty = page.locator(".sauda-empty").filter(has_text="sauda run duel")
        expect(empty).not_to_have_count(0)
        show_tab(page, "Haggle")
        price = page.get_by_role("button", name="Open at ₹").inner_text().removeprefix("Open ")
        say(page, price)
        assert price in bubbles(page)


# The load test's visitors find the page's events, and none of them fails

SCRIPTED_GAME = {"start of a game", "scripted reply"}


@pytest.mark.model  # visitors of scripts wait until the model is loaded, too
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("20 players", SCRIPTED_GAME),
        ("games in a row", SCRIPTED_GAME),
        ("sessions", {"page load", "opening events", "start of a game"}),
    ],
)
def test_visitors_of_a_short_mix_are_all_answered_and_counted_as_the_artifact_has_it(
    server, name, rows, tmp_path
):
    mix = run(play_mix(name, 4.0, server))
    assert {row["what"] for row in mix["rows"]} - {REVIEW} == rows
    assert all(row["n"] > 0 for row in mix["rows"])
    assert [row["reasons"] for row in mix["rows"] if row["reasons"]] == []
    data = {"machine": {}, "mixes": [{"state": "now", "commit": None, **mix}]}
    save(FILE, {"mixes": list(MIXES)}, data, tmp_path)
    assert recompute_load(load(FILE, tmp_path), 1, tmp_path) == data
