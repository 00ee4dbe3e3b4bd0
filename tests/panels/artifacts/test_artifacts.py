"""The Artifacts tab: files, snippets, speeds and the load test."""

import errno
import os
import re

import pytest

from panels import artifacts
from panels.artifacts import ADDRESS, LOCAL, PROGRAMS, listing, load_rows, on_the_hub
from sauda.records.kinds import FILES
from sauda.records.schemas.speeds import LoadTest, latency, memory_growth
from sauda.records.store import ROOT
from sauda.serve.mcp import TOOLS

TEXTS = {program.elem_id: program.text for program in PROGRAMS}


@pytest.mark.slow
def test_every_file_is_listed_with_a_download_or_the_command_that_makes_it(tmp_path):
    shown, missing = str(listing()), str(listing(tmp_path))
    assert shown.count("download") == sum((ROOT / entry.file).exists() for entry in FILES)
    for entry in FILES:
        assert entry.file in shown
        assert entry.command in missing
    assert "is not there" in missing


def test_the_page_links_what_is_named_on_the_hub():
    named = on_the_hub({"SAUDA_DATASET": "me/games", "SAUDA_ADAPTER": 'me/"sft'})
    assert 'href="https://huggingface.co/datasets/me/games"' in named
    assert 'href="https://huggingface.co/me/%22sft"' in named
    assert "sauda publish" not in named


def test_the_python_snippet_of_the_page_runs(capsys):
    exec(TEXTS["api-policy"], {})
    assert capsys.readouterr().out.startswith("agreement")


def test_the_documentation_of_mcp_has_every_tool_and_the_configuration_that_the_page_shows():
    text = (ROOT.parent / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", text, re.MULTILINE)
    assert set(re.findall(r"\w+", " ".join(rows))) == set(TOOLS)
    (configuration,) = re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)
    assert configuration == TEXTS["api-mcp"].replace(ADDRESS, LOCAL)


def test_every_mix_and_action_has_a_row_with_its_refusals_and_failures():
    rows = [latency("page load", [2.0, 4.0], 1, {}), latency("reply", [], 0, {"late": 3})]
    memory = [memory_growth("game", [0, 1, 2], [100, 110, 120], None)]
    mix = {"name": "two", "about": "both read", "seconds": 9.6, "rows": rows, "memory": memory}
    mixes = [{**mix, "state": state, "commit": state} for state in ("before", "now")]
    data = LoadTest.model_validate({"machine": {}, "mixes": mixes})
    before, late, *now = (tuple(row.values()) for row in load_rows(data))
    assert before == ("two", "before", "page load", "2", "3,000", "3,900", "1", "0")
    assert late == ("two", "before", "reply", "0", "–", "–", "0", "3")
    assert now == [("two", "now", *before[2:]), ("two", "now", *late[2:])]


def test_a_full_disk_is_a_sentence_and_leaves_no_part_of_the_zip(tmp_path, monkeypatch):
    monkeypatch.setattr(artifacts, "zip_folder", lambda: tmp_path)

    def fill(path) -> None:
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(artifacts, "bundle", fill)
    *_, told = artifacts.make_zip()
    assert "no space left on device" in told
    assert list(tmp_path.iterdir()) == []
    # there is room again
    monkeypatch.setattr(artifacts, "bundle", lambda path: path.write_text("all"))
    artifacts.make_zip()
    assert [path.read_text() for path in tmp_path.iterdir()] == ["all"]
