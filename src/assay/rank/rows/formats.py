"""A data set to a file and back: our own JSON lines, Parquet, and the folder that the code of CodeRanker trains from.

Told by the place: a folder is CodeRanker's, `.parquet` is Parquet, anything else is JSON lines, packed or not, of our
rows or of CodeRanker's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import InputError, MissingExtra, StorageError
from assay.faults import Fault
from assay.rank.rows import coderanker
from assay.rank.rows.data import SPLITS, Dataset, Example
from assay.sandbox.tasks.lines import FieldError, Record, records_of
from assay.types import Problem

PARQUET = ".parquet"
_LARGEST_N = 10**9
_FAULTS = {str(fault).casefold(): fault for fault in Fault}


def read(path: Path) -> Dataset:
    """Read a data set; rows that cannot be used are told, nothing usable at all is an error."""
    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'; make a data set with assay rank data")
    problems: list[Problem] = []
    examples = list(_folder(path, problems) if path.is_dir() else _file(path, "", problems))
    if not examples:
        first = f": {problems[0]}" if problems else ""
        raise InputError(f"'{path}' holds no row that can be used{first}")
    return Dataset(tuple(examples), tuple(problems))


def write(path: Path, examples: Sequence[Example]) -> None:
    """Write a data set; a file that is there is replaced at once or not at all."""
    if path.is_dir() or (not path.suffix and not path.exists()):
        coderanker.write(path, examples)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    try:
        if path.suffix == PARQUET:
            _parquet().write(beside, [each.record() for each in examples])
        else:
            lines = (json.dumps(each.record(), ensure_ascii=False) + "\n" for each in examples)
            with beside.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(lines)
        os.replace(beside, path)  # noqa: PTH105  one name for both systems
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _folder(path: Path, problems: list[Problem]) -> Iterator[Example]:
    """Yield the rows of the files of a folder, each of the split that the file is called for."""
    found = [(split, path / f"{name}.json") for split, name in coderanker.FILES.items()]
    if not any(file.exists() for _, file in found):
        names = ", ".join(f"{name}.json" for name in coderanker.FILES.values())
        raise InputError(f"'{path}' is a folder without {names}; give a file, or a folder as CodeRanker's code has it")
    for split, file in found:
        if file.exists():
            yield from _file(file, split, problems)


def _file(path: Path, split: str, problems: list[Problem]) -> Iterator[Example]:
    rows = _parquet().rows(path) if path.suffix == PARQUET else records_of(path, problems)
    yield from coderanker.collapsed(_examples(path, split, rows, problems))


def _examples(
    path: Path, split: str, rows: Iterable[tuple[int, dict[str, Any]]], problems: list[Problem]
) -> Iterator[tuple[Example, bool]]:
    """Yield the rows, and of each whether it is one of CodeRanker's, where copies stand one by one."""
    for row, fields in rows:
        try:
            record = Record(fields)
            if "completion" in fields and "fault" not in fields:
                yield coderanker.example(record, split), True
            else:
                yield _own(record, split), False
        except FieldError as error:
            problems.append(Problem(f"{path.name}:{row}", str(error)))


def _own(record: Record, split: str) -> Example:
    fault = _FAULTS.get(record.text("fault").casefold())
    if fault is None:
        raise FieldError(f"field 'fault' is {record.text('fault')!r:.60}, wanted one of {', '.join(Fault)}")
    given = record.text("split", split)
    if given and given not in SPLITS:
        raise FieldError(f"field 'split' is {given!r:.40}, wanted {', '.join(SPLITS)} or nothing")
    return Example(
        record.name("task_id"),
        record.text("program_id", ""),
        record.text("prompt", ""),
        record.text("source"),
        fault,
        line_of(record.fields.get("line"), "line"),
        whole(record, "n"),
        record.text("model", ""),
        record.text("config", ""),
        given,
    )


def whole(record: Record, name: str) -> int:
    """Return a field that counts something."""
    count = record.number(name, 1.0)
    if not count.is_integer() or not 1 <= count <= _LARGEST_N:
        raise FieldError(f"field '{name}' is {record.fields[name]!r:.40}, wanted a whole number of at least 1")
    return int(count)


def line_of(value: object, name: str) -> int:
    """Return a line, -1 where there is none."""
    if value is None:
        return -1
    if isinstance(value, bool) or not isinstance(value, int) or value < -1:
        raise FieldError(f"field '{name}' is {value!r:.40}, wanted a line, or -1 for none")
    return value or -1


def _parquet() -> Any:
    try:
        from assay.rank.rows import parquet
    except ModuleNotFoundError as error:
        raise MissingExtra("a data set in Parquet", str(error.name), "bench") from error
    return parquet
