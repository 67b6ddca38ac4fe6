"""Arrays that were computed of an index, by key, as long as they fit some bytes together."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from numpy.typing import NDArray


class ArrayCache:
    """Keeps arrays that nobody changes; all are forgotten where one more would be too much. Threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._known: dict[Hashable, NDArray[Any]] = {}

    def get(self, key: Hashable, make: Callable[[], NDArray[Any]]) -> NDArray[Any]:
        """Return the array of a key, made where it is not known."""
        found = self._known.get(key)
        if found is None:
            found = make()
            if self._bytes + found.nbytes > self._most:
                self._known.clear()
                self._bytes = 0
            if found.nbytes <= self._most:
                self._known[key] = found
                self._bytes += found.nbytes
        return found
