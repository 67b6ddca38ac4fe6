"""A search service by its address: GET with the query in the URL, or POST of JSON with the option `body`.

spec = "http:http://localhost:8000/search?q={query}&limit={k}"
serve = "tool serve {corpus} --port 8000"                # unless it runs already
headers = { Authorization = "Bearer $SEARCH_TOKEN" }     # names of the environment, so that no secret is written
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from os import environ
from pathlib import Path
from subprocess import DEVNULL
from typing import Any
from urllib.parse import quote, urlsplit

from assay.bench.system import SystemCorpus, checked, small_environment
from assay.bench.systems import tool_answers
from assay.bench.systems.tool_answers import OPTIONS, Answers
from assay.errors import AssayError, InputError
from assay.io import leash
from assay.io.endpoint_address import checked_url
from assay.io.http import HttpClient, HttpOptions
from assay.io.processes import end_patiently
from assay.protocols import Searcher
from assay.values import Query

_OPTIONS = {**OPTIONS, "body": dict[str, Any](), "headers": dict[str, Any](), "output_bytes": 20_000_000}
_OPTIONS |= {"serve": "", "environment": list[str]()}
_LOOK_S, _ENDING_S = 0.05, 2.0
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class HttpSystem:
    """One request a query, for it is timed: nothing is asked twice, and no connection is kept for the next one."""

    def __init__(self, url: str = "") -> None:
        checked_url(url, "the address of the service", "http://… or https://…")
        tool_answers.check(url)
        self._url = url
        self._client: HttpClient | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Check the options and start the service, if they say how; it is asked with the first query."""
        given = checked("http", options, _OPTIONS)
        tool_answers.check(given["body"])
        if given["serve"]:
            self._start(given["serve"], given["environment"], corpus)
        headers = {"Accept": "application/json, text/plain", "Connection": "close", **_expanded(given["headers"])}
        limits = HttpOptions(given["timeout_s"], given["output_bytes"], tries=1)
        client = self._client = HttpClient("the service", self._url, limits, headers)

        def ask(query: Query, k: int) -> str:
            values = tool_answers.values_of(corpus, given["location"], query.text, k)
            values = {**values, "query": query.text}
            quoted = {name: quote(value, safe="", errors="replace") for name, value in values.items()}
            body = tool_answers.filled_all(given["body"], values) if given["body"] else None
            return client.ask_text(tool_answers.filled(self._url, quoted), body)

        return Answers(ask, corpus, given, Path(corpus.root))

    def _start(self, command: str, environment: list[str], corpus: SystemCorpus) -> None:
        """Start the service and wait until it accepts connections; whoever started this limits how long."""
        words, values = tool_answers.words_of(command, ("corpus",)), tool_answers.values_of(corpus, "")
        if self._accepts():
            raise InputError(f"another program already listens at {self._url}; choose another port")
        leashed = [sys.executable, "-I", "-S", leash.__file__, *(tool_answers.filled(word, values) for word in words)]
        passed = small_environment(environment)
        self._server = subprocess.Popen(leashed, cwd=corpus.root, env=passed, stdin=DEVNULL, start_new_session=True)
        while not self._accepts():
            if (status := self._server.poll()) is not None:
                raise AssayError(f"the service '{words[0]}' ended with {status} before it accepted a connection")
            time.sleep(_LOOK_S)

    def _accepts(self) -> bool:
        at = urlsplit(self._url)
        with suppress(OSError), socket.create_connection((at.hostname, at.port or 80), 1):
            return True
        return False

    def close(self) -> None:
        """Close the connections, and end the service if it was started here."""
        if self._client is not None:
            self._client.close()
        if self._server is not None:
            end_patiently(self._server, _ENDING_S, waits=False)


def _expanded(headers: Mapping[str, Any]) -> dict[str, str]:
    def value(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise InputError(f"the environment variable {found[1]} is not set, and a header of the service needs it")
        return environ[found[1]]

    return {name: _VARIABLE.sub(value, str(text)) for name, text in headers.items()}
