"""Ask HTTP services for JSON or text, with retries and limits.

A `Window` decides how many requests are under way. One thread that is told to wait makes all of them wait, and a late
or refused request leaves room for half as many.

What may pass (429, 408, 409, 425, most of 5xx, connections that nobody takes) is asked again, after what `Retry-After`
says or after doubling pauses with random jitter; the first time it is said. What was answered too late or cannot be
read may have been paid for: it is asked again once, after a time-out with twice the time, and whoever asked hears of
each lost try. A server that sends too much, too slowly or compressed is cut off before anything is kept; redirects are
refused; the secrets of the headers are taken out of all that a server says before anything else looks at it.
"""

from __future__ import annotations

import json
import random
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from assay.errors import AssayError, HttpError, InputError, Notice, lasting, printable
from assay.io.deadlines import CONNECT_S, DeadlineNetwork, deadline, time_left
from assay.io.endpoint_address import Mask
from assay.io.requests_in_flight import Window, pause

_MAX_WAIT_S = 120.0  # a server that wants more is done for today
_MAX_SECONDS_CHARS = 16  # letters of a number of seconds
_MAX_ERROR_CHARS = 200  # characters of a server's words in a message
_ERROR_BYTES = 65_536  # of an answer that is none
_BUSY = frozenset((408, 409, 425, 429))
_LASTING = frozenset((501, 505, 506, 508, 510, 511))
"""Of 5xx, what no second request changes."""
_OVERLOAD = frozenset((429, 503))
_PAID_TRIES = 2
"""Of what may have been answered, and paid for, without reaching us."""
_QUICK = 0.25
"""Of the deadline: an answer that takes no longer leaves room for one more in flight."""
_SPENT = ("insufficient_quota", "insufficient balance", "billing_hard_limit")
_PLAIN = frozenset(("accept", "accept-language", "connection", "content-type", "user-agent"))
_USUAL = {"accept": "*/*", "user-agent": "assay"}
_RATE_LIMITED = 429

