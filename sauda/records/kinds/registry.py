"""The kinds of artifacts, one entry each: schema, files, commands, tabs, and how it is checked."""

from collections.abc import Mapping

from sauda.records.kinds.amounts import (
    episodes_in_rows,
    scripted_games,
)
from sauda.records.kinds.dialogues import DIALOGUES
from sauda.records.kinds.market import MARKET
from sauda.records.kinds.roles import ROLES
from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.arena import Arena
from sauda.records.schemas.bench import Bench, LoadTest
from sauda.records.schemas.comparison import (
    ArenaModelComparison,
    BeforeAfter,
    ModelComparison,
)
from sauda.records.schemas.evaluation import Episodes, Evaluation
from sauda.records.schemas.published import Published
from sauda.records.schemas.seller import SellerQuality

HASHES = "sauda.evaluation.verification.recorded_hashes"
WORD_HASHES = "sauda.evaluation.seller.texts:word_hashes"

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "published/1",
            Published,
            (File("published.json", "verify published.json", "Results"),),
            Check(
                "checksum only",
                "every figure, as it was transcribed by hand",
                lambda config, data: len(data.figures),
                "figures",
                f"{RECOMPUTE}:recorded",
            ),
        ),
        Kind(
            "evaluation/1",
            Evaluation,
            (
                File(
                    "evaluation/classic-train.json",
                    "evaluate --split train --episodes 1000",
                    "Results",
                    "Every scripted buyer on every classic task, training seeds, one row an "
                    "episode",
                ),
                File(
                    "evaluation/classic-holdout.json",
                    "evaluate --split holdout --episodes 500",
                    "Results",
                    "The same on hold-out seeds, from 50,000",
                ),
                File(
                    "evaluation/market-train.json",
                    "evaluate --family market --split train --episodes 1000",
                    "Results",
                    "Every scripted buyer on every open-market task, training seeds",
                ),
                File(
                    "evaluation/market-holdout.json",
                    "evaluate --family market --split holdout --episodes 500",
                    "Results",
                    "The same on hold-out seeds",
                ),
            ),
            Check(
                "replayed",
                "every episode and every row",
                episodes_in_rows,
                "episodes",
                f"{RECOMPUTE}:evaluation",
            ),
        ),
        Kind(
            "arena/2",
            Arena,
            (
                File(
                    "evaluation/arena-train.json",
                    "evaluate --family arena --split train",
                    "Results",
                    "Every scripted policy on every arena task, training seeds: utility "
                    "beside reward",
                ),
                File(
                    "evaluation/arena-holdout.json",
                    "evaluate --family arena --split holdout",
                    "Results, Transcripts",
                    "The same on hold-out seeds, and with other labs than the worlds draw",
                ),
            ),
            Check(
                "replayed",
                "every episode and row",
                episodes_in_rows,
                "episodes",
                f"{RECOMPUTE}:arena",
            ),
        ),
        *MARKET,
        Kind(
            "episodes/1",
            Episodes,
            (File("episodes/showcase.json", "record-episodes", "Artifacts & API"),),
            Check(
                "replayed",
                "every move",
                lambda config, data: len(data.episodes),
                "episodes",
                f"{RECOMPUTE}:episodes",
            ),
        ),
        *DIALOGUES,
        *ROLES,
        Kind(
            "bench/2",
            Bench,
            (File("bench.json", "--save", "Artifacts & API", module="benchmarks.speed"),),
            Check(
                "checksum only",
                "every sample; medians and ratios recomputed from them",
                lambda config, data: len(data.figures),
                "figures",
                f"{RECOMPUTE}:bench",
            ),
        ),
        Kind(
            "load/1",
            LoadTest,
            (File("load.json", "loadtest --before COMMIT --save", "Artifacts & API"),),
            Check(
                "checksum only",
                "every sample; percentiles and slopes recomputed from them",
                lambda config, data: sum(row.n for mix in data.mixes for row in mix.rows),
                "timed actions",
                f"{RECOMPUTE}:load_test",
            ),
        ),
        Kind(
            "model_comparison/3",
            ModelComparison,
            (File("evaluation/model-comparison.json", "compare-models", "Tour, Results"),),
            Check(
                "replayed in part",
                "scripts replayed; model rows recomputed from recorded columns; the "
                "first games of each stage by --models",
                scripted_games,
                "games of scripts",
                f"{RECOMPUTE}:comparison",
            ),
            f"{HASHES}:bazaar_prompt",
        ),
        Kind(
            "seller_quality/2",
            SellerQuality,
            (File("seller_quality.json", "seller-quality", "Results"),),
            Check(
                "replayed in part",
                "every game replayed; figures recomputed from the recorded texts",
                lambda config, data: len(data.games),
                "games",
                f"{RECOMPUTE}:seller_quality",
            ),
            WORD_HASHES,
        ),
        Kind(
            "arena_model_comparison/3",
            ArenaModelComparison,
            (
                File(
                    "evaluation/arena-model-comparison.json",
                    "compare-models --game arena",
                    "Results",
                ),
            ),
            Check(
                "replayed in part",
                "scripts replayed; model rows recomputed from recorded "
                "columns; the first games of each stage by --models",
                scripted_games,
                "games of scripts",
                f"{RECOMPUTE}:comparison",
            ),
            f"{HASHES}:arena_prompt",
        ),
        Kind(
            "before_after/3",
            BeforeAfter,
            (File("episodes/before_after.json", "before-after", "Transcripts"),),
            Check(
                "replayed in part",
                "the games shown replayed from the recorded replies, and chosen "
                "again; other grades are not repeated",
                lambda config, data: 2 * sum(len(task.chosen) for task in data.tasks),
                "games",
                f"{RECOMPUTE}:before_and_after",
            ),
            f"{HASHES}:bazaar_prompt",
        ),
    )
}
