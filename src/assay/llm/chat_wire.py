"""One request for a completion to the body of the answer, however often it has to be sent.

How it is sent, bounded and sent again is the business of `io.http`; here stands what a refusal means for a chat.
"""

from __future__ import annotations

import json
from typing import Any

from assay.errors import ChatError, EndpointFailed, EndpointRefused, HttpError, NoAnswer, printable
from assay.io.endpoints import BASE, KEY
from assay.io.http import HttpClient, HttpOptions
from assay.llm.providers import Endpoint

_SHOWN = 200  # characters of a server's words in a message
_REFUSED = {401: "the key", 402: "the account", 403: "the key", 404: "the model's name and the address"}
_TOO_MANY = 429
_FLAGGED = ("moderation", "flagged")  # this prompt, not the key


class ChatWire:
    """The connections to one endpoint, shared by threads."""

    def __init__(self, endpoint: Endpoint, pause_s: float) -> None:
        self._endpoint = endpoint
        options = HttpOptions(endpoint.options.timeout_s, pause_s=pause_s)
        self._client = HttpClient(endpoint.name, endpoint.url, options, headers_for(endpoint))

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a completion that has a message in it."""
        try:
            return self._client.ask_json(f"{self._endpoint.url}/chat/completions", question, _completion)
        except HttpError as error:
            failure = failure_of(self._endpoint, error)
        raise failure

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def headers_for(endpoint: Endpoint) -> dict[str, str]:
    """Return what says who asks."""
    key = endpoint.key()
    return {"authorization": f"Bearer {key}"} if key else {}


def failure_of(endpoint: Endpoint, error: HttpError) -> ChatError:
    """Return what an error of HTTP is to a chat."""
    if error.may_pass:
        return EndpointFailed(f"{error}: go on later", raw=error.what)
    name, status, lower = endpoint.name, error.status, error.text.lower()
    is_flagged = status == 403 and any(each in lower for each in _FLAGGED)
    if (status in _REFUSED or status == _TOO_MANY or status < 400) and not is_flagged:
        mend = "the account" if status == _TOO_MANY else _REFUSED.get(status, "the address")
        message = f"{name} refused with {error.what}; check {mend}{_about_key(endpoint, status)}"
        return EndpointRefused(message, raw=error.text)
    return NoAnswer(f"{name} refused this request with {error.what}{_about_format(error.text)}", raw=error.text)


def is_completion(body: Any) -> bool:
    """Say whether a body has a message in it."""
    try:
        return isinstance(body["choices"][0]["message"], dict)
    except (KeyError, IndexError, TypeError):
        return False


def _about_key(endpoint: Endpoint, status: int) -> str:
    if status not in {401, 403}:
        return ""
    if endpoint.key():
        return f" in {endpoint.key_variable}"
    if endpoint.key_variable:
        return f": {endpoint.key_variable} is not set"
    return f": none was sent, for the address stands in the spec; set {BASE} to it, and {KEY}"


def _completion(body: Any) -> dict[str, Any]:
    """Return a body with a message in it; any other is a ValueError."""
    if is_completion(body):
        return dict(body)
    raise ValueError(f"no message: {printable(json.dumps(body, ensure_ascii=False)[: 4 * _SHOWN])[:_SHOWN]!r}")


def _about_format(text: str) -> str:
    asked = any(word in text for word in ("response_format", "json_schema", "json_object"))
    return "; add ?format=prompt to the spec to ask for JSON in words" if asked else ""
