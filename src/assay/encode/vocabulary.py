"""Text to the numbers of table rows: whole words first, the longest known pieces for the rest.

Pure Python on purpose: a repository has few distinct words, so each is cut once and looked up ever after, and no
tokeniser library has to be loaded before the first search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from assay.terms import parts, words

CONTINUES = "##"
"""What a piece starts with when it only continues a word."""
_MOST_MET = 131_072  # more than a large repository has; a server meets new ones forever, and forgets all of them then


class Vocabulary:
    """Known words and pieces; the position of an entry is its row."""

    def __init__(self, entries: Sequence[str]) -> None:
        self.entries = entries
        self._row_of = dict(zip(entries, range(len(entries)), strict=True))
        self._longest = max(map(len, entries), default=0)
        self._met = _Met(self._rows_of_identifier)

    @classmethod
    def read(cls, path: Path) -> Vocabulary:
        """Read the entries of a file."""
        return cls(entries_in(path))

    def __len__(self) -> int:
        return len(self.entries)

    def rows(self, text: str) -> list[int]:
        """Return the rows of a text's words in order; what is unknown to the last letter has none."""
        return list(self.rows_of(words(text)))

    def rows_of(self, found: Iterable[str]) -> Iterator[int]:
        """Yield the rows of some words in order."""
        return chain.from_iterable(map(self._met.__getitem__, found))

    def rows_of_word(self, word: str) -> tuple[int, ...]:
        """Return the row of a lower-case word, or the rows of the pieces that it is cut into."""
        whole = self._row_of.get(word)
        return (whole,) if whole is not None else tuple(self._pieces(word))

    def _rows_of_identifier(self, identifier: str) -> tuple[int, ...]:
        return tuple(row for part in parts(identifier) for row in self.rows_of_word(part))

    def _pieces(self, word: str) -> Iterator[int]:
        """Yield the rows of the longest pieces from the left; a letter that starts none is passed over."""
        start = 0
        while start < len(word):
            prefix = CONTINUES if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._row_of.get(prefix + word[start:end])
                if row is not None:
                    yield row
                    break
            else:
                end = start + 1
            start = end


def entries_in(path: Path) -> list[str]:
    """Read one entry a line."""
    return path.read_text("utf-8").split("\n")


class _Met(dict[str, tuple[int, ...]]):
    """Identifiers met before; a lookup that cuts the new ones, so that the loop over words runs in C."""

    def __init__(self, cut: Callable[[str], tuple[int, ...]]) -> None:
        self._cut = cut

    def __missing__(self, identifier: str) -> tuple[int, ...]:
        if len(self) >= _MOST_MET:
            self.clear()
        rows = self[identifier] = self._cut(identifier)
        return rows
