"""The kinds of artifacts about training: a run of a player, and a run of a role."""

from collections.abc import Iterator

from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.roles import RoleRun
from sauda.records.schemas.training import TrainingRun

# The tasks of GRPO after distillation: each of two rules twice, then the classic games.
MIXED = " ".join(
    (
        *("bazaar/open", "bazaar/rushed") * 2,
        *("classic/single_deal", "classic/asymmetric_pressure", "classic/amazon_realistic"),
    )
)
ROLES = {
    "buyer": "The log of a buyer's training, its losses by checkpoint and on hold-out dialogues",
    "seller": "The same of a seller",
    "generalist": "The same of a generalist, which speaks for both",
}
# Runs with the same dialogues and less of the schedule, by the end of their names: the option of
# the command, what they are, and the roles that have one. The generalist speaks for both roles.
CONTROLS = {
    "-control": (
        " --no-schedule",
        "Its control: the same dialogues, one cycle, one rate for all layers",
        tuple(ROLES),
    ),
    "-one-cycle": (
        " --cycles 1",
        "Its control for the cycles: one cycle, rates by layer",
        ("generalist",),
    ),
    "-one-rate": (
        " --layer-decay 1",
        "Its control for the rates by layer: two cycles, one rate",
        ("generalist",),
    ),
}


def role_command(role: str, control: str = "") -> str:
    """The command of a role's run; `control` is the end of its name."""
    return f"train roles --role {role}{CONTROLS[control][0] if control else ''}"


def _role_files() -> Iterator[File]:
    for role, about in ROLES.items():
        controls = {end: about for end, (_, about, roles) in CONTROLS.items() if role in roles}
        for end, what in ({"": about} | controls).items():
            name = f"training/roles-{role}{end}.json"
            yield File(name, role_command(role, end), "Training", what)


TRAINING: tuple[Kind, ...] = (
    Kind(
        "training_run/1",
        TrainingRun,
        (
            File(
                "training/sft.json",
                "train sft",
                "Training",
                "The log of Sauda's supervised fine-tuning, what it learnt from, its gate",
            ),
            File(
                "training/distill.json",
                "train distill",
                "Training",
                "The log of Sauda's learning from the pilot's labels of its own games, what "
                "each round played, its gate",
            ),
            File(
                "training/distill-seed1.json",
                "train distill --seed 1 --first-seed 26000",
                "Training",
                "A second such training, from other games and another seed",
            ),
            File(
                "training/grpo.json",
                "train grpo",
                "Training",
                "The log of Sauda's reinforcement learning on whole games, one of them, its gate",
            ),
            File(
                "training/grpo-from-distill.json",
                f"train grpo --init-adapter distill --tasks {MIXED} --learning-rate 0.0001"
                " --eval-games 24",
                "Training",
                "The same from the adapter of distillation, classic games among the rest",
            ),
            File(
                "training/dpo.json",
                "train dpo",
                "Training",
                "The log of Sauda's learning from pairs of replies, what they are, its gate",
            ),
            File(
                "training/sft-arena.json",
                "train sft --game arena",
                "Training",
                "The log of a lab's supervised fine-tuning on the planner's actions, its gate",
            ),
            File(
                "training/grpo-arena.json",
                "train grpo --game arena",
                "Training",
                "The log of a lab's reinforcement learning on whole games of "
                "market_round, its gate",
            ),
        ),
        Check(
            "checksum only",
            "every step of the log; the adapter's digest computed from its file",
            lambda config, data: len(data.log),
            "steps and one adapter",
            f"{RECOMPUTE}:training_run",
        ),
    ),
    Kind(
        "role_run/1",
        RoleRun,
        tuple(_role_files()),
        Check(
            "checksum only",
            "every step and loss; the best checkpoint, perplexities and the adapter's digest "
            "computed from them",
            lambda config, data: len(data.log) + len(data.holdout),
            "steps and losses",
            "sauda.experiments.roles:recompute_run",
        ),
    ),
)
