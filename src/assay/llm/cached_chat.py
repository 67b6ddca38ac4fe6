"""A chat that remembers: each question is paid for once per model and settings, and kept in one sqlite file.

A reply is on its way to the disk before it is returned, so a killed process loses none. Threads that ask the same
at once wait for the first of them; processes share the file, and what two of them ask at once is asked twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.io.database import Database
from assay.llm.fingerprint import fingerprint
from assay.protocols import Chat
from assay.types import Prompt, Reply

_TABLE = (
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, value TEXT, model TEXT, "
    "tokens_in INTEGER, tokens_out INTEGER, cost REAL, seconds REAL) WITHOUT ROWID"
)


class CachedChat:
    """A wrapper with the protocol of what it wraps; it goes outside of budgets and paces, which it spares."""

    def __init__(self, chat: Chat, path: Path) -> None:
        self._chat = chat
        self._lock = threading.Lock()
        self._asking: dict[str, tuple[threading.Lock, int]] = {}
        self._database = Database(path, _TABLE, "the cache of replies")

    @property
    def name(self) -> str:
        """The name of the chat inside: the replies are the same."""
        return self._chat.name

    def reply(self, prompt: Prompt) -> Reply:
        """Return what was answered before, at no cost, or else what the chat inside answers."""
        key = fingerprint(prompt, self.name)
        if known := self._read(key):
            return known
        with self._alone(key):
            known = self._read(key)
            return known or self._keep(key, self._chat.reply(prompt))

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _keep(self, key: str, reply: Reply) -> Reply:
        row = (key, json.dumps(dict(reply.value)), reply.model, reply.tokens_in, reply.tokens_out)
        with self._database.use() as held:  # nan goes in as NULL
            held.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, reply.cost, reply.seconds)
            )
        return reply

    def _read(self, key: str) -> Reply | None:
        with self._database.use() as held:
            question = "SELECT value, model, tokens_in, tokens_out FROM replies WHERE key = ?"
            row = held.execute(question, (key,)).fetchone()
            if row is None:
                return None
            value, model, tokens_in, tokens_out = row
            return Reply(json.loads(value), model, tokens_in, tokens_out, cached=True)

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Keep other threads from asking the same; the lock is gone when the last of them is."""
        with self._lock:
            lock, waiting = self._asking.get(key, (threading.Lock(), 0))
            self._asking[key] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                _, waiting = self._asking.pop(key)
                if waiting > 1:
                    self._asking[key] = lock, waiting - 1
