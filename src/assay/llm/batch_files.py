"""Keep the batches of a campaign in a folder, and send them to an endpoint that takes batches."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import HttpError, InputError, StorageError, printable
from assay.io.files import replacing, write_json, write_rows
from assay.io.http import HttpClient, HttpOptions
from assay.llm.endpoint import Endpoint
from assay.llm.openai import chat_error, headers_for
from assay.runs.record import append_lines, line_at, places, read_lines

MOST_QUESTIONS = 20_000
MOST_BYTES = 50_000_000
"""Of one batch; endpoints take 50,000 questions and 200 MB, and the file is in memory while it is sent."""
_KEY = re.compile(rb'\{"custom_id": "(\w+)"')
_FORGOTTEN, _CHAT = "forgotten.jsonl", "chat.jsonl"
_ANSWERS = ".answers.jsonl"
_ADDRESS = "/v1/chat/completions"


@dataclass(slots=True)
class BatchState:
    """How far a batch is; what is empty has not come yet."""

    number: int
    tag: str = ""
    """By which the endpoint's list names it, should its answer get lost."""
    file_id: str = ""
    is_requested: bool = False
    """Whether the endpoint may have been told to begin."""
    batch_id: str = ""
    status: str = ""
    """As the endpoint says it, once it has ended."""


class BatchFolder:
    """The batches of one model; several threads may ask."""

    def __init__(self, folder: Path, name: str, address: str) -> None:
        """Open the folder of the model with a name, at an address; one that holds the batches of another is refused."""
        self._folder = folder
        self._lock = threading.Lock()
        self._asked = set[str]()
        self._places: dict[str, tuple[int, int]] = {}
        self._tries: Counter[str] = Counter()
        self._waiting: dict[str, bytes] = {}
        self._bytes = 0
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_other(folder, {"chat": name, "address": address})
        for state in self.states():
            self._index(state)
        for record in read_lines(folder / _FORGOTTEN):
            if self._places.get(record["key"], (0, 0))[0] == record["batch"]:
                del self._places[record["key"]]

    def states(self) -> list[BatchState]:
        """Return all batches, in their order."""
        numbers = sorted(int(file.stem) for file in self._folder.glob("[0-9]*.jsonl") if file.stem.isdigit())
        return [self._state(number) for number in numbers]

    def open_states(self) -> list[BatchState]:
        """Return the batches that have not ended."""
        return [state for state in self.states() if not self._answers_of(state.number).exists()]

    def is_asked(self, key: str) -> bool:
        """Say whether a question waits for its batch, or for the answer."""
        with self._lock:
            return key in self._asked or key in self._waiting

    def tries(self, key: str) -> int:
        """Return how many batches ended without an answer to a question."""
        return self._tries[key]

    def ask(self, key: str, question: Mapping[str, Any]) -> None:
        """Put a question into the next batch; one that is full is written."""
        line = _line(key, question)
        with self._lock:
            if key in self._waiting or key in self._asked:
                return
            if len(self._waiting) >= MOST_QUESTIONS or self._bytes + len(line) > MOST_BYTES:
                self._write()
            self._waiting[key] = line
            self._bytes += len(line)

    def seal(self) -> None:
        """Write the questions that wait as a batch."""
        with self._lock:
            if self._waiting:
                self._write()

    def questions(self, state: BatchState) -> bytes:
        """Return the questions of a batch as an endpoint reads them."""
        return self._file(state.number).read_bytes()

    def keys(self, state: BatchState) -> list[str]:
        """Return the keys of the questions of a batch."""
        return [found[1].decode() for line in self.questions(state).splitlines() if (found := _KEY.match(line))]

    def save(self, state: BatchState) -> None:
        """Write down how far a batch is; it is on disk when this returns."""
        write_json(self._file(state.number).with_suffix(".json"), asdict(state))

    def end(self, state: BatchState, answers: Iterable[Mapping[str, Any]]) -> None:
        """Write what came of the questions of a batch, by `key`; one that is not named had no answer."""
        write_rows(self._answers_of(state.number), answers)
        with self._lock:
            self._index(state)

    def answer(self, key: str) -> dict[str, Any] | None:
        """Return what came of a question: its `body` or its `error`; None where nothing did yet."""
        with self._lock:
            number, place = self._places.get(key, (0, 0))
        if not number:
            return None
        found: dict[str, Any] = json.loads(line_at(self._answers_of(number), place))
        return found

    def all_answers(self) -> Iterator[dict[str, Any]]:
        """Yield what came of all questions of all batches."""
        for state in self.states():
            yield from read_lines(self._answers_of(state.number))

    def forget(self, key: str) -> None:
        """Let the next process ask a question anew; this is on disk when it returns."""
        append_lines(self._folder / _FORGOTTEN, [{"key": key, "batch": self._places[key][0]}])

    def _write(self) -> None:
        """Write the batch that waits, with nothing done about it."""
        number = max((state.number for state in self.states()), default=0) + 1
        with replacing(self._file(number)) as beside:
            beside.write_bytes(b"".join(self._waiting.values()))
        self._asked.update(self._waiting)
        self._waiting, self._bytes = {}, 0

    def _index(self, state: BatchState) -> None:
        keys, answers = self.keys(state), self._answers_of(state.number)
        if not answers.exists():
            self._asked.update(keys)
            return
        for place, key in places(answers, lambda *_: True):
            self._places[key] = (state.number, place)
        self._asked.difference_update(keys)
        self._tries.update(key for key in keys if self._places.get(key, (0, 0))[0] != state.number)

    def _state(self, number: int) -> BatchState:
        file = self._file(number).with_suffix(".json")
        if not file.exists():
            return BatchState(number)
        try:
            return BatchState(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise StorageError(f"cannot read {file}, which says how far a batch is: {error}") from error

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:04}.jsonl"

    def _answers_of(self, number: int) -> Path:
        return self._folder / f"{number:04}{_ANSWERS}"


