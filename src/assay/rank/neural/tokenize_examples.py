"""Labelled programs, one after the other, to tokens on the disk that a training reads: no more in memory than a block.

Programs of the splits `train` and `valid` are kept, in their order. What was written says which data and which way to
lay out rows it is of, so that a run that goes on, or another of the same data, need not do it again.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import files
from assay.rank.dataset.examples import Example
from assay.rank.dataset.message_shapes import message_shape
from assay.rank.neural.batches import Reader
from assay.rank.neural.fault_classes import has_own_message
from assay.rank.neural.token_store import FAULTS, TokenStore, TokenWriter, open_store

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
