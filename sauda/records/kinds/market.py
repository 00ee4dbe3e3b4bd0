"""The kinds of artifacts about the open market: trained buyers, and who wins against whom."""

from sauda.records.kinds.amounts import (
    profile_games,
    tournament_games,
)
from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.market.pilot import PilotRun, TunedRule
from sauda.records.schemas.market.tournament import Profiles, Tournament

PROMPT_HASHES = "sauda.evaluation.verification.recorded_hashes:bazaar_prompt"

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
            "sauda.train.pilot:replay",
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
            "sauda.train.tuned:replay",
        ),
    ),
    Kind(
        "tournament/1",
        Tournament,
        (File("tournament.json", "tournament", "Results"),),
        Check(
            "replayed in part",
            "scripts replayed by the scalar rules; model rows recomputed from recorded columns; "
            "the first games of each model by --models tournament",
            tournament_games,
            "games",
            f"{RECOMPUTE}:tournament_games",
        ),
        model_hashes=PROMPT_HASHES,
    ),
    Kind(
        "profiles/1",
        Profiles,
        (File("profiles.json", "profile", "Results"),),
        Check(
            "replayed in part",
            "every profile of a script computed again; those of language models are not",
            profile_games,
            "games",
            f"{RECOMPUTE}:profile_rows",
        ),
        model_hashes=PROMPT_HASHES,
    ),
)
