"""Answered requests in, a line of JSON for each out: who asked what, and what came of it; questions only on request.

A line is written by one call to a file that is opened for appending, so that lines of several processes do not mix. A
server that is reloaded opens the file anew, as programs that rotate logs expect.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from assay.errors import InputError
from assay.protocols import Say

STDOUT = "-"
_LONGEST = 2000
"""Characters of a path or a question that are kept."""


class AccessLog:
    """Where requests are noted."""

    def __init__(self, file: str, say: Say, *, queries: bool = False) -> None:
        """Open a file for appending, `-` for standard output; with `queries`, what was asked is noted as well."""
        self._file, self._say, self._queries = file, say, queries
        self._is_broken = False
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = 1 if file == STDOUT else os.open(Path(file), flags, 0o640)
        except OSError as error:
            raise InputError(f"--access-log '{file}' cannot be written: {error.strerror}; name another file") from error

    def note(self, scope: Any, status: int, size: int, seconds: float) -> None:
        """Write down one request."""
        row = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": scope.get("assay.person", ""),
            "address": scope.get("assay.address") or (scope.get("client") or ("",))[0],
            "method": scope["method"][:20],
            "path": scope["path"][:_LONGEST],
            "status": status,
            "bytes": size,
            "ms": round(seconds * 1e3, 2),
            "process": os.getpid(),
        }
        if self._queries:
            row["query"] = _without_token(scope["query_string"].decode("latin-1"))[:_LONGEST]
        self._write((json.dumps(row) + "\n").encode())

    def _write(self, line: bytes) -> None:
        """Append a line; where that fails, say it once and answer all the same."""
        try:
            os.write(self._descriptor, line)
        except OSError as error:
            if not self._is_broken:
                self._say(f"--access-log '{self._file}': {error.strerror}; requests are not noted until that is mended")
            self._is_broken = True
        else:
            self._is_broken = False


def _without_token(query: str) -> str:
    """Return a query without what the page takes for a token, however its name is written."""
    return "&".join(each for each in query.split("&") if unquote_plus(each.partition("=")[0]) != "token")
