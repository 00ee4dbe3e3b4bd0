"""The command line explains itself, and what it cannot use it refuses in one sentence."""

import json
import re
import subprocess
import sys

import pytest

from env import TASKS
from sauda.__main__ import main
from sauda.commands import COMMANDS
from sauda.experiments import find, index
from sauda.players import planners_of, scripts_of
from sauda.records.store import ROOT
from tests.support.cases import rows
from tests.support.dialogues import craigslist_row, lines

REFUSED = [tuple(row.values()) for row in rows("refused_commands.csv")]


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_index_names_every_command_with_what_it_does(arguments, capsys):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (_, about) in COMMANDS.items():
        assert any(line.split()[:1] == [name] and line.endswith(about) for line in lines)


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_a_mistake_in_the_call_prints_one_sentence_and_no_traceback(
    arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(arguments.split()) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"sauda: {sentence}")
    assert (output.err.count("\n"), output.out.count("ok ")) == (1, 0)


SETTINGS = [
    (name, setting.replace("_", "-"), "-1" if isinstance(default, int) else "nobody")
    for name in index()
    for setting, default in find(name).settings().items()
]


@pytest.mark.parametrize(("name", "setting", "value"), SETTINGS)
def test_an_experiment_refuses_a_setting_that_cannot_be_in_one_sentence(
    name, setting, value, tmp_path, capsys
):
    out = tmp_path / "made.json"
    assert main(["run", name, f"--{setting}", value, "--out", str(out)]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("sauda: ")
    assert not out.exists()


@pytest.mark.parametrize("task", ["classic/single_deal", "bazaar/open-3", "arena/market_round"])
def test_an_unknown_player_is_answered_with_every_player_of_the_task(task, capsys):
    assert main(["play", "--task", task, "--policy", "nobody"]) == 2
    names = {*re.findall(r"[\w-]+", capsys.readouterr().err)}
    players = {*scripts_of(TASKS[task]), *planners_of(TASKS[task])}
    assert names >= players | {"mini", "sauda-mini", "sft"}
    assert ("acts" in names) == (task != "arena/market_round")


def test_a_file_that_no_artifact_may_have_is_answered_without_the_list_of_all(capsys):
    assert main(["evaluate", "--out", "../mine.json"]) == 2
    told = capsys.readouterr().err
    assert "evaluation/NAME.json" in told
    assert len(re.findall(r"[\w/-]+\.json", told)) < 5


@pytest.mark.model
@pytest.mark.nightly
def test_a_trained_model_plays_without_a_warning_of_the_packages_below_it():
    command = [sys.executable, "-m", "sauda", "play", "--policy", "sauda-mini"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert "**buyer**" in done.stdout


def test_examples_says_what_is_used_and_what_is_left_out(tmp_path, capsys):
    file, out = tmp_path / "rows.json", tmp_path / "examples.jsonl"
    file.write_text(lines(*(craigslist_row(title=f"Lamp {i}") for i in range(20))) + "not JSON\n")
    arguments = ["--source", "craigslist_bargains", "--data", str(file), "--to", str(out)]
    assert main(["examples", *arguments]) == 0
    said = capsys.readouterr().out
    assert "rows.json:21: not JSON: " in said
    assert "dialogues, used: 20" in said
    assert "dialogues, not JSON: 1" in said
    assert "turns left out, event without words: 40" in said
    made = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(made) == 20 * 5
    assert {"role", "context", "thought", "values", "partner_values", "utterance"} <= made[0].keys()


CORPUS = ["--source", "craigslist_bargains"]


@pytest.mark.parametrize("command", [["examples", *CORPUS], ["acts"], ["train", "roles", *CORPUS]])
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
