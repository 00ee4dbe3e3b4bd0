"""A complete entry as JSON, with its seeds and actions, and the check that plays it again."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sauda.records.seeds import LEADERBOARD, seed_in_json, whole_seed
from sauda.records.store import read_object
from sauda.serve.leaderboard.board import UNFINISHED, Board, Entry, commitment
from sauda.serve.leaderboard.replay import replayed, result, rules_of
from sauda.serve.leaderboard.storage import Storage
from sauda.serve.openenv.game import WORST
from sauda.statistics import mean_interval

KIND = "leaderboard_entry/1"
DATABASE = b"SQLite format 3\0"  # how such a file begins


def record(board: Board, entry: Entry) -> dict[str, Any]:
    """Everything that is known of a complete entry; its token is not."""
    return {
        "kind": KIND,
        "entry": entry.id,
        "name": entry.name,
        "task": entry.task,
        "rules": entry.rules,
        "commitment": entry.commitment,
        "created": in_utc(entry.created),
        "grade": entry.grade.as_json(),
        "games": [
            {
                "seed": seed_in_json(game.seed),
                "end": game.end,
                "grade": game.grade,
                "actions": list(game.actions),
            }
            for game in board.games(entry)
        ],
    }


def records_in(file: Path) -> list[dict[str, Any]]:
    """The records of all complete entries in a leaderboard's file, or the one in a JSON file.

    Raises ValueError where the file is not there or is neither of the two.
    """
    if not is_database(file):
        return [read_object(file)]
    board = Board(Storage(file))
    return [record(board, entry) for entry in board.all_entries()]


def remove_from(file: Path, entry: str) -> str:
    """Delete the entry of that id from a leaderboard's file, and return its name.

    Raises ValueError where the file is no leaderboard or has no such entry. A page that is open
    goes on with what is left.
    """
    if not is_database(file):
        raise ValueError(f"{file} is no file of a leaderboard, from which an entry can be removed")
    return Board(Storage(file)).remove(entry)


def is_database(file: Path) -> bool:
    """Whether a file is one of SQLite; ValueError where it is not there."""
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    with file.open("rb") as opened:
        return opened.read(len(DATABASE)) == DATABASE


def in_utc(seconds: float) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def faults(recorded: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an entry's record, a sentence each: all games are played again.

    Raises ValueError where it is no record of an entry.
    """
    try:
        if recorded["kind"] != KIND:
            raise ValueError(f"the kind of a record is {KIND}, not {recorded['kind']!r:.40}")
        yield from _faults(recorded)
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no record of an entry ({error!r:.80})") from None


def _faults(recorded: Mapping[str, Any]) -> Iterator[str]:
    task, games = recorded["task"], recorded["games"]
    if recorded["rules"] != rules_of(task):
        yield (
            f"it was played under the rules {recorded['rules']}; those of {task} are"
            f" {rules_of(task)} here"
        )
        return
    seeds = [whole_seed(game["seed"]) for game in games]
    if commitment(seeds) != recorded["commitment"]:
        yield "the seeds are not those that the entrant was given the SHA-256 of"
    if len(set(seeds)) < len(seeds) or not all(seed in LEADERBOARD for seed in seeds):
        yield "the seeds are not all different ones of the leaderboard's"
    for number, (seed, game) in enumerate(zip(seeds, games, strict=True), 1):
        fault = _fault(task, seed, game)
        if fault:
            yield f"game {number}: {fault}"
    row = dict(
        zip(("mean", "low", "high"), mean_interval([g["grade"] for g in games]), strict=True)
    )
    if row != recorded["grade"]:
        yield f"the grades make {row}, and the row is {recorded['grade']}"


def _fault(task: str, seed: int, game: Mapping[str, Any]) -> str:
    """How a game differs when it is played again; empty where it does not."""
    try:
        now = result(replayed(task, seed, game["actions"])) or (UNFINISHED, WORST)
    except ValueError as error:
        return str(error)
    then = (game["end"], game["grade"])
    if now == then:
        return ""
    return f"recorded {then[0]} with grade {then[1]}, played again {now[0]} with grade {now[1]}"
