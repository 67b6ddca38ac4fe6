"""Questions in JSON to texts or JSON by HTTP: the one client of everything that asks a service, and httpx's owner.

What may pass (429, 408, 409, 425, 5xx, dropped and late connections, broken JSON) is asked again, after what
`Retry-After` says or after doubling pauses with chance in them, and too many requests slow down all threads. A server
that sends too much, too slowly or compressed is cut off before anything is kept; nobody is followed to another host;
the secrets of the headers are taken out of all that a server says before anything else looks at it.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

import httpx

from assay.errors import AssayError, HttpError, InputError, printable
from assay.io.http_deadline import DeadlineNetwork, deadline, time_left
from assay.io.http_turns import Turns
from assay.io.masks import Mask

_LONGEST_WAIT_S = 120.0  # a server that wants more is done for today
_SHOWN = 200  # characters of a server's words in a message
_ERROR_BYTES = 65_536  # of an answer that is none
_BUSY = frozenset((408, 409, 425, 429))
_SPENT = ("insufficient_quota", "insufficient balance", "billing_hard_limit")
_PLAIN = frozenset(("accept", "accept-language", "connection", "content-type", "user-agent"))
_AS_GET = frozenset((301, 302, 303))

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How long, how much, how often."""

    timeout_s: float = 60.0
    """Of one request, from the connection to the last byte."""
    most_bytes: int = 4_000_000
    """Of one answer."""
    tries: int = 6
    pause_s: float = 0.5
    """Before the second try; each pause after it is twice as long."""
    redirects: int = 0
    """That are followed, to the same host; 0 takes one for a refusal."""


@dataclass(frozen=True, slots=True)
class _Passing:
    """What went wrong for now, and how long the server wants us to wait."""

    what: str
    wait_s: float | None = None
    is_crowded: bool = False
    """Whether the server has too many requests, not this one in particular."""
    is_unreached: bool = False
    """Whether nobody took the connection."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What is posted."""

    raw: bytes
    kind: str = "application/json"


