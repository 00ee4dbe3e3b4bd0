"""The leaderboard: entries, their hidden seeds, every move that was made in them.

An entry is a fixed number of games that are played one after the other. A game stays the next one
until it is over, so nobody can discard it; one that is not over at the entry's deadline counts the
lowest grade. Whether an entry is complete follows from its games and the time and is not stored.
"""

import hashlib
import json
import secrets
import sqlite3
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import Any

from env import TASKS
from sauda.records.schemas.base import Interval
from sauda.records.seeds import leaderboard_seed
from sauda.serve.leaderboard.names import is_reserved
from sauda.serve.leaderboard.storage import FILE, Storage, data_folder
from sauda.serve.openenv.game import WORST
from sauda.statistics import mean_interval

GAMES = 50  # of an entry
HOURS = 24.0  # that an entry has
LONGEST_NAME = 40  # characters
MARKS = 3  # on one letter of a name; no script needs more
MOST_BYTES = 2**20  # of an entry's moves
UNFINISHED = "unfinished"  # how a game ended that was not over at the deadline
SHOWN = 100  # entries at a time
# The classic games rank nobody: a script that only waits wins nearly everything there.
RANKED = tuple(name for name in TASKS if not name.startswith("classic/"))


@dataclass(frozen=True)
class Ticket:
    """What an entrant is given; whoever has the token plays the entry."""

    entry: str  # public id
    token: str
    task: str
    games: int
    commitment: str  # see `commitment`
    deadline: float  # seconds since 1970, as every time here


@dataclass(frozen=True)
class Place:
    """Where an entry stands: its next game and the actions that were made in it."""

    entry: str
    task: str
    rules: str  # under which it was entered
    number: int  # of the game, from 1
    games: int
    seed: int
    actions: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Entry:
    """A complete entry."""

    id: str
    name: str
    task: str
    rules: str  # hashes of the task and of the policies in the other seats
    commitment: str
    created: float
    ends: tuple[str, ...]  # how each game ended
    grades: tuple[float, ...]

    @property
    def n(self) -> int:
        """How many games it has."""
        return len(self.grades)

    @cached_property
    def grade(self) -> Interval:
        """The mean grade with its bootstrap interval."""
        return Interval(
            **dict(zip(("mean", "low", "high"), mean_interval(self.grades), strict=True))
        )

    @property
    def count(self) -> Counter[str]:
        """How many games ended in which way."""
        return Counter(self.ends)


@dataclass(frozen=True)
class StoredGame:
    """One game of a complete entry."""

    seed: int
    end: str
    grade: float
    actions: tuple[Mapping[str, Any], ...]


def commitment(seeds: Sequence[int]) -> str:
    """The SHA-256 of the seeds, as digits with commas between them.

    An entrant has it before the first game, so that no seed can be replaced unnoticed.
    """
    return hashlib.sha256(",".join(map(str, seeds)).encode()).hexdigest()


def checked_name(name: str) -> str:
    """The name of an agent as it is stored; ValueError, a sentence, where it cannot be one."""
    name = unicodedata.normalize("NFC", name).strip() if len(name) <= 4 * LONGEST_NAME else ""
    is_name = 0 < len(name) <= LONGEST_NAME and name.isprintable() and name[0].isalnum()
    if not is_name or _most_marks(name) > MARKS:
        raise ValueError(
            f"a name has 1 to {LONGEST_NAME} characters on one line, begins with a letter or a"
            f" digit, and has at most {MARKS} marks on one letter"
        )
    if is_reserved(name):
        raise ValueError(
            "this name is one of a policy, a model or the project here, or looks like one; choose"
            " another"
        )
    return name


def _most_marks(name: str) -> int:
    """The most combining marks one after another, which would be drawn over the lines around."""
    marks = [unicodedata.category(letter) in ("Mn", "Me") for letter in name]
    return max(len(list(group)) if mark else 0 for mark, group in groupby(marks))


def checked_task(task: str) -> str:
    """The task, where the leaderboard has it; else ValueError, which lists those that it has."""
    if task not in RANKED:
        raise ValueError(f"the tasks of the leaderboard are {', '.join(RANKED)}")
    return task


@dataclass(frozen=True, eq=False)
class Standing:
    """A task's best entries, how many are complete in all, and how many are being played."""

    task: str
    entries: tuple[Entry, ...] = ()
    complete: int = 0
    being_played: int = 0


def steady(
    wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
) -> Callable[[], float]:
    """A clock that begins at the time of day and then only goes on.

    Deadlines end entries and reveal their seeds, so they must not follow a clock that is set anew.
    """
    began = wall() - monotonic()
    return lambda: began + monotonic()


