"""What reads an index, and one clear line where that is damaged: what is wrong, and the command that rebuilds it.

An index is checked in full when it is made, asked about or first served. A search verifies the blocks that it reads.
Where a search breaks for any other reason, every byte is read before the index is held to be sound.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from assay.errors import AssayError, DamagedIndex, StorageError
from assay.protocols import Searcher
from assay.types import Hit, Query


def rebuild_command(path: str, location: str | None) -> str:
    """Return the command that rebuilds the index of a path, at a location if one was named."""
    return shlex.join(["assay", "index", path, *(["--index", location] if location else [])])


@dataclass(frozen=True, slots=True)
class IndexGuard:
    """Says of an index that it is damaged, to who reads it and to the index itself, so that a refresh rebuilds it."""

    check: Callable[[], str]
    """Reads every byte, and returns what is damaged."""
    rebuild: str
    """The command that rebuilds the index."""
    is_copied: bool = False
    """Whether copies are read, of which `check` fetches again what is not as written."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Raise DamagedIndex with the next step where what is done inside breaks over a damaged index."""
        try:
            yield
        except DamagedIndex as damage:
            found = self.check()
            if self.is_copied and not found:
                raise StorageError(
                    f"a copy of the index was corrupt and is fetched again ({damage}): try again"
                ) from damage
            raise DamagedIndex(f"the index is corrupt: {found or damage}; {self.rebuild} rebuilds it") from damage
        except AssayError:
            raise
        except Exception as error:
            if found := self.check():
                raise DamagedIndex(f"the index is corrupt: {found}; {self.rebuild} rebuilds it") from error
            raise


@dataclass(frozen=True, slots=True)
class CheckedSearcher:
    """Search with `inner`, under the guard of its index."""

    inner: Searcher
    guard: IndexGuard

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what `inner` does; raise DamagedIndex where it broke over a damaged index."""
        with self.guard.reading():
            return self.inner.search(queries, k)
