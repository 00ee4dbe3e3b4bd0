"""People on the leaderboard: their moves as stored actions, the tally against Sauda, the export.

A person plays an entry of GAMES games in the page, under the same rules as an agent. Of what was
typed only the speech act is stored, which is all that the seller hears.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from env import Accept, Offer, speech
from sauda.records.schemas.base import Interval
from sauda.serve.game import SaudaAction, env_action
from sauda.serve.leaderboard import Board, Place, action_row, end_and_grade, replay_game, rules_of
from sauda.sessions.bazaar import Action, Game, answer, moves_of, start
from sauda.statistics import mean_interval

TASK = "bazaar/open"
GAMES = 5  # of a person's entry
KIND = "people/1"  # of the export


def next_bargain(board: Board, token: str) -> tuple[Place, Game]:
    """The game that a person plays next, or goes on with; ValueError where none is left."""
    place = board.next_game(token)
    game = start(TASK, "", place.seed)
    for row in place.actions:
        game = answer(game, env_action(SaudaAction.model_validate(row), TASK))
    return place, game


def record_moves(board: Board, token: str, game: Game) -> None:
    """Store the moves of `game` that the entry of `token` does not hold yet.

    Raises ValueError, a sentence, where the game is not the entry's next one or its time is over.
    """
    place = board.next_game(token)
    if place.seed != game.play.seed:
        raise ValueError("another tab has gone on with these games; open the page again")
    actions = list(place.actions)
    made = [game.play.turns[turn].action for turn in moves_of(game)]
    for action in made[len(actions) :]:
        actions.append(action_row(drop_own_words(action)))
        ended = end_and_grade(replay_game(TASK, place.seed, actions))
        board.add(place, len(actions), actions[-1], ended)


def drop_own_words(action: Action) -> SaudaAction:
    """A person's move without its own words: those of its speech act stand for them."""
    if isinstance(action, Offer):
        act, named = speech.act_in(action.message)
        words = speech.buyer_line(act, named, 0.0) if act else ""
        return SaudaAction(action_type="offer", price=action.price, message=words)
    return SaudaAction(action_type="accept" if isinstance(action, Accept) else "walk")


@dataclass(frozen=True)
class Tally:
    """People against Sauda on the same seeds: mean grades with their intervals."""

    people: int
    n: int  # games
    person: Interval
    sauda: Interval
    oracle: Interval
    difference: Interval  # person less Sauda


def tally(board: Board) -> Tally | None:
    """All games of complete entries that Sauda and the oracle played too; None where there is none.

    Intervals resample people, whose games are not independent, where there is more than one.
    """
    rows = board.pairs(TASK, rules_of(TASK))
    if not rows:
        return None
    by_person = [list(games) for _, games in groupby(rows, key=lambda row: row["entry"])]

    def mean(values: Sequence[float]) -> Interval:
        return Interval(**dict(zip(("mean", "low", "high"), mean_interval(values), strict=True)))

    def column(of: str, less: str = "") -> Interval:
        games = [[row[of] - (row[less] if less else 0.0) for row in rows] for rows in by_person]
        return mean(list(map(np.mean, games)) if len(games) > 1 else games[0])

    return Tally(
        len(by_person), len(rows), column("grade"), column("sauda"), column("oracle"),
        column("grade", "sauda"),
    )  # fmt: skip


def export(board: Board) -> dict[str, Any]:
    """Every complete entry of people without name, id or time: seeds, moves, the three grades."""
    rules = rules_of(TASK)
    paired = {(row["entry"], row["number"]): row for row in board.pairs(TASK, rules)}
    people = []
    for entry in board.all_entries():
        if not entry.person or entry.rules != rules:
            continue
        games = []
        for number, game in enumerate(board.games(entry), 1):
            row = paired.get((entry.id, number))
            beside = {name: row[name] if row else None for name in ("sauda", "oracle")}
            games.append(game.as_json() | beside)
        people.append({"games": games})
    people.sort(key=lambda person: str(person["games"][0]["seed"]))  # not in the order of playing
    return {"kind": KIND, "task": TASK, "rules": rules, "people": people}
