"""Find the commits that wrote and changed lines of a file, by `git blame` and `git log -L`, in bounded time.

Both are asked of HEAD, never of the work tree: to compare a file of the work tree, git runs the filters that the
repository names for it. Lines that differ from HEAD are found here, and belong to no commit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import IO

from assay.corpus.blocks import lines_of
from assay.corpus.encodings import decoded
from assay.corpus.git import GitTooSlow, answer, reading
from assay.corpus.git_history import HEADER, headers
from assay.corpus.walked_files import from_utf8
from assay.errors import InputError

PATIENCE_S = 20.0
"""What one question to git may take."""
_MAX_BLOB_BYTES = 10_000_000
_MAX_COMPARED_LINES = 20_000
"""Lines between the first and the last difference that are compared one by one."""
_MAX_PATCH_BYTES = 20_000
"""Bytes of the patch of one commit that are kept."""
_MAX_MESSAGE_CHARS = 20_000
_LITERAL = "--literal-pathspecs"
_NO_PROGRAM = ("--no-ext-diff", "--no-textconv", "--no-color")


@dataclass(frozen=True, slots=True)
class LineCommit:
    """A commit that wrote lines."""

    id: str
    author: str
    date: str
    """When it was written, in ISO 8601."""
    subject: str


@dataclass(frozen=True, slots=True)
class BlamedLines:
    """Consecutive lines and the commit that wrote them; no commit if they differ from HEAD."""

    start_line: int
    end_line: int
    commit: str


@dataclass(frozen=True, slots=True)
class LineChange:
    """A commit that changed some lines."""

    id: str
    author: str
    date: str
    message: str
    patch: str
    """What it changed of them, as a unified diff; its end may be left out."""


@dataclass(frozen=True, slots=True)
class HeadLines:
    """The lines of a file, matched to those of the same file at HEAD."""

    numbers: tuple[int, ...]
    """For each line, from 1, its number in HEAD; 0 where HEAD has it not."""
    exists: bool
    """Whether HEAD has the file."""

    @property
    def is_modified(self) -> bool:
        """Say whether the file differs from HEAD."""
        return not self.exists or self.numbers != tuple(range(1, len(self.numbers) + 1))

    def span(self, first: int, last: int) -> tuple[int, int] | None:
        """Return the span of the lines of HEAD that match some lines; None if none does."""
        held = [number for number in self.numbers[first - 1 : last] if number]
        return (held[0], held[-1]) if held else None


def head_lines(root: Path, path: str, text: str) -> HeadLines:
    """Compare the text of a file with HEAD; outside of a repository, every line is new."""
    old = _head_text(root, path)
    new = lines_of(text)
    if old is None:
        return HeadLines((0,) * len(new), exists=False)
    return HeadLines(tuple(_match_lines(lines_of(old), new)), exists=True)


def blame_lines(
    root: Path, path: str, now: HeadLines, first: int, last: int
) -> tuple[list[BlamedLines], list[LineCommit]]:
    """Return the runs of lines of a file by commit, and these commits, once each, in the order of their lines."""
    last = min(last, len(now.numbers))
    span = now.span(first, last)
    of_line: dict[int, str] = {}
    commits: dict[str, LineCommit] = {}
    if span:
        name = os.fspath(from_utf8(root, path).relative_to(root))
        lines = ("-L", f"{span[0]},{span[1]}")
        asked = (_LITERAL, "blame", "--porcelain", *_NO_PROGRAM[:2], *lines, "HEAD", "--", name)
        try:
            with reading(root, *asked, timeout_s=PATIENCE_S) as printed:
                of_line, commits = _porcelain(printed)
        except InputError as error:  # git would show a line of whatever file its configuration names
            slow = isinstance(error, GitTooSlow)
            why = "took too long" if slow else "failed; is blame.ignoreRevsFile a list of commits?"
            raise InputError(f"'{root}': git blame of '{path}' {why}") from None
    written = [of_line.get(number, "") if number else "" for number in now.numbers[first - 1 : last]]
    return list(_runs(written, first)), list(commits.values())


def changes(root: Path, path: str, span: tuple[int, int] | None, most: int) -> tuple[list[LineChange], bool]:
    """Return the commits that changed lines of HEAD, or all of a file, newest first, and whether these are all.

    The search ends after `PATIENCE_S` seconds with what was found by then.
    """
    name = os.fspath(from_utf8(root, path).relative_to(root))
    what = (f"-L{span[0]},{span[1]}:{name}",) if span else ("-p", "--", name)
    limits = (f"--max-count={most + 1}", f"--format={HEADER}", "--no-notes", *_NO_PROGRAM)
    asked = (_LITERAL, "log", *limits, "HEAD", *what)
    found: list[LineChange] = []
    ends = time.monotonic() + PATIENCE_S
    try:
        with closing(_log_changes(root, asked)) as every:
            for change in every:
                if len(found) == most:
                    return found, False
                found.append(change)
    except InputError:
        if found and time.monotonic() >= ends:
            return found, False
        raise
    return found, True


def _log_changes(root: Path, arguments: Sequence[str]) -> Generator[LineChange]:
    """Yield the changes of a log while git runs; closing the iterator early ends git."""
    with reading(root, *arguments, timeout_s=PATIENCE_S) as printed:
        for commit, patches in headers(printed):
            text = patches.text(_MAX_PATCH_BYTES)
            author = commit.author.rpartition(" <")[0]
            yield LineChange(commit.id, author, commit.written, commit.message[:_MAX_MESSAGE_CHARS], text)


def _head_text(root: Path, path: str) -> str | None:
    name = os.fspath(from_utf8(root, path).relative_to(root))
    try:
        size = answer(root, "cat-file", "-s", f"HEAD:./{name}")
        if not size.isdigit() or int(size) > _MAX_BLOB_BYTES:
            return None
        with reading(root, "cat-file", "blob", f"HEAD:./{name}", timeout_s=PATIENCE_S) as printed:
            return decoded(printed.read())
    except (InputError, UnicodeEncodeError):  # no git here, or not a file of HEAD
        return None


def _match_lines(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """Return the old number of each new line, or 0; line ends are ignored."""
    before, after = ([line.rstrip("\r\n") for line in lines] for lines in (old, new))
    same = _alike(before, after)
    ends = _alike(before[same:][::-1], after[same:][::-1])
    numbers = [*range(1, same + 1), *[0] * (len(after) - same - ends), *range(len(before) - ends + 1, len(before) + 1)]
    middle = before[same : len(before) - ends], after[same : len(after) - ends]
    if max(map(len, middle)) <= _MAX_COMPARED_LINES:
        for block in SequenceMatcher(None, *middle).get_matching_blocks():
            for at in range(block.size):
                numbers[same + block.b + at] = same + block.a + at + 1
    return numbers


def _alike(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the common prefix in lines."""
    differ = (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other)
    return next(differ, min(len(left), len(right)))


