"""The kinds of artifacts about the training of roles: a run, and how the runs compare."""

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.roles import RoleComparison, RolePlay, RoleRun

ABOUT = {
    "buyer": "The log of a buyer's training, its losses by checkpoint and on hold-out dialogues",
    "seller": "The same of a seller",
    "generalist": "The same of a generalist, which speaks for both",
}
CONTROL = "Its control: the same dialogues, one cycle, one rate for all layers"
RECORDED = tuple(
    File(
        f"training/roles-{role}{name}.json", f"train roles --role {role}{option}", "Training", line
    )
    for role, about in ABOUT.items()
    for name, option, line in (("", "", about), ("-control", " --no-schedule", CONTROL))
)

ROLES: tuple[Kind, ...] = (
    Kind(
        "role_run/1",
        RoleRun,
        RECORDED,
        Check(
            "sealed",
            "every step and loss; the best checkpoint, perplexities and the adapter's digest "
            "computed from them",
            lambda config, data: len(data.log) + len(data.holdout),
            "sealed steps and losses",
            "sauda.evaluation.language.roles:recomputed_run",
        ),
    ),
    Kind(
        "roles/1",
        RoleComparison,
        (File("roles.json", "train compare-roles", "Training"),),
        Check(
            "recomputed",
            "every difference and interval, from the losses of the runs",
            lambda config, data: len(data.contrasts),
            "contrasts",
            "sauda.evaluation.language.roles:recomputed",
        ),
    ),
    Kind(
        "role_play/1",
        RolePlay,
        (
            File(
                "role_play.json",
                "role-play",
                "Training",
                "Models of roles in games: a script decides each move, the model says it",
            ),
        ),
        Check(
            "replayed",
            "every game from the recorded words, the script's own games, and every figure",
            lambda config, data: sum(len(cell.games) for cell in data.games),
            "games",
            "sauda.evaluation.language.role_play:recomputed",
        ),
        model_hashes="sauda.evaluation.language.role_play:prompt_hashes",
    ),
)