Result = TypeVar("Result")
OnLost = Callable[[bool], object]


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Timeout, size limit and retries of a client."""

    timeout_s: float = 60.0
    """Of one request, from the connection to the last byte."""
    most_bytes: int = 4_000_000
    """Of one answer."""
    tries: int = 6
    pause_s: float = 0.5
    """Before the second try; each pause after it is twice as long."""


class _Passing(NamedTuple):
    """A failed try that may be repeated, and the wait that the server asks for."""

    what: str
    wait_s: float | None = None
    is_overload: bool = False
    """Whether the server has too many requests, not this one in particular."""
    is_late: bool = False
    is_unreached: bool = False
    """Whether no connection was made."""
    is_lost: bool = False
    """Whether it may have been answered, and charged."""

    @property
    def is_blank(self) -> bool:
        """Whether there is no server, or none that speaks this protocol."""
        return self.is_unreached or self.is_lost


class HttpClient:
    """The connections to one service, shared by threads; errors call it by its name."""

    def __init__(self, name: str, url: str, options: HttpOptions, headers: Mapping[str, str]) -> None:
        self._name = name
        _check(name, url)
        self._options = options
        self._window = Window(_QUICK * options.timeout_s)
        self._is_proven = self._is_retry_said = False
        """Proven: something that could be used came from there. Where it never did, the second try is the last."""
        self._gone_at, self._gone_by = float("-inf"), ""
        """When an address was given up where nobody ever was, and why: others that waited meanwhile do not try."""
        self._mask = Mask(value for header, value in headers.items() if header.lower() not in _PLAIN)
        for header, value in headers.items():
            if not value.isprintable() or max(value, default="") > "\xff":
                raise InputError(
                    f"the header {header} for {name} has characters that headers cannot have: copy it again"
                )
        sent = _USUAL | {header.lower(): value for header, value in headers.items()} | {"accept-encoding": "identity"}
        self._headers = [(header.encode(), value.encode("latin-1")) for header, value in sent.items()]
        self._pools: dict[str, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def ask_json(
        self, url: str, question: object, read: Callable[[Any], Result], on_lost: OnLost = lambda _: None
    ) -> Result:
        """Return the JSON answer to a question, converted by `read`; `question` None sends a GET.

        Where `read` raises a ValueError, ask again. `on_lost` hears of each try that may have been paid for in vain,
        and whether it was the last.
        """
        return self._ask(url, question, lambda text: read(self._parsed(text)), on_lost)

    def ask_text(self, url: str, question: object = None) -> str:
        """Return the text of the answer to a question; None sends a GET."""
        return self._ask(url, question, str)

    def close(self) -> None:
        """Close the connections."""
        for pool in self._pools.values():
            pool.close()

    def _ask(
        self, url: str, question: object, read: Callable[[str], Result], on_lost: OnLost = lambda _: None
    ) -> Result:
        content = None if question is None else _as_json(question)
        timeout_s, lost, began, passing = self._options.timeout_s, 0, time.monotonic(), _Passing("")
        for attempt in range(self._options.tries):
            outcome = self._attempt(url, content, read, timeout_s, began)
            if not isinstance(outcome, _Passing):
                return outcome
            passing = outcome
            lost += passing.is_lost
            is_hopeless = passing.is_blank and attempt and not self._is_proven
            is_last = is_hopeless or lost >= _PAID_TRIES or (passing.wait_s or 0) > _MAX_WAIT_S
            is_last = is_last or attempt + 1 == self._options.tries
            if passing.is_lost:
                on_lost(is_last)
            if is_last:
                break
            timeout_s *= 2 if passing.is_late else 1
            self._wait(passing, self._options.pause_s * 2**attempt, timeout_s)
        raise self._given_up(attempt + 1, passing)

    def _wait(self, passing: _Passing, usual_s: float, timeout_s: float) -> None:
        """Wait before the next try; report this the first time."""
        wait_s = usual_s if passing.wait_s is None else passing.wait_s
        wait_s += random.uniform(0, self._options.pause_s)  # noqa: S311  no secret
        if not self._is_retry_said:
            self._is_retry_said = True
            within = f", with {timeout_s:g} s to answer" if passing.is_late else ""
            again = f"asking again in {lasting(wait_s)}{within}; later retries are not reported"
            warnings.warn(f"{self._name}: {passing.what}; {again}", Notice, stacklevel=2)
        pause(wait_s)

    def _attempt(
        self, url: str, content: bytes | None, read: Callable[[str], Result], timeout_s: float, began: float
    ) -> Result | _Passing:
        _check(self._name, url)
        with self._window.request() as started:
            if began < self._gone_at:
                return _Passing(self._gone_by, is_unreached=True)
            try:
                status, headers, raw = self._send(url, content, timeout_s)
            except httpcore.ConnectTimeout:
                self._window.on_overload(started)
                return _Passing(f"no connection within {min(timeout_s, CONNECT_S):g} s", is_unreached=True)
            except _LATE:
                self._window.on_overload(started)
                return _Passing(f"no whole answer within {timeout_s:g} s", is_late=True, is_lost=True)
            except _BROKEN as error:
                is_unreached = isinstance(error, httpcore.ConnectError)
                return _Passing(self._words_of(error), is_unreached=is_unreached, is_lost=not is_unreached)
            except _CutOff as error:
                return _Passing(str(error), is_lost=True)
            return self._read_answer(status, headers, self._mask.hide(raw.decode("utf-8", "replace")), read, started)

    def _read_answer(
        self, status: int, headers: Mapping[str, str], text: str, read: Callable[[str], Result], started: float
    ) -> Result | _Passing:
        if not 200 <= status < 300:
            passing = self._refused(status, headers, text)
            if passing.is_overload and (passing.wait_s or 0) <= _MAX_WAIT_S:
                self._window.on_overload(started, passing.wait_s or 0.0)
            return passing
        self._window.on_answer(started)
        try:
            result = read(text)
        except ValueError as error:
            return _Passing(str(error), is_lost=True)
        self._is_proven = True
        return result

    def _send(self, url: str, content: bytes | None, timeout_s: float) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request and read its answer, within the limits of size and time."""
        with deadline(timeout_s), self._stream(httpx.URL(url), content, timeout_s) as response:
            headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers}
            return response.status, headers, self._read(response, headers)

    def _stream(
        self, url: httpx.URL, content: bytes | None, timeout_s: float
    ) -> AbstractContextManager[httpcore.Response]:
        """Send a request, through the proxy in the environment if there is one."""
        proxy = _proxy_for(url)
        with self._lock:
            pool = self._pools[proxy] = self._pools.get(proxy) or _connection_pool(proxy)
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        more = [(b"content-type", b"application/json")] if content else []
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), timeout_s)
        return pool.stream(
            "POST" if content else "GET",
            target,
            headers=[(b"host", url.netloc), *self._headers, *more],
            content=content,
            extensions={"timeout": timeouts},
        )

    def _read(self, response: httpcore.Response, headers: Mapping[str, str]) -> bytes:
        if headers.get("content-encoding", "identity") != "identity":
            if not 200 <= response.status < 300:
                return b""  # its status says what is wrong
            raise _CutOff("a compressed answer, which was not asked for")
        body = bytearray()
        for part in response.iter_stream():
            body += part
            time_left()
            if not 200 <= response.status < 300 and len(body) > _ERROR_BYTES:
                return bytes(body[:_ERROR_BYTES])
            if len(body) > self._options.most_bytes:
                raise _CutOff(f"an answer of more than {self._options.most_bytes:,} bytes")
        return bytes(body)

    def _refused(self, status: int, headers: Mapping[str, str], text: str) -> _Passing:
        """Return a failure that may pass; raise HttpError for a lasting one."""
        to = self._printable_part(self._mask.hide(headers.get("location", ""))) if 300 <= status < 400 else ""
        what = f"HTTP {status}{f', a redirect to {to}' if to else ''}: {self._printable_part(text)}".rstrip(": ")
        is_spent = status == _RATE_LIMITED and any(each in text.lower() for each in _SPENT)
        if (status in _BUSY or (status >= 500 and status not in _LASTING)) and not is_spent:
            wait_s = _wanted_wait_s(headers.get("retry-after", ""))
            return _Passing(what, wait_s, is_overload=status in _OVERLOAD or bool(wait_s))
        raise HttpError(f"{self._name} refused with {what}", what=what, status=status, text=text)

    def _given_up(self, tries: int, passing: _Passing) -> HttpError:
        wait_s, what = passing.wait_s or 0, passing.what
        if wait_s > _MAX_WAIT_S and self._options.tries > 1:
            message = f"{self._name} asks to wait {lasting(wait_s)} before the next request ({what})"
        else:
            message = f"{self._name} failed{f' {tries} times, last' if tries > 1 else ''} with {what}"
        is_first = passing.is_blank and not self._is_proven
        if is_first:
            self._gone_at, self._gone_by = time.monotonic(), what
        return HttpError(message, what=what, may_pass=True, is_first=is_first)

    def _words_of(self, error: Exception) -> str:
        """Describe the failure of a connection; a library's quotation of an answer may contain a secret."""
        return self._printable_part(self._mask.hide(f"{type(error).__name__}: {error}".rstrip(": ")))

    def _parsed(self, text: str) -> Any:
        """Parse JSON and mask it again, since escapes may have hidden a secret."""
        try:
            value = json.loads(text)
            return self._mask.hide_all(value) if "\\" in text else value
        except (ValueError, RecursionError):
            raise ValueError(f"an answer that is not JSON: {self._printable_part(text)!r}") from None

    def _printable_part(self, text: str) -> str:
        return printable(self._mask.hide(text)[: 4 * _MAX_ERROR_CHARS])[:_MAX_ERROR_CHARS]


