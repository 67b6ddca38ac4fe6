"""A data set to a file and back: our own JSON lines, Parquet, and the folder that the code of CodeRanker trains from.

A folder is CodeRanker's; a file holds our rows or CodeRanker's, in any form that `assay.io.rows` reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.faults import Fault
from assay.io import files, rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import on_disk
from assay.programs.samples import logprob_of
from assay.rank.dataset import coderanker
from assay.rank.dataset.examples import SPLITS, Dataset, Example
from assay.types import Problem

PARQUET = ".parquet"
_FAULTS = {str(fault).casefold(): fault for fault in Fault}


def read(path: Path) -> Dataset:
    """Read a data set; rows that cannot be used are told, nothing usable at all is an error."""
    problems: list[Problem] = []
    return Dataset(tuple(stream(path, problems)), tuple(problems))


def stream(path: Path, problems: list[Problem]) -> Iterator[Example]:
    """Yield the rows of a data set as they are read; nothing usable at all is an error at the end."""
    none = True
    for example in _folder(path, problems) if path.is_dir() else _file(path, "", problems):
        none = False
        yield example
    if none:
        first = f": {problems[0]}" if problems else ""
        raise InputError(f"'{path}' holds no row that can be used{first}; 'assay rank data' writes such rows")


def digest_of(paths: Sequence[Path]) -> str:
    """Return a hash of what data sets hold, byte by byte."""
    found = blake2b(digest_size=16)
    for path in paths:
        names = sorted(path.glob("*.json")) if path.is_dir() else [path]
        for file in names:
            found.update(_hash_of(file))
    return found.hexdigest()


def _hash_of(file: Path) -> bytes:
    try:
        with on_disk(file).open("rb") as opened:
            return file_digest(opened, lambda: blake2b(digest_size=16)).digest()
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from error


def write(path: Path, examples: Sequence[Example]) -> None:
    """Write a data set; a file that is there is replaced at once or not at all."""
    if path.is_dir() or (not path.suffix and not path.exists()):
        coderanker.write(path, examples)
        return
    if path.suffix == PARQUET:
        with files.replacing(path) as beside:
            rows.parquet(path).write(beside, _even([each.record() for each in examples]))
    else:
        files.write_rows(path, (each.record() for each in examples))


def _even(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows that all have the fields that one of them has."""
    names = dict.fromkeys(name for record in records for name in record)
    return [{name: record.get(name) for name in names} for record in records]


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
    yield from coderanker.collapsed(_examples(path, split, problems))


def _examples(path: Path, split: str, problems: list[Problem]) -> Iterator[tuple[Example, bool]]:
    """Yield the rows, and of each whether it is one of CodeRanker's, where copies stand one by one."""
    for row, fields in rows.objects(path, problems):
        try:
            record = Fields(fields)
            if "completion" in fields and "fault" not in fields:
                yield coderanker.example(record, split), True
            else:
                yield _own(record, split), False
        except FieldError as error:
            problems.append(Problem(rows.place(path, row), str(error)))


def _own(record: Fields, split: str) -> Example:
    fault = _FAULTS.get(record.text("fault").casefold())
    if fault is None:
        raise FieldError(f"field 'fault' is {record.text('fault')!r:.60}, wanted one of {', '.join(Fault)}")
    return Example(
        record.name("task_id"),
        record.text("program_id", ""),
        record.text("prompt", ""),
        record.text("source"),
        fault,
        record.whole("line", -1, least=-1) or -1,
        record.whole("n", 1, least=1),
        record.text("model", ""),
        record.text("config", ""),
        record.choice("split", ("", *SPLITS), split) or split,
        ran if isinstance(ran := record.values.get("ran_all"), bool) else None,
        logprob_of(record),
        record.text("message", ""),
    )
