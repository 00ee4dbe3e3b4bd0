"""What SECURITY.md names is there."""

import re
from pathlib import Path

from sauda.__main__ import parse_arguments

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_setting_that_is_named_stands_in_its_file():
    rows = re.findall(r"^\| .+? \| (`.+) \|$", TEXT, re.M)
    groups = [group for row in rows for group in re.split("; ", row)]
    assert groups
    for group in groups:
        names, files = group.split(" in ", 1)
        for file in re.findall(r"`([\w/]+\.py)`", files):
            code = (ROOT / file).read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert re.search(rf"^(?:(?:class|def) )?{name}\b", code, re.M), (name, file)


def test_every_variable_that_is_named_is_read():
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sauda").rglob("*.py"))
    code += "".join(p.read_text(encoding="utf-8") for p in (ROOT / "panels" / "site").glob("*.py"))
    for name in re.findall(r"`((?:SAUDA|HF|FORWARDED)_\w+)`", TEXT):
        assert name in code, name


def test_the_command_that_removes_an_entry_is_there():
    (command,) = re.findall(r"`python -m sauda (leaderboard .+?)`", TEXT)
    assert parse_arguments(command.split()).remove == "ENTRY"