def _refuse_other(folder: Path, chat: Mapping[str, str]) -> None:
    """Write down whose batches a folder holds, or refuse it where they are another's."""
    file = folder / _CHAT
    before = next(read_lines(file), None)
    if before is None:
        append_lines(file, [chat])
    elif before != chat:
        whose = f"{before.get('chat')} at {before.get('address')}"
        raise InputError(f"{folder} holds batches of {whose}; give another --out, or --fresh")


def _line(key: str, question: Mapping[str, Any]) -> bytes:
    """Return a line of a batch, which begins with its key."""
    whole = {"custom_id": key, "method": "POST", "url": _ADDRESS, "body": question}
    return (json.dumps(whole) + "\n").encode()


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
        self._endpoint, self.address = endpoint, endpoint.url
        often, once = HttpOptions(_TIMEOUT_S, _MOST_BYTES, pause_s=pause_s), HttpOptions(_TIMEOUT_S, tries=1)
        self._client, self._once = (
            HttpClient(endpoint.name, endpoint.url, options, headers_for(endpoint)) for options in (often, once)
        )

    def upload(self, name: str, questions: bytes) -> str:
        """Send a file of questions, and return its id; one that nobody uses costs nothing."""
        url = f"{self._endpoint.url}/files"
        return self._called(lambda: self._client.send_file(url, {"purpose": "batch"}, name, questions, _id_of))

    def begin(self, file_id: str, tag: str) -> str:
        """Begin a batch, and return its id; EndpointFailed where nobody knows whether it began."""
        question = {"input_file_id": file_id, "endpoint": _ADDRESS, "completion_window": "24h", "metadata": {TAG: tag}}
        return self._called(lambda: self._once.ask_json(f"{self._endpoint.url}/batches", question, _id_of))

    def find(self, tag: str) -> str:
        """Return the id of the batch with a tag; empty where the endpoint has none."""
        return next((each["id"] for each in self._all() if (each.get("metadata") or {}).get(TAG) == tag), "")

    def look_up(self, batch_id: str) -> dict[str, Any]:
        """Return what the endpoint says of a batch."""
        return self._called(
            lambda: self._client.ask_json(f"{self._endpoint.url}/batches/{batch_id}", None, partial(_with, "status"))
        )

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
        address = first = f"{self._endpoint.url}/batches?limit={_PAGE}"
        for _ in range(_MOST_PAGES):
            page = self._called(partial(self._client.ask_json, address, None, _page))
            yield from page["data"]
            if not (page.get("has_more") and page["data"]):
                return
            address = f"{first}&after={page['data'][-1]['id']}"

    def _called(self, call: Callable[[], Result]) -> Result:
        try:
            return call()
        except HttpError as error:
            failure = chat_error(self._endpoint, error)
        raise failure


def _with(name: str, body: Any) -> dict[str, Any]:
    """Return an object that has a text of this name; any other is a ValueError."""
    if isinstance(body, dict) and isinstance(body.get(name), str):
        return body
    raise ValueError(f"no {name}: {printable(json.dumps(body))[:200]!r}")


def _id_of(body: Any) -> str:
    return str(_with("id", body)["id"])


def _page(body: Any) -> dict[str, Any]:
    if isinstance(body, dict) and isinstance(body.get("data"), list) and all(map(_id_of, body["data"])):
        return body
    raise ValueError(f"no list of batches: {printable(json.dumps(body))[:200]!r}")
