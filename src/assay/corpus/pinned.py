"""A repository at one commit to a plain folder of its files, without touching its work tree.

The blobs are read as they are stored: no filter, hook or attribute of the repository has a say. Symbolic links and
submodules are left out, as a walk leaves them out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from assay.errors import InputError

_FILES = frozenset((b"100644", b"100755", b"100664"))
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never")


def commit_of(root: Path, commit: str) -> str:
    """Return the full id of a commit of the repository at a folder, or say that it has none of that name."""
    try:
        return (
            _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}").decode().strip()
        )
    except InputError as error:
        raise InputError(f"'{root}' has no commit {commit}: fetch it there, or give another checkout") from error


def is_repository(root: Path) -> bool:
    """Say whether a folder is in a git repository."""
    try:
        return bool(_git(root, "rev-parse", "--git-dir"))
    except InputError:
        return False


def export(root: Path, commit: str, folder: Path) -> int:
    """Write the files of a commit below a folder and return how many; `root` may be a folder inside its repository."""
    files = list(_files(root, commit))
    request = b"".join(blob + b"\n" for _, blob in files)
    with subprocess.Popen(
        ["git", *_QUIET, "-C", str(root), "cat-file", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    ) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        asking = Thread(target=_ask, args=(git.stdin, request))
        asking.start()
        for path, _ in files:
            told = git.stdout.readline().split()
            if len(told) < 3:
                git.kill()
                raise InputError(
                    f"'{root}' lacks the content of '{path}' at {commit[:12]}: a partial clone; fetch it whole"
                )
            data = git.stdout.read(int(told[2]))
            git.stdout.read(1)
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        asking.join()
    return len(files)


def _ask(pipe: IO[bytes], request: bytes) -> None:
    with suppress(BrokenPipeError), pipe:
        pipe.write(request)


def _files(root: Path, commit: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and blob of every plain file of a commit below a folder."""
    for entry in _git(root, "ls-tree", "-r", "-z", commit).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if about.split(b" ")[0] in _FILES:
            path = os.fsdecode(name)
            if not _outside(path.split("/")):
                yield path, about.split(b" ")[2]


def _outside(parts: Sequence[str]) -> bool:
    """Say whether a path of a hostile tree would leave its folder or make a repository of it."""
    return any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)


def _environment() -> dict[str, str]:
    return {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_OPTIONAL_LOCKS": "0"}


def _git(root: Path, *arguments: str) -> bytes:
    command = ["git", *_QUIET, "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, env=_environment())
    except FileNotFoundError as error:
        raise InputError("a pinned commit needs git, which is not installed") from error
    if done.returncode:
        said = (done.stderr.decode(errors="replace").strip().splitlines() or [f"git ended with {done.returncode}"])[-1]
        raise InputError(f"'{root}': {said}")
    return done.stdout
