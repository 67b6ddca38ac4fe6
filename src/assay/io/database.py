"""Keep a cache in one table of a SQLite file that threads and processes share; the only module that uses sqlite3.

Several processes may use a file at once; what two of them write under one key is written twice with the same value.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.errors import StorageError

_WAIT_S = 30.0  # for another writer
_PAUSE_S = 0.01
_KEYS_A_QUESTION = 500  # sqlite allows 999 variables in its oldest builds


class Database:
    """A connection that threads share; `table` is the statement that creates the table if it is missing."""

    def __init__(self, path: Path, table: str, what: str) -> None:
        self._path, self._what = path, what
        self._lock = threading.Lock()
        with self._usable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            _write_ahead(self._connection)
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(table)

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Lend the connection to one thread; every problem with the file is a StorageError that names it."""
        with self._lock, self._usable():
            yield self._connection

    def look_up(
        self, question: str, keys: Sequence[bytes], values: Sequence[Any] = (), order: str = ""
    ) -> dict[bytes, Any]:
        """Return the rows of some keys, of several the last; the query must end where the keys are inserted.

        So `SELECT key, … WHERE key IN`, with the values of its own holes before them.
        """
        known: dict[bytes, Any] = {}
        for start in range(0, len(keys), _KEYS_A_QUESTION):
            asked = keys[start : start + _KEYS_A_QUESTION]
            with self.use() as held:
                known.update(held.execute(f"{question} ({','.join('?' * len(asked))}) {order}", (*values, *asked)))
        return known

    def put(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Write rows in one transaction; they are on the disk when this returns."""
        with self.use() as held, held:  # the second ends the transaction, as it began or not at all
            held.execute("BEGIN IMMEDIATE")
            held.executemany(statement, rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error, ValueError) as error:
            message = f"{self._what} {self._path} cannot be used: {error}; delete it, or choose another place"
            raise StorageError(message) from error


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Turn write-ahead logging on, so that readers do not wait; SQLite does not wait for a process doing the same."""
    ends = time.monotonic() + _WAIT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(_PAUSE_S)
        else:
            return
