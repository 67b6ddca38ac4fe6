"""A search service by its address: GET with the query in the URL, or POST of JSON with the option `body`.

spec = "http:http://localhost:8000/search?q={query}&limit={k}"
headers = { Authorization = "Bearer $SEARCH_TOKEN" }     # names of the environment, so that no secret is written
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import environ
from pathlib import Path
from typing import Any
from urllib.parse import quote

from assay.bench.system import SystemCorpus, checked
from assay.bench.systems import tool_answers
from assay.bench.systems.tool_answers import OPTIONS, Answers
from assay.errors import InputError
from assay.io.endpoints import checked_url
from assay.io.http import HttpClient, HttpOptions
from assay.protocols import Searcher
from assay.values import Query

_OPTIONS = {**OPTIONS, "body": dict[str, Any](), "headers": dict[str, Any](), "output_bytes": 20_000_000}
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class HttpSystem:
    """One request a query, for it is timed: nothing is asked twice, and no connection is kept for the next one."""

    def __init__(self, url: str = "") -> None:
        checked_url(url, "the address of the service", "http://… or https://…")
        tool_answers.check(url)
        self._url = url
        self._client: HttpClient | None = None

    def prepare(self, corpus: SystemCorpus, options: Mapping[str, Any]) -> Searcher:
        """Check the options; the service is asked with the first query."""
        given = checked("http", options, _OPTIONS)
        tool_answers.check(given["body"])
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

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()


def _expanded(headers: Mapping[str, Any]) -> dict[str, str]:
    def value(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise InputError(f"the environment variable {found[1]} is not set, and a header of the service needs it")
        return environ[found[1]]

    return {name: _VARIABLE.sub(value, str(text)) for name, text in headers.items()}
