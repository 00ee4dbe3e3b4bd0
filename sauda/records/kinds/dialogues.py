"""The kinds of artifacts about dialogues in words."""

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.dialogues import Dialogues

DIALOGUES: tuple[Kind, ...] = (
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
)
