"""Rows of tokens to a folder and back: written one after the other, read from the disk as they are wanted.

Three files, each a flat array: all tokens, the places of all newlines, and of each row where its parts begin and end
and how its program failed. They are mapped, not read: memory holds what a batch needs, whatever the size of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.neural.batches import TokenRow

FAULTS = tuple(Fault)
_IDS, _NEWLINES, _ROWS = "tokens.u32", "newlines.u32", "rows.bin"
_LAYOUT: list[tuple[str, str]] = [
    *((name, "<i8") for name in ("ids_start", "ids_end", "newlines_start", "newlines_end")),
    *((name, "<i4") for name in ("code_start", "task", "line", "place", "n", "shape")),
    ("fault", "u1"),
    ("ran_all", "i1"),
]
ROW = np.dtype(_LAYOUT)
"""`place` is the token of the newline for the line that breaks; `shape` and `ran_all` are -1 where nothing is known."""


class TokenWriter:
    """Adds rows to a folder; use it in a `with`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._ids, self._newlines, self._rows = (_opened(folder / name) for name in (_IDS, _NEWLINES, _ROWS))
        self._ids_end = self._newlines_end = self.count = 0

    def add(self, row: TokenRow, **about: int) -> None:
        """Write a row and what is known of its program."""
        record = np.zeros((), ROW)
        record["ids_start"], record["newlines_start"] = self._ids_end, self._newlines_end
        self._ids_end += len(row.ids)
        self._newlines_end += len(row.newlines)
        self.count += 1
        record["ids_end"], record["newlines_end"] = self._ids_end, self._newlines_end
        record["code_start"] = row.code_start
        for name, value in about.items():
            record[name] = value
        self._ids.write(np.array(row.ids, "<u4").tobytes())
        self._newlines.write(np.array(row.newlines, "<u4").tobytes())
        self._rows.write(record.tobytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in (self._ids, self._newlines, self._rows):
            file.close()


@dataclass(frozen=True, slots=True, eq=False)
class TokenStore(Sequence[TokenRow]):
    """The rows of a folder."""

    ids: NDArray[np.uint32]
    newlines: NDArray[np.uint32]
    about: NDArray[Any]
    """A `ROW` each."""

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each row has."""
        found: NDArray[np.int64] = self.about["ids_end"] - self.about["ids_start"]
        return found

    def faults(self) -> list[Fault]:
        """Return how each program failed."""
        return [FAULTS[at] for at in self.about["fault"].tolist()]

    def part(self, number: int, count: int) -> TokenStore:
        """Return one of so many parts of its rows."""
        return TokenStore(self.ids, self.newlines, self.about[number::count])

    def __len__(self) -> int:
        return len(self.about)

    @overload
    def __getitem__(self, place: int) -> TokenRow: ...

    @overload
    def __getitem__(self, place: slice) -> TokenStore: ...

    def __getitem__(self, place: int | slice) -> TokenRow | TokenStore:
        """Return a row, or some of them."""
        if isinstance(place, slice):
            return TokenStore(self.ids, self.newlines, self.about[place])
        of = self.about[place]
        ids = self.ids[of["ids_start"] : of["ids_end"]].tolist()
        newlines = self.newlines[of["newlines_start"] : of["newlines_end"]].tolist()
        return TokenRow(ids, int(of["code_start"]), newlines)


def open_store(folder: Path) -> TokenStore:
    """Return the rows of a folder that was written."""
    kinds: tuple[tuple[str, Any], ...] = ((_IDS, "<u4"), (_NEWLINES, "<u4"), (_ROWS, ROW))
    try:
        return TokenStore(*(np.memmap(folder / name, kind, mode="r") for name, kind in kinds))
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot read the tokens in {folder}: {error}; remove {folder.parent} to make them again"
        ) from error


def _opened(file: Path) -> BufferedWriter:
    return file.open("wb")
