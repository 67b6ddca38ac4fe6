"""A listed file in, its text and what an index records of it out; and which files an index does not hold as they are.

Files whose size, times or inode differ are read: a branch that was switched and switched back is no difference. What is
reported as stale is what the next refresh would report as changed, and it is found by the same comparison.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from assay.corpus.walked_files import FileEntry, Skipped, Walk, read
from assay.search.index_changes import Differences, differences, sift
from assay.store.catalog import DIGEST_BYTES, NO_DIGEST, FileRecord


def read_file(root: Path, file: FileEntry) -> tuple[str | None, FileRecord]:
    """Return the text of a file, or None where there is none, and its record."""
    text = read(root, file)
    if isinstance(text, Skipped):
        return None, _record(file, skipped=text.reason)
    return text, _record(file, _digest(file.path, text))


def stale(root: Path, found: Walk, before: Mapping[str, FileRecord], checked_ns: int) -> Differences:
    """Return how the files that were found differ from those recorded, reading those that may."""
    sifted = sift(found, before, checked_ns)
    after = {record.path: record for record in sifted.same}
    after.update((file.path, read_file(root, file)[1]) for file in sifted.read)
    return differences(before, after)


def is_stale(root: Path, found: Walk, before: Mapping[str, FileRecord], checked_ns: int) -> bool:
    """Say whether any file that was found differs from what is recorded, reading no further than the first."""
    gone = before.keys() - {file.path for file in found.files}
    if any(before[path].digest != NO_DIGEST for path in gone):
        return True
    sifted = sift(found, before, checked_ns)
    known = {path: record.digest for path, record in sifted.known.items()}
    return any(read_file(root, file)[1].digest != known.get(file.path, NO_DIGEST) for file in sifted.read)


def _record(file: FileEntry, digest: bytes = NO_DIGEST, skipped: str = "") -> FileRecord:
    return FileRecord(file.path, file.size, file.mtime_ns, file.ctime_ns, file.inode, digest, skipped=skipped)


def _digest(path: str, text: str) -> bytes:
    """Hash what decides how a file is cut: its text and the suffix of its name."""
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    return hashlib.blake2b(f"{suffix}\0{text}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
