"""The learner's own games, each of its states labelled by a teacher: the rows of `distill`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from env import Observation, Policy, Task, agent_stream
from sauda.games.adapter import ModelTurn, ParsedReply, Reply, Request
from sauda.games.bazaar_prompt import completion, parse, render
from sauda.llm.registry import get_policy
from sauda.llm.turn import ModelGame, PlayerSpec, new_game, play_turn
from sauda.policies.pilot import Pilot
from sauda.records.seeds import is_unseen_listing
from sauda.train.data.soft import SoftRow, label
from sauda.train.data.teacher import Action, rounded

COMPLETIONS = {"accept": '{"accept":true}', "walk": '{"walk":true}'}
TURNS = 5  # the stream that draws whose turn it is


@dataclass(frozen=True)
class Teacher:
    """A policy of `task` that labels states; `sd` and `near` are those of `soft.label`.

    The pilot plays with errors of `tremble` percent of the limit, so that its games also come to
    states off its path.
    """

    task: Task
    policy: Policy
    sd: float
    near: int
    tremble: float

    @classmethod
    def named(cls, task: Task, name: str, sd: float, near: int, tremble: float = 0.0) -> "Teacher":
        """The policy called `name`; ValueError where the task has none of that name."""
        return cls(task, get_policy(task, name), sd, near, tremble)

    def move(self, obs: Observation, seed: int, turn: int) -> Action:
        """The teacher's move, before it is rounded."""
        return self.policy(obs, agent_stream(self.task, seed, self.task.learner, turn))

    def label(self, obs: Observation, seed: int, turn: int) -> dict[str, float]:
        """The probability of each completion at `obs`: the policy's own, or around its move."""
        if isinstance(self.policy, Pilot):
            return _completions(self.policy, obs, self.sd)
        return label(obs, self.move(obs, seed, turn), self.sd, self.near)

    def turn(self, game: ModelGame, rng: np.random.Generator) -> ModelTurn:
        """The teacher's move in a game, as a turn of the learner; `rng` draws its errors."""
        obs = game.observation
        if isinstance(self.policy, Pilot) and self.tremble:
            chances = _completions(self.policy, obs, self.tremble)
            text = str(rng.choice(list(chances), p=list(chances.values())))
            move = parse(text, obs)
        else:
            move = rounded(obs, self.move(obs, game.play.seed, len(game.turns)), self.near)
            text = completion(move, obs)
        request = Request(render(obs), 0)
        return ModelTurn(obs, request, Reply(text, "teacher"), ParsedReply(parse(text, obs), move))


def _completions(pilot: Pilot, obs: Observation, hand: float) -> dict[str, float]:
    """The probability of each completion at `obs` under a hand with errors of `hand` percent."""
    chances = pilot.distribution(obs, hand)
    total = sum(chances.values())
    return {COMPLETIONS.get(m) or f'{{"offer":{m}}}': p / total for m, p in chances.items()}


@dataclass
class SharedGame:
    """A game whose turns are the learner's or the teacher's."""

    game: ModelGame
    rng: np.random.Generator  # draws whose turn it is, and the teacher's errors
    own: list[bool] = field(default_factory=list)  # which turns were the learner's


def play_shared(
    teacher: Teacher, seeds: Sequence[int], player: PlayerSpec, share: float, salt: tuple[int, ...]
) -> Iterator[SoftRow]:
    """Play the games of `seeds` and label the learner's states in them, a row a deal.

    A turn is the teacher's with the probability `share`. Deals about unseen listings are left out.
    """
    games = [
        SharedGame(
            new_game(teacher.task, seed, salt), np.random.default_rng([seed, TURNS, *salt])
        )
        for seed in seeds
    ]  # fmt: skip
    while running := [each for each in games if each.game.running]:
        for each in running:
            each.own.append(each.rng.random() >= share)
            if not each.own[-1]:
                each.game.apply(teacher.turn(each.game, each.rng))
        learners = [each.game for each in running if each.own[-1]]
        if learners:
            play_turn(learners, player)
    for each in games:
        yield from _labelled(each, teacher)


def _labelled(each: SharedGame, teacher: Teacher) -> Iterator[SoftRow]:
    """The deals of one game; the last reply of a deal that forfeits is the teacher's."""
    turns = list(enumerate(zip(each.game.turns, each.own, strict=True)))
    for deal, group in groupby(turns, lambda turn: len(turn[1][0].obs.table.past)):
        played = list(group)
        first, last = played[0][1][0], played[-1][1][0]
        if is_unseen_listing(first.obs.table.item):
            continue
        seed = each.game.play.seed
        labels = [teacher.label(turn.obs, seed, number) for number, (turn, _) in played]
        reply = max(labels[-1], key=labels[-1].get)
        if last.action is not None:
            reply = completion(last.action, last.obs)
        chat: list[dict[str, Any]] = [*render(last.obs), {"role": "assistant", "content": reply}]
        own = [own_turn for _, (_, own_turn) in played]
        yield SoftRow(teacher.task.name, seed, deal, chat, labels, own)
