"""The diffs of docs/extending.md apply to this repository, keep its rules, and run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source import ROOT

SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
TEXT = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = dict(SECTION.findall(TEXT))
RULES = "room or circle or private"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "browser")


def blocks(section: str, language: str) -> str:
    """The code blocks of a section in one language, one after the other."""
    return "".join(re.findall(rf"^```{language}\n(.*?)^```", section, re.DOTALL | re.MULTILINE))


def run(command: list[str], folder: Path, **more: str) -> str:
    """What a command prints; fails with all of it where the command fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_a_policy_a_task_a_tab_and_an_artifact_are_shown():
    assert list(SECTIONS) == ["A policy", "A task", "A tab", "An artifact"]


@pytest.mark.nightly
def test_a_reader_who_follows_it_from_top_to_bottom_gets_what_it_promises(tmp_path: Path):
    """All sections one after the other in one copy, and then the rules of the house."""
    copy = tmp_path / "sauda"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    for section in SECTIONS.values():
        (copy / "change.diff").write_text(blocks(section, "diff"), encoding="utf-8")
        run(["git", "apply", "change.diff"], copy)
        run(["bash", "-euc", blocks(section, "sh")], copy)
    run(["ruff", "format", "--check", "."], copy)
    run(["ruff", "check", "."], copy)
    house = ["tests/test_layers.py", "tests/test_house.py", "-k", RULES]
    run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *house], copy)
