"""A file of questions to an endpoint's batch, and the batch to its answers: OpenAI's `/files` and `/batches`.

Beginning a batch is what costs, so it is sent once: where the answer gets lost, the endpoint's list says whether there
is a batch with our tag. All else may be asked again and is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from assay.errors import ChatError, HttpError, printable
from assay.io.http import HttpClient, HttpOptions
from assay.llm.chat_wire import failure_of, headers_for
from assay.llm.providers import Endpoint

Result = TypeVar("Result")
TAG = "assay"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_TIMEOUT_S = 900.0
_MOST_BYTES = 400_000_000
_PAGE = 100
_MOST_PAGES = 50


class BatchWire:
    """The batches of one endpoint."""

    def __init__(self, endpoint: Endpoint, pause_s: float = 0.5) -> None:
        self._endpoint = endpoint
        headers = headers_for(endpoint)
        often = HttpOptions(_TIMEOUT_S, _MOST_BYTES, pause_s=pause_s)
        once = HttpOptions(_TIMEOUT_S, tries=1)
        self._client = HttpClient(endpoint.name, endpoint.url, often, headers)
        self._once = HttpClient(endpoint.name, endpoint.url, once, headers)

    @property
    def address(self) -> str:
        """Where the endpoint is."""
        return self._endpoint.url

    def upload(self, name: str, questions: bytes) -> str:
        """Send a file of questions, and return its id; one that nobody uses costs nothing."""
        url = f"{self._endpoint.url}/files"
        return self._called(lambda: self._client.send_file(url, {"purpose": "batch"}, name, questions, _id))

    def begin(self, file_id: str, tag: str) -> str:
        """Begin a batch, and return its id; EndpointFailed where nobody knows whether it began."""
        question = {
            "input_file_id": file_id,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {TAG: tag},
        }
        return self._called(lambda: self._once.ask_json(f"{self._endpoint.url}/batches", question, _id))

    def find(self, tag: str) -> str:
        """Return the id of the batch with a tag; empty where the endpoint has none."""
        return next((each["id"] for each in self._all() if (each.get("metadata") or {}).get(TAG) == tag), "")

    def look_up(self, batch_id: str) -> dict[str, Any]:
        """Return what the endpoint says of a batch."""
        return self._called(lambda: self._client.get_json(f"{self._endpoint.url}/batches/{batch_id}", _batch))

    def lines(self, file_id: str) -> Iterator[dict[str, Any]]:
        """Yield the lines of a file of answers that can be read."""
        url = f"{self._endpoint.url}/files/{file_id}/content"
        text = self._called(lambda: self._client.ask_text(url))
        for line in text.split("\n"):  # a string may hold what else ends a line
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and isinstance(value.get("custom_id"), str):
                yield value

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        self._once.close()

    def _all(self) -> Iterator[dict[str, Any]]:
        """Yield the endpoint's batches, the newest first."""
        after = ""
        for _ in range(_MOST_PAGES):
            page = self._called(partial(self._client.get_json, self._list_address(after), _page))
            yield from page["data"]
            if not (page.get("has_more") and page["data"]):
                return
            after = page["data"][-1]["id"]

    def _list_address(self, after: str) -> str:
        return f"{self._endpoint.url}/batches?limit={_PAGE}{f'&after={after}' if after else ''}"

    def _called(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except HttpError as error:
            failure: ChatError = failure_of(self._endpoint, error)
        raise failure


def _id(body: Any) -> str:
    if isinstance(body, dict) and isinstance(body.get("id"), str):
        return str(body["id"])
    raise ValueError(f"no id: {printable(json.dumps(body))[:200]!r}")


def _batch(body: Any) -> dict[str, Any]:
    if isinstance(body, dict) and isinstance(body.get("status"), str):
        return body
    raise ValueError(f"no batch: {printable(json.dumps(body))[:200]!r}")


def _page(body: Any) -> dict[str, Any]:
    data = body.get("data") if isinstance(body, dict) else None
    if isinstance(data, list) and all(isinstance(each, dict) and isinstance(each.get("id"), str) for each in data):
        return dict(body)
    raise ValueError(f"no list of batches: {printable(json.dumps(body))[:200]!r}")
