"""The leaderboard: an agent plays hidden games on this server, which computes its row.

An entry is a fixed number of games that are played one after the other. A game stays the next one
until it is over, so nobody can discard it; one that is not over at the entry's deadline counts the
lowest grade. Whether an entry is complete follows from its games and the time and is not stored.
All of it, seeds and every move included, is in one SQLite file.
"""

import hashlib
import json
import logging
import os
import re
import secrets
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import BaseModel, Field

from env import Episode, episode, get_task
from env.fingerprint import of_prompt
from sauda.games import RANKED
from sauda.played import opponents_hash, task_hash
from sauda.records.schemas.base import Interval
from sauda.records.seeds import LEADERBOARD, leaderboard_seed, seed_in_json, whole_seed
from sauda.records.store import read_object
from sauda.serve.game import WORST, SaudaAction, SentAction, ServedGame, act, forfeit, start
from sauda.serve.names import skeleton
from sauda.statistics import exact_interval, mean_interval

LOG = logging.getLogger(__name__)

GAMES = 50  # of an entry
HOURS = 24.0  # that an entry has
MOST_BYTES = 2**20  # of an entry's moves
WAITING = 1_000  # entries that nobody has begun, the newest; 5 KB each
UNFINISHED = "unfinished"  # how a game ended that was not over at the deadline
SHOWN = 100  # entries at a time
BEGAN = 0.0  # of each game: an entry has a deadline, its single games have none
KIND = "leaderboard_entry/1"  # of a record
# The last action of a game that a language model lost, since its replies held no move.
FORFEIT: Mapping[str, Any] = {"action_type": "forfeit"}

VARIABLE = "SAUDA_DATA"
OF_A_SPACE = Path("/data")  # where a Space has its storage, if it was given any
FILE = "leaderboard.sqlite"
DATABASE = b"SQLite format 3\0"  # how such a file begins
MOST_FILE_BYTES = 512 * 2**20
OTHERS_WRITE = 5.0  # seconds to wait for another process that writes

# The statements of each version of the file's tables.
VERSIONS = [
    [statement for statement in version.split(";") if statement.strip()]
    for version in re.split(
        "^-- Version.*$", Path(__file__).with_suffix(".sql").read_text("utf-8"), flags=re.MULTILINE
    )[1:]
]
# Entries whose games are all over, or whose time is; a game that is not over counts WORST.
COMPLETE = """
    SELECT *, (SELECT AVG(COALESCE(grade, ?)) FROM games WHERE entry = entries.id) AS mean
    FROM entries
    WHERE begun AND (deadline < ? OR NOT EXISTS
        (SELECT 1 FROM games WHERE entry = entries.id AND ended IS NULL))
"""

NAMED = "SELECT 1 FROM entries WHERE (task, rules, skeleton) = (?, ?, skeleton(?))"
TAKEN = "another entry of this task has this name, or one that looks like it; choose another"


def replay_game(
    task_name: str, seed: int, actions: Iterable[Mapping[str, Any]], episode_id: str = ""
) -> ServedGame:
    """The game of `seed` after these actions; ValueError where one of them comes after its end."""
    game = start(task_name, seed, episode_id, BEGAN, is_entered=True)
    for action in actions:
        if action == FORFEIT:
            game = forfeit(game, "its replies held no legal move")
        else:
            game = act(game, SentAction.model_validate(action), BEGAN)
    return game


def action_row(action: SaudaAction) -> dict[str, Any]:
    """The action as JSON, from which `replay_game` makes it again."""
    return action.model_dump(exclude_defaults=True, exclude={"metadata"})


def end_and_grade(game: ServedGame) -> tuple[str, float] | None:
    """How a game ended, and its grade; None while it runs."""
    return (str(game.end), game.grade) if game.over else None


def episode_of(game: ServedGame) -> Episode:
    """The game as an episode; one that still runs as a forfeit, which it was at the deadline."""
    play = game.play if game.over else replace(game.play, forfeit=True)
    return episode(game.task, play)


@cache
def rules_of(task_name: str) -> str:
    """The hashes of a task and of its opponents, as in the rows of evaluations."""
    return f"{task_hash(task_name)}-{opponents_hash(task_name)}"


@cache
def prompt_hash(task_name: str) -> str:
    """The fingerprint of the prompt that a language model is given in a task."""
    return of_prompt(get_task(task_name))


class Unavailable(ValueError):
    """The file cannot be read or written now; the text is a sentence."""


