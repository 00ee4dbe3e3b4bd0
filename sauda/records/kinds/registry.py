"""The kinds of artifacts, one entry each: schema, files, commands, tabs, and how it is checked."""

from collections.abc import Mapping

from sauda.records.kinds.amounts import (
    selector_episodes,
)
from sauda.records.kinds.dialogues import DIALOGUES
from sauda.records.kinds.market import MARKET
from sauda.records.kinds.roles import ROLES
from sauda.records.kinds.training import TRAINING
from sauda.records.kinds.types import RECOMPUTE, Check, File, Kind
from sauda.records.schemas.bench import Bench, LoadTest
from sauda.records.schemas.published import Published
from sauda.records.schemas.seller import SellerQuality
from sauda.records.schemas.training import Selector

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
        *MARKET,
        Kind(
            "selector/1",
            Selector,
            (File("training/selector.json", "train selector", "Training"),),
            Check(
                "replayed",
                "every choice, update and episode",
                selector_episodes,
                "episodes",
                "sauda.train.selector:recomputed",
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
        *TRAINING,
    )
}
