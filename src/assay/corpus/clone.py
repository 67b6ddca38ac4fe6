"""Clone the newest files of a git repository into a folder.

The clone is shallow and lies in the user's cache, one for each URL, so that its index is incremental as any other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.corpus.git import FetchLimits

MARK = "assay-clone"
"""A file in the .git of what was cloned here, and may be replaced."""
_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")


def is_url(text: str) -> bool:
    """Say whether a text is the URL of a repository rather than a path."""
    return _URL.fullmatch(text) is not None


def clone(url: str, cache: Path, *, refresh: bool = True, options: Sequence[str] = ()) -> Path:
    """Return the folder of a URL's clone below a cache folder: cloned on first use, then brought up to date.

    `options` are those of git.
    """
    from assay.corpus.git import online  # not for a search in a folder: 3 ms

    name = re.sub(r"[^\w.-]+", "-", url.rstrip("/").rpartition("/")[2].removesuffix(".git"), flags=re.ASCII) or "root"
    folder = cache / f"{name}-{blake2b(url.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}"
    if not folder.exists():
        new_clone(url, folder, options=options)
    elif refresh:
        online(url, "-C", str(folder), "fetch", "--quiet", "--depth=1", "origin", "HEAD", options=options)
        online(url, "-C", str(folder), "reset", "--quiet", "--hard", "FETCH_HEAD")
    return folder


def new_clone(
    url: str, folder: Path, *, branch: str = "", limits: FetchLimits | None = None, options: Sequence[str] = ()
) -> None:
    """Clone beside the folder and move it there, so that a clone that was cut short is never taken for one."""
    from shutil import rmtree
    from tempfile import mkdtemp

    from assay.corpus.git import online

    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(dir=folder.parent, prefix=".clone-", suffix=f"-{folder.name}"))
    chosen = ["--branch", branch] if branch else []
    try:
        online(url, "clone", "--quiet", "--depth=1", *chosen, "--", url, str(beside), limits=limits, options=options)
        (beside / ".git" / MARK).touch()
        beside.rename(folder)
    finally:
        rmtree(beside, ignore_errors=True)


def beside_of(folder: Path) -> list[Path]:
    """Return what clones into a folder left beside it that were killed, where none is being made."""
    from glob import escape

    return list(folder.parent.glob(f".clone-????????-{escape(folder.name)}"))
