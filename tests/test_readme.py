"""The README claims what the artifacts show, and nothing else."""

import re
import shlex
from pathlib import Path

import pytest

from sauda.__main__ import parser
from sauda.artifact import entry, load
from sauda.readme import filled, market

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_every_table_is_what_the_artifacts_show():
    assert filled(README) == README, "write it anew with `python -m sauda readme`"


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
