"""The commands of `python -m sauda`: argument parsing and printing, a module a group.

Each module has `add(commands)`, which adds its commands to the parser. What a command computes is
in `sauda.evaluation`, `sauda.train` and the other rooms.
"""
