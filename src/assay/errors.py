"""Everything Assay raises on purpose, each with what was found, what was wanted and the next step.

AssayError
├── InputError          what the user gave cannot be used: a path, a query, a filter, a setting
├── MissingExtra        an optional part is not installed; says which extra brings it
└── StorageError        the index cannot be read or written
    └── DamagedIndex    what is stored is not what was written, or of another format version
"""

from __future__ import annotations

from collections.abc import Sequence


class AssayError(Exception):
    """The root: a message for people, one line."""


class InputError(AssayError):
    """What the user gave cannot be used."""


class MissingExtra(AssayError):
    """An optional library is not installed."""

    def __init__(self, part: str, library: str, extra: str) -> None:
        super().__init__(f"{part} needs {library}: pip install 'assay[{extra}]'")


class StorageError(AssayError):
    """The index cannot be read or written."""


class DamagedIndex(StorageError):
    """What is stored is damaged or of another format version; a rebuild mends it."""


def nearest(unknown: str, known: Sequence[str]) -> str:
    """Return the end of a message about an unknown name: the known one nearest to it, or all of them."""
    from difflib import get_close_matches

    close = get_close_matches(unknown, known, n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"


def printable(text: str) -> str:
    """Return a text on one line in which nothing moves a cursor or turns the direction of reading."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in " ".join(text.split()))
