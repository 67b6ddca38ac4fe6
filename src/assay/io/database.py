"""One table in a sqlite file that threads and processes share: what caches are kept in; the owner of sqlite3.

Several processes may use a file at once; what two of them write under one key is written twice with the same value.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.errors import StorageError

_WAIT_S = 30.0  # for another writer


class Database:
    """A connection of many threads; `table` is the statement that makes what is not there yet."""

    def __init__(self, path: Path, table: str, what: str) -> None:
        self._path, self._what = path, what
        self._lock = threading.Lock()
        with self._usable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(table)

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread; whatever is wrong with the file is a StorageError that names it."""
        with self._lock, self._usable():
            yield self._connection

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
