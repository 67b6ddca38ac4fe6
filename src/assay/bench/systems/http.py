"""A search service by its address: GET with the query in the URL, or POST of JSON with the option `body`.

spec = "http:http://localhost:8000/search?q={query}&limit={k}"
headers = { Authorization = "Bearer $SEARCH_TOKEN" }     # names of the environment, so that no secret is written
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from http.client import HTTPException
from os import environ
from pathlib import Path
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit

from assay.bench.corpus import Corpus
from assay.bench.systems import template
from assay.bench.systems.answers import OPTIONS, Answers
from assay.bench.systems.options import checked
from assay.bench.systems.outputs import shown
from assay.errors import AssayError, InputError
from assay.protocols import Searcher
from assay.types import Query

_OPTIONS = {**OPTIONS, "body": dict[str, Any](), "headers": dict[str, Any](), "output_bytes": 20_000_000}
_PIECE = 65_536
_DIGITS = 18
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class HttpSystem:
    """One request a query; no scheme but http and https, not even after a redirect."""

    def __init__(self, url: str = "") -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise InputError(f"'{url}' is no address of a service; wanted http://… or https://…")
        template.check(url)
        self._url = url

    def prepare(self, corpus: Corpus, options: Mapping[str, Any]) -> Searcher:
        """Check the options; the service is asked with the first query."""
        given = checked("http", options, _OPTIONS)
        template.check_all(given["body"])
        headers = {"Accept": "application/json, text/plain", **_expanded(given["headers"])}

        def ask(query: Query, k: int) -> str:
            values = template.values_of(corpus, given["location"], query.text, k)
            values = {**values, "query": query.text}
            quoted = {name: quote(value, safe="", errors="replace") for name, value in values.items()}
            body = template.filled_all(given["body"], values) if given["body"] else None
            return _fetched(template.filled(self._url, quoted), body, headers, given)

        return Answers(ask, corpus, given, Path(corpus.root))

    def index_bytes(self) -> int | None:
        """Return nothing: the service does not tell."""
        return None


def _fetched(url: str, body: Any, headers: Mapping[str, str], given: Mapping[str, Any]) -> str:
    data = None if body is None else json.dumps(body).encode()
    kind = {} if data is None else {"Content-Type": "application/json"}
    asked = request.Request(url, data, {**headers, **kind})  # noqa: S310  the scheme was checked
    ends = time.monotonic() + given["timeout_s"]
    try:
        with _opener().open(asked, timeout=given["timeout_s"]) as answer:
            return _read(answer, ends, given)
    except HTTPError as error:
        with error:
            said = " ".join(error.read(1000).decode("utf-8", "replace").split())[:200]
        raise AssayError(f"the service answered {error.code} {error.reason}: {said}") from error
    except TimeoutError as error:
        raise AssayError(f"the service did not answer within {given['timeout_s']:g} s") from error
    except (URLError, HTTPException, OSError) as error:
        raise AssayError(f"the service cannot be asked: {getattr(error, 'reason', None) or error}") from error


def _read(answer: Any, ends: float, given: Mapping[str, Any]) -> str:
    """Read a body piece by piece: too much or too slow is an error however evenly it drips."""
    held = bytearray()
    told = answer.headers.get("Content-Length", "")
    whole = int(told) if told.isdecimal() and len(told) <= _DIGITS and not answer.chunked else None
    while len(held) != whole:
        piece = answer.read1(_PIECE)
        if not piece:
            break
        held += piece
        if len(held) > given["output_bytes"]:
            raise AssayError(f"the service answered with more than {given['output_bytes']:,} bytes")
        if time.monotonic() > ends:
            raise TimeoutError
    if whole is not None and len(held) < whole:
        raise AssayError(f"the service broke off after {len(held):,} of {whole:,} bytes")
    return held.decode("utf-8", "replace")


class _SameHost(request.HTTPRedirectHandler):
    """Follows to the same host alone: another one would get the query, and the secrets of the headers."""

    def redirect_request(  # noqa: PLR0913, PLR0917  as it is called
        self, req: request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> request.Request | None:
        """Return the request to go on with."""
        to = urlsplit(newurl)
        if to.scheme in {"http", "https"} and (to.scheme, to.netloc) != urlsplit(req.full_url)[:2]:
            fp.close()
            raise AssayError(f"the service sends on to {shown(newurl)}: name that address if it is to be asked")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> request.OpenerDirector:
    """Return an opener that knows no file: and no ftp:."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPDefaultErrorHandler(),
        _SameHost(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _expanded(headers: Mapping[str, Any]) -> dict[str, str]:
    def value(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise InputError(f"the environment variable {found[1]} is not set, and a header of the service needs it")
        return environ[found[1]]

    return {name: _VARIABLE.sub(value, str(text)) for name, text in headers.items()}
