"""The SQLite file of the leaderboard: one connection, one writer at a time, write-ahead log.

A transaction that was committed outlives the process, also one that is killed.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

VARIABLE = "SAUDA_DATA"
OF_A_SPACE = Path("/data")  # where a Space has its storage, if it was given any
FILE = "leaderboard.sqlite"
VERSION = 1  # of the tables
MOST_BYTES = 512 * 2**20  # of the file
OTHERS_WRITE = 5.0  # seconds to wait for another process that writes

TABLES = (
    """CREATE TABLE entries (
        id TEXT PRIMARY KEY, token_sha256 TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        task TEXT NOT NULL, rules TEXT NOT NULL, commitment TEXT NOT NULL, created REAL NOT NULL,
        deadline REAL NOT NULL, begun INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0
    ) STRICT""",
    """CREATE TABLE games (
        entry TEXT NOT NULL REFERENCES entries ON DELETE CASCADE, number INTEGER NOT NULL,
        seed TEXT NOT NULL, ended TEXT, grade REAL, PRIMARY KEY (entry, number)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE moves (
        entry TEXT NOT NULL, number INTEGER NOT NULL, step INTEGER NOT NULL, action TEXT NOT NULL,
        PRIMARY KEY (entry, number, step),
        FOREIGN KEY (entry, number) REFERENCES games ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX entries_of_task ON entries (task)",
)


class Unavailable(ValueError):
    """The file cannot be read or written now; the text is a sentence."""


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the page keeps what outlives it: as set, a Space's storage, else the user's cache."""
    if named := environment.get(VARIABLE):
        return Path(named)
    if "SPACE_ID" in environment and OF_A_SPACE.is_dir():
        return OF_A_SPACE
    return Path.home() / ".cache" / "sauda"


class Storage:
    """The file, opened when it is first written; until then nothing is there to read."""

    def __init__(self, file: Path, most_bytes: int = MOST_BYTES) -> None:
        self.file, self.most_bytes = file, most_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows of a query, none where there is no file yet; Unavailable where it fails."""
        with self._lock, _in_words():
            if self._connection is None and not self.file.exists():
                return []
            return self._opened().execute(query, values).fetchall()

    def changes_of_others(self) -> int:
        """A number that is another one after another connection has written to the file."""
        rows = self.rows("PRAGMA data_version")
        return rows[0][0] if rows else 0

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Context: one transaction, whole or not at all; Unavailable where it cannot be made."""
        with self._lock, _in_words():
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self.file.touch(0o600)  # it holds the seeds of entries that are being played
            connection = sqlite3.connect(
                self.file, timeout=OTHERS_WRITE, isolation_level=None, check_same_thread=False
            )
            with ExitStack() as undo:
                undo.callback(connection.close)
                self._prepare(connection)
                undo.pop_all()
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise Unavailable(f"the folder of {self.file} takes no write-ahead log of SQLite")
        connection.execute("PRAGMA synchronous = NORMAL")  # what a kill of the process cannot harm
        connection.execute("PRAGMA foreign_keys = ON")
        (page,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute(f"PRAGMA max_page_count = {self.most_bytes // page}")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise Unavailable(f"{self.file} has tables of version {version}, not {VERSION}")
        if version == 0:
            for table in TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")


@contextmanager
def _in_words() -> Iterator[None]:
    """Context: a failure of SQLite or of the disk becomes Unavailable."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        raise Unavailable(
            f"the leaderboard cannot be read or written now ({error}); what it holds is not lost"
        ) from error
