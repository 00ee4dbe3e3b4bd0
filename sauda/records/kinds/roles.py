"""The kinds of artifacts about the training of roles: a run, and how the runs compare."""

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.roles import RoleComparison, RoleRun

RECORDED: tuple[File, ...] = ()  # runs that are published
COMPARED: tuple[File, ...] = ()

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
        COMPARED,
        Check(
            "recomputed",
            "every difference and interval, from the losses of the runs",
            lambda config, data: len(data.contrasts),
            "contrasts",
            "sauda.evaluation.language.roles:recomputed",
        ),
    ),
)
