"""The documents claim what the artifacts show, and what they tell a reader to type works."""

import re
import shlex

import pytest

from sauda.__main__ import parse_arguments
from sauda.commands.artifacts import fill
from sauda.records.kinds import entry
from sauda.records.store import REPOSITORY, load

COMMAND = re.compile(r"^sauda ([^#\n]*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
PAGES = [
    *(REPOSITORY / name for name in ("ARCHITECTURE.md", "README.md", "artifacts/README.md")),
    *sorted((REPOSITORY / "docs").glob("*.md")),
]


def read(*names: str) -> str:
    return (REPOSITORY.joinpath(*names)).read_text(encoding="utf-8")


README, SERVING = read("README.md"), read("docs", "serving.md")
COMMANDS = dict.fromkeys(
    command.strip()
    for page in PAGES
    for command in COMMAND.findall(page.read_text(encoding="utf-8").replace("\\\n", " "))
)


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
    for command in COMMANDS:
        options = parse_arguments(shlex.split(command))
        if getattr(options, "out", None):
            assert entry(options.out).kind == "evaluation/1"


def test_every_link_and_picture_of_the_documents_is_there():
    for page in PAGES:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://")):
                assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize("code", PYTHON.findall(README))
def test_the_python_of_the_readme_runs(code, capsys):
    exec(compile(code, "README.md", "exec"), {})
    assert "agreement" in capsys.readouterr().out


def test_every_setting_of_the_page_stands_in_the_serving_document():
    code = [REPOSITORY / "app.py"]
    rooms = ("panels", "sauda/llm", "sauda/serve")  # what a page runs
    code += [path for room in rooms for path in (REPOSITORY / room).rglob("*.py")]
    texts = (path.read_text(encoding="utf-8") for path in code)
    settings = {name for text in texts for name in re.findall(r"\bSAUDA_[A-Z]+(?:_[A-Z]+)*", text)}
    assert settings == set(re.findall(r"\bSAUDA_[A-Z]+(?:_[A-Z]+)*", SERVING))