def data_folder() -> Path:
    """The folder for persistent data: as set, a Space's storage, else the user's cache."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if "SPACE_ID" in os.environ and OF_A_SPACE.is_dir():
        return OF_A_SPACE
    return Path.home() / ".cache" / "sauda"


class Storage:
    """The file, opened when it is first written; until then nothing is there to read."""

    def __init__(self, file: Path, most_bytes: int = MOST_FILE_BYTES) -> None:
        self.file, self.most_bytes = file, most_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows of a query, none where there is no file yet; Unavailable where it fails."""
        with self._lock, self._in_words():
            if self._connection is None and not self.file.exists():
                return []
            return self._open().execute(query, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Context: one transaction, whole or not at all; Unavailable where it cannot be made."""
        with self._lock, self._in_words():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            with connection:  # commits, or rolls back what failed
                yield connection

    def empty_log(self) -> None:
        """Let the write-ahead log keep nothing that was deleted, unless another process reads."""
        self.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Context: a failure of SQLite or of the disk becomes Unavailable.

        Callers read its sentence; where the file is stands in the log alone.
        """
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            LOG.warning("%s: %s", self.file, error)
            why = getattr(error, "strerror", None) or error
            raise Unavailable(
                f"the leaderboard cannot be read or written now ({why}); what it holds is not lost"
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.touch(0o600)  # it holds the seeds of entries that are being played
            connection = sqlite3.connect(
                self.file, timeout=OTHERS_WRITE, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except (sqlite3.Error, Unavailable):
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise Unavailable("the leaderboard’s folder takes no write-ahead log of SQLite")
        connection.execute("PRAGMA synchronous = NORMAL")  # what a kill of the process cannot harm
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is removed is overwritten
        connection.create_function("skeleton", 1, skeleton, deterministic=True)
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {self.most_bytes // page}")
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > len(VERSIONS):
                held = f"tables of version {version}, not {len(VERSIONS)}"
                raise Unavailable(f"the leaderboard’s file has {held}")
            for statement in chain(*VERSIONS[version:]):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(VERSIONS)}")


class Entered(BaseModel):
    """An entry that is to be played."""

    entry: str = Field(description="Its public id.")
    token: str = Field(description="A secret: reset with entry=token plays the next game.")
    task: str
    games: int
    commitment: str = Field(description="SHA-256 of the seeds, which are shown once all is over.")
    deadline: str = Field(description=f"{HOURS:.0f} hours from now; what is not over then is lost.")


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
    person: bool  # whether a person plays it, in the page


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
    paces: tuple[float | None, ...] = ()  # seconds per move in each game; None where unknown
    person: int = 0  # 1 where a person played, 0 for an agent
    prompt: str = ""  # its fingerprint when the entry was made; "" where that is not known

    @property
    def n(self) -> int:
        return len(self.grades)

    @property
    def grade(self) -> Interval:
        return _interval_of(self.grades)

    @property
    def pace(self) -> float | None:
        """The median over its games of the seconds per move; None where no game has them."""
        known = [pace for pace in self.paces if pace is not None]
        return median(known) if known else None

    @property
    def count(self) -> Counter[str]:
        return Counter(self.ends)


@lru_cache(maxsize=1024)  # the same entries are read at each visit
def _interval_of(grades: tuple[float, ...]) -> Interval:
    return Interval(**exact_interval(mean_interval(grades)))


@dataclass(frozen=True)
class StoredGame:
    """One game of a complete entry."""

    seed: int
    end: str
    grade: float
    actions: tuple[Mapping[str, Any], ...]

    def as_json(self) -> dict[str, Any]:
        seed = seed_in_json(self.seed)
        return vars(self) | {"seed": seed, "actions": list(self.actions)}


def commitment(seeds: Sequence[int]) -> str:
    """The SHA-256 of the seeds, as digits with commas between them.

    An entrant has it before the first game, so that no seed can be replaced unnoticed.
    """
    return hashlib.sha256(",".join(map(str, seeds)).encode()).hexdigest()


def check_task(task: str) -> str:
    """The task, where the leaderboard has it; else ValueError, which lists those that it has."""
    if task not in RANKED:
        raise ValueError(f"the tasks of the leaderboard are {', '.join(RANKED)}")
    return task


@dataclass(frozen=True)
class Standing:
    """A task's best entries, how many are complete in all, and how many are being played.

    They are those of agents or those of people, whose entries have fewer games.
    """

    task: str
    entries: tuple[Entry, ...] = ()
    complete: int = 0
    being_played: int = 0
    withdrawn: int = 0  # by those who hold their tokens


def steady() -> Callable[[], float]:
    """A clock that starts at the current time and never goes backwards.

    Deadlines end entries and reveal their seeds, so they must not follow a clock that is set anew.
    """
    began = time.time() - time.monotonic()
    return lambda: began + time.monotonic()


class Board:
    """The leaderboard in one file; each method may be called by any thread.

    All methods raise Unavailable, with a sentence, where the file cannot be used.
    """

    def __init__(self, storage: Storage, clock: Callable[[], float] | None = None) -> None:
        self.storage, self._clock = storage, clock or steady()

    def enter(
        self, name: str, task: str, rules: str, games: int = GAMES, person: bool = False
    ) -> Entered:
        """A new entry called `name`, on a task whose rules have the hash `rules`.

        Name and task are as `names.check_name` and `check_task` return them. Raises ValueError
        where another entry under these rules has the name, or one that looks like it.
        """
        entry, token = secrets.token_hex(8), secrets.token_urlsafe(24)
        seeds = [leaderboard_seed() for _ in range(games)]
        now, promised = self._clock(), commitment(seeds)
        ends = now + HOURS * 3600
        row = (entry, token_digest(token), name, task, rules, promised, now, ends, person)
        prompt = "" if person else prompt_hash(task)
        numbered = [(entry, number, str(seed)) for number, seed in enumerate(seeds, 1)]
        with self.storage.transaction() as connection:
            connection.execute("DELETE FROM entries WHERE NOT begun AND deadline < ?", (now,))
            if connection.execute(NAMED, (task, rules, name)).fetchone():
                raise ValueError(TAKEN)
            connection.execute(
                "INSERT INTO entries (id, token_sha256, name, task, rules, commitment, created,"
                " deadline, person, prompt, skeleton)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, skeleton(?))",
                (*row, prompt, name),
            )
            connection.executemany(
                "INSERT INTO games (entry, number, seed) VALUES (?, ?, ?)", numbered
            )
            connection.execute(
                "DELETE FROM entries WHERE NOT begun AND id NOT IN (SELECT id FROM entries"
                " WHERE NOT begun ORDER BY created DESC LIMIT ?)",
                (WAITING,),
            )
        named = {"entry": entry, "token": token, "task": task, "games": games}
        return Entered(**named, commitment=promised, deadline=in_utc(ends))

    def check_free(self, name: str, task: str, rules: str) -> None:
        """Raise ValueError, a sentence, where `enter` would refuse the name."""
        if self.storage.rows(NAMED, (task, rules, name)):
            raise ValueError(TAKEN)

    def next_game(self, token: str) -> Place:
        """The game that the entry of `token` plays next, or goes on with; ValueError if none."""
        with self.storage.transaction() as connection:
            entry = self._open_entry(connection, "token_sha256", token_digest(token))
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
            game_key = (entry["id"], game["number"])
            connection.execute(
                "UPDATE games SET shown = COALESCE(shown, ?) WHERE (entry, number) = (?, ?)",
                (self._clock(), *game_key),
            )
            actions = connection.execute(
                "SELECT action FROM moves WHERE (entry, number) = (?, ?) ORDER BY step", game_key
            ).fetchall()
        made = tuple(json.loads(action) for (action,) in actions)
        names = (entry["id"], entry["task"], entry["rules"])
        at = (game["number"], len(games), int(game["seed"]))
        return Place(*names, *at, made, bool(entry["person"]))

    def add(
        self, place: Place, step: int, action: Mapping[str, Any], ended: tuple[str, float] | None
    ) -> None:
        """Store the action that made the game's `step`, and how and with what grade it ended.

        Raises ValueError, and stores nothing, where another session has made that step, the
        deadline is over or the entry's moves take too much room.
        """
        text = json.dumps(action, ensure_ascii=False, separators=(",", ":"))
        game = (place.entry, place.number)
        with self.storage.transaction() as connection:
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
            connection.execute(
                "UPDATE games SET pace = (? - shown) / ? WHERE (entry, number) = (?, ?)",
                (self._clock(), step, *game),
            )
            if ended is not None:
                connection.execute(
                    "UPDATE games SET ended = ?, grade = ? WHERE (entry, number) = (?, ?)",
                    (*ended, *game),
                )

    def pair(self, entry: str, number: int, sauda: float, oracle: float) -> None:
        """Store the grades of Sauda and of the oracle at a person's game, if it is still there."""
        with self.storage.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO pairs SELECT entry, number, ?, ? FROM games"
                " WHERE (entry, number) = (?, ?)",
                (sauda, oracle, entry, number),
            )

    def pairs(self, task: str, rules: str) -> list[sqlite3.Row]:
        """Each game of people's complete entries, the oldest entry first.

        That is entry, number, seed, whether it ended, and the grades of the person, of Sauda and of
        the oracle; the last two are None until Sauda has played it.
        """
        return self.storage.rows(
            "SELECT c.id AS entry, number, seed, ended IS NOT NULL AS ended,"
            f" COALESCE(grade, ?) AS grade, sauda, oracle FROM ({COMPLETE}) c"
            " JOIN games ON games.entry = c.id LEFT JOIN pairs USING (entry, number)"
            " WHERE c.person AND c.task = ? AND c.rules = ? ORDER BY c.created, c.id, number",
            (WORST, WORST, self._clock(), task, rules),
        )

    def add_day(self, day: str, visitor: str, grade: float) -> None:
        """Store a grade in a day's bargain, the first of each `visitor`, who is a digest."""
        with self.storage.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO days VALUES (?, ?, ?)", (day, visitor, grade))

    def grades_of_day(self, day: str) -> dict[str, float]:
        """The grades of all who let their game of a day count, by the digest of the visitor."""
        return dict(
            map(tuple, self.storage.rows("SELECT visitor, grade FROM days WHERE day = ?", (day,)))
        )

    def remove(self, what: str) -> str:
        """Delete an entry by its id, or the grades of a day; returns its name, or how many."""
        with self.storage.transaction() as connection:
            query = "DELETE FROM entries WHERE id = ? RETURNING name"
            names = [name for (name,) in connection.execute(query, (what,)).fetchall()]
            grades = connection.execute("DELETE FROM days WHERE day = ?", (what,)).rowcount
        if not (names or grades):
            raise ValueError(
                f"no entry has the id {what!r:.40}, which its row on the page shows, and no game of"
                " such a day, as in 2026-11-23, was counted"
            )
        self.storage.empty_log()
        return names[0] if names else f"{grades} grades of people"

    def withdraw(self, token: str) -> int:
        """Delete all that is stored under a token: an entry, or grades of days; returns how many.

        Of an entry that was begun a count stays: nobody can show the best of several unnoticed.
        """
        digest = token_digest(token)
        with self.storage.transaction() as connection:
            query = (
                "DELETE FROM entries WHERE token_sha256 = ? RETURNING task, rules, person, begun"
            )
            entries = connection.execute(query, (digest,)).fetchall()
            connection.executemany(
                "INSERT INTO withdrawn VALUES (?, ?, ?, 1)"
                " ON CONFLICT DO UPDATE SET entries = entries + 1",
                [entry[:3] for entry in map(tuple, entries) if entry[3]],
            )
            days = connection.execute("DELETE FROM days WHERE visitor = ?", (digest,)).rowcount
        if entries or days:
            self.storage.empty_log()
        return len(entries) + days

    def count_withdrawn(self, task: str, rules: str, person: bool) -> int:
        """How many entries of agents, or of people, were withdrawn under these rules."""
        query = "SELECT entries FROM withdrawn WHERE (task, rules, person) = (?, ?, ?)"
        return sum(count for (count,) in self.storage.rows(query, (task, rules, person)))

    def _open_entry(self, connection: sqlite3.Connection, key: str, value: str) -> sqlite3.Row:
        entry = connection.execute(f"SELECT * FROM entries WHERE {key} = ?", (value,)).fetchone()
        if entry is None:
            raise ValueError("no entry has this token; POST /leaderboard/enter gives one")
        if entry["deadline"] < self._clock():
            raise ValueError(f"the {HOURS:.0f} hours of this entry are over")
        return entry

    def rank(
        self, task: str, rules: str, limit: int = SHOWN, offset: int = 0, person: bool = False
    ) -> Standing:
        """How agents, or people, stand at a task under today's rules, from place `offset` on."""
        which = "task = ? AND rules = ? AND person = ?"
        values = (task, rules, person)
        counted = self.storage.rows(
            f"SELECT COUNT(*), (SELECT COUNT(*) FROM ({COMPLETE} AND {which}))"
            f" FROM entries WHERE begun AND {which}",
            (WORST, self._clock(), *values, *values),
        )
        begun, complete = counted[0] if counted else (0, 0)
        entries = tuple(self.entries(task, rules, limit, offset, person))
        withdrawn = self.count_withdrawn(task, rules, person)
        return Standing(task, entries, complete, begun - complete, withdrawn)

    def entries(
        self, task: str, rules: str, limit: int = SHOWN, offset: int = 0, person: bool = False
    ) -> list[Entry]:
        """Complete entries of agents, or people, at a task, the best mean grade first."""
        order = "ORDER BY mean DESC, created, id LIMIT ? OFFSET ?"
        which = f"AND task = ? AND rules = ? AND person = ? {order}"
        return self._complete(which, task, rules, person, limit, offset)

    def all_entries(self) -> list[Entry]:
        """Every complete entry, the oldest first."""
        return self._complete("ORDER BY created, id")

    def entry(self, name: str) -> Entry | None:
        """The complete entry of that public id; None where there is none."""
        return next(iter(self._complete("AND id = ?", name)), None)

    def entry_of(self, token: str) -> Entry | None:
        """The entry of a token, all of whose games are over; None where there is none such."""
        entries = self._complete("AND token_sha256 = ?", token_digest(token))
        return next((entry for entry in entries if UNFINISHED not in entry.ends), None)

    def _complete(self, query: str, *values: Any) -> list[Entry]:
        rows = self.storage.rows(f"{COMPLETE} {query}", (WORST, self._clock(), *values))
        return [self._entry(row) for row in rows]

    def games(self, entry: Entry) -> list[StoredGame]:
        """The games of a complete entry, in order."""
        rows = self.storage.rows(
            "SELECT number, seed, action FROM games LEFT JOIN moves USING (entry, number)"
            " WHERE entry = ? ORDER BY number, step",
            (entry.id,),
        )
        played = [list(moves) for _, moves in groupby(rows, itemgetter("number"))]
        games = []
        for moves, end, grade in zip(played, entry.ends, entry.grades, strict=True):
            actions = tuple(json.loads(move["action"]) for move in moves if move["action"])
            games.append(StoredGame(int(moves[0]["seed"]), end, grade, actions))
        return games

    def _entry(self, row: sqlite3.Row) -> Entry:
        games = self.storage.rows(
            "SELECT COALESCE(ended, ?), COALESCE(grade, ?), pace FROM games WHERE entry = ?"
            " ORDER BY number",
            (UNFINISHED, WORST, row["id"]),
        )
        names = ("id", "name", "task", "rules", "commitment", "created", "person", "prompt")
        ends, grades, paces = zip(*games, strict=True)
        columns = {"ends": ends, "grades": grades, "paces": paces}
        return Entry(**{name: row[name] for name in names}, **columns)


def token_digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@cache
def own_board() -> Board:
    """The leaderboard of this process, in the folder for data."""
    return Board(Storage(data_folder() / FILE))


def record_of(board: Board, entry: Entry) -> dict[str, Any]:
    """All data of a complete entry but its token."""
    return {
        "kind": KIND,
        "entry": entry.id,
        **{
            name: getattr(entry, name) for name in ("name", "task", "rules", "prompt", "commitment")
        },
        "created": in_utc(entry.created),
        "grade": entry.grade.as_json(),
        "games": [game.as_json() for game in board.games(entry)],
    }


def records_in(file: Path) -> list[dict[str, Any]]:
    """The records of all complete entries in a leaderboard's file, or the one in a JSON file."""
    if not is_database(file):
        return [read_object(file)]
    board = Board(Storage(file))
    return [record_of(board, entry) for entry in board.all_entries()]


def remove_from(file: Path, what: str) -> str:
    """Delete an entry or the grades of a day from a leaderboard's file, as `Board.remove`."""
    if not is_database(file):
        raise ValueError(f"{file} is no file of a leaderboard, from which an entry can be removed")
    return Board(Storage(file)).remove(what)


def is_database(file: Path) -> bool:
    """Whether a file is one of SQLite; ValueError where it is not there."""
    if not file.is_file():
        raise ValueError(f"there is no file {file}")
    with file.open("rb") as opened:
        return opened.read(len(DATABASE)) == DATABASE


def in_utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def entry_faults(recorded: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an entry's record, a sentence each: all games are played again."""
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
        then = (game["end"], game["grade"])
        try:
            now = end_and_grade(replay_game(task, seed, game["actions"])) or (UNFINISHED, WORST)
        except ValueError as error:
            yield f"game {number}: {error}"
            continue
        if now != then:
            recorded_as = f"recorded {then[0]} with grade {then[1]}"
            yield f"game {number}: {recorded_as}, played again {now[0]} with grade {now[1]}"
    row = exact_interval(mean_interval([game["grade"] for game in games]))
    if row != recorded["grade"]:
        yield f"the grades make {row}, and the row is {recorded['grade']}"