class HttpClient:
    """The connections to one service, shared by threads; errors call it by its name."""

    def __init__(self, name: str, url: str, options: HttpOptions, headers: Mapping[str, str]) -> None:
        self._name = name
        _check(name, url)
        self._options = options
        self._turns = Turns()
        self._is_reached = False
        """Whether anybody ever answered: where nobody did, the second try is the last."""
        self._mask = Mask(value for header, value in headers.items() if header.lower() not in _PLAIN)
        for header, value in headers.items():
            if not value.isprintable() or max(value, default="") > "\xff":
                raise InputError(f"the header {header} for {name} holds characters that no header has: copy it again")
        sent = {header.lower(): value.encode("latin-1") for header, value in headers.items()}
        sent["accept-encoding"] = b"identity"
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        self._client = httpx.Client(headers=sent, timeout=options.timeout_s, limits=limits, verify=_certificates())
        for transport in (self._client._transport, *self._client._mounts.values()):  # noqa: SLF001  no public way
            if transport is not None:
                transport._pool._network_backend = DeadlineNetwork(transport._pool._network_backend)  # noqa: SLF001

    def ask_json(self, url: str, question: object, read: Callable[[Any], Result]) -> Result:
        """Post a question and return what `read` makes of the JSON; where that is a ValueError, ask again."""
        return self._ask(url, question, lambda text: read(self._parsed(text)))

    def get_json(self, url: str, read: Callable[[Any], Result]) -> Result:
        """Return what `read` makes of the JSON at an address; where that is a ValueError, ask again."""
        return self._ask(url, None, lambda text: read(self._parsed(text)))

    def send_file(
        self, url: str, fields: Mapping[str, str], name: str, content: bytes, read: Callable[[Any], Result]
    ) -> Result:
        """Post a file with some fields, as a form does, and return what `read` makes of the JSON."""
        return self._ask(url, _form(fields, name, content), lambda text: read(self._parsed(text)))

    def ask_text(self, url: str, question: object = None) -> str:
        """Return the text that a service answers to a question, or to a GET where there is none."""
        return self._ask(url, question, str)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, url: str, question: object, read: Callable[[str], Result]) -> Result:
        content = question if isinstance(question, _Content) or question is None else _as_json(question)
        passing = _Passing("")
        for attempt in range(self._options.tries):
            outcome = self._attempt(url, content, read)
            if not isinstance(outcome, _Passing):
                return outcome
            passing = outcome
            if (passing.wait_s or 0) > _LONGEST_WAIT_S or (passing.is_unreached and attempt and not self._is_reached):
                break
            if attempt + 1 < self._options.tries:
                usual_s = self._options.pause_s * 2**attempt if passing.wait_s is None else passing.wait_s
                time.sleep(usual_s + random.uniform(0, self._options.pause_s))  # noqa: S311  no secret
        raise self._given_up(attempt + 1, passing)

    def _attempt(self, url: str, content: _Content | None, read: Callable[[str], Result]) -> Result | _Passing:
        _check(self._name, url)
        started = self._turns.wait()
        try:
            status, headers, raw = self._send(url, content)
        except (httpx.HTTPError, OSError) as error:
            return _Passing(self._words_of(error), is_unreached=isinstance(error, httpx.ConnectError))
        except _CutOff as error:
            return _Passing(str(error))
        else:
            self._is_reached = True
            text = self._mask.hide(raw.decode("utf-8", "replace"))
            if not httpx.codes.is_success(status):
                passing = self._refused(status, headers, text)
                if passing.is_crowded and (passing.wait_s or 0) <= _LONGEST_WAIT_S:
                    self._turns.slow_down(started, passing.wait_s)
                return passing
            self._turns.speed_up()
            try:
                return read(text)
            except ValueError as error:
                return _Passing(str(error))

    def _send(self, url: str, content: _Content | None) -> tuple[int, httpx.Headers, bytes]:
        """Send a request and read what comes back, so much and for so long."""
        with deadline(self._options.timeout_s):
            for left in range(self._options.redirects, -1, -1):
                kind = {} if content is None else {"content-type": content.kind}
                method, raw = ("GET", None) if content is None else ("POST", content.raw)
                with self._client.stream(method, url, content=raw, headers=kind) as response:
                    if not (left and response.has_redirect_location):
                        return response.status_code, response.headers, self._read(response)
                    url = self._followed(url, response.headers["location"])
                    content = None if response.status_code in _AS_GET else content
        raise AssertionError  # the last one was not followed

    def _read(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _CutOff("a compressed answer, which was not asked for")
        body = bytearray()
        for part in response.iter_raw():
            body += part
            time_left()
            if not response.is_success and len(body) > _ERROR_BYTES:
                return bytes(body[:_ERROR_BYTES])
            if len(body) > self._options.most_bytes:
                raise _CutOff(f"an answer of more than {self._options.most_bytes:,} bytes")
        return bytes(body)

    def _followed(self, url: str, location: str) -> str:
        """Return where a redirect leads; another host would get the question, and the secrets of the headers."""
        to = urljoin(url, location)
        if urlsplit(to)[:2] != urlsplit(url)[:2]:
            shown = self._printable_part(to)
            raise HttpError(f"{self._name} redirects to {shown}: name that address if it is to be asked", what=shown)
        return to

    def _refused(self, status: int, headers: httpx.Headers, text: str) -> _Passing:
        """Return what may pass; what may not is raised."""
        to = self._printable_part(self._mask.hide(headers.get("location", ""))) if 300 <= status < 400 else ""
        what = f"HTTP {status}{f', a redirect to {to}' if to else ''}: {self._printable_part(text)}".rstrip(": ")
        is_spent = status == httpx.codes.TOO_MANY_REQUESTS and any(each in text.lower() for each in _SPENT)
        if (status in _BUSY or status >= 500) and not is_spent:
            wait_s = _wanted_wait_s(headers.get("retry-after", ""))
            return _Passing(what, wait_s, status == httpx.codes.TOO_MANY_REQUESTS or bool(wait_s))
        raise HttpError(f"{self._name} refused with {what}", what=what, status=status, text=text)

    def _given_up(self, tries: int, passing: _Passing) -> HttpError:
        wait_s, what = passing.wait_s or 0, passing.what
        if wait_s > _LONGEST_WAIT_S and self._options.tries > 1:
            message = f"{self._name} wants to be left alone for {wait_s:.0f} s ({what})"
        else:
            message = f"{self._name} failed{f' {tries} times, last' if tries > 1 else ''} with {what}"
        return HttpError(message, what=what, may_pass=True)

    def _words_of(self, error: Exception) -> str:
        """Return what went wrong with a connection; what a library quotes of an answer may hold a secret."""
        if isinstance(error, httpx.TimeoutException | TimeoutError):
            return f"no whole answer within {self._options.timeout_s:g} s"
        return self._printable_part(self._mask.hide(f"{type(error).__name__}: {error}".rstrip(": ")))

    def _parsed(self, text: str) -> Any:
        """Read JSON, in which escapes may have hidden a secret from the mask."""
        try:
            value = json.loads(text)
            return self._mask.hide_all(value) if "\\" in text else value
        except (ValueError, RecursionError):
            raise ValueError(f"an answer that is not JSON: {self._printable_part(text)!r}") from None

    def _printable_part(self, text: str) -> str:
        return printable(self._mask.hide(text)[: 4 * _SHOWN])[:_SHOWN]


class _CutOff(AssayError):
    """An answer was cut off by us."""


_certificates = cache(httpx.create_ssl_context)
"""Read once: it takes 20 ms."""


def _as_json(question: object) -> _Content:
    return _Content(json.dumps(question, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"))


def _form(fields: Mapping[str, str], name: str, content: bytes) -> _Content:
    """Return a form with a file, between lines that the file does not hold."""
    line = uuid4().hex
    head = "".join(
        f'--{line}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()
    )
    about = f'content-disposition: form-data; name="file"; filename="{name}"\r\ncontent-type: application/jsonl'
    whole = f"{head}--{line}\r\n{about}\r\n\r\n".encode() + content + f"\r\n--{line}--\r\n".encode()
    return _Content(whole, f"multipart/form-data; boundary={line}")


def _check(name: str, url: str) -> None:
    try:
        httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InputError(f"{name} is to be asked at {url!r}, which is not a URL: {error}") from error


def _wanted_wait_s(value: str) -> float | None:
    """Read `Retry-After`: seconds, or a date."""
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
