"""A prompt and programs to rows of tokens: prompt, separator, a newline token after each line of the code.

Tokenizers differ in what they make of a line break: byte-level ones have a token for it but merge it with the blanks
that follow, WordPiece drops it and the indentation with it. So a program is read line by line, and each line is closed
by one newline token: the tokenizer's own where a lone line break is one token, else an added `[NEWLINE]`; for those
that drop blanks, `[INDENT]` stands for each four columns of indentation. One more newline stands before the first line
(the program does not break) and one after the last (it breaks beyond what is seen), as in the paper (section 3.3).
The prompt is kept and the code cut; only a prompt that leaves the code less than `code_least` tokens is cut as well.
A docstring that only repeats the prompt is left empty: its lines still count, and leave their room to the code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
_LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTES = ('"""', "'''")
COLUMNS = 4
"""How deep one indentation is."""
_DEEPEST = 12


@dataclass(frozen=True, slots=True)
class TokenLayout:
    """Which tokens stand around prompt and code; saved beside the model."""

    opening: tuple[int, ...]
    separator: int
    closing: int
    padding: int
    newline: int
    indent: int
    """-1 where the tokenizer keeps blanks."""
    window: int
    code_least: int


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One program as tokens."""

    ids: list[int]
    code_start: int
    newlines: list[int]
    """Where the newline tokens stand: no error, after line 1, after line 2, …, beyond the window."""

    def place_of(self, line: int) -> int:
        """Return which newline stands for a line, -1 being none."""
        return 0 if line < 1 else min(line, len(self.newlines) - 1)

    def line_of(self, place: int) -> int:
        """Return the line that a newline stands for, -1 for no error and for one beyond what is seen."""
        return place if 0 < place < len(self.newlines) - 1 else -1


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """Rows padded to one length."""

    ids: Ints
    mask: Ints
    segments: Ints
    """1 on the code."""
    newlines: NDArray[np.bool_]
    """True on the newline tokens."""


class Reader:
    """Programs to rows of tokens, each line tokenized once."""

    def __init__(self, tokenizer: Any, layout: TokenLayout) -> None:
        self.tokenizer = tokenizer
        self.layout = layout
        self.tokenizer.encode_special_tokens = True  # what looks like a special token in a program is text
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self._lines: dict[str, list[int]] = {}

    def rows(self, prompt: str, sources: Sequence[str]) -> list[TokenRow]:
        """Return one row a program."""
        layout = self.layout
        around = len(layout.opening) + 4  # separator, first and last newline, closing
        asked = self._ids(prompt)[: max(layout.window - around - layout.code_least, 0)]
        before = [*layout.opening, *asked, layout.separator]
        room = layout.window - around - len(asked)
        said = " ".join(prompt.split())
        lines = [_without_repeated(lines_of(source), said) for source in sources]
        self._learn({line for each in lines for line in each[:room]})
        return [self._row(before, each[:room], room) for each in lines]

    def _row(self, before: list[int], lines: list[str], room: int) -> TokenRow:
        ids, newlines = [*before, self.layout.newline], [len(before)]
        end = len(ids) + room
        for line in lines:
            ids += [*self._lines[line], self.layout.newline]
            if len(ids) > end:
                break
            newlines.append(len(ids) - 1)
        ids = [*ids[:end], self.layout.newline, self.layout.closing]
        return TokenRow(ids, len(before), [*newlines, len(ids) - 2])

    def _learn(self, lines: set[str]) -> None:
        if len(self._lines) > 200_000:
            self._lines.clear()
        new = [line for line in lines if line not in self._lines]
        told = self.tokenizer.encode_batch(list(map(_encodable, new)), add_special_tokens=False)
        for line, encoded in zip(new, told, strict=True):
            self._lines[line] = [*self._indents(line), *encoded.ids]

    def _indents(self, line: str) -> list[int]:
        blanks = line[: len(line) - len(line.lstrip())].expandtabs(COLUMNS)
        return [self.layout.indent] * min(-(-len(blanks) // COLUMNS), _DEEPEST) if self.layout.indent >= 0 else []

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(_encodable(text), add_special_tokens=False).ids
        return ids


def lines_of(source: str) -> list[str]:
    """Return the lines of a program as Python counts them; a form feed ends none."""
    lines = _LINE_END.split(source)
    return lines[:-1] if lines[-1] == "" else lines


def _encodable(text: str) -> str:
    """Return a text without lone surrogates, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _without_repeated(lines: list[str], said: str) -> list[str]:
    """Return lines with those empty that make up a docstring which the prompt has too."""
    kept, opened, mark = list(lines), -1, ""
    for at, line in enumerate(lines):
        text = line.strip()
        if opened < 0 and text.startswith(_QUOTES):
            opened, mark, text = at, text[:3], text[3:]
        if opened >= 0 and mark in text:
            words = " ".join(lines[opened : at + 1]).replace(mark, " ").split()
            if " ".join(words) in said:
                kept[opened : at + 1] = [""] * (at + 1 - opened)
            opened = -1
    return kept


def padded(rows: Sequence[TokenRow], padding: int) -> TokenBatch:
    """Return rows as arrays of one width, padded on the right."""
    shape = (len(rows), max((len(row.ids) for row in rows), default=0))
    ids = np.full(shape, padding, dtype=np.int64)
    mask, segments = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    newlines = np.zeros(shape, dtype=np.bool_)
    for at, row in enumerate(rows):
        size = len(row.ids)
        ids[at, :size], mask[at, :size], segments[at, row.code_start : size] = row.ids, 1, 1
        newlines[at, row.newlines] = True
    return TokenBatch(ids, mask, segments, newlines)


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield the places of rows, like lengths together, at most `size` at a time: padding costs what text costs."""
    order = sorted(range(len(lengths)), key=lambda place: lengths[place])
    for start in range(0, len(order), size):
        yield order[start : start + size]
