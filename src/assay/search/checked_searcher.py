"""A searcher that tells a damaged index from a mistake in the program.

An index is checked in full when it is made, asked about or first served, and not by each search: what was garbled since
then may break a search at any place, and only then is it worth reading every byte.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assay.errors import AssayError, DamagedIndex
from assay.protocols import Searcher
from assay.types import Hit, Query


def rebuild_command(path: str, location: str | None) -> str:
    """Return the command that rebuilds the index of a path, at a location if one was named."""
    return shlex.join(["assay", "index", path, *(["--index", location] if location else [])])


@dataclass(frozen=True, slots=True)
class CheckedSearcher:
    """Search with `inner`; when that breaks, ask `check` what of the index is damaged."""

    inner: Searcher
    check: Callable[[], str]
    rebuild: str
    """The command that rebuilds the index."""

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Return what `inner` does; raise DamagedIndex where it broke over a damaged index."""
        try:
            return self.inner.search(queries, k)
        except AssayError:
            raise
        except Exception as error:
            if damage := self.check():
                raise DamagedIndex(f"the index is corrupt: {damage}; {self.rebuild} rebuilds it") from error
            raise
