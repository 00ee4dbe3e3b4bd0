"""The command line as a whole: it explains itself."""

import pytest

from sauda.__main__ import main
from sauda.commands import COMMANDS


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


def test_a_command_that_is_not_there_is_refused_with_those_that_are(capsys):
    assert main(["evaluat"]) == 2
    assert "no command 'evaluat'; commands are play," in capsys.readouterr().err
