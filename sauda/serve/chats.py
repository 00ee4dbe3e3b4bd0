"""An entry of the leaderboard that a language model plays: prompts to it, its replies as moves.

The prompt and its parser are those under which every model of the tables plays, so whoever brings a
model sends it messages and sends its replies back, and has no prompt and no rules of the game. The
model itself, and the key to it, stay with whoever brings it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from env import TASKS, IllegalAction, arena, rollout
from sauda.games import game_of
from sauda.players import scripts_of
from sauda.records.seeds import SPLITS
from sauda.serve.game import SentAction, ServedGame, act, forfeit, refuse
from sauda.serve.leaderboard import BEGAN, FORFEIT, GAMES, end_and_grade, own_board, replay_game
from sauda.serve.openenv import find_place

TRIES = 3  # replies in a row without a legal move, the last of which loses the game
SAMPLE = 5  # training games, from which the length of an entry is estimated


@dataclass(frozen=True)
class Turn:
    """What an entry's model is asked next, and what came of the reply before."""

    entry: str
    task: str
    game: int  # from 1
    games: int
    step: int  # replies in the game so far
    messages: tuple[Mapping[str, str], ...]  # none once all games are over
    error: str  # why the reply held no legal move
    end: str  # how the game of the reply ended; "" while it runs
    grade: float | None


@dataclass(frozen=True)
class Typical:
    """About how much a model reads and writes in an entry, by the games of a script."""

    task: str
    policy: str  # the script
    sample: int  # its games
    calls: int
    read: int  # characters of prompts
    written: int  # characters of replies


def take_turn(token: str, game: int = 0, step: int = 0, reply: str | None = None) -> Turn:
    """The next prompt of the entry of `token`, after the `reply` to that of a `game` and `step`.

    A reply to another prompt is passed over, so that each but the last may be sent twice. Raises
    ValueError where there is no such entry or all its games are over.
    """
    place = find_place(token)
    now = replay_game(place.task, place.seed, place.actions)
    error, ended = "", None
    if reply is not None and (game, step) == (place.number, now.steps):
        now, row = play_reply(now, reply)
        error, ended = now.error, end_and_grade(now)
        own_board().add(place, now.steps, row, ended)
        if ended and place.number < place.games:
            place = find_place(token)
            now = replay_game(place.task, place.seed, place.actions)
    end, grade = ended or ("", None)
    messages = () if now.over else tuple(game_of(place.task).prompt.render(now.observation))
    names = (place.entry, place.task, place.number, place.games)
    return Turn(*names, now.steps, messages, error, end, grade)


def play_reply(game: ServedGame, reply: str) -> tuple[ServedGame, Mapping[str, Any]]:
    """The game after the move in a model's reply, and the row from which it is replayed.

    A reply without a legal move changes nothing, but TRIES of them in a row forfeit the game.
    """
    rules = game_of(game.task_name)
    try:
        action = rules.prompt.parse(reply, game.observation)
        if isinstance(action, arena.Malformed):
            raise IllegalAction(action.reason)
        fields = rules.words.to_json(action)
        row = {"action_type": fields.pop("action"), **fields}
        after = act(game, SentAction.model_validate(row), BEGAN)
    except IllegalAction as error:
        row, after = {"action_type": "malformed"}, refuse(game, str(error))
    if after.refusals < TRIES:
        return after, row
    return forfeit(game, f"{TRIES} replies in a row held no legal move"), FORFEIT


@cache
def typical_entry(task_name: str) -> Typical:
    """How much a model reads and writes if its games are as long as SAMPLE of a script."""
    task, prompt = TASKS[task_name], game_of(task_name).prompt
    name, policy = next(iter(scripts_of(task).items()))
    turns = [
        turn
        for seed in islice(SPLITS["train"], SAMPLE)
        for turn in rollout(task, policy, seed).trajectory(task.learner)
    ]
    read = sum(len(m["content"]) for turn in turns for m in prompt.render(turn.observation))
    written = sum(len(prompt.completion(turn.action, turn.observation)) for turn in turns)
    counts = (round(count * GAMES / SAMPLE) for count in (len(turns), read, written))
    return Typical(task_name, name, SAMPLE, *counts)
