"""Ask HTTP services for JSON or text, with deadlines, retries and limits.

Time-outs of HTTP libraries hold for one read; a server that sends a byte now and then, of its headers too, would never
be late. Here every read has what is left of the whole request.

One thread that is told to wait makes all of them wait: the others would be refused, too, and each refusal uses up one
of a request's tries. Behind the wait requests start one after the other, at a gap that doubles with each refusal and
shrinks with each answer, so that the pace ends up near what the service allows. Refusals of requests that were under
way together count once.

What may pass (429, 408, 409, 425, 5xx, dropped and late connections, broken JSON) is asked again, after what
`Retry-After` says or after doubling pauses with chance in them, and too many requests slow down all threads. A server
that sends too much, too slowly or compressed is cut off before anything is kept; redirects are refused;
the secrets of the headers are taken out of all that a server says before anything else looks at it.

A model is named as `MODEL` or `MODEL@URL`. The address is the one that it names, else `ASSAY_API_BASE`, else
`OPENAI_BASE_URL`, else `otherwise`. The key for a base of the environment is `ASSAY_API_KEY`, else `OPENAI_API_KEY`; an
endpoint on one's own machine needs none, and an address that stands only in a spec gets none.
"""

from __future__ import annotations

import json
import os
import random
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from assay.errors import AssayError, HttpError, InputError, ModelUnavailable, printable
from assay.io.endpoints import BASE, KEY, OPENAI_BASE, OPENAI_KEY, OPENAI_URL, Mask, checked_base, first_set, key_in

_ends = threading.local()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Let what this thread does with the network take so long in all, or raise TimeoutError."""
    _ends.at = time.monotonic() + seconds
    try:
        yield
    finally:
        del _ends.at


def time_left(timeout_s: float | None = None) -> float | None:
    """Return the time-out of the next call."""
    at: float | None = getattr(_ends, "at", None)
    if at is None:
        return timeout_s
    left_s = at - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s if timeout_s is None else min(left_s, timeout_s)


class _DeadlineNetwork(httpcore.SyncBackend):
    """Opens connections of which no call outlasts its thread's deadline."""

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *rest: Any, **more: Any) -> Any:
        return _DeadlineStream(super().connect_tcp(host, port, time_left(timeout), *rest, **more))


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, time_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, time_left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _DeadlineStream:
        return _DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, time_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _connection_pool(proxy: str) -> httpcore.ConnectionPool:
    """Return connections that keep to deadlines, through a proxy where one is named."""
    options: dict[str, Any] = {
        "ssl_context": _certificates(),
        "max_connections": None,
        "max_keepalive_connections": 64,
        "keepalive_expiry": 5.0,
        "network_backend": _DeadlineNetwork(),
    }
    if not proxy:
        return httpcore.ConnectionPool(**options)
    by = httpx.Proxy(proxy)
    kind = httpcore.SOCKSProxy if by.url.scheme.startswith("socks5") else httpcore.HTTPProxy
    return kind(str(by.url), proxy_auth=by.auth, **options)


def _proxy_for(url: httpx.URL) -> str:
    """Return the proxy that the environment names for a URL, empty for none."""
    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all", "")
    if not proxy or proxy_bypass(url.host):
        return ""
    return proxy if "://" in proxy else f"http://{proxy}"


_LEAST_S, _MOST_S = 0.02, 5.0
_RECOVERY = 0.95
"""Of the gap that is left after an answer."""


