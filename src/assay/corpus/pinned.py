"""Read the files of a repository at one commit without touching its work tree.

The blobs are read as they are stored: no filter, hook or attribute of the repository has a say.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import new as new_hash
from pathlib import Path

from assay.corpus.git import answer, git, reading
from assay.corpus.walked_files import from_utf8
from assay.errors import InputError
from assay.io.files import read_regular

_MAX_FILE_BYTES = 64 << 20
_SHA1 = 40
"""Characters of the id of an object, where it is one of SHA-1."""
_PROGRAM = "100755"
LINKS = {"120000": "a symbolic link", "160000": "a submodule"}
"""What is left out of a commit, by its mode, as a walk leaves it out."""


@dataclass(frozen=True, slots=True)
class Blob:
    """One path of a commit, in git's terms."""

    mode: str
    id: str


def commit_of(root: Path, commit: str) -> str:
    """Return the full id of a commit of a folder's repository; raise InputError if it does not exist."""
    found = answer(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}")
    if not found:
        raise InputError(f"'{root}' has no commit {commit}: fetch it there, or give another checkout")
    return found


def is_repository(root: Path) -> bool:
    """Say whether a folder is in a git repository; False without git."""
    with suppress(InputError):
        return bool(answer(root, "rev-parse", "--git-dir"))
    return False


def tree(root: Path, commit: str) -> dict[str, Blob]:
    """Return every path of a commit below a folder, which may be inside its repository, as in the file system."""
    entries = (entry.partition(b"\t") for entry in git(root, "ls-tree", "-r", "-z", commit).split(b"\0"))
    kinds = ((about.decode().split(" "), os.fsdecode(name)) for about, _, name in entries if name)
    return {name: Blob(mode, id_) for (mode, _, id_), name in kinds}


def changed(root: Path, commit: str, paths: Iterable[str]) -> frozenset[str]:
    """Return those paths, as a walk writes them, whose files differ from a commit in more than line ends.

    The files are read here: git would run the filters that its configuration names.
    """
    blobs = tree(root, commit)
    return frozenset(path for path in paths if _differs(from_utf8(root, path), root, blobs))


def _differs(file: Path, root: Path, blobs: Mapping[str, Blob]) -> bool:
    blob = blobs.get(str(file.relative_to(root)))
    try:
        data = read_regular(file, _MAX_FILE_BYTES)
    except OSError:
        return blob is not None
    if blob is None:
        return True
    texts = (data, data.replace(b"\r\n", b"\n"))
    kind = "sha1" if len(blob.id) == _SHA1 else "sha256"
    return blob.id not in {new_hash(kind, b"blob %d\0%b" % (len(text), text)).hexdigest() for text in texts}


def contents(root: Path, commit: str, blobs: Mapping[str, Blob]) -> Iterator[tuple[str, bytes]]:
    """Yield some paths of a commit with their contents, in order."""
    if not blobs:
        return
    ids = "".join(f"{blob.id}\n" for blob in blobs.values()).encode()
    with reading(root, "cat-file", "--batch", stdin=ids) as printed:
        for path in blobs:
            told = printed.readline().split()
            if len(told) < 3:
                raise InputError(
                    f"'{root}' lacks the content of '{path}' at {commit[:12]}: a partial clone; fetch it whole"
                )
            yield path, printed.read(int(told[2]))
            printed.read(1)


def export(root: Path, commit: str, folder: Path) -> int:
    """Write the files of a commit below a folder and return how many; links are left out."""
    files = {path: blob for path, blob in tree(root, commit).items() if blob.mode not in LINKS and _inside(path)}
    for path, data in contents(root, commit, files):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if files[path].mode == _PROGRAM:
            target.chmod(0o755)
    return len(files)


def _inside(path: str) -> bool:
    """Say whether a path of a tree, which may be hostile, stays in its folder and makes no repository of it."""
    return not any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/"))
