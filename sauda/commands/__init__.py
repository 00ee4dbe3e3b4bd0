"""The commands of `python -m sauda`: argument parsing and printing, a module per group.

`commands.csv` is their index. Each module has `add(commands)`, which adds its commands to a parser.
What a command computes is in `sauda.experiments`, `sauda.train` and the other rooms. A module is
imported only when one of its commands is called.
"""

import csv
from pathlib import Path

with Path(__file__).with_name("commands.csv").open(encoding="utf-8", newline="") as lines:
    # By name: the module that has the command, and what it does.
    COMMANDS = {row["name"]: (row["module"], row["about"]) for row in csv.DictReader(lines)}
