"""The kinds of artifacts, one entry each: schema, files, commands, tabs, and how it is checked."""

from collections.abc import Mapping

from sauda.records.kinds.amounts import (
    selector_episodes,
)
from sauda.records.kinds.market import MARKET
from sauda.records.kinds.training import TRAINING
from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.language import Dialogues
from sauda.records.schemas.training import Selector

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
        Kind(
            "dialogues/1",
            Dialogues,
            (File("dialogues.json", "dialogues", "Training"),),
            Check(
                "replayed",
                "every game and every line of it",
                lambda config, data: len(data.rows),
                "dialogues",
                "sauda.train.data.dialogues.generated:recomputed",
            ),
        ),
        *TRAINING,
    )
}
