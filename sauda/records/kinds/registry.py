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
from sauda.records.schemas.seller import SellerQuality
from sauda.records.schemas.training import Selector

WORD_HASHES = "sauda.evaluation.seller.texts:word_hashes"

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
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
