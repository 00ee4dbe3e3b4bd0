"""People on the leaderboard: their moves as stored actions, and the tally against Sauda.

A person plays an entry of GAMES games in the page, under the same rules as an agent. Of what was
typed only the speech act is stored, which is all that the seller hears. Sauda plays the games of
every complete entry, whatever they came to and whether anybody looks.
"""

import logging
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from env import Accept, Offer, corpus, get_task, people
from sauda.llm.types import ReplyError
from sauda.players import PEOPLE
from sauda.records.schemas.base import Interval
from sauda.serve.game import SaudaAction, env_action
from sauda.serve.leaderboard import Board, Place, action_row, end_and_grade, replay_game, rules_of
from sauda.sessions.bazaar import Action, Game, answer, moves_of, start
from sauda.sessions.review import informed_grade
from sauda.statistics import exact_interval, mean_interval

LOG = logging.getLogger(__name__)
TASK = PEOPLE
GAMES = 5  # of a person's entry
KIND = "people/2"  # of the tally as JSON


def next_bargain(board: Board, token: str) -> tuple[Place, Game]:
    """The game that a person plays next, or goes on with; ValueError where none is left."""
    place = board.next_game(token)
    game = start(TASK, "", place.seed)
    for row in place.actions:
        game = answer(game, _read(row))
    return place, game


def record_moves(board: Board, token: str, game: Game) -> None:
    """Store the moves of `game` that the entry of `token` does not hold yet.

    Raises ValueError, a sentence, where the game is not the entry's next one, does not go on from
    the moves that it holds, or its time is over.
    """
    place = board.next_game(token)
    actions = list(place.actions)
    made = [game.play.turns[turn].action for turn in moves_of(game)]
    goes_on = len(made) >= len(actions) and all(map(_is_stored_as, made, actions))
    if place.seed != game.play.seed or not goes_on:
        raise ValueError("another tab has gone on with these games; open the page again")
    for action in made[len(actions) :]:
        actions.append(action_row(drop_own_words(action)))
        ended = end_and_grade(replay_game(TASK, place.seed, actions))
        board.add(place, len(actions), actions[-1], ended)


def _is_stored_as(action: Action, row: Mapping[str, Any]) -> bool:
    """Whether a move is the one in a row, as it was made or as the page read it from there."""
    return action_row(drop_own_words(action)) == row or action == _read(row)


def _read(row: Mapping[str, Any]) -> Action:
    return env_action(SaudaAction.model_validate(row), TASK)


def drop_own_words(action: Action) -> SaudaAction:
    """A person's move without its own words: those of its speech act stand for them."""
    if isinstance(action, Offer):
        act, named = people.act_in(action.message)
        words = corpus.buyer_line(act, named, 0.0) if act else ""
        return SaudaAction(action_type="offer", price=action.price, message=words)
    return SaudaAction(action_type="accept" if isinstance(action, Accept) else "walk")


def play_pairs(board: Board, play: Callable[[int], float]) -> None:
    """Store Sauda's and the oracle's grade at every game of people that has none yet.

    `play` returns Sauda's grade at a seed; where it raises ReplyError, the game stays for the next
    call. Raises Unavailable.
    """
    for row in board.pairs(TASK, rules_of(TASK)):
        if row["sauda"] is not None:
            continue
        seed = int(row["seed"])
        try:
            sauda = play(seed)
        except ReplyError as error:
            LOG.warning("a game of people still waits for Sauda: %s", error)
            continue
        board.pair(row["entry"], row["number"], sauda, informed_grade(get_task(TASK), seed))


@dataclass(frozen=True)
class Tally:
    """People against Sauda on the same seeds: mean grades with their intervals.

    A game that a person left unfinished counts the lowest grade, as in the entry's row.
    """

    entries: int  # complete ones that Sauda and the oracle played, too
    waiting: int  # complete ones that Sauda has yet to play
    n: int  # games
    unfinished: int  # of them
    withdrawn: int  # entries that were begun, and are gone
    person: Interval | None = None  # None where there is no game
    sauda: Interval | None = None
    oracle: Interval | None = None
    difference: Interval | None = None  # person less Sauda


def tally(board: Board) -> Tally:
    """Every complete entry of people, whole, once Sauda has played all its games.

    Intervals resample entries, whose games are not independent, where there is more than one.
    """
    rows = board.pairs(TASK, rules_of(TASK))
    complete = [list(games) for _, games in groupby(rows, key=itemgetter("entry"))]
    played = [games for games in complete if all(row["sauda"] is not None for row in games)]
    games = [row for rows in played for row in rows]
    unfinished = sum(not row["ended"] for row in games)
    withdrawn = board.count_withdrawn(TASK, rules_of(TASK), person=True)
    counts = (len(played), len(complete) - len(played), len(games), unfinished, withdrawn)
    if not played:
        return Tally(*counts)

    def column(value: Callable[[sqlite3.Row], float]) -> Interval:
        grades = [list(map(value, rows)) for rows in played]
        values = list(map(np.mean, grades)) if len(grades) > 1 else grades[0]
        return Interval(**exact_interval(mean_interval(values)))

    means = [column(itemgetter(name)) for name in ("grade", "sauda", "oracle")]
    return Tally(*counts, *means, column(lambda row: row["grade"] - row["sauda"]))


def export(board: Board) -> dict[str, Any]:
    """The tally as JSON.

    It has no single games: whatever it told of one would lead to the name in the entry's record.
    """
    figures = {
        name: value.as_json() if isinstance(value, Interval) else value
        for name, value in vars(tally(board)).items()
    }
    return {"kind": KIND, "task": TASK, "rules": rules_of(TASK), **figures}
