"""The documents: what they claim the artifacts show, what they tell a reader to type works.

What SECURITY.md names is there; the diffs of docs/extending.md apply and keep the rules.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sauda.__main__ import parse_arguments
from sauda.commands.artifacts import fill
from sauda.records.kinds import entry
from sauda.records.store import REPOSITORY as ROOT
from sauda.records.store import load

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
NAMES = ("ARCHITECTURE.md", "README.md", "SECURITY.md", "artifacts/README.md")
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = {path: path.read_text(encoding="utf-8") for path in (*(ROOT / n for n in NAMES), *DOCS)}
SECURITY, SECTIONS = PAGES[ROOT / "SECURITY.md"], SECTION.findall(PAGES[ROOT / "docs/extending.md"])
RULES = "room or circle or private"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "browser")


def code_of(*rooms: str) -> str:
    """The Python of the page's own file and of these folders."""
    files = [ROOT / "app.py", *(path for room in rooms for path in (ROOT / room).rglob("*.py"))]
    return "".join(path.read_text(encoding="utf-8") for path in files)


def test_a_table_is_written_anew_between_its_marks_and_nothing_else_is_touched():
    before, table, after = re.split(
        r"<!-- /?arena -->\n", fill("before\n<!-- arena -->\nold\n<!-- /arena -->\nafter\n")
    )
    assert (before, after) == ("before\n", "after\n")
    rows = load("evaluation/arena-holdout.json").data.rows
    wait = next(row for row in rows if (row.task, row.policy) == ("arena/single_trade", "wait"))
    assert f"| `wait` | {wait.grade.mean:.3f} [" in table
    with pytest.raises(ValueError, match="no table 'nothing'"):
        fill("<!-- nothing -->\n<!-- /nothing -->")


def test_every_command_of_the_documents_is_one_the_command_line_takes():
    texts = [text.replace("\\\n", " ") for text in PAGES.values()]
    for command in {command.strip() for text in texts for command in COMMAND.findall(text)}:
        options = parse_arguments(shlex.split(command))
        if getattr(options, "out", None):
            assert entry(options.out).kind == "evaluation/1"
    (command,) = re.findall(r"`python -m sauda (leaderboard .+?)`", SECURITY)
    assert parse_arguments(command.split()).remove == "ENTRY"


def test_every_link_and_picture_of_the_documents_is_there():
    for page, text in PAGES.items():
        for target in LINK.findall(text):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("code", PYTHON.findall(PAGES[ROOT / "README.md"]))
def test_the_python_of_the_readme_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert "agreement" in capsys.readouterr().out


def test_every_variable_of_the_page_is_told_and_every_one_that_is_told_is_read():
    variable = r"\bSAUDA_[A-Z]+(?:_[A-Z]+)*"
    read = set(re.findall(variable, code_of("panels", "sauda/llm", "sauda/serve")))
    assert read == set(re.findall(variable, PAGES[ROOT / "docs/serving.md"]))
    code = code_of("panels/site", "sauda")
    for name in re.findall(r"`((?:SAUDA|HF|FORWARDED)_\w+)`", SECURITY):
        assert name in code, name


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
    """All five in one copy, and then the rules of the house."""
    copy = tmp_path / "sauda"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    assert len(SECTIONS) == 5
    for _, section in SECTIONS:
        (copy / "change.diff").write_text(blocks(section, "diff"), encoding="utf-8")
        run(["git", "apply", "change.diff"], copy)
        run(["bash", "-euc", blocks(section, "sh")], copy)
    run(["ruff", "format", "--check", "."], copy)
    run(["ruff", "check", "."], copy)
    house = ["tests/test_house.py", "-k", RULES]
    run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *house], copy)
