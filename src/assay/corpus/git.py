"""Arguments for git in, what git prints out: the only place that runs git.

The folder that is named says which repository is read, never the environment. Nothing that the repository or its
configuration names is run: no hook, no monitor, no pager, no diff program, no check of a signature; nothing is
fetched, but by `online`. What git asks is given in a file, so that neither side ever waits for the other.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, cast

from assay.corpus.git_login import mask_login, split_login, with_login
from assay.errors import AssayError, InputError
from assay.io.parent_death import end_with
from assay.io.processes import ProcessLimits, run_bounded

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
_MOST_PRINTED = 1_000_000
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
    with _running((*_PLAIN, *_here(root), *arguments), f"'{root}'", may_fail=True) as printed:
        return printed.read().decode(errors="replace").strip()


def _here(root: Path) -> tuple[str, ...]:
    """Return what has git read a folder, whoever owns it: whose it is says nothing where nothing of it is run."""
    return "-c", f"safe.directory={root.resolve()}", "-C", str(root)


@contextmanager
def reading(root: Path, *arguments: str, asked: bytes = b"", timeout_s: float = TIMEOUT_S) -> Iterator[IO[bytes]]:
    """Give what git prints while it prints it; whoever leaves early ends git."""
    with _running((*_PLAIN, *_here(root), *arguments), f"'{root}'", asked=asked, timeout_s=timeout_s) as printed:
        yield printed


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What a fetch may take that nobody sits before: it asks nobody for anything."""

    seconds: float
    watch: Callable[[], object] | None = None
    """Called now and then; what it raises ends the fetch, with all that git started."""


def online(url: str, *arguments: str, limits: FetchLimits | None = None) -> None:
    """Run git where it may fetch from a URL, by its own protocol and wherever that leads.

    Without limits it takes as long as it takes. A login in the URL is handed over in the environment, for arguments and
    what git writes down are for all to see; where the URL stands in the arguments it stands without.
    """
    plain, _ = split_login(url)
    scheme = url.partition("://")[0] if "://" in url else "ssh"
    only = ("-c", "protocol.allow=never", "-c", f"protocol.{scheme}.allow=always")
    command = (*_ONLINE, *only, *(plain if each == url else each for each in arguments))
    login, what = with_login(url, os.environ), f"cannot get {plain}"
    try:
        if limits:
            _run_limited(command, what, limits, login)
            return
        with _running(command, what, timeout_s=None, more=login) as printed:
            printed.read()
    except AssayError as error:
        raise InputError(mask_login(str(error), url)) from None


def _run_limited(command: Sequence[str], what: str, limits: FetchLimits, login: Mapping[str, str]) -> None:
    batch = {} if "GIT_SSH_COMMAND" in os.environ else {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=30"}
    environment = _environment(online=True) | batch | {"GIT_ASKPASS": "true", "SSH_ASKPASS": "true"} | dict(login)
    bounds = ProcessLimits(limits.seconds, _MOST_PRINTED, limits.watch, partial(end_with, os.getpid()))
    try:
        done = run_bounded(["git", *_QUIET, *command], bounds, cwd="/", env=environment)
    except AssayError as error:
        raise InputError(f"{what}: {error}") from error
    if done.status:
        raise InputError(f"{what}: {_complaint_of(done.err) or f'git ended with {done.status}'}")


@contextmanager
def _running(  # noqa: PLR0913  how it is run
    arguments: Sequence[str],
    what: str,
    *,
    asked: bytes = b"",
    may_fail: bool = False,
    timeout_s: float | None = TIMEOUT_S,
    more: Mapping[str, str] | None = None,
) -> Iterator[IO[bytes]]:
    with TemporaryFile() as given, TemporaryFile() as complaints:
        given.write(asked)
        given.seek(0)
        environment = _environment(online=timeout_s is None) | dict(more or {})
        process = _started(arguments, what, (given, complaints), environment)
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
    arguments: Sequence[str], what: str, files: tuple[IO[bytes], IO[bytes]], environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    command = ["git", *_QUIET, *arguments]
    given, complaints = files
    try:
        return subprocess.Popen(command, stdin=given, stdout=subprocess.PIPE, stderr=complaints, env=environment)
    except FileNotFoundError as error:
        raise InputError(f"{what}: git is not installed; install it, or give a folder that needs none") from error


def _environment(*, online: bool) -> dict[str, str]:
    more = {"GIT_LFS_SKIP_SMUDGE": "1"} if online else {"GIT_ALLOW_PROTOCOL": "none"}  # no repository overrides it
    kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
    return kept | _SET | more


def _complaint_in(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return _complaint_of(complaints.read().decode(errors="replace"))


def _complaint_of(printed: str) -> str:
    """Return the line that says what went wrong; advice may stand around it."""
    lines = printed.strip().splitlines()
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1] if lines else "")
