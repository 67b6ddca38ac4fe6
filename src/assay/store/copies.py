"""Keep local copies of a shared index: fetched once by ranges, verified, then mapped.

A copy counts when it is whole and every block of it is as its checksums say. All copies of all places share one limit;
beyond it go those that nobody opened for longest. What is mapped outlives the removal of its file.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InputError, StorageError
from assay.store.arrays import check_arrays
from assay.store.catalog import Blobs, Manifest

RANGE = 8 << 20
"""Bytes of one request."""
_AT_ONCE = 8
_KINDS = (".segment", ".catalog", ".part", ".seen")
_IN_USE_S = 3600.0
"""What was asked for so recently stays: another process may be about to map it, or to name it in a manifest."""


@dataclass(frozen=True, slots=True)
class LocalCopies:
    """The copies of one repository's files."""

    folder: Path
    shelf: Path
    """The folder of all repositories' copies, which share a limit."""
    most_bytes: int

    def bring(self, blobs: Blobs, sizes: Mapping[str, int]) -> None:
        """Fetch missing files; raise FileNotFoundError for an absent one and DamagedIndex for a corrupt one."""
        missing = [name for name, size in sizes.items() if not self._is_here(name, size)]
        if not missing:
            return
        parts = {name: self.folder / f"{name}.{os.urandom(4).hex()}.part" for name in missing}
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            self._fetch(blobs, {name: sizes[name] for name in missing}, parts)
            for name, part in parts.items():
                check_arrays(part, name)
                part.replace(self.folder / name)
        except FileNotFoundError:
            raise
        except OSError as error:
            what = f"cannot keep a copy in {self.folder}: {error.strerror or error}"
            raise StorageError(f"{what}; free some room, or set XDG_CACHE_HOME") from error
        finally:
            for part in parts.values():
                part.unlink(missing_ok=True)
        self._make_room()

    def drop(self, name: str) -> None:
        """Remove a copy, so that it is fetched again."""
        (self.folder / name).unlink(missing_ok=True)

    def _is_here(self, name: str, size: int) -> bool:
        """Say whether there is a local copy, and update its access time; its modification time stays."""
        path = self.folder / name
        try:
            found = path.stat()
            if found.st_size == size:
                os.utime(path, ns=(time.time_ns(), found.st_mtime_ns))
        except OSError:
            return False
        return found.st_size == size

    def _fetch(self, blobs: Blobs, sizes: Mapping[str, int], parts: Mapping[str, Path]) -> None:
        """Fetch files by ranges, several in flight; each range is written to its place as soon as it arrives."""
        with ExitStack() as opened, ThreadPoolExecutor(_AT_ONCE) as pool:
            ranges = []
            for name, size in sizes.items():
                file = opened.enter_context(parts[name].open("wb"))
                ranges += [(name, file.fileno(), start, min(start + RANGE, size)) for start in range(0, size, RANGE)]

            def fetch(one: tuple[str, int, int, int]) -> None:
                name, descriptor, start, stop = one
                os.pwrite(descriptor, blobs.get_range(name, start, stop), start)

            for _ in pool.map(fetch, ranges):  # raises what one of them did
                pass

    def _make_room(self) -> None:
        """Remove the least recently opened copies, except those that may be in use."""
        found, used_ns = [], time.time_ns() - int(_IN_USE_S * 1e9)
        for path in self.shelf.rglob("*"):
            if path.suffix in _KINDS:
                with suppress(OSError):
                    found.append((path.stat(), path))
        total = sum(about.st_size for about, _ in found)
        for about, path in sorted(found, key=lambda each: each[0].st_atime_ns):
            if total <= self.most_bytes or about.st_atime_ns > used_ns:
                return
            path.unlink(missing_ok=True)
            total -= about.st_size


UNNAMED_S = 24 * 3600.0
"""How long a file that no manifest names stays: a reader may still map it, or a writer be about to name it."""


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """One repository in a bucket."""

    name: str
    """As `--index` takes it."""
    blobs: Blobs
    copies: LocalCopies
    origin: str = ""
    """Which repository this is; empty where a person named the place, who knows."""
    fresh_s: float = 3.0
    """A manifest that was asked for so recently is not asked for again by a reader."""
    unnamed_s: float = UNNAMED_S

    def refuse_another(self, manifest: Manifest) -> None:
        """Raise InputError if the index belongs to another repository."""
        if self.origin and manifest.origin != self.origin:
            theirs = f"of {manifest.origin}" if manifest.origin else "of another repository of that name"
            raise InputError(
                f"{self.name} is the index {theirs}, and this is {self.origin}: "
                "use another name, as in --index s3://BUCKET/PREFIX#NAME"
            )
