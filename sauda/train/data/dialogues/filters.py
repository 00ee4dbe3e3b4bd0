"""What a dialogue needs to be used, and why a row is not: each reason is counted."""

import re
from collections.abc import Iterator

from sauda.language.acts import Dialogue

FEWEST_TURNS = 2  # with words
LONGEST = 2_000  # characters of a text; the longest turn in the samples has 548

# Control characters but for tab and line ends, halves of a pair, and the mark of a lost character.
_DAMAGED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\ud800-\udfff]")
# The forms of such tokens in chat templates: <|im_end|>, <s>, <end_of_turn>, [INST]. A tokenizer
# reads them as control tokens wherever they stand in a text.
_SPECIAL = re.compile(r"<[|｜][^<>]*[|｜]>|</?[a-z]\w*>|\[/?INST\]", re.IGNORECASE)


class NotUsed(ValueError):
    """A row that is not used: `reason` is one of few, the text of the error says where."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


def check(dialogue: Dialogue, one_sided: bool = False) -> None:
    """Raise NotUsed where no model should learn from `dialogue`.

    `one_sided` dialogues, in which one side has no words, are allowed where their acts are read.
    """
    for place, text in _texts(dialogue):
        if match := _DAMAGED.search(text):
            raise NotUsed("damaged text", f"U+{ord(match.group()):04X} in {place}")
        if match := _SPECIAL.search(text):
            raise NotUsed("special token of a chat template", f"{match.group()} in {place}")
        if len(text) > LONGEST:
            raise NotUsed(
                f"a text of more than {LONGEST:,} characters", f"{place} has {len(text):,}"
            )
    if sum(bool(turn.text) for turn in dialogue.turns) < FEWEST_TURNS:
        raise NotUsed(f"fewer than {FEWEST_TURNS} turns with words")
    silent = [agent for agent in dialogue.values if not _speaks(dialogue, agent)]
    if silent and not one_sided:
        raise NotUsed("a side without words", " and ".join(silent))


def _texts(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """What a model reads of a dialogue, each text after its place."""
    yield "the scenario", dialogue.scenario
    for number, turn in enumerate(dialogue.turns, 1):
        yield f"turn {number}", turn.text


def _speaks(dialogue: Dialogue, side: str) -> bool:
    return any(
        turn.agent == side and any(letter.isalnum() for letter in turn.text)
        for turn in dialogue.turns
    )
