"""The list of artifacts and the snippets of the Artifacts tab."""

import pytest

from panels.artifacts import tab as artifacts
from sauda.records.kinds import FILES


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