class Turns:
    """Who may start when; shared by the threads of one client."""

    def __init__(self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep) -> None:
        self._now, self._sleep = now, sleep
        self._lock = threading.Lock()
        self._from = self._slowed_at = float("-inf")
        self._gap_s = 0.0

    def wait(self) -> float:
        """Wait until a request may start, and return when that was."""
        while True:
            with self._lock:
                now = self._now()
                if now >= self._from:
                    self._from = now + self._gap_s
                    return now
                pause_s = self._from - now
            self._sleep(pause_s)

    def slow_down(self, started: float, wait_s: float | None) -> None:
        """Hear that a request was one too many, and how long the service wants to be left alone; 0 is not at all."""
        if wait_s == 0:
            return
        with self._lock:
            now = self._now()
            self._from = max(self._from, now + (wait_s or 0.0))
            if started >= self._slowed_at:
                self._gap_s = min(max(2 * self._gap_s, _LEAST_S), _MOST_S)
                self._slowed_at = now

    def speed_up(self) -> None:
        """Hear that a request was answered."""
        if self._gap_s:
            with self._lock:
                self._gap_s = self._gap_s * _RECOVERY if self._gap_s > _LEAST_S / 2 else 0.0


_LONGEST_WAIT_S = 120.0  # a server that wants more is done for today
_SHOWN = 200  # characters of a server's words in a message
_ERROR_BYTES = 65_536  # of an answer that is none
_BUSY = frozenset((408, 409, 425, 429))
_SPENT = ("insufficient_quota", "insufficient balance", "billing_hard_limit")
_PLAIN = frozenset(("accept", "accept-language", "connection", "content-type", "user-agent"))
_USUAL = {"accept": "*/*", "user-agent": "assay"}
_TOO_MANY = 429

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


