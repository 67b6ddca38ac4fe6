"""Run git; no other module does.

The folder that is named says which repository is read, never the environment. Nothing that the repository or its
configuration names is run: no hook, no monitor, no pager, no diff program, no check of a signature; nothing is
fetched, but by `online`. What git asks is given in a file, so that neither side ever waits for the other.
"""

from __future__ import annotations

import os
import re
import resource
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedReader, RawIOBase
from pathlib import Path
from tempfile import TemporaryFile
from threading import Timer
from typing import IO, Any, cast

from assay.corpus.addresses import mask_login, split_login, with_login
from assay.corpus.worktrees import checkout_around
from assay.errors import AssayError, InputError
from assay.io.files import read_regular
from assay.io.processes import ProcessLimits, end_with, run_bounded

TIMEOUT_S = 600
"""What one reading may take: some seconds for tens of thousands of commits. Who fetches waits as long as it takes."""
IDLE_S = 10.0
"""How long git may print nothing while it is waited for: a stranger's repository can have it read a pipe, or search a
line for ever."""
_RETRY_AFTER_S = 60.0
"""For how long a repository that had git hang is not read again."""
_hung: dict[str, float] = {}
"""When git hung, by what it was asked about."""
_BUFFER = 1 << 17
_MAX_MEMORY_BYTES = 4 << 30
"""Bytes that git may allocate; what it maps of packs does not count."""


class GitTooSlow(InputError):
    """Git took too long."""


_QUIET = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_PLAIN = tuple(
    part
    for setting in (
        "protocol.allow=never core.quotePath=false diff.external= diff.interHunkContext=0 log.showSignature=false"
        " log.mailmap=false i18n.logOutputEncoding=UTF-8 diff.orderFile=/dev/null core.attributesFile=/dev/null"
        " core.excludesFile=/dev/null mailmap.file=/dev/null mailmap.blob= gpg.program=false"
        " gpg.ssh.program=false gpg.x509.program=false core.askPass=false core.sshCommand=false core.gitProxy=false"
        " core.alternateRefsCommand=false core.editor=false core.pager=cat credential.helper= color.ui=false"
        " diff.noprefix=false diff.mnemonicPrefix=false log.diffMerges=first-parent log.showRoot=true"
    ).split()
    for part in ("-c", setting)
)
_WORKTREE = re.compile(r"""^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$""", re.MULTILINE | re.IGNORECASE)
_MAX_PRINTED_BYTES = 1_000_000
_ONLINE = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=60")
"""A host that sends next to nothing for a minute is given up."""
_UNSET = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_EXTERNAL_DIFF"
    " GIT_DIFF_OPTS".split()
)
_BATCH = {"GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=30"}
"""How ssh is called where nobody can answer it, unless the user says how."""
_SET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def git(root: Path, *arguments: str) -> bytes:
    """Return git's output for the repository of a folder; raise InputError with its message if it fails."""
    with reading(root, *arguments) as printed:
        return printed.read()


def answer(root: Path, *arguments: str) -> str:
    """Return git's output without surrounding white space; empty if it fails."""
    with _running((*_PLAIN, *_here(root), *arguments), f"'{root}'", may_fail=True) as printed:
        return printed.read().decode(errors="replace").strip()


def _here(root: Path) -> tuple[str, ...]:
    """Return the options to read a folder of any owner: that is safe, since nothing in it is run.

    Raises InputError where the repository lies elsewhere, and does not say that the folder is its own.
    """
    top = checkout_around(root)
    if top is None:
        return "-c", f"safe.directory={root.resolve()}", "-C", str(root)
    _check_own(top)
    return "-c", f"safe.directory={root.resolve()}", "-C", str(root), f"--work-tree={top.absolute()}"


def _check_own(top: Path) -> None:
    """Refuse a `.git` file of a repository that does not list this folder, so that its history stays hidden."""
    git, folder = top / ".git", top.resolve()
    if git.is_dir() and not git.is_symlink():
        return
    try:
        place = (git if git.is_symlink() else top / _small(git).partition("gitdir:")[2].strip()).resolve()
        back = place / "gitdir"  # of a work tree; the configuration of a submodule's repository names its folder
        named = [_small(back).strip()] if back.exists() else _WORKTREE.findall(_small(place / "config"))
        own = {(place / each).resolve() for each in named}
    except (OSError, ValueError):
        return  # git says what is wrong with it
    if not place.is_relative_to(folder) and own.isdisjoint({folder, folder / ".git"}):
        raise InputError(f"'{top}': .git leads to {place}, which does not name this folder as its work tree")


def _small(file: Path) -> str:
    return read_regular(file, _MAX_PRINTED_BYTES).decode(errors="replace")


