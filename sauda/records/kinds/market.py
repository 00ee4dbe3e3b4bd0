"""The kinds of artifacts about trained players without a language model."""

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.pilot import PilotRun, TunedRule

MARKET: tuple[Kind, ...] = (
    Kind(
        "pilot_run/2",
        PilotRun,
        (File("training/pilot.json", "train pilot", "Training"),),
        Check(
            "replayed in part",
            "the final games replayed from the weights, which are digested; not the log",
            lambda config, data: sum(row.n for row in data.final),
            "games",
            "sauda.train.pilot.run:recomputed",
        ),
    ),
    Kind(
        "tuned/1",
        TunedRule,
        (File("training/tuned.json", "train tuned", "Results"),),
        Check(
            "replayed",
            "the whole search, but for its seconds",
            lambda config, data: len(data.log),
            "generations",
            "sauda.train.pilot.tuned:recomputed",
        ),
    ),
)
