"""The documents: what they claim the artifacts show, what they tell a reader to type works.

What SECURITY.md names is there; the diffs of docs/extending.md apply and keep the rules. What
`make`, a Space and a container install has exact versions, and two locks with hashes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import tomllib
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from sauda.__main__ import parse_arguments
from sauda.commands.artifacts import fill
from sauda.records.kinds import entry
from sauda.records.store import REPOSITORY as ROOT
from sauda.records.store import load
from tests.support.running import output_of

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
    output_of(*command, cwd=folder, env=environment)


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


# What is installed


LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")  # of a container
DEV = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")  # what tests and training add
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def listed() -> list[Requirement]:
    """The requirements of the page, and those of every extra but the names of other extras."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    extras = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    texts = [line.partition("#")[0].strip() for line in [*lines, *extras]]
    return [Requirement(text) for text in texts if text and not text.startswith("sauda[")]


def locked(lock: str) -> dict[str, Requirement]:
    """The requirements of a lock by name; their hashes stand on lines of their own."""
    texts = re.findall(r"^([a-z0-9].*?) \\$", lock, re.M)
    return {item.name: item for item in map(Requirement, texts)}


def instructions() -> dict[str, list[str]]:
    """The arguments of each instruction of the Dockerfile, in order."""
    recipe = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    steps = [line.split(maxsplit=1) for line in recipe.splitlines() if line and line[0].isupper()]
    return {name: [text for step, text in steps if step == name] for name, _ in steps}


def test_the_locks_name_a_hash_for_everything_and_neither_an_index_nor_a_path():
    for lock in (LOCK, DEV):
        entries = re.split(r"\n(?=\S)", lock.partition("make lock\n")[2].strip())
        for item in entries:
            hashes = r"( \\\n    --hash=sha256:[0-9a-f]{64})+"
            assert re.fullmatch(rf"\S+==\S+( ;.*?)?{hashes}", item), item
        assert "://" not in lock
    assert len(locked(LOCK) | locked(DEV)) > len(listed())


def test_the_image_installs_by_the_lock_and_runs_as_a_plain_user():
    """No container is built here, so its recipe is read."""
    told = instructions()
    assert told["FROM"] == ["$BASE"]  # whoever passes an image on names it by its digest
    assert any(argument.startswith("BASE=python:3.11") for argument in told["ARG"])
    assert any("--require-hashes --requirement requirements.lock" in run for run in told["RUN"])
    assert told["USER"] == ["sauda"]
    assert list(told).index("USER") < list(told).index("CMD")
    assert told["EXPOSE"] == ["7860"]
    for copied in told["COPY"]:
        for name in copied.split()[:-1]:
            assert name.startswith("--") or (ROOT / name).exists(), name


def test_what_is_passed_on_of_others_is_named_with_its_licence():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    (label,) = instructions()["LABEL"]
    fonts = [file.stem.removeprefix("OFL-") for file in (ROOT / "panels/ui/fonts").glob("OFL-*")]
    parts = {"Apache-2.0": ["SmolLM2-135M-Instruct"], "OFL-1.1": fonts}
    for licence, names in parts.items():
        assert licence in label
        for name in names:
            assert name in notice.replace(" ", "")
            assert name in (ROOT / "README.md").read_text(encoding="utf-8").replace(" ", "")
    assert "SmolLM2" in (ROOT / "artifacts/README.md").read_text(encoding="utf-8")
    assert fonts


def test_the_health_check_of_the_image_runs_without_a_shell_and_tells_a_dead_page():
    (text,) = instructions()["HEALTHCHECK"]
    _, command = text.split("CMD", 1)
    python, *arguments = json.loads(command)
    assert python == "python"

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/health" else 404)
            self.end_headers()

    def check(port: int) -> int:
        environment = os.environ | {"PORT": str(port)}
        done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True)
        return done.returncode

    with HTTPServer(("127.0.0.1", 0), Health) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        assert check(page.server_port) == 0
        page.shutdown()
    assert check(page.server_port) != 0
