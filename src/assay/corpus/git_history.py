"""Read the commits of a git repository, the newest first, each with the lines it changed.

One `git log` is read while it runs, never a process for each commit; lines that differ in white space only count as
unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import IO

from assay.corpus.git import GitTooSlow, answer, git, reading
from assay.corpus.patches import FileChange, Patches
from assay.errors import InputError

_PATCH = tuple(
    "--no-ext-diff --no-textconv --no-color --no-relative --relative --find-renames --unified=0 --ignore-all-space"
    " --diff-algorithm=histogram --submodule=short --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/ -p".split()
)
HEADER = "%x00%H%x00%P%x00%an <%ae>%x00%cn <%ce>%x00%cI%x00%aI%x00%B%x00"
_FIELDS = 8
_PLAIN = ("log", f"--format={HEADER}", "--no-notes", "--no-decorate", "--no-color")
_LOG = (*_PLAIN, *_PATCH)
_NAMED = (*_PLAIN, "--name-only", "--no-renames", "--relative")
_ID = re.compile(r"[0-9a-f]{40,64}")
_MAX_BROKEN_COMMITS = 20
"""Commits that git is asked about by themselves because files of theirs are missing; then it names files alone."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit against its first parent."""

    id: str
    parents: tuple[str, ...]
    author: str
    """`name <mail>`, as for who committed."""
    committer: str
    date: str
    """When it was committed, in ISO 8601."""
    message: str
    changes: tuple[FileChange, ...] = ()
    written: str = ""
    """When its author wrote it, likewise."""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0].strip()

    @property
    def body(self) -> str:
        """The message without its first line."""
        return self.message.partition("\n")[2].strip()


def commits(root: Path, *, since: str = "") -> Iterator[Commit]:
    """Yield the commits of the first-parent line, the newest first, down to those that `since` has.

    Paths are relative to `root` and what lies outside it does not appear; `root` may be a folder in its repository.
    """
    span = ("HEAD", f"^{since}") if since else ("HEAD",)
    with reading(root, *_LOG, "--first-parent", "-m", *span, "--", ".") as printed:
        for commit, patches in headers(printed):
            yield replace(commit, changes=tuple(patches.changes()))


def commits_of(root: Path, ids: Sequence[str]) -> Iterator[Commit]:
    """Yield some commits by their full ids, in this order; merges are without changes.

    A clone may lack files of older commits, by a filter or by damage; of such a commit the files are named, and what it
    changed in them is left out.
    """
    left, broken = list(ids), 0
    while left and broken < _MAX_BROKEN_COMMITS:
        try:
            last = None
            for commit in _read(root, left, _LOG, Patches.changes):
                if last:  # of a commit that git cannot read whole, nothing is yielded before it complains
                    yield last
                    left = left[left.index(last.id) + 1 :]
                last = commit
            if last:
                yield last
        except GitTooSlow:
            raise
        except InputError:
            yield from _read(root, left[:1], _NAMED, Patches.names)
            left, broken = left[1:], broken + 1
        else:
            return
    if left:
        yield from _read(root, left, _NAMED, Patches.names)


def named_commits(root: Path, ids: Sequence[str]) -> Iterator[Commit]:
    """Yield some commits by their full ids, in this order, with only the names of their files; merges have none."""
    return _read(root, ids, _NAMED, Patches.names)


def _read(
    root: Path, ids: Sequence[str], log: Sequence[str], changes: Callable[[Patches], Iterator[FileChange]]
) -> Iterator[Commit]:
    """Yield commits in the order of their ids, with their changes or the names of their files."""
    stdin = "".join(f"{id_}\n" for id_ in ids).encode("ascii")
    with reading(root, *log, "--no-walk=unsorted", "--stdin", *_below(root), stdin=stdin) as printed:
        for commit, patches in headers(printed):
            yield replace(commit, changes=tuple(changes(patches)))


def headers(printed: IO[bytes]) -> Iterator[tuple[Commit, Patches]]:
    """Yield the commits of a log in the format `HEADER`, each with a reader of its changes, to use before the next."""
    patches = Patches(printed)
    while header := patches.line():
        lines, ends = [header], header.count(b"\0")
        while ends < _FIELDS and (more := patches.line()):
            lines.append(more)
            ends += more.count(b"\0")
        if ends < _FIELDS:  # git was ended, and says why
            return
        fields = b"".join(lines).decode("utf-8", "replace").split("\0")
        _, id_, parents, author, committer, date, written, message, *_ = fields
        yield Commit(id_, tuple(parents.split()), author, committer, date, message.strip(), (), written), patches


def commit_ids(root: Path, most: int, *, until: str = "HEAD") -> list[str]:
    """Return the ids of the newest commits that touch a folder, the newest first; of a whole repository merges, too.

    `until` is the last commit that counts, with those before it.
    """
    if not head(root):
        raise InputError(f"'{root}' has no commit: its history cannot be searched; give a folder of a git repository")
    listed = git(root, "rev-list", f"--max-count={most}", until, *_below(root))
    return listed.decode("ascii").split()


def _below(root: Path) -> tuple[str, ...]:
    """Return the options for a folder of a repository; none for all of it, since paths leave merges out."""
    return ("--", ".") if answer(root, "rev-parse", "--show-prefix") else ()


def between(root: Path, before: str, after: str) -> tuple[FileChange, ...]:
    """Return the changes between two commits."""
    with reading(root, "diff", *_PATCH, before, after, "--", ".") as printed:
        return tuple(Patches(printed).changes())


def head(root: Path) -> str:
    """Return the full id of the newest commit; empty without commits."""
    return answer(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")


def history_state(root: Path) -> str:
    """Return the state of a history: its newest commit, and where a shallow clone ends."""
    newest, _, shallow = answer(root, "rev-parse", "HEAD^{commit}", "--git-path", "shallow").partition("\n")
    if not _ID.fullmatch(newest):
        raise InputError(f"'{root}' has no commit: its history cannot be searched; give a folder of a git repository")
    ends = "".join(sorted(_lines_of(root / shallow)))
    return f"{newest} {sha256(ends.encode()).hexdigest()[:16]}" if ends else newest


def length(root: Path) -> int:
    """Return how many commits of the first-parent line touch the folder."""
    return int(git(root, "rev-list", "--first-parent", "--count", "HEAD", "--", "."))


def cut_off(root: Path) -> frozenset[str]:
    """Return the commits of a shallow clone whose parents are missing: each seems to add every file."""
    file = answer(root, "rev-parse", "--git-path", "shallow")
    return frozenset(_lines_of(root / file)) if file else frozenset()


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def is_shallow(root: Path) -> bool:
    """Say whether a repository was cloned without its older commits."""
    return answer(root, "rev-parse", "--is-shallow-repository") == "true"
