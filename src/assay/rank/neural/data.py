"""Labelled programs as rows of tokens: how a row is laid out, and tokens on the disk that a training reads.

Tokenizers differ in what they make of a line break: byte-level ones have a token for it but merge it with the blanks
that follow, WordPiece drops it and the indentation with it. So a program is read line by line, and each line is closed
by one newline token: the tokenizer's own where a lone line break is one token, else an added `[NEWLINE]`; for those
that drop blanks, `[INDENT]` stands for each four columns of indentation. One more newline stands before the first line
(the program does not break) and one after the last (it breaks beyond what is seen), as in Inala et al. 2022, 3.3.
The prompt is kept and the code cut; only a prompt that leaves the code less than `code_least` tokens is cut as well.
A docstring that only repeats the prompt is left empty: its lines still count, and leave their room to the code.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BufferedWriter
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault
from assay.io import files
from assay.rank.dataset.rows import Example, message_shape
from assay.rank.neural.settings import has_own_message

Ints = NDArray[np.int64]
_LINE_END = re.compile(r"\r\n|\r|\n")
_QUOTES = ('"""', "'''")
NEWLINE, INDENT = "[NEWLINE]", "[INDENT]"
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


def layout_of(tokenizer: Any, special: Mapping[str, str], *, window: int, code_least: int) -> TokenLayout:
    """Return how to lay out rows for a tokenizer, adding the tokens it lacks; `special` gives a role its token."""

    def known(*roles: str) -> list[int]:
        ids = (tokenizer.token_to_id(special[role]) for role in roles if special.get(role))
        return [place for place in ids if place is not None]

    newline, indent = _newline(tokenizer, special.get("unk_token", "")), _indent(tokenizer)
    closing = (known("sep_token", "eos_token") or [newline])[0]
    padding = (known("pad_token", "eos_token") or [0])[0]
    opening = tuple(known("cls_token", "bos_token")[:1])
    return TokenLayout(opening, closing, closing, padding, newline, indent, window, min(code_least, window // 2))


def _newline(tokenizer: Any, unknown: str) -> int:
    """Return the token of a lone line break, an added one where there is none."""
    own: Any = tokenizer.encode("\n", add_special_tokens=False)
    return own.ids[0] if len(own.ids) == 1 and own.tokens[0] != unknown else _added(tokenizer, NEWLINE)


def _indent(tokenizer: Any) -> int:
    """Return the token of an indentation, -1 where blanks are kept."""
    flat, deep = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("a", " " * COLUMNS + "a"))
    return _added(tokenizer, INDENT) if flat == deep else -1


def _added(tokenizer: Any, token: str) -> int:
    from tokenizers import AddedToken

    tokenizer.add_special_tokens([AddedToken(token, special=True)])
    place = tokenizer.token_to_id(token)
    assert place is not None, "it was just added"
    return int(place)


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


SPLITS = ("train", "valid")
FOLDER = "tokens"
_ABOUT = "about.json"
_BLOCK = 1024
_FORMAT = 1
_NUMBERS = {fault: number for number, fault in enumerate(FAULTS)}


@dataclass(frozen=True, slots=True)
class LearningData:
    """What is learned and what chooses the ranker, as tokens on the disk."""

    train: TokenStore
    valid: TokenStore
    shapes: dict[str, int]
    """Shapes of messages in the order of their numbers, with how many programs to learn from have each."""
    digest: str
    """A hash of what it was made from."""
    unasked: int
    """Programs whose task has no prompt."""


def learning_data(examples: Iterable[Example], reader: Reader, folder: Path, *, data: str = "") -> LearningData:
    """Return the tokens of some programs; `data` is a hash of them, and spares reading them where they are written."""
    place = folder / FOLDER
    layout = _hash_of_reader(reader)
    if not data or _said_of(place) != (data, layout):
        shutil.rmtree(place, ignore_errors=True)
        with files.replacing_folder(place) as beside:
            _write(examples, reader, beside, data, layout)
    return open_data(place)


def open_data(place: Path) -> LearningData:
    """Return tokens that were written."""
    about: dict[str, Any] = json.loads((place / _ABOUT).read_text("utf-8"))
    train, valid = (open_store(place / split) for split in SPLITS)
    return LearningData(train, valid, about["shapes"], about["data"], about["unasked"])


@dataclass(slots=True)
class _Seen:
    """What was met while programs were read."""

    split_of: dict[str, str] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)
    """Of each task."""
    shapes: dict[str, int] = field(default_factory=dict)
    """The number of each shape of a message."""
    learned: Counter[str] = field(default_factory=Counter)
    """How many programs to learn from have each shape."""
    rows: int = 0
    unasked: int = 0
    digest: Any = field(default_factory=lambda: blake2b(digest_size=16))

    def watch(self, example: Example) -> None:
        """Note a program of any split."""
        self.rows += 1
        self.digest.update(repr(example).encode("utf-8", "backslashreplace"))
        if self.split_of.setdefault(example.task_id, example.split) != example.split:
            self.leaks.append(example.task_id)

    def about(self, example: Example) -> dict[str, int]:
        """Return what is kept of a program beside its tokens."""
        shape = message_shape(example.message)
        shape = shape if has_own_message(example.fault, shape) else ""
        if shape and example.split == SPLITS[0]:
            self.learned[shape] += 1
        self.unasked += not example.prompt.strip()
        return {
            "task": self.number_of.setdefault(example.task_id, len(self.number_of)),
            "line": example.line if example.fault.is_execution else -1,
            "n": example.n,
            "shape": self.shapes.setdefault(shape, len(self.shapes)) if shape else -1,
            "fault": _NUMBERS[example.fault],
            "ran_all": -1 if example.ran_all is None else int(example.ran_all),
        }


