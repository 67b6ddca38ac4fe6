"""The URL of a git repository in, a folder with its newest files out.

The clone is shallow and lies in the user's cache, one for each URL, so that its index is incremental as any other.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from pathlib import Path

from assay.errors import InputError

_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")


def is_url(text: str) -> bool:
    """Say whether a text is the URL of a repository rather than a path."""
    return _URL.fullmatch(text) is not None


def clone(url: str, cache: Path, *, refresh: bool = True) -> Path:
    """Return the folder of a URL's clone below a cache folder: cloned on first use, then brought up to date."""
    name = re.sub(r"[^\w.-]+", "-", url.rstrip("/").rpartition("/")[2].removesuffix(".git"), flags=re.ASCII) or "root"
    folder = cache / f"{name}-{blake2b(url.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"
    if not folder.exists():
        _new(url, folder)
    elif refresh:
        _git(url, "-C", str(folder), "fetch", "--quiet", "--depth=1", "origin", "HEAD")
        _git(url, "-C", str(folder), "reset", "--quiet", "--hard", "FETCH_HEAD")
    return folder


def _new(url: str, folder: Path) -> None:
    """Clone beside the folder and move it there, so that a clone that was cut short is never taken for one."""
    from shutil import rmtree
    from tempfile import mkdtemp

    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=folder.parent))
    try:
        _git(url, "clone", "--quiet", "--depth=1", "--", url, str(beside))
        beside.rename(folder)
    finally:
        rmtree(beside, ignore_errors=True)


def _git(url: str, *arguments: str) -> None:
    """Run git; its last line of complaint is the message."""
    import subprocess  # not for a search in a folder: 3 ms

    quiet = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False, env=quiet)
    except FileNotFoundError as error:
        raise InputError(f"{url} needs git, which is not installed: install it, or give a folder") from error
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"git ended with {done.returncode}"])[-1]
        raise InputError(f"cannot get {url}: {said}")
