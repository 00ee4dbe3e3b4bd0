"""The kinds of artifacts about dialogues in words: the shipped ones, and the reading of acts."""

from sauda.records.kinds.types import Check, File, Kind
from sauda.records.schemas.language import Acts, Dialogues

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
            "sauda.train.scripted_dialogues:replay",
        ),
    ),
    Kind(
        "acts/1",
        Acts,
        (File("acts.json", "acts --data FILE", "Training"),),
        Check(
            "checksum only",
            "every count; figures recomputed from them. The dialogues are not ours to ship: "
            "`acts --data FILE --check` reads them again where they are",
            lambda config, data: sum(part.n for part in data.parts),
            "turns with words",
            "sauda.evaluation.language.acts:again",
        ),
    ),
)