class Board:
    """The leaderboard in one file; each method may be called by any thread.

    All methods raise `storage.Unavailable`, with a sentence, where the file cannot be used.
    """

    def __init__(self, storage: Storage, clock: Callable[[], float] | None = None) -> None:
        self.storage, self._clock = storage, clock or steady()
        self._changes = 0  # made here, after which another standing may hold
        # By task and rules: the standing, the changes before it, and when an entry's time is over.
        self._standings: dict[tuple[str, str], tuple[Standing, tuple[int, int], float]] = {}

    def enter(self, name: str, task: str, rules: str, games: int = GAMES) -> Ticket:
        """A new entry of the agent called `name`, on a task whose rules have the hash `rules`.

        Name and task are as `checked_name` and `checked_task` return them.
        """
        entry, token = secrets.token_hex(8), secrets.token_urlsafe(24)
        seeds = [leaderboard_seed() for _ in range(games)]
        now = self._clock()
        ticket = Ticket(entry, token, task, games, commitment(seeds), now + HOURS * 3600)
        values = (entry, digest(token), name, task, rules, ticket.commitment, now, ticket.deadline)
        numbered = [(entry, number, str(seed)) for number, seed in enumerate(seeds, 1)]
        with self.storage.writing() as connection:
            connection.execute("DELETE FROM entries WHERE NOT begun AND deadline < ?", (now,))
            connection.execute(
                "INSERT INTO entries (id, token_sha256, name, task, rules, commitment, created,"
                " deadline) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )
            connection.executemany(
                "INSERT INTO games (entry, number, seed) VALUES (?, ?, ?)", numbered
            )
        self._changes += 1
        return ticket

    def next_game(self, token: str) -> Place:
        """The game that the entry of `token` plays next, or goes on with; ValueError if none."""
        with self.storage.writing() as connection:
            entry = self._open_entry(connection, "token_sha256", digest(token))
            connection.execute("UPDATE entries SET begun = 1 WHERE id = ?", (entry["id"],))
            games = connection.execute(
                "SELECT number, seed, ended FROM games WHERE entry = ? ORDER BY number",
                (entry["id"],),
            ).fetchall()
            game = next((game for game in games if game["ended"] is None), None)
            if game is None:
                raise ValueError(
                    f"all {len(games)} games of this entry are over; GET /leaderboard has its row"
                )
            actions = connection.execute(
                "SELECT action FROM moves WHERE entry = ? AND number = ? ORDER BY step",
                (entry["id"], game["number"]),
            ).fetchall()
        self._changes += not entry["begun"]
        made = tuple(json.loads(action) for (action,) in actions)
        names = (entry["id"], entry["task"], entry["rules"])
        return Place(*names, game["number"], len(games), int(game["seed"]), made)

    def add(
        self, place: Place, step: int, action: Mapping[str, Any], ended: tuple[str, float] | None
    ) -> None:
        """Store the action that made the game's `step`, and how and with what grade it ended.

        Raises ValueError, and stores nothing, where another session has made that step, the
        deadline is over or the entry's moves take too much room.
        """
        text = json.dumps(action, ensure_ascii=False, separators=(",", ":"))
        game = (place.entry, place.number)
        with self.storage.writing() as connection:
            entry = self._open_entry(connection, "id", place.entry)
            made, over = connection.execute(
                "SELECT (SELECT COUNT(*) FROM moves WHERE (entry, number) = (g.entry, g.number)),"
                " ended IS NOT NULL FROM games g WHERE (entry, number) = (?, ?)",
                game,
            ).fetchone()
            if over or made != step - 1:
                raise ValueError("another session plays this game; reset goes on from there")
            size = entry["bytes"] + len(text.encode())
            if size > MOST_BYTES:
                raise ValueError(
                    f"the moves of an entry take at most {MOST_BYTES // 1024} KiB; say less"
                )
            connection.execute("UPDATE entries SET bytes = ? WHERE id = ?", (size, place.entry))
            connection.execute("INSERT INTO moves VALUES (?, ?, ?, ?)", (*game, step, text))
            if ended is not None:
                connection.execute(
                    "UPDATE games SET ended = ?, grade = ? WHERE (entry, number) = (?, ?)",
                    (*ended, *game),
                )
        self._changes += ended is not None

    def remove(self, entry: str) -> str:
        """Delete an entry with its games and moves, and return its name; ValueError if none."""
        with self.storage.writing() as connection:
            query = "DELETE FROM entries WHERE id = ? RETURNING name"
            removed = connection.execute(query, (entry,)).fetchall()
        if not removed:
            raise ValueError(f"no entry has the id {entry!r:.40}; its row on the page shows it")
        return removed[0]["name"]

    def _open_entry(self, connection: sqlite3.Connection, key: str, value: str) -> sqlite3.Row:
        entry = connection.execute(f"SELECT * FROM entries WHERE {key} = ?", (value,)).fetchone()
        if entry is None:
            raise ValueError("no entry has this token; POST /leaderboard/enter gives one")
        if entry["deadline"] < self._clock():
            raise ValueError(f"the {HOURS:.0f} hours of this entry are over")
        return entry

    def standing(self, task: str, rules: str) -> Standing:
        """How a task stands under today's rules; computed when it changes, not when it is read."""
        changes = self._changes, self.storage.changes_of_others()
        known, then, until = self._standings.get((task, rules), (None, None, 0.0))
        if known is not None and then == changes and self._clock() <= until:
            return known
        ends = self.storage.rows(
            "SELECT MIN(deadline) FROM entries WHERE begun AND deadline >= ?", (self._clock(),)
        )
        until = ends[0][0] if ends and ends[0][0] is not None else float("inf")
        now = Standing(task, tuple(self.entries(task, rules)), *self.counts(task, rules))
        self._standings[task, rules] = now, changes, until
        return now

    def entries(self, task: str, rules: str, limit: int = SHOWN, offset: int = 0) -> list[Entry]:
        """Complete entries of a task under today's rules, the best mean grade first."""
        ranked = self.storage.rows(
            f"{COMPLETE} AND task = ? AND rules = ? ORDER BY mean DESC, created, id"
            " LIMIT ? OFFSET ?",
            (WORST, self._clock(), task, rules, limit, offset),
        )
        return [self._entry(row) for row in ranked]

    def all_entries(self) -> list[Entry]:
        """Every complete entry, the oldest first."""
        rows = self.storage.rows(f"{COMPLETE} ORDER BY created, id", (WORST, self._clock()))
        return [self._entry(row) for row in rows]

    def entry(self, name: str) -> Entry | None:
        """The complete entry of that public id; None where there is none."""
        rows = self.storage.rows(f"{COMPLETE} AND id = ?", (WORST, self._clock(), name))
        return self._entry(rows[0]) if rows else None

    def counts(self, task: str, rules: str) -> tuple[int, int]:
        """How many entries of a task are complete, and how many are being played."""
        complete = self.storage.rows(
            f"SELECT COUNT(*) FROM ({COMPLETE} AND task = ? AND rules = ?)",
            (WORST, self._clock(), task, rules),
        )
        begun = self.storage.rows(
            "SELECT COUNT(*) FROM entries WHERE begun AND task = ? AND rules = ?", (task, rules)
        )
        done = complete[0][0] if complete else 0
        return done, (begun[0][0] if begun else 0) - done

    def games(self, entry: Entry) -> list[StoredGame]:
        """The games of a complete entry, in order."""
        seeds = self.storage.rows(
            "SELECT seed FROM games WHERE entry = ? ORDER BY number", (entry.id,)
        )
        moves = self.storage.rows(
            "SELECT number, action FROM moves WHERE entry = ? ORDER BY number, step", (entry.id,)
        )
        actions: dict[int, list[Any]] = {}
        for number, action in moves:
            actions.setdefault(number, []).append(json.loads(action))
        return [
            StoredGame(int(seed), end, grade, tuple(actions.get(number, ())))
            for number, ((seed,), end, grade) in enumerate(
                zip(seeds, entry.ends, entry.grades, strict=True), 1
            )
        ]

    def _entry(self, row: sqlite3.Row) -> Entry:
        games = self.storage.rows(
            "SELECT COALESCE(ended, ?), COALESCE(grade, ?) FROM games WHERE entry = ?"
            " ORDER BY number",
            (UNFINISHED, WORST, row["id"]),
        )
        names = ("id", "name", "task", "rules", "commitment", "created")
        ends, grades = zip(*games, strict=True)
        return Entry(**{name: row[name] for name in names}, ends=ends, grades=grades)


# Entries whose games are all over, or whose time is; a game that is not over counts WORST.
COMPLETE = """
    SELECT *, (SELECT AVG(COALESCE(grade, ?)) FROM games WHERE entry = entries.id) AS mean
    FROM entries
    WHERE begun AND (deadline < ? OR NOT EXISTS
        (SELECT 1 FROM games WHERE entry = entries.id AND ended IS NULL))
"""


def digest(token: str) -> str:
    """The SHA-256 of a token, which is stored in its place."""
    return hashlib.sha256(token.encode()).hexdigest()


@cache
def own_board() -> Board:
    """The leaderboard of this process, in the folder for data."""
    return Board(Storage(data_folder() / FILE))
