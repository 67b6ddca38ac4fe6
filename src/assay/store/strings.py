"""A column of strings as one block of bytes and its offsets: read one at a time, straight from a memory map."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

_ERRORS = "surrogatepass"  # names and texts in any encoding survive the round trip


@dataclass(frozen=True, slots=True)
class Strings(Sequence[str]):
    """Strings `i` at `blob[offsets[i]:offsets[i + 1]]`, UTF-8; offsets has one entry more than there are strings."""

    blob: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    verify: Callable[[int, int], None] | None = None
    """Called with the first byte and the end of what is about to be read of the blob."""

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Pack strings."""
        return cls.of_bytes([string.encode("utf-8", _ERRORS) for string in strings])

    @classmethod
    def of_bytes(cls, encoded: Sequence[bytes]) -> Strings:
        """Pack strings that are UTF-8 already."""
        lengths = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), _offsets(lengths))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def bytes_at(self, index: int) -> bytes:
        """Return one string undecoded; cheap enough to compare in a binary search."""
        offsets = self.offsets.data  # memory views answer several times faster than arrays do
        start, end = offsets[index], offsets[index + 1]
        if self.verify:
            self.verify(start, end)
        return bytes(self.blob.data[start:end])

    @property
    def whole(self) -> NDArray[np.uint8]:
        """Return every byte."""
        if self.verify:
            self.verify(0, len(self.blob))
        return self.blob

    def positions(self, string: str) -> list[int]:
        """Return where a string stands; only those as long are compared."""
        encoded = np.frombuffer(string.encode("utf-8", _ERRORS), dtype=np.uint8)
        as_long = np.flatnonzero(np.diff(self.offsets) == len(encoded))
        letters = self.whole[self.offsets[as_long][:, None] + np.arange(len(encoded))]
        found: list[int] = as_long[(letters == encoded).all(axis=1)].tolist()
        return found

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self.bytes_at(index).decode("utf-8", _ERRORS)

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def all(self) -> list[str]:
        """Return every string; several times faster than one at a time."""
        data = self.whole[: int(self.offsets[-1])].tobytes()
        text = data.decode("utf-8", _ERRORS)
        ends = self.offsets.tolist()
        if len(text) == len(data):
            return [text[start:end] for start, end in pairwise(ends)]
        return [data[start:end].decode("utf-8", _ERRORS) for start, end in pairwise(ends)]

    def all_bytes(self) -> list[bytes]:
        """Return every string undecoded."""
        data = self.whole.tobytes()
        return [data[start:end] for start, end in pairwise(self.offsets.tolist())]

    def take(self, keep: NDArray[np.intp]) -> Strings:
        """Return the strings at these ascending positions."""
        if len(keep) == len(self):
            return self
        new = np.flatnonzero(np.diff(keep, prepend=-2) != 1)  # where a run of neighbours begins
        firsts, lasts = keep[new], keep[np.append(new[1:], len(keep)) - 1] if len(keep) else keep
        starts, ends = self.offsets[firsts].tolist(), self.offsets[lasts + 1].tolist()
        blob = self.whole
        runs = [blob[start:end] for start, end in zip(starts, ends, strict=True)]
        return Strings(np.concatenate(runs) if runs else blob[:0], _offsets(np.diff(self.offsets)[keep]))

    def find(self, string: str) -> int:
        """Return the position of a string in a sorted column, or -1."""
        wanted = string.encode("utf-8", _ERRORS)
        blob, offsets = self.whole.data, self.offsets.data
        last = len(offsets) - 1
        at = bisect_left(range(last), wanted, key=lambda index: bytes(blob[offsets[index] : offsets[index + 1]]))
        return at if at < last and blob[offsets[at] : offsets[at + 1]] == wanted else -1


def concatenated(columns: Sequence[Strings]) -> Strings:
    """Join columns end to end."""
    blob = np.concatenate([column.whole[: int(column.offsets[-1])] for column in columns])
    lengths = np.concatenate([np.diff(column.offsets) for column in columns])
    return Strings(blob, _offsets(lengths))


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
