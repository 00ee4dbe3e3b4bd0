"""The command line as a whole: it explains itself."""

import csv
from pathlib import Path

import pytest

from sauda.__main__ import main
from sauda.commands import COMMANDS

CASES = Path(__file__).parents[2] / "cases" / "refused_commands.csv"
REFUSED = list(csv.reader(CASES.read_text(encoding="utf-8").splitlines()))[1:]


@pytest.mark.parametrize(
    "command",
    [["train"], ["train", "distill"], ["jobs"], ["shards"], ["shards", "submit"], ["deploy"]],
)
def test_a_command_prints_its_help(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m sauda {' '.join(command)}".strip())


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_index_names_every_command_with_what_it_does(arguments, capsys):
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, (_, about) in COMMANDS.items():
        assert any(line.split()[:1] == [name] and line.endswith(about) for line in lines)


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_a_mistake_in_the_call_prints_one_sentence_and_no_traceback(capsys, arguments, sentence):
    assert main(arguments.split()) == 2
    output = capsys.readouterr()
    assert output.err.startswith(f"sauda: {sentence}")
    assert (output.err.count("\n"), output.out.count("ok ")) == (1, 0)
