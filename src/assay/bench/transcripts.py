"""Read the transcripts that coding agents write: the prompts, searches, reads and edits of each session, in order.

Claude Code writes a file for each session and each subagent below `~/.claude/projects`, Codex a rollout below
`~/.codex/sessions`; both are JSON lines, which Codex may compress. Formats change from version to version, so a record
is recognized by its own fields, and types of records that are not known are counted and skipped. Files are streamed: of
each call its query, the paths in its result and the size of that result are kept. The records of one session may come
from several files (subagents, resumed sessions); a call that is copied into a second file counts once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import join, normpath
from typing import Any, Literal

from assay.errors import InputError
from assay.io import rows
from assay.protocols import Progress
from assay.terms import tokens
from assay.values import Problem

StepKind = Literal["prompt", "search", "read", "edit", "other"]
_MAX_TEXT_CHARS = 2_000
"""Characters of a prompt, a query or a path that are kept."""
_MAX_OUTPUT_CHARS = 1 << 18
"""Characters of a result in which paths are looked for."""
_MAX_PATHS = 500


@dataclass(frozen=True, slots=True)
class Step:
    """A prompt of the user, or one call of a tool with its result."""

    kind: StepKind
    tool: str = ""
    text: str = ""
    """The prompt, or the words of a search; empty for a search for file names, or within one file."""
    paths: tuple[str, ...] = ()
    """What was read or edited, or the paths in the result of a search; relative to the session's folder."""
    tokens: int = 0
    """An estimate of the result's tokens."""
    when: str = ""


@dataclass(slots=True)
class AgentSession:
    """One session of an agent; it grows while its files are read."""

    id: str
    agent: str
    folder: str = ""
    """The working directory at its start."""
    commit: str = ""
    """What was checked out then, if the transcript says so."""
    steps: list[Step] = field(default_factory=list)

    def inside(self, paths: Iterable[str], base: str) -> tuple[str, ...]:
        """Return the paths that lie in the session's folder, relative to it."""
        top = self.folder.rstrip("/")
        whole = (normpath(join(top, base, path)) for path in paths)
        return tuple(dict.fromkeys(each.removeprefix(f"{top}/") for each in whole if each.startswith(f"{top}/")))


_NOT_TYPED = ("<", "[Request interrupted", "Caveat: The messages below", "# AGENTS.md instructions")
"""How a text begins that stands where prompts do and that the agent's program wrote."""
_PATH = re.compile(r"(?<![\w@.+~/-])(?:[\w@.+~-]*(?:/[\w@.+~-]+)+|[\w@.+~-]+\.[A-Za-z]\w{0,9}\b)")


