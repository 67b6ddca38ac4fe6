"""What a server of OpenAI's protocol does with files and batches: kept in memory, answered at once or when it is told.

Each line of a batch is answered as the server answers a single question, so that one model plays both; `paid` counts
what was answered. Faults are set from outside.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, bytes]


@dataclass
class BatchEndpoint:
    """The files and batches of one server."""

    reply: Callable[[dict[str, Any]], Answer]
    """A question to status and body of its answer."""
    fault: Callable[[str, str], Answer | None] = lambda *_: None
    """Method and path to an answer instead of what would be done."""
    lost: Callable[[str, str], Answer | None] = lambda *_: None
    """The same, for answers that are lost after it was done."""
    lines: Callable[[dict[str, Any]], str] = lambda _: ""
    """A question to what becomes of it: nothing special, `error`, `expired` or `missing`."""
    polls: int = 1
    """How often a batch is looked at before it has ended."""
    ending: str = "completed"
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    looked: Counter[str] = field(default_factory=Counter)
    asked: list[str] = field(default_factory=list)
    paid: Counter[str] = field(default_factory=Counter)
    lock: Any = field(default_factory=threading.RLock)

    def handle(self, method: str, address: str, body: bytes) -> Answer | None:
        """Return the answer to a request about files or batches; None where it is about something else."""
        path = urlsplit(address).path.removeprefix("/v1")
        if not re.match(r"/(files|batches)\b", path):
            return None
        with self.lock:
            self.asked.append(f"{method} {path}")
            answer = self.fault(method, path) or self._done(method, path, address, body)
            return self.lost(method, path) or answer

    def _done(self, method: str, path: str, address: str, body: bytes) -> Answer:
        if (method, path) == ("POST", "/files"):
            return self._kept(re.split(rb"\r\n\r\n", body)[-1].rsplit(b"\r\n--", 1)[0])
        if (method, path) == ("POST", "/batches"):
            return self._begun(json.loads(body))
        if path == "/batches":
            return self._page(parse_qs(urlsplit(address).query))
        name = path.split("/")[2]
        if path.endswith("/content"):
            return 200, self.files[name]
        return self._looked_up(name)

    def _kept(self, content: bytes) -> Answer:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return 200, json.dumps({"id": name, "object": "file", "bytes": len(content)}).encode()

    def _begun(self, told: dict[str, Any]) -> Answer:
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {**told, "id": name, "object": "batch", "status": "in_progress"}
        return 200, json.dumps(self.batches[name]).encode()

    def _page(self, query: dict[str, list[str]]) -> Answer:
        names = list(self.batches)[::-1]
        start = names.index(query["after"][0]) + 1 if "after" in query else 0
        some = names[start : start + int(query["limit"][0])]
        more = start + len(some) < len(names)
        return 200, json.dumps({"data": [self.batches[name] for name in some], "has_more": more}).encode()

    def _looked_up(self, name: str) -> Answer:
        batch = self.batches[name]
        self.looked[name] += 1
        if batch["status"] == "in_progress" and self.looked[name] > self.polls:
            batch |= self._ended(batch)
        return 200, json.dumps(batch).encode()

    def _ended(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self.ending == "failed":
            return {"status": "failed", "errors": {"data": [{"code": "invalid_model", "message": "no such model"}]}}
        good, bad = [], []
        for raw in self.files[batch["input_file_id"]].splitlines():
            question = json.loads(raw)
            key, fate = question["custom_id"], self.lines(question["body"])
            if fate == "expired" or self.ending == "expired":
                bad.append({"custom_id": key, "response": None, "error": {"code": "batch_expired", "message": "late"}})
            elif fate == "error":
                body = {"error": {"message": "the server had an error"}}
                bad.append({"custom_id": key, "response": {"status_code": 500, "body": body}, "error": None})
            else:
                status, body = self.reply(question["body"])
                self.paid[key] += 1
                response = {"status_code": status, "body": json.loads(body)}
                line = {"custom_id": key, "response": response, "error": None}
                good.extend([line] * (fate != "missing"))
        files = {}
        for name, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                made = f"file-{len(self.files)}"
                self.files[made] = "".join(json.dumps(each) + "\n" for each in lines).encode()
                files[name] = made
        total = len(good) + len(bad)
        counts = {"total": total, "completed": len(good), "failed": len(bad)}
        return {"status": self.ending, "request_counts": counts, **files}
