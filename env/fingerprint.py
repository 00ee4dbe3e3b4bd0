"""Fingerprints: short digests of what is played, which tell whether two rows mean the same game.

A fingerprint is computed by playing a few seeds. It does not change with the names or the layout of
code, and it does not see a rule that no game of the sample reaches. The learners are fixed and some
of them odd, so that no change of a policy changes the fingerprint of a task.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, partial
from typing import Any

import numpy as np

from . import arena
from .bazaar import corpus, ear
from .bazaar.types import Accept, Offer, Table, WalkAway
from .core import Episode, IllegalAction, Policy, Task, Turn, read_rows
from .rollout import rollout
from .tasks import prompt_of

DIGITS = 12  # hexadecimal
SEEDS, LABS = 120, 12  # games of a task in the bazaar and in the arena, where they are slower
FEW = range(4)  # of a policy's games
LATER = frozenset({"version", "extras"})  # fields that joined when games were on record

# What the fixed learners of the bazaar do round by round; the last entry repeats. A number is a bid
# as a share of the own limit, for a seller an ask of 2 minus that share.
ANY = "any share"
PLANS: Sequence[tuple[float | str, ...]] = (
    (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, "accept"),
    (0.5, 0.5, 0.5, 0.9, "accept"),
    (0.05, 0.1, 0.95, 0.99, 1.0),  # insults, then nearly meets
    (0.8, 0.7, 0.6, 0.5, 0.4),  # retreats
    (0.7, 1.3),  # offers more than it has
    (0.6, 0.75, "accept"),
    ("accept",),
    (0.45, 0.55, "walk"),
    (0.001, 0.9, "forfeit"),
    (0.62, 0.64, 0.66, 0.68, 0.7, 0.71, 0.72, 0.73, 0.74, 0.75),
    (ANY,),
)
# What the parsers of texts are fingerprinted by, good and bad ones: replies of a language model in
# both games, offers in words, where the limit is {price}, and words of a seller.
TEXTS: dict[str, list[str]] = {"reply": [], "offer": [], "seller": []}
for _row in read_rows("fingerprinted.csv"):
    TEXTS[_row["of"]].append(_row["text"])


def fingerprint(value: Any) -> str:
    """The digest of a value by its content; of an object only the values of its fields count."""
    return hashlib.sha256(repr(_plain(value)).encode()).hexdigest()[:DIGITS]


def of_rules(task: Task) -> str:
    """The fingerprint of a task's rules, grade and least success: fixed learners in every seat."""
    return fingerprint(
        [task.success, [_describe_game(task, game) for game in fixed_games(task, True)]]
    )


def of_opponents(task: Task) -> str:
    """The fingerprint of a task's opponents, as the fixed learners meet them.

    Where any words count also of how sentences are heard, of which the fixed learners say few.
    """
    games = [_describe_game(task, game) for game in fixed_games(task)]
    hears = getattr(task.env, "version", 0)
    return fingerprint([*games, of_ear()] if hears else games)


@cache
def of_ear() -> str:
    """The fingerprint of what the ear of each seat hears in the sentences of evaluation."""
    rows = [row for seat in ear.SEATS for row in corpus.rows(seat, "evaluation")]
    return fingerprint([ear.meaning(row.text, row.seat)[:2] for row in rows])


def of_turns(task: Task, played: Iterable[Episode]) -> str:
    """The fingerprint of the learner's turns in some games."""
    return fingerprint([_moves(game.trajectory(task.learner)) for game in played])


def of_policy(task: Task, policy: Policy) -> str:
    """The fingerprint of a policy: its turns over FEW seeds, and off its own path."""
    played = [rollout(task, policy, seed) for seed in FEW]
    turns = [_moves(game.trajectory(task.learner)) for game in played]
    here = [_try(policy, obs, np.random.default_rng(i)) for i, obs in enumerate(positions(task))]
    return fingerprint([turns, here])


