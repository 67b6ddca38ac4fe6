r"""Compare the callers and callees of `assay related` with those that a language server lists, by language.

python benchmarks/references.py FOLDER --language python --server 'pyright-langserver --stdio' \
        [--sites 40] [--seed 1] [--save SITES.json]
    java benchmarks/JavaCalls.java FOLDER > CALLS.jsonl
    python benchmarks/references.py FOLDER --language java --calls CALLS.jsonl

FOLDER is a checkout that the server can read: its dependencies installed, `compile_commands.json` for clangd. Sites are
functions and methods outside of tests, drawn with the seed. Callers are compared by the lines of their calls, callees
by where they are defined; overloads count as one definition, and a type as its constructor. What lies outside of the
folder does not count, nor what is used without being called, such as a property. The server
is asked for outgoing calls where it has them, and for the definition of each name that is called: outgoing calls leave
out those of functions inside of a function. A site that the server knows no function at is left
out.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple, Self
from urllib.parse import unquote, urlparse

from assay.corpus.call_facts import CALLABLES, TYPES
from assay.corpus.languages import language_of
from assay.measure.compare import wilson
from assay.operations.workspace import open_workspace
from assay.search.path_filters import traits_of
from assay.search.reference_table import PlacedDefinition, family_of, table_of
from assay.search.related import callees_of, calls_of_unit
from assay.search.resolve import resolver_of
from assay.settings import Settings
from assay.store.snapshot import Snapshot

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


NEW = {"__init__", "constructor"}
CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
KEYWORDS = {"if", "for", "while", "switch", "return", "sizeof", "defined"}

Callee = tuple[str, str]
"""A path, and a name with what it is a member of."""


@dataclass
class Counts:
    """What was found of what was wanted."""

    found: int = 0
    right: int = 0
    wanted: int = 0
    met: int = 0

    def add(self, other: Counts) -> None:
        """Add what was found at another site."""
        for name in ("found", "right", "wanted", "met"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def text(self) -> str:
        """Return precision and recall with their intervals."""
        return f"precision {_share(self.right, self.found)}  recall {_share(self.met, self.wanted)}"


def _share(part: int, whole: int) -> str:
    if not whole:
        return "- (0)"
    low, high = wilson(part, whole)
    return f"{part / whole:.3f} [{low:.3f}, {high:.3f}] ({part}/{whole})"


@dataclass
class Site:
    """A function, what a server says of it, and what `related` does, each with how many definitions are in question."""

    path: str
    line: int
    name: str
    callers: list[Place]
    callees: list[Callee]
    found_callers: list[tuple[str, int, int]] = field(default_factory=list)
    found_callees: list[tuple[str, str, int]] = field(default_factory=list)


def main() -> None:
    given = _arguments().parse_args()
    root = given.folder.resolve()
    snapshot = open_workspace(root, Settings()).snapshot
    unread = re.compile(given.without)
    units = [unit for unit in _units(snapshot, given.language) if not unread.search(unit.path)]
    random.Random(given.seed).shuffle(units)  # noqa: S311  a sample
    sites: list[Site] = []
    for unit, site in _sites(given, snapshot, root, units):
        _find(snapshot, unit, site, unread)
        sites.append(site)
        if len(sites) == given.sites:
            break
    if given.save:
        given.save.write_text(json.dumps([vars(site) for site in sites], indent=1) + "\n")
    _report(sites, root.name, show=given.show)


def _arguments() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--language", required=True)
    what = arguments.add_mutually_exclusive_group(required=True)
    what.add_argument("--server", help="command of a language server")
    what.add_argument("--calls", type=Path, help="what a compiler says of every call, as JavaCalls.java writes it")
    arguments.add_argument("--sites", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--wait", type=float, default=120.0, help="seconds that the server may take to index")
    arguments.add_argument("--without", default="(?!)", help="expression of paths that the server does not read")
    arguments.add_argument("--save", type=Path)
    arguments.add_argument("--show", action="store_true", help="print what differs")
    return arguments


def _sites(
    given: argparse.Namespace, snapshot: Snapshot, root: Path, units: list[PlacedDefinition]
) -> Iterator[tuple[PlacedDefinition, Site]]:
    """Yield the units with what the server or the compiler says of them."""
    if given.calls:
        compiled = CompiledCalls(snapshot, given.calls)
        yield from ((unit, compiled.site(unit)) for unit in units)
        return
    with LanguageServer(shlex.split(given.server), root, given.wait) as server:
        for unit in units:
            site = _asked(server, snapshot, root, unit)
            if site is not None:
                yield unit, site


class CompiledCalls:
    """Every call of a folder with what a compiler resolves it to."""

    def __init__(self, snapshot: Snapshot, file: Path) -> None:
        self._callers: dict[Callee, set[Place]] = {}
        self._callees: dict[str, list[tuple[int, Callee]]] = {}
        for row in map(json.loads, file.read_text("utf-8").splitlines()):
            name = "__init__" if row["new"] else row["name"]
            target = _canonical(snapshot, row["to"], row["last"], name)
            self._callers.setdefault(target, set()).add((row["path"], row["line"]))
            self._callees.setdefault(row["path"], []).append((row["line"], target))

    def site(self, unit: PlacedDefinition) -> Site:
        """Return what the compiler says of a unit."""
        own = _own(unit)
        callers = {place for place in self._callers.get(own, ()) if not _inside(place, unit)}
        lines = range(unit.at.line, unit.at.end + 1)
        callees = {target for line, target in self._callees.get(unit.path, ()) if line in lines}
        return Site(unit.path, unit.at.line, unit.at.full_name, sorted(callers), sorted(callees - {own}))


def _units(snapshot: Snapshot, language: str) -> Iterator[PlacedDefinition]:
    table = table_of(snapshot)
    for path, family in sorted(table.paths.items()):
        if family == family_of(language) and not any(traits_of(path)) and language_of(path) in (language, "tsx"):
            for unit in table.file(path).definitions:
                if unit.at.kind in CALLABLES - {"test", "macro"} and unit.at.end > unit.at.line + 1:
                    yield unit


def _asked(server: LanguageServer, snapshot: Snapshot, root: Path, unit: PlacedDefinition) -> Site | None:
    """Return what the server says; nothing where it knows no function there."""
    text = (root / unit.path).read_text("utf-8", errors="replace")
    lines = text.splitlines()
    for line in range(unit.at.line - 1, min(unit.at.line + 4, len(lines))):
        found = re.search(rf"\b{re.escape(unit.at.name)}\b", lines[line])
        if found:
            break
    else:
        return None
    server.open(unit.path, text)
    item = server.item_at(unit.path, Position(line, found.start()))
    if item is None:
        return None
    names = {unit.at.name, unit.at.owner.rpartition(".")[2]} if _is_constructor(unit) else {unit.at.name}
    items = [item]
    if _is_constructor(unit):
        items += _types_of(server, snapshot, unit, lines)
    calls = {place for each in items for place in server.callers(each)}
    callers = {place for place in calls if not _inside(place, unit) and _calls(root, place, names)}
    body = "\n".join(lines[unit.at.line - 1 : unit.at.end])
    callees = [each for each in server.callees(item) if each[2] in NEW or _is_called(each[2], body)]
    named = {_canonical(snapshot, *each) for each in [*callees, *_defined(server, snapshot, unit, lines)]}
    return Site(unit.path, unit.at.line, unit.at.full_name, sorted(callers), sorted(named - {_own(unit)}))


def _types_of(
    server: LanguageServer, snapshot: Snapshot, unit: PlacedDefinition, lines: list[str]
) -> Iterator[dict[str, object]]:
    """Yield the type whose constructor a unit is, as the server has it."""
    for each in table_of(snapshot).file(unit.path).definitions:
        if each.at.full_name == unit.at.owner and each.at.kind in TYPES:
            found = re.search(rf"\b{re.escape(each.at.name)}\b", lines[each.at.line - 1])
            item = server.item_at(unit.path, Position(each.at.line - 1, found.start())) if found else None
            if item:
                yield item


def _is_constructor(unit: PlacedDefinition) -> bool:
    return unit.at.kind == "constructor" or unit.at.name in NEW


def _own(unit: PlacedDefinition) -> Callee:
    if unit.family == "c":  # declared in a header, defined elsewhere
        return "", unit.at.name
    return unit.path, unit.at.owner if _is_constructor(unit) else unit.at.full_name


def _is_called(name: str, text: str) -> bool:
    return (
        re.search(rf"\b{re.escape(name)}\s*(?:\(|<|!|::)|@(?:\w+\.)*{re.escape(name)}\b|<{re.escape(name)}\b", text)
        is not None
    )


def _calls(root: Path, place: Place, names: set[str]) -> bool:
    """Say whether one of some names is called on a line or the next ones, rather than only used."""
    lines = (root / place[0]).read_text("utf-8", errors="replace").splitlines()[place[1] - 1 : place[1] + 2]
    return any(_is_called(name, "\n".join(lines)) for name in names) or bool(
        {"super", "this("} & set(re.findall(r"super|this\(", "".join(lines[:1])))
    )


def _canonical(snapshot: Snapshot, path: str, line: int, name: str) -> Callee:
    """Return the path and the full name of what is defined on a line; a constructor is its type."""
    around = [each for each in table_of(snapshot).file(path).definitions if each.at.start <= line <= each.at.end]
    named = [each for each in around if each.at.name == name or (name in NEW and each.at.kind in TYPES)]
    unit = min(named or around, key=lambda each: each.at.end - each.at.start, default=None)
    if path.endswith((".c", ".h")):
        return "", name
    if unit is None or not named:
        return path, f"{name}:{line}"
    return _own(unit)


def _inside(place: Place, unit: PlacedDefinition) -> bool:
    return place[0] == unit.path and unit.at.start <= place[1] <= unit.at.end


def _defined(
    server: LanguageServer, snapshot: Snapshot, unit: PlacedDefinition, lines: list[str]
) -> list[tuple[str, int, str]]:
    """Return where the names are defined that are called in a unit, in the functions inside of it, too."""
    found: list[tuple[str, int, str]] = []
    for number in range(unit.at.line - 1, unit.at.end):
        bare = re.sub(r'"(?:[^"\\]|\\.)*"|//.*|/\*.*?\*/', lambda text: " " * len(text[0]), lines[number])
        for called in CALLED.finditer(bare):
            if called[1] not in KEYWORDS and not re.match(r"\s*\*", bare):
                places = server.definitions(unit.path, Position(number, called.start(1)))
                found += [
                    (*place, called[1]) for place in places if _is_function(snapshot, server.root, place, called[1])
                ]
    return found


def _is_function(snapshot: Snapshot, root: Path, place: Place, name: str) -> bool:
    """Say whether a function, a type or a macro is defined there rather than a variable."""
    if place[0].endswith((".c", ".h")):
        lines = (root / place[0]).read_text("utf-8", errors="replace").splitlines()[place[1] - 1 : place[1] + 1]
        return re.search(rf"\b{re.escape(name)}\s*\(", " ".join(lines)) is not None
    around = (
        each for each in table_of(snapshot).file(place[0]).definitions if each.at.start <= place[1] <= each.at.end
    )
    return any(each.at.name == name and each.at.kind in CALLABLES | TYPES for each in around)


def _find(snapshot: Snapshot, unit: PlacedDefinition, site: Site, unread: re.Pattern[str]) -> None:
    resolver = resolver_of(snapshot)
    calls: dict[Place, int] = {}
    for call, among in calls_of_unit(resolver, unit):
        place = (call.path, call.at.line)
        if not unread.search(call.path):
            calls[place] = min(among, calls.get(place, among))
    site.found_callers = [(path, line, among) for (path, line), among in sorted(calls.items())]
    callees: dict[Callee, int] = {}
    for _, each, among in callees_of(resolver, unit.path, (unit.at.start, unit.at.end)):
        if not unread.search(each.path):
            callees[_own(each)] = min(among, callees.get(_own(each), among))
    callees.pop(_own(unit), None)
    site.found_callees = [(*key, among) for key, among in sorted(callees.items())]


def callers_of(site: Site, most: int) -> tuple[Counts, set[Place], set[Place]]:
    """Return the counts with what is wrong and what is missing, of places with at most so many definitions."""
    found = {(path, line) for path, line, among in site.found_callers if among <= most}
    wanted = {(path, line) for path, line in site.callers}
    right = found & wanted
    return Counts(len(found), len(right), len(wanted), len(right)), found - wanted, wanted - found


def callees_found(site: Site, most: int) -> tuple[Counts, set[Callee], set[Callee]]:
    found = {(path, name) for path, name, among in site.found_callees if among <= most}
    wanted = {(path, name) for path, name in site.callees}
    right = found & wanted
    return Counts(len(found), len(right), len(wanted), len(right)), found - wanted, wanted - found


def _report(sites: list[Site], name: str, *, show: bool) -> None:
    for most, of in ((1, "sure"), (99, "all")):
        callers, callees = Counts(), Counts()
        for site in sites:
            for whole, (counts, wrong, missing), what in (
                (callers, callers_of(site, most), "caller"),
                (callees, callees_found(site, most), "callee"),
            ):
                whole.add(counts)
                if show and most > 1:
                    for sign, places in (("+", wrong), ("-", missing)):
                        for place in sorted(places, key=str):
                            print(f"{sign} {what} of {site.path}:{site.line} {site.name}: {place}")
        print(f"{name} ({len(sites)} sites, {of}) callers: {callers.text()}")
        print(f"{name} ({len(sites)} sites, {of}) callees: {callees.text()}", flush=True)


if __name__ == "__main__":
    main()