def _write(examples: Iterable[Example], reader: Reader, place: Path, data: str, layout: str) -> None:
    seen = _Seen()
    with ExitStack() as stack:
        writers = {split: stack.enter_context(TokenWriter(place / split)) for split in SPLITS}
        for block in _blocks(_watched(examples, seen)):
            for example, row in zip(block, _rows(block, reader), strict=True):
                about = seen.about(example)
                place_of_line = row.newlines[row.place_of(about["line"])]
                writers[example.split].add(row, **about, place=place_of_line)
        counts = {split: writer.count for split, writer in writers.items()}
    for split, count in counts.items():
        if not count:
            raise InputError(f"no row of split '{split}' among {seen.rows:,}; 'assay rank data' splits them by task")
    if tasks := list(dict.fromkeys(seen.leaks)):
        raise InputError(f"{len(tasks):,} tasks are in more than one split, {tasks[0]!r} first; split by task")
    said = {
        "format": _FORMAT,
        "data": data or seen.digest.hexdigest(),
        "layout": layout,
        "shapes": {shape: seen.learned[shape] for shape in seen.shapes},
        "unasked": seen.unasked,
    }
    files.write_json(place / _ABOUT, said)


def _watched(examples: Iterable[Example], seen: _Seen) -> Iterator[Example]:
    """Yield the programs that are kept."""
    for example in examples:
        seen.watch(example)
        if example.split in SPLITS:
            yield example


def _blocks(examples: Iterator[Example]) -> Iterator[list[Example]]:
    while block := list(islice(examples, _BLOCK)):
        yield block


def _rows(block: Sequence[Example], reader: Reader) -> list[Any]:
    """Return the rows of a block in its order; programs of one prompt are read together."""
    of: dict[str, list[int]] = {}
    for place, example in enumerate(block):
        of.setdefault(example.prompt, []).append(place)
    rows: list[Any] = [None] * len(block)
    for prompt, places in of.items():
        for place, row in zip(places, reader.rows(prompt, [block[at].source for at in places]), strict=True):
            rows[place] = row
    return rows


def _said_of(place: Path) -> tuple[str, str] | None:
    """Return of which data and which layout the tokens of a folder are, None where there are none of today's format."""
    try:
        about = json.loads((place / _ABOUT).read_text("utf-8"))
        return (about["data"], about["layout"]) if about["format"] == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _hash_of_reader(reader: Reader) -> str:
    """Return a hash of what decides how a program is laid out."""
    text = f"{reader.layout!r}\0{reader.tokenizer.to_str()}"
    return blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
