"""Training, Artifacts and the API in a browser, and what happens where a file is broken."""

import csv
import io
import json
import shutil
import subprocess
import sys
import zipfile

import pytest
from playwright.sync_api import Page, expect

from benchmarks.page import running_app
from panels.artifacts import ADDRESS, PROGRAMS
from sauda.records.kinds import FILES
from sauda.records.store import REPOSITORY, load
from tests.support.page import (
    DRAWN,
    bubbles,
    say,
    settle,
    show_question,
    show_tab,
    unfold,
    violations,
)

STACK = "training-curves"  # id of the stack of panels


def opened(open_page, query: str) -> Page:
    """The page at a link to Training, its curves drawn."""
    page = open_page(query=f"tab=training&{query}")
    expect(page.locator(f"#{STACK} .main-svg").first).to_be_visible(timeout=DRAWN)
    settle(page)
    return page


def line(page: Page) -> str:
    """The path of the first averaged curve."""
    return page.locator(f"#{STACK} .js-line").first.get_attribute("d")


@pytest.mark.journey
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
    for part in ("app.py", "env", "sauda", "panels", "artifacts", "docs"):
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
        page = open_page(tab="Results")
        show_question(page, "Who wins the open market?")
        unfold(page, "One task at a time, classic tasks too")
        expect(page.locator(".sauda-empty:visible")).to_contain_text("--split holdout")
        show_question(page, "Everything else")
        expect(page.locator(".sauda-empty:visible")).to_contain_text("sauda run reproduction")
        show_tab(page, "Tour")
        assert any("before_after" in t for t in page.locator(".sauda-empty").all_inner_texts())
        show_tab(page, "Haggle")
        price = page.get_by_role("button", name="Open at ₹").inner_text().removeprefix("Open ")
        say(page, price)
        assert price in bubbles(page)