class Transcripts:
    """The sessions of some files, and what could not be read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.skipped: Counter[str] = Counter()
        """Records that say nothing of a call or a prompt, by their type; a type of another version is among them."""
        self._sessions: dict[str, AgentSession] = {}
        self._calls: dict[str, tuple[AgentSession, int, str]] = {}
        """By call, its session, its place among the steps, and the folder that it ran in."""

    def sessions(self) -> list[AgentSession]:
        """Return the sessions that have a step, by their start; steps of several files in order of time."""
        for session in self._sessions.values():
            session.steps.sort(key=lambda step: step.when)
        found = [each for each in self._sessions.values() if each.steps]
        return sorted(found, key=lambda session: (session.steps[0].when, session.id))

    def read(self, file: Path) -> None:
        """Add the records of a file; what cannot be used is a problem."""
        problems, name, is_known = list[Problem](), file.stem, False
        if file.exists() and not file.is_file():
            raise InputError("not a file")
        for _, record in rows.objects(file, problems):
            kind, item = _clipped(record.get("type")), record.get("payload")
            if isinstance(item, dict):
                name = self._read_codex(record, item, name)
            elif kind in {"user", "assistant", "progress"}:
                self._read_claude(record)
            else:
                self.skipped[kind] += 1
            is_known = is_known or isinstance(item, dict) or "sessionId" in record
        self.problems += problems if is_known else [Problem(str(file), "not a transcript of Claude Code or Codex")]

    def _read_claude(self, record: Mapping[str, Any]) -> None:
        data = record.get("data")
        if isinstance(data, dict) and isinstance(data.get("message"), dict):
            record = {**record, **data["message"], "isMeta": True}  # of a subagent, whose prompt no user typed
        message, about = record.get("message"), record.get("toolUseResult")
        content = message.get("content") if isinstance(message, dict) else None
        session = self._session(record.get("sessionId"), "claude-code", record.get("cwd"))
        is_made = any(map(record.get, ("isMeta", "isSidechain", "isCompactSummary")))
        is_typed = record.get("type") == "user" and not is_made
        is_new = isinstance(about, dict) and about.get("type") == "create"
        for block in [{"text": content}] if isinstance(content, str) else _dicts(content):
            if "tool_use_id" in block:
                self._result(block["tool_use_id"], block.get("content"), undone=is_new or bool(block.get("is_error")))
            elif "input" in block:
                self._call(session, record, block.get("id"), step_of(block.get("name"), block["input"]))
            elif is_typed:
                self._prompt(session, record, block.get("text"))

    def _read_codex(self, record: Mapping[str, Any], item: Mapping[str, Any], name: str) -> str:
        """Read one record of a rollout and return the id of its session."""
        kind, inner, git = _clipped(record.get("type")), _clipped(item.get("type")), item.get("git")
        if kind == "session_meta":
            name = _clipped(item.get("id")) or name
        session = self._session(name, "codex", item.get("cwd"))
        session.commit = session.commit or _clipped(git.get("commit_hash") if isinstance(git, dict) else "")
        if item.get("role") == "user":
            for block in _dicts(item.get("content")):
                self._prompt(session, record, block.get("text"))
        elif inner.endswith("_call_output"):
            self._result(item.get("call_id"), item.get("output"))
        elif inner.endswith("_call") and "call_id" in item:
            given = item.get("arguments", item.get("action", item.get("input")))
            with suppress(ValueError, RecursionError):
                given = json.loads(given) if "arguments" in item and isinstance(given, str) else given
            step = step_of(f"{item.get('namespace') or ''}{item.get('name') or 'shell'}", given)
            base = given.get("workdir") if isinstance(given, dict) else ""
            self._call(session, {**record, "cwd": base}, item["call_id"], step)
        else:
            self.skipped[f"{kind} {inner}".strip()] += 1
        return name

    def _session(self, name: object, agent: str, folder: object) -> AgentSession:
        session = self._sessions.setdefault(_clipped(name), AgentSession(_clipped(name), agent))
        session.folder = session.folder or _clipped(folder)
        return session

    def _prompt(self, session: AgentSession, record: Mapping[str, Any], text: object) -> None:
        if (shown := _clipped(text)) and not shown.startswith(_NOT_TYPED):
            session.steps.append(Step("prompt", text=shown, when=_clipped(record.get("timestamp"))))

    def _call(self, session: AgentSession, record: Mapping[str, Any], call: object, step: Step) -> None:
        if isinstance(call, str) and call not in self._calls:
            self._calls[call] = session, len(session.steps), (base := _clipped(record.get("cwd")))
            paths, when = session.inside(step.paths, base), _clipped(record.get("timestamp"))
            session.steps.append(replace(step, paths=paths, when=when))

    def _result(self, call: object, content: object, *, undone: bool = False) -> None:
        if not isinstance(call, str) or call not in self._calls:
            return
        session, at, base = self._calls[call]
        text = content if isinstance(content, str) else "\n".join(str(each.get("text", "")) for each in _dicts(content))
        step, shown = session.steps[at], text[:_MAX_OUTPUT_CHARS].replace("\\n", "\n")  # it may be JSON
        if step.kind == "search":
            found = dict.fromkeys(match[0] for match in _PATH.finditer(shown))
            step = replace(step, paths=session.inside(found, base)[:_MAX_PATHS])
        if step.kind == "edit" and (undone or "verification failed" in shown[:200]):
            step = replace(step, kind="other")
        session.steps[at] = replace(step, tokens=tokens(text))


def read_transcripts(places: Iterable[Path], watch: Progress | None = None) -> Transcripts:
    """Read files, and every `.jsonl` below folders; a file that cannot be read is a problem."""
    read = Transcripts()
    files = [file for place in places for file in (sorted(place.rglob("*.jsonl*")) if place.is_dir() else [place])]
    for done, file in enumerate(files, 1):
        try:
            read.read(file)
        except InputError as error:
            read.problems.append(Problem(str(file), str(error)))
        if watch:
            watch("reading transcripts", done, len(files))
    return read


def _dicts(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _clipped(value: object) -> str:
    return value[:_MAX_TEXT_CHARS].strip().encode("utf-8", "replace").decode() if isinstance(value, str) else ""


_EDITING = frozenset("edit multiedit write notebookedit write_file create_file edit_file".split())
_READING = frozenset("read notebookread read_file view".split())
_SHELLS = frozenset("bash shell exec_command shell_command local_shell container.exec".split())
_SEARCHING = re.compile(r"(?!web|tool_?search).*(?:search|grep|glob|(?<![a-z])find(?![a-z]))")
_FILES = ("file_path", "notebook_path", "path", "relative_path", "filePath")
_QUERIES = ("query", "pattern", "regex", "q", "question", "text", "symbol")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Delete) File: (.+)$", re.MULTILINE)


def step_of(tool: object, arguments: object) -> Step:
    """Return what a call does, by the name of its tool and its arguments."""
    tool = _clipped(tool)
    name, given = tool.rpartition("__")[2].lower(), arguments if isinstance(arguments, dict) else {"input": arguments}
    if name in _SHELLS:
        return _shell_step(next((given[key] for key in ("command", "cmd", "input") if given.get(key)), ""))
    if name == "apply_patch":
        return Step("edit", tool, paths=tuple(_PATCHED.findall(str(given.get("input", "")))))
    file = next((_clipped(given[key]) for key in _FILES if given.get(key)), "")
    if name in _EDITING or name in _READING:
        return Step("edit" if name in _EDITING else "read", tool, paths=(file,))
    if not _SEARCHING.match(name):
        return Step("other", tool)
    key = next((key for key in _QUERIES if given.get(key)), "")
    text = _clipped(given.get(key))
    words = words_of_pattern(text) if key in {"pattern", "regex"} else text
    return Step("search", tool, "" if name == "glob" or _is_file(file) else words)


def words_of_pattern(pattern: str) -> str:
    """Return the words that a regular expression looks for."""
    return " ".join(re.findall(r"\w+", re.sub(r"\\[a-zA-Z]", " ", pattern)))


def _is_file(path: str) -> bool:
    return "." in path.rpartition("/")[2][1:]


_HEAD = r"(?:^|[;&(\n]|\bgit|-l?c ['\"])[ \t]*"
_WORDS = r"([^|;&\n]*)"
_GREP = re.compile(
    rf"{_HEAD}(rg|[ef]?grep|ag|ack)\s+(?:-[ABCmgtTf]\s+\S+\s+|--?[\w-]+(?:=\S+)?\s+)*"
    rf"(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^\s|;&]+)){_WORDS}"
)
_FIND = re.compile(rf"{_HEAD}(find|fd|rg (?:-\S+ )*--files)\b")
_SHOW = re.compile(rf"{_HEAD}(cat|head|tail|nl|bat|sed( -i)?)\s{_WORDS}")
"""Commands that do not read another's output: `make | grep error` searches no repository."""


def _shell_step(command: object) -> Step:
    """Return what a shell's line does first: edit, search or read."""
    line = command[-1] if isinstance(command, list) and command else command
    line = line if isinstance(line, str) else ""
    if patched := _PATCHED.findall(line):
        return Step("edit", "apply_patch", paths=tuple(patched))
    line = line[:_MAX_TEXT_CHARS]
    if found := _FIND.search(line):
        return Step("search", found[1])
    if found := _GREP.search(line):
        places = [each for each in found[5].split() if not each.startswith(("-", "<", ">", "2>"))]
        is_narrow = bool(places) and all(map(_is_file, places))
        pattern = found[2] or found[3] or found[4] or ""
        return Step("search", found[1], "" if is_narrow else words_of_pattern(_clipped(pattern)))
    if found := _SHOW.search(line):
        return Step("edit" if found[2] else "read", found[1], paths=tuple(filter(_is_file, found[3].split())))
    return Step("other", "shell")
