"""The commands that load dialogues and measure the reading of their acts."""

import json

import pytest

from sauda.__main__ import main
from tests.support.dialogues import craigslist_row, lines


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(lines(*(craigslist_row(title=f"Lamp {i}") for i in range(20))) + "not JSON\n")
    return path


def test_examples_says_what_is_used_and_what_is_left_out(file, tmp_path, capsys):
    out = tmp_path / "examples.jsonl"
    arguments = ["--source", "craigslist_bargains", "--data", str(file), "--to", str(out)]
    assert main(["examples", *arguments]) == 0
    said = capsys.readouterr().out
    assert "rows.json:21: not JSON: " in said
    assert "dialogues, used: 20" in said
    assert "dialogues, not JSON: 1" in said
    assert "turns left out, event without words: 40" in said
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 20 * 5
    assert {"role", "context", "thought", "values", "partner_values", "utterance"} <= rows[0].keys()


CORPUS = ["--source", "craigslist_bargains"]
READERS = {
    "examples": ["examples", *CORPUS],
    "acts": ["acts"],
    "roles": ["train", "roles", *CORPUS],
}
every_reader = pytest.mark.parametrize("command", READERS.values(), ids=READERS)


@every_reader
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "there is no row; a file of dialogues has one JSON object per line"),
        ("title,price\nLamp,500\n" * 200, "rows.json:1: not JSON: "),
        (json.dumps([craigslist_row()], indent=1), "has one JSON object per line"),
        ('{"text": "hello"}\n' * 200, "no dialogue can be used: rows.json:1: missing column: "),
    ],
    ids=["empty", "CSV", "array", "other columns"],
)
def test_a_file_without_a_dialogue_is_one_sentence(command, content, told, tmp_path, capsys):
    path = tmp_path / "rows.json"
    path.write_text(content)
    assert main([*command, "--data", str(path)]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert told in sentence
