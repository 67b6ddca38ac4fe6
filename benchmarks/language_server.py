"""A language server as a child process: call hierarchies and definitions of files below one folder."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlparse

Place = tuple[str, int]
_LANGUAGES = {".py": "python", ".ts": "typescript", ".tsx": "typescriptreact", ".go": "go", ".c": "c", ".java": "java"}
_PATIENCE_S = 60.0
_SETTINGS = {"autoSearchPaths": True, "diagnosticMode": "workspace", "analysis": {"autoSearchPaths": True}}
"""What pyright asks for: packages in `src` are imported from there."""


class Position(NamedTuple):
    """Line and column, from 0."""

    line: int
    character: int


class LanguageServer:
    """One server that speaks on its standard input and output."""

    def __init__(self, command: Sequence[str], root: Path, wait_s: float) -> None:
        self.root = root
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, stderr=subprocess.DEVNULL
        )
        self._answers: Queue[dict[str, Any]] = Queue()
        self._number, self._open, self._first = 0, set[str](), True
        self._wait_s, self._busy = wait_s, set[str]()
        threading.Thread(target=self._read, daemon=True).start()
        answer = self._ask("initialize", self._hello(), wait_s)
        self.has_outgoing = "clangd" not in command[0] or bool(answer["capabilities"].get("outgoing"))
        self._tell("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()

    def _hello(self) -> dict[str, Any]:
        uri = self.root.as_uri()
        return {
            "processId": None,
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self.root.name}],
            "capabilities": {
                "textDocument": {"callHierarchy": {}, "definition": {}},
                "window": {"workDoneProgress": True},
                "workspace": {"workspaceFolders": True, "configuration": True},
            },
        }

    def open(self, path: str, text: str) -> None:
        """Have the server know a file; wait for its index after the first one."""
        if path in self._open:
            return
        self._open.add(path)
        language = _LANGUAGES.get(Path(path).suffix, Path(path).suffix[1:])
        document = {"uri": (self.root / path).as_uri(), "languageId": language, "version": 1, "text": text}
        self._tell("textDocument/didOpen", {"textDocument": document})
        if self._first:
            self._first = False
            self._settle()

    def _settle(self) -> None:
        """Wait until the server has had nothing under way for some seconds."""
        ends, quiet = time.monotonic() + self._wait_s, time.monotonic()
        while time.monotonic() < ends and time.monotonic() - quiet < 8.0:
            time.sleep(0.2)
            if self._busy:
                quiet = time.monotonic()

    def item_at(self, path: str, at: Position) -> dict[str, Any] | None:
        """Return the function at a place."""
        found = self._ask("textDocument/prepareCallHierarchy", self._place(path, at))
        return found[0] if found else None

    def callers(self, item: dict[str, Any]) -> Iterator[Place]:
        """Yield the lines that call a function, below the root."""
        for each in self._ask("callHierarchy/incomingCalls", {"item": item}) or ():
            path = self._below(each["from"]["uri"])
            if path:
                yield from ((path, span["start"]["line"] + 1) for span in each["fromRanges"])

    def callees(self, item: dict[str, Any]) -> list[tuple[str, int, str]]:
        """Return where what a function calls is defined, below the root, each with its name."""
        found = []
        for each in (self._ask("callHierarchy/outgoingCalls", {"item": item}) if self.has_outgoing else None) or ():
            to = each["to"]
            if path := self._below(to["uri"]):
                found.append((path, to["selectionRange"]["start"]["line"] + 1, to["name"].partition("(")[0]))
        return found

    def definitions(self, path: str, at: Position) -> list[Place]:
        """Return where the name at a place is defined, below the root."""
        found = self._ask("textDocument/definition", self._place(path, at)) or ()
        places = ((self._below(each["uri"]), each["range"]["start"]["line"] + 1) for each in found)
        return [(path, line) for path, line in places if path]

    def _place(self, path: str, at: Position) -> dict[str, Any]:
        return {"textDocument": {"uri": (self.root / path).as_uri()}, "position": at._asdict()}

    def _below(self, uri: str) -> str:
        file = Path(unquote(urlparse(uri).path))
        inside = file.is_relative_to(self.root) and not {"node_modules", ".venv", "target"} & set(file.parts)
        return file.relative_to(self.root).as_posix() if inside else ""

    def _ask(self, method: str, parameters: dict[str, Any], patience_s: float = _PATIENCE_S) -> Any:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        ends = time.monotonic() + patience_s
        while True:
            try:
                answer = self._answers.get(timeout=max(0.01, ends - time.monotonic()))
            except Empty:
                raise SystemExit(f"{method} was not answered in {patience_s:.0f} s") from None
            if answer["id"] == self._number:
                return answer.get("result")

    def _tell(self, method: str, parameters: dict[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": parameters})

    def _write(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        assert self._child.stdin
        self._child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._child.stdin.flush()

    def _read(self) -> None:
        """Take what the server says: answers, questions of its own, and what it is about."""
        assert self._child.stdout
        while True:
            length = 0
            while line := self._child.stdout.readline().strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            if not length:
                return
            self._take(json.loads(self._child.stdout.read(length)))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answers.put(message)
        elif message["method"] == "$/progress":
            value, token = message["params"]["value"], str(message["params"]["token"])
            if value.get("kind") == "end":
                self._busy.discard(token)
            else:
                self._busy.add(token)
        elif "id" in message:
            wanted = message["params"]["items"] if message["method"] == "workspace/configuration" else None
            result = None if wanted is None else [_SETTINGS for _ in wanted]
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": result})
