"""Arguments for git in, what git prints out: the only place that runs git.

The folder that is named says which repository is read, never the environment. Nothing that the repository or its
configuration names is run: no hook, no monitor, no pager, no diff program, no check of a signature; nothing is
fetched, but by `online`. What git asks is given in a file, so that neither side ever waits for the other.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, cast

from assay.errors import InputError

TIMEOUT_S = 600
"""What one reading may take: some seconds for tens of thousands of commits. Who fetches waits as long as it takes."""

_QUIET = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_PLAIN = tuple(
    part
    for setting in (
        "protocol.allow=never core.quotePath=false diff.external= diff.interHunkContext=0 log.showSignature=false"
        " log.mailmap=false i18n.logOutputEncoding=UTF-8"
    ).split()
    for part in ("-c", setting)
)
_ONLINE = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
"""A host that sends next to nothing for a minute is given up."""
_UNSET = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_EXTERNAL_DIFF"
    " GIT_DIFF_OPTS".split()
)
_SET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def git(root: Path, *arguments: str) -> bytes:
    """Return what git prints about the repository of a folder; its complaint is the error."""
    with reading(root, *arguments) as printed:
        return printed.read()


def answer(root: Path, *arguments: str) -> str:
    """Return what git prints without white space around it, nothing where it has no answer."""
    with _running((*_PLAIN, "-C", str(root), *arguments), f"'{root}'", may_fail=True) as printed:
        return printed.read().decode(errors="replace").strip()


@contextmanager
def reading(root: Path, *arguments: str, asked: bytes = b"", timeout_s: float = TIMEOUT_S) -> Iterator[IO[bytes]]:
    """Give what git prints while it prints it; whoever leaves early ends git."""
    with _running((*_PLAIN, "-C", str(root), *arguments), f"'{root}'", asked=asked, timeout_s=timeout_s) as printed:
        yield printed


def online(url: str, *arguments: str) -> None:
    """Run git where it may fetch from a URL, by its own protocol and wherever that leads, for as long as it takes."""
    scheme = url.partition("://")[0] if "://" in url else "ssh"
    only = ("-c", "protocol.allow=never", "-c", f"protocol.{scheme}.allow=always")
    with _running((*_ONLINE, *only, *arguments), f"cannot get {url}", timeout_s=None) as printed:
        printed.read()


@contextmanager
def _running(
    arguments: Sequence[str],
    what: str,
    *,
    asked: bytes = b"",
    may_fail: bool = False,
    timeout_s: float | None = TIMEOUT_S,
) -> Iterator[IO[bytes]]:
    with TemporaryFile() as given, TemporaryFile() as complaints:
        given.write(asked)
        given.seek(0)
        process = _started(arguments, what, (given, complaints), online=timeout_s is None)
        late = Timer(timeout_s or 0, process.kill)
        if timeout_s:
            late.start()
        try:
            yield cast(IO[bytes], process.stdout)
        except BaseException:
            process.kill()
            raise
        finally:
            in_time = not timeout_s or late.is_alive()
            late.cancel()
            process.communicate()
            if not in_time:
                raise InputError(f"{what}: git took longer than {timeout_s} s")
        if process.returncode and not may_fail:
            raise InputError(f"{what}: {_complaint_in(complaints) or f'git ended with {process.returncode}'}")


def _started(
    arguments: Sequence[str], what: str, files: tuple[IO[bytes], IO[bytes]], *, online: bool
) -> subprocess.Popen[bytes]:
    command = ["git", *_QUIET, *arguments]
    given, complaints = files
    more = {"GIT_LFS_SKIP_SMUDGE": "1"} if online else {"GIT_ALLOW_PROTOCOL": "none"}  # no repository overrides it
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    try:
        return subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=kept | _SET | more)
    except FileNotFoundError as error:
        raise InputError(f"{what}: git is not installed; install it, or give a folder that needs none") from error


def _complaint_in(complaints: IO[bytes]) -> str:
    """Return the line that says what went wrong; advice may stand around it."""
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1] if lines else "")
