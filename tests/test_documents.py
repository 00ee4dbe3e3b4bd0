"""What SECURITY.md names is there; the diffs of docs/extending.md apply and keep the rules."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sauda.__main__ import parse_arguments
from sauda.records.store import REPOSITORY as ROOT

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
SECTIONS = SECTION.findall((ROOT / "docs" / "extending.md").read_text(encoding="utf-8"))
RULES = "room or circle or private"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "browser")


def test_every_setting_that_is_named_stands_in_its_file():
    rows = re.findall(r"^\| .+? \| (`.+) \|$", SECURITY, re.M)
    groups = [group for row in rows for group in re.split("; ", row)]
    assert groups
    for group in groups:
        names, files = group.split(" in ", 1)
        for file in re.findall(r"`([\w/]+\.py)`", files):
            code = (ROOT / file).read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^(?:(?:class|def) )?{name}\b", code, re.M), (name, file)


def test_every_variable_that_is_named_is_read():
    files = [*(ROOT / "sauda").rglob("*.py"), *(ROOT / "panels" / "site").glob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in files)
    for name in re.findall(r"`((?:SAUDA|HF|FORWARDED)_\w+)`", SECURITY):
        assert name in code, name


def test_the_command_that_removes_an_entry_is_there():
    (command,) = re.findall(r"`python -m sauda (leaderboard .+?)`", SECURITY)
    assert parse_arguments(command.split()).remove == "ENTRY"


def blocks(section: str, language: str) -> str:
    """The code blocks of a section in one language, one after the other."""
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE))


def run(command: list[str], folder: Path) -> None:
    """Fail with all that a command prints where it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.mark.nightly
def test_a_reader_who_follows_it_from_top_to_bottom_gets_what_it_promises(tmp_path: Path):
    """A policy, a task, a tab and an artifact in one copy, and then the rules of the house."""
    copy = tmp_path / "sauda"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    assert len(SECTIONS) == 4
    for _, section in SECTIONS:
        (copy / "change.diff").write_text(blocks(section, "diff"), encoding="utf-8")
        run(["git", "apply", "change.diff"], copy)
        run(["bash", "-euc", blocks(section, "sh")], copy)
    run(["ruff", "format", "--check", "."], copy)
    run(["ruff", "check", "."], copy)
    house = ["tests/test_house.py", "-k", RULES]
    run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *house], copy)