def of_prompt(task: Task) -> str:
    """The fingerprint of what a language model reads in some games of a task."""
    return fingerprint([prompt_of(task).render(obs) for obs in positions(task)])


def of_parser(parse: Callable[[str, Any], Any], observations: Sequence[Any]) -> str:
    """The fingerprint of what `parse` makes of each of the replies in TEXTS at each observation."""
    return fingerprint(
        [[_try(parse, text, obs) for text in TEXTS["reply"]] for obs in observations]
    )


def positions(task: Task, agent: str = "") -> list[Any]:
    """Observations of `agent`, by default the learner: its first and its last of some games."""
    turns = [game.trajectory(agent or task.learner) for game in fixed_games(task, most=len(PLANS))]
    return [turn.observation for path in turns if path for turn in (path[0], path[-1])]


def fixed_games(task: Task, in_every_seat: bool = False, most: int = SEEDS) -> list[Episode]:
    """Games of the fixed learners, another at each seed; opponents are fixed too where asked."""
    of_labs = isinstance(task.env, arena.GpuBudgetNegotiationEnv)
    fixed = partial(_lab, 0.5) if of_labs else partial(_bargain, PLANS[0])
    opponents = dict.fromkeys(task.opponents, fixed) if in_every_seat else task.opponents
    task = replace(task, opponents=opponents)
    if of_labs:
        return [rollout(task, partial(_lab, seed % 3 / 2), seed) for seed in range(min(most, LABS))]
    return [rollout(task, partial(_bargain, PLANS[s % len(PLANS)]), s) for s in range(most)]


def _bargain(plan: Sequence[float | str], obs: Any, rng: np.random.Generator) -> Any:
    step = plan[min(obs.round, len(plan) - 1)]
    if step == "accept":
        return Accept()
    if step == "walk":
        return WalkAway("Too much for me.")
    if step == "forfeit":
        raise IllegalAction("no move")
    share = rng.uniform(0.2, 1.0) if step == ANY else step
    if obs.agent != "seller":
        return Offer(obs.priced(obs.budget * share))
    ask = obs.priced(min([*obs.table.asks[-1:], obs.budget * (2 - share)]))
    return Accept() if obs.bid is not None and obs.bid >= ask else Offer(ask)


def _lab(share: float, obs: Any, rng: np.random.Generator) -> Any:
    """Any legal action in `share` of its turns, else the first."""
    actions = list(arena.legal_actions(obs))
    return actions[int(rng.integers(len(actions)))] if rng.random() < share else actions[0]


def _describe_game(task: Task, game: Episode) -> Any:
    """A game as its fingerprint sees it: all moves, what the learner saw last, and the outcome."""
    seen = [turn.observation for turn in game.trajectory(task.learner)][-1:]
    return _moves(game.turns), seen, game.end, game.payoffs, task.grade(game.final)


def _moves(turns: Sequence[Turn]) -> list[Any]:
    return [(turn.agent, type(turn.action).__name__, turn.action) for turn in turns]


def _try(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        value = function(*arguments)
    except IllegalAction:
        return "illegal"
    return type(value).__name__, value


def _plain(value: Any) -> Any:
    """A value as lists of texts and numbers; floats to 9 digits, since more differ by machine."""
    if value is None or isinstance(value, str | bool | int):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, float | np.number):
        return f"{value:.9g}"
    if is_dataclass(value):
        defaults = {field.name: field.default for field in fields(value)}
        return _plain_fields(value, tuple(defaults), defaults)
    if isinstance(value, Table):
        return _plain_fields(value, value._fields, value._field_defaults)
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(part)] for key, part in value.items()]
    if isinstance(value, set | frozenset):
        value = sorted(value)
    return [_plain(part) for part in value]


def _plain_fields(value: Any, names: Sequence[str], defaults: Mapping[str, Any]) -> list[Any]:
    """The values of an object's fields; one of LATER counts only where it is used."""
    return [
        _plain(getattr(value, name))
        for name in names
        if name not in LATER or getattr(value, name) != defaults.get(name)
    ]