class _Passing(NamedTuple):
    """What went wrong for now, and how long the server wants us to wait."""

    what: str
    wait_s: float | None = None
    is_crowded: bool = False
    """Whether the server has too many requests, not this one in particular."""
    is_unreached: bool = False
    """Whether nobody took the connection."""


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
        sent = _USUAL | {header.lower(): value for header, value in headers.items()} | {"accept-encoding": "identity"}
        self._headers = [(header.encode(), value.encode("latin-1")) for header, value in sent.items()]
        self._pools: dict[str, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def ask_json(self, url: str, question: object, read: Callable[[Any], Result]) -> Result:
        """Return what `read` makes of the JSON answer to a question, or to a GET where that is None.

        Where `read` raises a ValueError, ask again.
        """
        return self._ask(url, question, lambda text: read(self._parsed(text)))

    def ask_text(self, url: str, question: object = None) -> str:
        """Return the text that a service answers to a question, or to a GET where there is none."""
        return self._ask(url, question, str)

    def close(self) -> None:
        """Close the connections."""
        for pool in self._pools.values():
            pool.close()

    def _ask(self, url: str, question: object, read: Callable[[str], Result]) -> Result:
        content = None if question is None else _as_json(question)
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

    def _attempt(self, url: str, content: bytes | None, read: Callable[[str], Result]) -> Result | _Passing:
        _check(self._name, url)
        started = self._turns.wait()
        try:
            status, headers, raw = self._send(url, content)
        except _BROKEN as error:
            return _Passing(self._words_of(error), is_unreached=isinstance(error, httpcore.ConnectError))
        except _CutOff as error:
            return _Passing(str(error))
        else:
            self._is_reached = True
            text = self._mask.hide(raw.decode("utf-8", "replace"))
            if not 200 <= status < 300:
                passing = self._refused(status, headers, text)
                if passing.is_crowded and (passing.wait_s or 0) <= _LONGEST_WAIT_S:
                    self._turns.slow_down(started, passing.wait_s)
                return passing
            self._turns.speed_up()
            try:
                return read(text)
            except ValueError as error:
                return _Passing(str(error))

    def _send(self, url: str, content: bytes | None) -> tuple[int, Mapping[str, str], bytes]:
        """Send a request and read what comes back, so much and for so long."""
        with deadline(self._options.timeout_s), self._stream(httpx.URL(url), content) as response:
            headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers}
            return response.status, headers, self._read(response, headers)

    def _stream(self, url: httpx.URL, content: bytes | None) -> AbstractContextManager[httpcore.Response]:
        """Send a request through the proxy that the environment names for it, if it does."""
        proxy = _proxy_for(url)
        with self._lock:
            pool = self._pools[proxy] = self._pools.get(proxy) or _connection_pool(proxy)
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        more = [(b"content-type", b"application/json")] if content else []
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), self._options.timeout_s)
        return pool.stream(
            "POST" if content else "GET",
            target,
            headers=[(b"host", url.netloc), *self._headers, *more],
            content=content,
            extensions={"timeout": timeouts},
        )

    def _read(self, response: httpcore.Response, headers: Mapping[str, str]) -> bytes:
        if headers.get("content-encoding", "identity") != "identity":
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
        """Return what may pass; what may not is raised."""
        to = self._printable_part(self._mask.hide(headers.get("location", ""))) if 300 <= status < 400 else ""
        what = f"HTTP {status}{f', a redirect to {to}' if to else ''}: {self._printable_part(text)}".rstrip(": ")
        is_spent = status == _TOO_MANY and any(each in text.lower() for each in _SPENT)
        if (status in _BUSY or status >= 500) and not is_spent:
            wait_s = _wanted_wait_s(headers.get("retry-after", ""))
            return _Passing(what, wait_s, status == _TOO_MANY or bool(wait_s))
        raise HttpError(f"{self._name} refused with {what}", what=what, status=status, text=text)

    def _given_up(self, tries: int, passing: _Passing) -> HttpError:
        wait_s, what = passing.wait_s or 0, passing.what
        if wait_s > _LONGEST_WAIT_S and self._options.tries > 1:
            message = f"{self._name} asks to wait {wait_s:.0f} s before the next request ({what})"
        else:
            message = f"{self._name} failed{f' {tries} times, last' if tries > 1 else ''} with {what}"
        return HttpError(message, what=what, may_pass=True)

    def _words_of(self, error: Exception) -> str:
        """Return what went wrong with a connection; what a library quotes of an answer may hold a secret."""
        if isinstance(error, httpcore.TimeoutException | TimeoutError):
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
_BROKEN = (
    httpx.InvalidURL,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
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
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


class ModelEndpoint:
    """One model at one path; any number of threads may share it. `later` says what to do where it does not answer."""

    def __init__(  # noqa: PLR0913  who is asked, where, how, and what to do where nobody is there
        self, path: str, model: str, options: HttpOptions, *, base: str = "", otherwise: str = OPENAI_URL, later: str
    ) -> None:
        self._model, at, rest = model.partition("@http")
        named = "" if base else first_set((BASE, OPENAI_BASE))
        environment = os.environ.get(named, "").strip().rstrip("/")
        base = f"http{rest}".rstrip("/") if at else base or environment or otherwise
        if not base:
            raise ModelUnavailable(f"no address of {self._model!r}: set {BASE} to it, or write {self._model}@URL")
        is_named = environment and base == environment
        self.url = f"{checked_base(base, f'the address in {named}' if is_named else 'the address')}/{path}"
        self._later = later
        self._key_variable = (first_set((KEY,)) if base != OPENAI_URL else "") or OPENAI_KEY
        key = "" if at and not is_named else key_in(self._key_variable)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        self._client = HttpClient(self.url, self.url, options, headers)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what the endpoint answers; an answer that is no object is an empty one."""
        reply = self.ask_any(question)
        return reply if isinstance(reply, dict) else {}

    def ask_any(self, question: dict[str, Any]) -> Any:
        """Return what the endpoint answers, whatever kind of JSON that is."""
        try:
            return self._client.ask_json(self.url, {"model": self._model, **question}, lambda value: value)
        except HttpError as error:
            problem = ModelUnavailable(self._explained(error), status=error.status)
        raise problem

    def _explained(self, error: HttpError) -> str:
        if error.may_pass:
            return f"{error}: {self._later}"
        return (
            f"{self.url} refused {self._model!r} with {error.what}; "
            f"check {BASE}, {self._key_variable} and the model's name"
        )
