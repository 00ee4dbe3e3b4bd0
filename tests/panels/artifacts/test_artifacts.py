"""The list of artifacts and the snippets of the Artifacts tab."""

import re

import pytest

from panels.artifacts import tab as artifacts
from panels.artifacts.snippets import ADDRESS, LOCAL, MCP
from sauda.records.kinds import FILES
from sauda.records.store import ROOT
from sauda.serve.mcp import TOOLS


@pytest.mark.slow
def test_every_file_is_listed_with_a_download_and_its_hash():
    shown = str(artifacts.listing())
    for entry in FILES:
        assert entry.file in shown
    assert shown.count("download") == len(FILES)


def test_a_missing_file_shows_the_command_that_makes_it(tmp_path):
    shown = str(artifacts.listing(tmp_path))
    for entry in FILES:
        assert entry.command in shown
    assert "is not there" in shown


def test_the_python_snippet_of_the_page_runs(capsys):
    exec(artifacts.PYTHON, {})
    assert capsys.readouterr().out.startswith("agreement")


def test_the_documentation_of_mcp_has_every_tool_and_the_configuration_that_the_page_shows():
    text = (ROOT.parent / "docs" / "mcp.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", text, re.MULTILINE)
    assert set(re.findall(r"\w+", " ".join(rows))) == set(TOOLS)
    (configuration,) = re.findall(r"```json\n(.*?)\n```", text, re.DOTALL)
    assert configuration == MCP.replace(ADDRESS, LOCAL)
