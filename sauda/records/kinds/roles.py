"""The kind of artifact about the training of roles: a run."""

from collections.abc import Iterator
from typing import NamedTuple

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.roles import RoleRun

ABOUT = {
    "buyer": "The log of a buyer's training, its losses by checkpoint and on hold-out dialogues",
    "seller": "The same of a seller",
    "generalist": "The same of a generalist, which speaks for both",
}


class Control(NamedTuple):
    """A run with the same dialogues and less of the schedule."""

    option: str  # of its command
    about: str


CONTROLS = {  # by the end of their names
    "-control": Control(
        " --no-schedule", "Its control: the same dialogues, one cycle, one rate for all layers"
    ),
    "-one-cycle": Control(" --cycles 1", "Its control for the cycles: one cycle, rates by layer"),
    "-one-rate": Control(
        " --layer-decay 1", "Its control for the rates by layer: two cycles, one rate"
    ),
}
OF_ONE_CAUSE = ("-one-cycle", "-one-rate")  # of the generalist alone, which speaks for both roles


def _recorded() -> Iterator[File]:
    for role, about in ABOUT.items():
        yield _file(role, "", "", about)
        for name, control in CONTROLS.items():
            if name not in OF_ONE_CAUSE or role == "generalist":
                yield _file(role, name, control.option, control.about)


def _file(role: str, name: str, option: str, about: str) -> File:
    command = f"train roles --role {role}{option}"
    return File(f"training/roles-{role}{name}.json", command, "Training", about)


ROLE_RUN = Kind(
    "role_run/1",
    RoleRun,
    tuple(_recorded()),
    Check(
        "checksum only",
        "every step and loss; the best checkpoint, perplexities and the adapter's digest "
        "computed from them",
        lambda config, data: len(data.log) + len(data.holdout),
        "steps and losses",
        "sauda.experiments.roles:recompute_run",
    ),
)