def _porcelain(printed: IO[bytes]) -> tuple[dict[int, str], dict[str, LineCommit]]:
    """Parse `git blame --porcelain`: the commit of each line of HEAD, and the data of each commit."""
    of_line: dict[int, str] = {}
    about: dict[str, dict[str, str]] = {}
    commit = ""
    for raw in printed:
        if raw.startswith(b"\t"):
            commit = ""
            continue
        name, _, value = raw.decode("utf-8", "replace").rstrip("\n").partition(" ")
        if not commit:
            commit = name
            about.setdefault(commit, {})
            of_line[int(value.split(" ")[1])] = commit
        else:
            about[commit].setdefault(name, value)
    return of_line, {id_: _line_commit(id_, fields) for id_, fields in about.items()}


def _line_commit(id_: str, fields: dict[str, str]) -> LineCommit:
    date = ""
    with suppress(ValueError, OverflowError, OSError):  # what somebody wrote into a commit
        date = datetime.fromtimestamp(int(fields.get("author-time", "")), UTC).isoformat()
    return LineCommit(id_, fields.get("author", ""), date, fields.get("summary", ""))


def _runs(written: Sequence[str], first: int) -> Iterator[BlamedLines]:
    for commit, lines in groupby(written):
        last = first + sum(1 for _ in lines)
        yield BlamedLines(first, last - 1, commit)
        first = last
