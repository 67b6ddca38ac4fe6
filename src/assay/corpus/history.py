"""A git repository to its commits, the newest first, each with the lines it changed.

One `git log` is read while it runs, never a process for each commit; lines that differ in white space only count as
unchanged. Nothing that a repository or its configuration names is run: no hook, no driver, no check of a signature.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, cast

from assay.corpus.patches import Change, Patches
from assay.errors import InputError

TIMEOUT_S = 600
"""What one reading of a history may take: some seconds for tens of thousands of commits."""

_SAFE = tuple(
    part
    for setting in (
        "core.fsmonitor=false core.hooksPath=/dev/null core.quotePath=false diff.external= log.showSignature=false"
        " log.mailmap=false diff.interHunkContext=0 i18n.logOutputEncoding=UTF-8 protocol.allow=never"
    ).split()
    for part in ("-c", setting)
)
_PATCH = tuple(
    "--no-ext-diff --no-textconv --no-color --no-relative --relative --find-renames --unified=0 --ignore-all-space"
    " --diff-algorithm=histogram --submodule=short --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/ -p".split()
)
_HEADER = "%x00%H%x00%P%x00%an <%ae>%x00%cn <%ce>%x00%cI%x00%B%x00"
_FIELDS = 7


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
    changes: tuple[Change, ...] = ()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0].strip()

    @property
    def body(self) -> str:
        """The message without its first line."""
        return self.message.partition("\n")[2].strip()


def commits(root: Path, *, since: str = "", until: str = "HEAD") -> Iterator[Commit]:
    """Yield the commits of the first-parent line, the newest first, down to those that `since` has.

    Paths are relative to `root` and what lies outside it does not appear; `root` may be a folder in its repository.
    """
    span = (until, f"^{since}") if since else (until,)
    arguments = ("log", "--first-parent", "-m", f"--format={_HEADER}", "--no-notes", "--no-decorate", *_PATCH, *span)
    with _reading(root, *arguments, "--", ".") as patches:
        header = patches.line()
        while header:
            about = header
            while about.count(b"\0") < _FIELDS and (more := patches.line()):
                about += more
            _, id_, parents, author, committer, date, message, *_ = about.decode("utf-8", "replace").split("\0")
            changes = tuple(patches.changes())
            yield Commit(id_, tuple(parents.split()), author, committer, date, message.strip(), changes)
            header = patches.line()


def between(root: Path, before: str, after: str) -> tuple[Change, ...]:
    """Return what differs between two commits."""
    with _reading(root, "diff", *_PATCH, before, after, "--", ".") as patches:
        return tuple(patches.changes())


def head(root: Path) -> str:
    """Return the full id of the newest commit, or nothing where none was made yet."""
    with suppress(InputError):
        return _said(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}").decode()
    return ""


def length(root: Path) -> int:
    """Return how many commits the first-parent line has that touch the folder."""
    return int(_said(root, "rev-list", "--first-parent", "--count", "HEAD", "--", "."))


def is_shallow(root: Path) -> bool:
    """Say whether a repository was cloned without its older commits."""
    return _said(root, "rev-parse", "--is-shallow-repository") == b"true"


def _said(root: Path, *arguments: str) -> bytes:
    with _reading(root, *arguments) as patches:
        return b"".join(iter(patches.line, b"")).strip()


@contextmanager
def _reading(root: Path, *arguments: str) -> Iterator[Patches]:
    """Give what git prints while it prints it; leaving before the end ends git."""
    command = ["git", "--no-pager", *_SAFE, "-C", str(root), *arguments]
    with TemporaryFile() as complaints:
        try:
            git = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints, env=_environment()
            )
        except FileNotFoundError as error:
            raise InputError("a history needs git, which is not installed") from error
        late = Timer(TIMEOUT_S, git.kill)
        late.start()
        patches = Patches(cast(IO[bytes], git.stdout))
        try:
            yield patches
        finally:
            in_time = late.is_alive()
            late.cancel()
            late.join()
            if not patches.ended:
                git.kill()
            git.communicate()
        complaints.seek(0)
        if patches.ended and git.returncode:
            said = complaints.read().decode(errors="replace").strip().splitlines()
            what = said[-1] if said else f"git {arguments[0]} ended with {git.returncode}"
            raise InputError(f"'{root}': {what if in_time else f'git took longer than {TIMEOUT_S} s'}")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in {"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS"}}
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}
    return {**kept, **quiet, "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C"}
