"""One request for a completion to the body of the answer, however often it has to be sent.

What may pass (429, 5xx, dropped and late connections, broken JSON) is sent again, after what `Retry-After` says or
after doubling pauses with chance in them, so that threads do not come back all at once. A server that sends too
much, too slowly or compressed is cut off: the size is bounded before anything is kept.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from assay.errors import ChatError, EndpointFailed, EndpointRefused, InputError, NoAnswer, printable
from assay.llm.providers import Endpoint

TRIES = 6
MOST_BYTES = 4_000_000
_LONGEST_WAIT_S = 120.0  # a server that wants more is done for today
_SHOWN = 200  # characters of a server's words in a message
_REFUSED = {401: "the key", 402: "the account", 403: "the key", 404: "the model's name and the address"}
_FLAGGED = ("moderation", "flagged")  # this prompt, not the key
_SPENT = ("insufficient_quota", "insufficient balance", "billing_hard_limit")


@dataclass(frozen=True, slots=True)
class _Passing:
    """What went wrong for now, and how long the server wants us to wait."""

    what: str
    wait_s: float | None = None


class Wire:
    """The connections to one endpoint, shared by threads."""

    def __init__(self, endpoint: Endpoint, pause_s: float) -> None:
        self._endpoint = endpoint
        self._pause_s = pause_s
        self._key = endpoint.key()
        if not (self._key.isascii() and self._key.isprintable()):
            raise EndpointRefused(f"{endpoint.key_variable} holds characters that no key has: copy it again")
        headers = {"accept-encoding": "identity", "content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            httpx.URL(endpoint.url)
        except (httpx.InvalidURL, UnicodeError) as error:
            raise InputError(f"the chat address {endpoint.url!r} is no URL: {error}") from error
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=64)
        self._client = httpx.Client(headers=headers, timeout=endpoint.options.timeout_s, limits=limits)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a completion that has a message in it."""
        content = json.dumps(question, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        passing = _Passing("")
        for attempt in range(TRIES):
            got = self._attempt(content)
            if isinstance(got, dict):
                return got
            passing = got
            if passing.wait_s is not None and passing.wait_s > _LONGEST_WAIT_S:
                break
            if attempt + 1 < TRIES:
                usual_s = self._pause_s * 2**attempt if passing.wait_s is None else passing.wait_s
                time.sleep(usual_s + random.uniform(0, self._pause_s))  # noqa: S311  no secret
        raise EndpointFailed(self._failed(attempt + 1, passing), raw=passing.what)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _attempt(self, content: bytes) -> dict[str, Any] | _Passing:
        try:
            status, headers, raw = self._send(content)
        except httpx.TransportError as error:
            return _Passing(f"{type(error).__name__}: {error}".rstrip(": "))
        except _Bounded as error:
            return _Passing(str(error))
        text = raw.decode("utf-8", "replace")
        if self._key:
            text = text.replace(self._key, "***")
        if status != httpx.codes.OK:
            return self._refused(status, headers, text)
        return _completion(text)

    def _send(self, content: bytes) -> tuple[int, httpx.Headers, bytes]:
        """Send a request and read what comes back, so much and for so long."""
        late = time.monotonic() + self._endpoint.options.timeout_s
        body = bytearray()
        with self._client.stream("POST", f"{self._endpoint.url}/chat/completions", content=content) as response:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise _Bounded("a compressed answer, which was not asked for")
            for part in response.iter_raw():
                body += part
                if len(body) > MOST_BYTES:
                    raise _Bounded(f"an answer of more than {MOST_BYTES} bytes")
                if time.monotonic() > late:
                    raise _Bounded(f"an answer that was not complete after {self._endpoint.options.timeout_s:g} s")
            return response.status_code, response.headers, bytes(body)

    def _refused(self, status: int, headers: httpx.Headers, text: str) -> _Passing:
        """Return what may pass; what may not is raised."""
        words = printable(text[: 4 * _SHOWN])[:_SHOWN]
        what = f"HTTP {status}: {words}".rstrip(": ")
        spent = status == httpx.codes.TOO_MANY_REQUESTS and any(each in text.lower() for each in _SPENT)
        if (status in {408, 409, 425, 429} or status >= 500) and not spent:
            return _Passing(what, _asked_to_wait_s(headers.get("retry-after", "")))
        name, lower = self._endpoint.name, text.lower()
        flagged = status == httpx.codes.FORBIDDEN and any(each in lower for each in _FLAGGED)
        if (spent or status in _REFUSED or status < 400) and not flagged:
            mend = "the account" if spent else _REFUSED.get(status, "the address")
            raise EndpointRefused(f"{name} refused with {what}; check {mend}{self._about_key(status)}", raw=text)
        raise NoAnswer(f"{name} refused this request with {what}{_about_format(text)}", raw=text)

    def _about_key(self, status: int) -> str:
        if status not in {401, 403}:
            return ""
        if self._key:
            return f" in {self._endpoint.key_variable}"
        if self._endpoint.key_variable:
            return f": {self._endpoint.key_variable} is not set"
        return ": none was sent, for the address stands in the spec; set ASSAY_CHAT_URL to it, and ASSAY_CHAT_KEY"

    def _failed(self, tries: int, passing: _Passing) -> str:
        if passing.wait_s is not None and passing.wait_s > _LONGEST_WAIT_S:
            return (
                f"{self._endpoint.name} wants to be left alone for {passing.wait_s:.0f} s ({passing.what}): go on then"
            )
        return f"{self._endpoint.name} failed {tries} times, last with {passing.what}: go on later"


class _Bounded(ChatError):
    """An answer was cut off by us."""


def _completion(text: str) -> dict[str, Any] | _Passing:
    """Return a body with a message in it, or what it is instead."""
    shown = printable(text[: 4 * _SHOWN])[:_SHOWN]
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return _Passing(f"no JSON: {shown!r}")
    try:
        if isinstance(body["choices"][0]["message"], dict):
            return dict(body)
    except (KeyError, IndexError, TypeError):
        pass
    return _Passing(f"no message: {shown!r}")


def _about_format(text: str) -> str:
    asked = any(word in text for word in ("response_format", "json_schema", "json_object"))
    return "; add ?format=prompt to the spec to ask for JSON in words" if asked else ""


def _asked_to_wait_s(value: str) -> float | None:
    """Read `Retry-After`: seconds, or a date."""
    if value.replace(".", "", 1).isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
