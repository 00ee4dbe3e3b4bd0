"""The role examples of the shipped dialogues: found by words and act, counted by act and role."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sauda.language.acts import INTENTS, PARTS, Dialogue, Example, examples
from sauda.language.acts import SELLING as AGENTS
from sauda.train.dialogues import load_shipped

ANY = "any act"


@dataclass(frozen=True)
class Corpus:
    """The shipped dialogues and every role example in them."""

    dialogues: dict[str, Dialogue]  # by id
    examples: dict[str, tuple[Example, ...]]  # by role
    left_out: Counter[str]  # turns without an example, by reason

    def found(self, role: str, words: str, act: str) -> list[Example]:
        """The examples of `role` with the words in its utterance or in the item, and the act."""
        sought = words.casefold().strip()
        return [
            example
            for example in self.examples[role]
            if act in (ANY, intent_of(example))
            and (
                sought in example.utterance.casefold()
                or sought in self.dialogues[example.dialogue].scenario.casefold()
            )
        ]

    def counts(self) -> list[tuple[str, *tuple[int, ...]]]:
        """By act, how many examples each role has; acts without any are left out."""
        by_role = {role: Counter(map(intent_of, self.examples[role])) for role in AGENTS}
        rows = [(intent, *(by_role[role][intent] for role in AGENTS)) for intent in INTENTS]
        return [row for row in rows if any(row[1:])]

    def parts(self) -> list[tuple[str, *tuple[int, ...]]]:
        """By part of the split, how many examples each role has."""
        by_role = {role: Counter(one.part for one in self.examples[role]) for role in AGENTS}
        return [(part, *(by_role[role][part] for role in AGENTS)) for part in PARTS]


@lru_cache(maxsize=1)
def corpus() -> Corpus:
    """The shipped dialogues. Raises ArtifactError where their file is missing or damaged."""
    dialogues = load_shipped().dialogues
    made, left_out = examples(dialogues)
    by_role = {role: tuple(one for one in made if one.role == role) for role in AGENTS}
    return Corpus({dialogue.id: dialogue for dialogue in dialogues}, by_role, left_out)


def intent_of(example: Example) -> str:
    """The act of an example without its price."""
    return example.act.partition("(")[0]


def acts_of(role: str, made: Corpus) -> list[str]:
    """The acts that a role's examples have, in the order of INTENTS."""
    there = set(map(intent_of, made.examples[role]))
    return [intent for intent in INTENTS if intent in there]


def at(found: Sequence[Example], place: int) -> int:
    """The place in `found` nearest to `place`."""
    return min(max(place, 0), len(found) - 1)
