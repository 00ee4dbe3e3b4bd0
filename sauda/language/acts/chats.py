"""A role's turns of one dialogue as a chat: what was said and the thought are read, words learnt.

A whole dialogue is one sequence, so that its beginning is read once for all of its turns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sauda.language.acts.examples import Example, examples, part_of
from sauda.language.acts.prices import written
from sauda.language.acts.types import Dialogue

SELLING = ("buyer", "seller")
GENERALIST = "generalist"  # the role that speaks for both sides
SYSTEM = (
    "You are the {role} in a negotiation. {values} Each message has what was said since your last "
    "turn, and in brackets what you mean to do. Say it in one line."
)


@dataclass(frozen=True)
class View:
    """A dialogue from the side of one role: its examples in order, one a turn."""

    dialogue: Dialogue
    role: str
    turns: tuple[Example, ...]

    def chat(self) -> list[dict[str, str]]:
        """All of it as the messages of a chat; the role's words are those of the assistant."""
        own = (
            f"Your {name} is {written(value, self.dialogue.currency)}."
            for name, value in self.dialogue.values[self.role].items()
        )
        messages = [
            {"role": "system", "content": SYSTEM.format(role=self.role, values=" ".join(own))}
        ]
        told = ""
        for turn in self.turns:
            new = turn.context.removeprefix(told).strip()
            messages += [
                {"role": "user", "content": f"{new}\n({turn.intention})".strip()},
                {"role": "assistant", "content": turn.utterance},
            ]
            told = f"{turn.context}\n{self.role}: {turn.utterance}"
        return messages


def view(dialogue: Dialogue, side: str) -> View:
    """The dialogue from one side."""
    turns, _ = examples([dialogue], side)
    return View(dialogue, side, tuple(turns))


def sides_of(role: str, agents: Sequence[str] = SELLING) -> tuple[str, ...]:
    """The agents whose turns a role says: its own, or both of a generalist.

    Raises ValueError for another role.
    """
    roles = {agent: (agent,) for agent in agents} | {GENERALIST: tuple(agents)}
    if role not in roles:
        raise ValueError(f"no role {role!r}; roles are {', '.join(roles)}")
    return roles[role]


def views(
    dialogues: Iterable[Dialogue], sides: Sequence[str], part: str, count: int | None = None
) -> list[View]:
    """The first `count` dialogues of a part, or all, from each of `sides`, one after the other.

    In each dialogue, both sides have words. Raises ValueError where no dialogue is of the part.
    """
    chosen = _chosen(dialogues, part)[:count]
    if not chosen:
        raise ValueError(f"there is no {part} dialogue; load more dialogues")
    return [view(dialogue, side) for side in sides for dialogue in chosen]


def learnt(
    dialogues: Iterable[Dialogue], sides: Sequence[str], count: int, seed: int
) -> list[View]:
    """`count` training dialogues in the order in which they are learnt, each from one side.

    The draw does not depend on the role. A generalist takes the two sides in turn, so that it
    learns from as many dialogues, and in as many steps, as a specialist. Raises ValueError where
    there are too few dialogues.
    """
    chosen = _chosen(dialogues, "train")
    if not 0 < count <= len(chosen):
        raise ValueError(f"there are {len(chosen)} training dialogues, and {count} were asked for")
    drawn = np.random.default_rng(seed).permutation(len(chosen))[:count]
    return [view(chosen[place], sides[i % len(sides)]) for i, place in enumerate(drawn)]


def _chosen(dialogues: Iterable[Dialogue], part: str) -> list[Dialogue]:
    return [dialogue for dialogue in dialogues if part_of(dialogue) == part]


def counts(taught: Sequence[View]) -> dict[str, dict[str, int]]:
    """How many dialogues are taken from each side, and how many turns of each act."""
    roles: dict[str, int] = {}
    acts: dict[str, int] = {}
    for view in taught:
        roles[view.role] = roles.get(view.role, 0) + 1
        for turn in view.turns:
            intent = turn.act.partition("(")[0]
            acts[intent] = acts.get(intent, 0) + 1
    return {"roles": dict(sorted(roles.items())), "acts": dict(sorted(acts.items()))}