@contextmanager
def reading(root: Path, *arguments: str, stdin: bytes = b"", timeout_s: float = TIMEOUT_S) -> Iterator[IO[bytes]]:
    """Yield git's output as a stream; leaving the block early ends git."""
    with _running((*_PLAIN, *_here(root), *arguments), f"'{root}'", stdin=stdin, timeout_s=timeout_s) as printed:
        yield printed


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of an unattended fetch, which never prompts."""

    seconds: float
    watch: Callable[[], object] | None = None
    """Called now and then; what it raises ends the fetch, with all that git started."""


def online(url: str, *arguments: str, limits: FetchLimits | None = None, options: Sequence[str] = ()) -> None:
    """Run git with network access, to fetch from a URL by its protocol and its redirects.

    `options` of git come before the arguments. Without limits it takes as long as it takes. A login in the URL is
    handed over in the environment, for arguments and what git writes down are for all to see; where the URL stands in
    the arguments it stands without.
    """
    plain, _ = split_login(url)
    scheme = url.partition("://")[0] if "://" in url else "ssh"
    only = ("-c", "protocol.allow=never", "-c", f"protocol.{scheme}.allow=always")
    command = ("git", *_QUIET, *_ONLINE, *only, *options, *(plain if each == url else each for each in arguments))
    environment = _environment(GIT_LFS_SKIP_SMUDGE="1") | with_login(url, os.environ)
    bounds, cwd = ProcessLimits(None, _MAX_PRINTED_BYTES, is_foreground=True), "."
    if limits:
        begin, cwd = partial(end_with, os.getpid()), "/"
        bounds = ProcessLimits(limits.seconds, _MAX_PRINTED_BYTES, limits.watch, begin)
        environment = _BATCH | environment | {"GIT_ASKPASS": "true", "SSH_ASKPASS": "true"}
    try:
        done = run_bounded(command, bounds, cwd=cwd, env=environment)
    except AssayError as error:
        raise InputError(mask_login(f"cannot get {plain}: {error}", url)) from None
    if done.status:
        raise InputError(mask_login(f"cannot get {plain}: {_complaint(done.err, done.status)}", url))


@contextmanager
def _running(
    arguments: Sequence[str], what: str, *, stdin: bytes = b"", may_fail: bool = False, timeout_s: float = TIMEOUT_S
) -> Iterator[IO[bytes]]:
    if time.monotonic() < _hung.get(what, -_RETRY_AFTER_S) + _RETRY_AFTER_S:
        raise GitTooSlow(f"{what}: git took too long a moment ago; it is tried again in {_RETRY_AFTER_S:g} s")
    with TemporaryFile() as questions, TemporaryFile() as complaints:
        questions.write(stdin)
        questions.seek(0)
        process = _started(arguments, what, questions, complaints)
        printed = _Printed(process)
        late = Timer(timeout_s, printed.end, (timeout_s,))
        late.start()
        try:
            yield cast(IO[bytes], BufferedReader(printed, _BUFFER))
        except BaseException:
            process.kill()
            raise
        finally:
            late.cancel()
            process.communicate()
            if printed.took_s:
                if printed.took_s == IDLE_S:
                    _hung[what] = time.monotonic()
                raise GitTooSlow(f"{what}: git took longer than {printed.took_s:g} s")
        if process.returncode and not may_fail:
            complaints.seek(0)
            complaint = _complaint(complaints.read().decode(errors="replace"), process.returncode)
            raise InputError(f"{what}: {complaint}")


class _Printed(RawIOBase):
    """Git's output; git is ended if it is silent for too long while a reader waits."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.took_s = 0.0
        """After how long it was ended, 0 where it was not."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        out = cast(IO[bytes], self._process.stdout).fileno()
        poll = select.poll()
        poll.register(out, select.POLLIN)
        if not poll.poll(IDLE_S * 1000):
            self.end(IDLE_S)
        return os.readv(out, [buffer])

    def end(self, took_s: float) -> None:
        """End git, and record how long it took."""
        self.took_s = took_s
        self._process.kill()


def _started(arguments: Sequence[str], what: str, stdin: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    environment = _environment(GIT_ALLOW_PROTOCOL="none")  # no repository overrides it
    command = ["git", *_QUIET, *arguments]
    try:
        process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr, env=environment)
    except FileNotFoundError as error:
        raise InputError(f"{what}: git is not installed; install it, or give a folder that needs none") from error
    with suppress(OSError, AttributeError):  # it ended, or this is not Linux
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))
    return process


def _environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _UNSET} | _SET | more


def _complaint(printed: str, status: int) -> str:
    """Return the line of git's message with the cause, without the advice around it."""
    lines = printed.strip().splitlines() or [f"git ended with {status}"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[-1])
