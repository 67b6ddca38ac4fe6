"""Ask HTTP services for JSON or text, with deadlines, retries and limits.

Time-outs of HTTP libraries hold for one read; a server that sends a byte now and then, of its headers too, would never
be late. Here every read has what is left of the whole request.

A `Window` decides how many requests are under way. One thread that is told to wait makes all of them wait, and a late
or refused request leaves room for half as many.

What may pass (429, 408, 409, 425, most of 5xx, connections that nobody takes) is asked again, after what `Retry-After`
says or after doubling pauses with random jitter; the first time it is said. What was answered too late or cannot be
read may have been paid for: it is asked again once, after a time-out with twice the time, and whoever asked hears of
each lost try. A server that sends too much, too slowly or compressed is cut off before anything is kept; redirects are
refused; the secrets of the headers are taken out of all that a server says before anything else looks at it.

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
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from assay.errors import AssayError, HttpError, InputError, ModelUnavailable, Notice, lasting, printable
from assay.io.endpoints import (
    BASE,
    KEY,
    OPENAI_BASE,
    OPENAI_KEY,
    OPENAI_URL,
    Mask,
    checked_base,
    first_set,
    key_in,
    split_address,
)
from assay.io.flow import LOOK_S, Window, go_on, pause

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
        limit_s = min(time_left(timeout) or _CONNECT_S, _CONNECT_S)
        return _DeadlineStream(_watched(partial(super().connect_tcp, host, port, limit_s, *rest, **more), limit_s))


def _watched(open_stream: Callable[[], httpcore.NetworkStream], limit_s: float) -> httpcore.NetworkStream:
    """Return what opens within so long, with looks at Ctrl-C: look-ups of names and handshakes hear of neither."""
    opened = Future[httpcore.NetworkStream]()

    def run() -> None:
        try:
            opened.set_result(open_stream())
        except BaseException as error:  # noqa: BLE001  it is raised where somebody waits
            opened.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    end, is_heard = time.monotonic() + limit_s, False
    try:
        while not wait([opened], min(LOOK_S, max(0.0, end - time.monotonic()))).done:
            go_on()
            if time.monotonic() >= end:
                raise httpcore.ConnectTimeout
        is_heard = True
        return opened.result()
    finally:
        if not is_heard:
            opened.add_done_callback(_close)


def _close(opened: Future[httpcore.NetworkStream]) -> None:
    """Close what opened when nobody waited for it any more."""
    if not opened.exception():
        opened.result().close()


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read with looks at Ctrl-C: whoever waits for an answer drops it."""
        while True:
            go_on()
            left_s = time_left(timeout)
            try:
                return self._inner.read(max_bytes, LOOK_S if left_s is None else min(left_s, LOOK_S))
            except httpcore.ReadTimeout:
                if left_s is not None and left_s <= LOOK_S:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, time_left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> _DeadlineStream:
        limit_s = min(time_left(timeout) or _CONNECT_S, _CONNECT_S)
        return _DeadlineStream(_watched(partial(self._inner.start_tls, ssl_context, server_hostname, limit_s), limit_s))

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


_CONNECT_S = 10.0
"""Within which somebody has to take a connection."""
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
    is_overload: bool = False
    """Whether the server has too many requests, not this one in particular."""
    is_late: bool = False
    is_unreached: bool = False
    """Whether nobody took the connection."""
    is_lost: bool = False
    """Whether it may have been answered, and paid for."""

    @property
    def is_blank(self) -> bool:
        """Whether nobody is there, or nobody who speaks this protocol."""
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
                raise InputError(f"the header {header} for {name} holds characters that no header has: copy it again")
        sent = _USUAL | {header.lower(): value for header, value in headers.items()} | {"accept-encoding": "identity"}
        self._headers = [(header.encode(), value.encode("latin-1")) for header, value in sent.items()]
        self._pools: dict[str, httpcore.ConnectionPool] = {}
        self._lock = threading.Lock()

    def ask_json(
        self, url: str, question: object, read: Callable[[Any], Result], on_lost: OnLost = lambda _: None
    ) -> Result:
        """Return what `read` makes of the JSON answer to a question, or to a GET where that is None.

        Where `read` raises a ValueError, ask again. `on_lost` hears of each try that may have been paid for in vain,
        and whether it was the last.
        """
        return self._ask(url, question, lambda text: read(self._parsed(text)), on_lost)

    def ask_text(self, url: str, question: object = None) -> str:
        """Return the text that a service answers to a question, or to a GET where there is none."""
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
        """Wait before the next try; the first time, say so."""
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
                return _Passing(f"no connection within {min(timeout_s, _CONNECT_S):g} s", is_unreached=True)
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
        """Send a request and read what comes back, so much and for so long."""
        with deadline(timeout_s), self._stream(httpx.URL(url), content, timeout_s) as response:
            headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in response.headers}
            return response.status, headers, self._read(response, headers)

    def _stream(
        self, url: httpx.URL, content: bytes | None, timeout_s: float
    ) -> AbstractContextManager[httpcore.Response]:
        """Send a request through the proxy that the environment names for it, if it does."""
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
        """Return what may pass; what may not is raised."""
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
        """Return what went wrong with a connection; what a library quotes of an answer may hold a secret."""
        return self._printable_part(self._mask.hide(f"{type(error).__name__}: {error}".rstrip(": ")))

    def _parsed(self, text: str) -> Any:
        """Read JSON, in which escapes may have hidden a secret from the mask."""
        try:
            value = json.loads(text)
            return self._mask.hide_all(value) if "\\" in text else value
        except (ValueError, RecursionError):
            raise ValueError(f"an answer that is not JSON: {self._printable_part(text)!r}") from None

    def _printable_part(self, text: str) -> str:
        return printable(self._mask.hide(text)[: 4 * _MAX_ERROR_CHARS])[:_MAX_ERROR_CHARS]


class _CutOff(AssayError):
    """An answer was cut off by us."""


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


class ModelEndpoint:
    """One model at one path; any number of threads may share it. `later` says what to do where it does not answer."""

    def __init__(  # noqa: PLR0913  who is asked, where, how, and what to do where nobody is there
        self,
        path: str,
        model: str,
        options: HttpOptions,
        *,
        base: str = "",
        otherwise: str = OPENAI_URL,
        key: str = "",
        later: str,
    ) -> None:
        """Without `base` the environment says where; `key` is the variable with the key of a provider at `base`."""
        self._model, at = split_address(model)
        if key and not at and not key_in(key):
            raise ModelUnavailable(f"no key for {base}: set {key} to it, or write {self._model}@URL")
        named = "" if base else first_set((BASE, OPENAI_BASE))
        environment = os.environ.get(named, "").strip().rstrip("/")
        base = at.rstrip("/") or base or environment or otherwise
        if not base:
            raise ModelUnavailable(f"no address of {self._model!r}: set {BASE} to it, or write {self._model}@URL")
        is_named = environment and base == environment
        self.url = f"{checked_base(base, f'the address in {named}' if is_named else 'the address')}/{path}"
        self._later = later
        self._key_variable = key or (first_set((KEY,)) if base != OPENAI_URL else "") or OPENAI_KEY
        secret = "" if at and not is_named else key_in(self._key_variable)
        headers = {"authorization": f"Bearer {secret}"} if secret else {}
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