def _connection_pool(proxy: str) -> httpcore.ConnectionPool:
    """Return a connection pool with deadlines, through a proxy if one is given."""
    options: dict[str, Any] = {
        "ssl_context": _certificates(),
        "max_connections": None,
        "max_keepalive_connections": 64,
        "keepalive_expiry": 5.0,
        "network_backend": DeadlineNetwork(),
    }
    if not proxy:
        return httpcore.ConnectionPool(**options)
    by = httpx.Proxy(proxy)
    kind = httpcore.SOCKSProxy if by.url.scheme.startswith("socks5") else httpcore.HTTPProxy
    return kind(str(by.url), proxy_auth=by.auth, **options)


def _proxy_for(url: httpx.URL) -> str:
    """Return the proxy of a URL in the environment; empty without one."""
    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all", "")
    if not proxy or proxy_bypass(url.host):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


class _CutOff(AssayError):
    """An answer was abandoned by this client."""


_certificates = cache(httpx.create_ssl_context)
"""Read once: it takes 20 ms."""
_LATE = (httpcore.TimeoutException, TimeoutError)
_BROKEN = (
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    OSError,
)
"""What keeps a request from being answered."""


def _as_json(question: object) -> bytes:
    return json.dumps(question, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def _check(name: str, url: str) -> None:
    try:
        httpx.URL(url)
    except (httpx.InvalidURL, UnicodeError) as error:
        raise InputError(f"{name} has an address that is not a URL: {url!r}: {error}") from error


def _wanted_wait_s(value: str) -> float | None:
    """Read `Retry-After`: seconds, or a date."""
    if value.isascii() and value.replace(".", "", 1).isdigit() and len(value) < _MAX_SECONDS_CHARS:
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
