"""The README claims what the artifacts show, and nothing else."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from sauda.__main__ import parser
from sauda.commands import readme
from sauda.commands.readme import SPEEDS, filled, market
from sauda.records.kinds import FILES, KINDS, entry
from sauda.records.store import ROOT, load

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
LIST = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", [README, LIST], ids=["README.md", "artifacts/README.md"])
def test_every_table_is_what_the_artifacts_show(text):
    assert filled(text) == text, "write it anew with `python -m sauda readme`"


def test_each_file_stands_in_the_list_with_its_check_in_the_words_of_the_checks():
    for known in FILES:
        (line,) = (line for line in LIST.splitlines() if line.startswith(f"| `{known.file}` |"))
        assert f"| {KINDS[known.kind].check} |" in line


def test_the_readme_claims_a_replay_only_of_files_that_are_replayed():
    (sentence,) = (line for line in README.splitlines() if line.startswith("Each of its"))
    replayed, others = sentence.split("whole, to the last digit.")
    whole = [known for known in FILES if KINDS[known.kind].check.method == "replayed"]
    assert f"{len(FILES)} files" in replayed
    assert replayed.endswith(f"replays {len(whole)} ")
    for known in FILES:
        assert (f"`{known.file}`" in others) == (known not in whole)
    assert "last digit" not in README.replace(sentence, "")


def test_no_published_speed_stands_in_the_row_of_a_measured_one():
    measured, published = README.split("<!-- published_speeds -->")
    assert "published:" not in measured
    assert "| 531 |" in published
    assert "| 531 |" not in measured


def test_a_table_is_written_anew_between_its_marks_and_nothing_else_is_touched():
    text = "before\n<!-- market -->\nold\n<!-- /market -->\nafter\n"
    before, table, after = filled(text).partition(market() + "\n")
    assert (before, table) == ("before\n<!-- market -->\n", market() + "\n")
    assert after == "<!-- /market -->\nafter\n"


@pytest.mark.parametrize("text", ["<!-- nothing -->\n<!-- /nothing -->", "<!-- market -->\n"])
def test_a_mark_without_a_table_or_an_end_is_refused(text):
    with pytest.raises(ValueError, match=r"no table 'nothing'|never closes it"):
        filled(text)


def test_no_script_is_said_to_be_near_the_oracle():
    for row in load("oracle.json").data["rows"]:
        assert not any(cell["flagged"] for cell in row["policies"])
        assert not row["search"]["holdout"]["flagged"]


@pytest.mark.parametrize("command", COMMAND.findall(README.replace("\\\n", " ")))
def test_every_command_of_the_tour_is_one_the_command_line_takes(command):
    options = parser().parse_args(shlex.split(command))
    if getattr(options, "out", None):
        assert entry(options.out).kind == "evaluation/1"


def test_every_speed_that_the_bench_left_out_is_said_to_be(monkeypatch):
    bench = load("bench.json")
    there = {figure["name"] for figure in bench.data["figures"]}
    missing = [name for _, name, _ in SPEEDS if name not in there]
    assert bool(missing) <= bool(bench.data["left_out"])
    kept = [figure for figure in bench.data["figures"] if figure["name"] != "import of app"]
    fewer = replace(bench, data={**bench.data, "figures": kept})
    monkeypatch.setattr(readme, "load", lambda file: fewer if file == bench.file else load(file))
    assert "importing the page" not in readme.results()
