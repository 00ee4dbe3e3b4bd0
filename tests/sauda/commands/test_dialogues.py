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
    assert "rows.json:21: not JSON: character 1" in said
    assert "dialogues, used: 20" in said
    assert "dialogues, not JSON: 1" in said
    assert "turns left out, event without words: 40" in said
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 20 * 5
    assert {"role", "context", "thought", "values", "partner_values", "utterance"} <= rows[0].keys()


def test_examples_of_the_shipped_dialogues_need_no_file(capsys):
    assert main(["examples"]) == 0
    assert "buyer      holdout" in capsys.readouterr().out


def test_a_file_without_a_dialogue_is_a_failure(tmp_path, capsys):
    empty = tmp_path / "empty.json"
    empty.touch()
    arguments = ["--source", "craigslist_bargains", "--data", str(empty)]
    assert main(["examples", *arguments]) == 1
    assert "empty.json:1: empty file" in capsys.readouterr().out


def test_half_of_a_place_is_refused(file, capsys):
    assert main(["examples", "--data", str(file)]) == 2
    assert "name a data set with --source" in capsys.readouterr().err


def test_acts_compares_other_dialogues_with_the_artifact(file, capsys):
    assert main(["acts", "--data", str(file), "--check"]) == 1
    said = capsys.readouterr().out
    assert "config.sha256: recorded" in said
    assert "config.file: recorded 'raw_validation.json', played again 'rows.json'" in said


def test_every_malformed_row_is_named_before_rows_that_a_filter_leaves_out(tmp_path, capsys):
    path = tmp_path / "rows.json"
    same = lines(*[craigslist_row()] * 30)
    path.write_text(same + "not JSON\n" * 25)
    assert main(["examples", "--source", "craigslist_bargains", "--data", str(path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in said[:25]] == [
        f"rows.json:{number}:" for number in range(31, 56)
    ]
    assert "and 9 more that a filter leaves out" in said


def test_acts_without_a_file_reads_the_shipped_dialogues_and_saves_nothing(capsys):
    assert main(["acts"]) == 0
    said = capsys.readouterr().out
    assert "120 dialogues" in said
    assert "wrote" not in said
    assert main(["acts", "--check"]) == 2
    assert "needs its --data FILE" in capsys.readouterr().err


def test_acts_refuses_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["acts", "--data", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err
