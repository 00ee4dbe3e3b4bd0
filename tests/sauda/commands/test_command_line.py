"""The command line as a whole: it explains itself."""

import argparse

import pytest

from sauda.__main__ import main
from sauda.commands.console import add_command


@pytest.mark.parametrize(
    "command",
    [[], ["train"], ["train", "distill"], ["jobs"], ["shards"], ["shards", "submit"], ["deploy"]],
)
def test_a_command_prints_its_help(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: python -m sauda {' '.join(command)}".strip())


def test_a_percent_sign_in_a_text_is_printed_as_it_is():
    parser = argparse.ArgumentParser()
    add_command(parser.add_subparsers(), "half", print, "50 % of all")
    assert "50 % of all" in parser.format_help()
