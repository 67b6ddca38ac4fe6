"""Read and write datasets: our own JSON lines and Parquet; those of CodeRanker's code are read alone.

A folder is CodeRanker's; a file holds our rows or CodeRanker's, in any form that `assay.io.rows` reads. A row of a file
that cannot be used is reported as FILE:ROW and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.faults import EXECUTION, INTENT, Fault
from assay.io import files, rows
from assay.io.fields import FieldError, Fields
from assay.programs.samples import logprob_of
from assay.rank.dataset.rows import SPLITS, Dataset, Example
from assay.values import Problem

FILES = {"train": "train", "valid": "val", "test": "test"}
"""Our splits to the names of its files."""
CORRECT, INTENT_ERROR, EXECUTION_ERROR, MISC = "correct", "intent error", "execution error", "misc"
_NAMES = {
    Fault.TIMEOUT: "timeoutexception",
    Fault.FUNCTION_NOT_FOUND: "function not found",
    Fault.EXECUTION_OTHER: MISC,
    Fault.INTENT_OTHER: MISC,
}


def fault_of(record: Fields) -> Fault:
    """Return the fault of one of its rows, as fine as its labels say it."""
    kind = record.text("ternary_label", record.text("binary_label", "")).casefold()
    intent = record.text("intent_error_label", "").casefold()
    execution = record.text("execution_error_label", "").casefold()
    if CORRECT in (kind, intent, execution):
        return Fault.CORRECT
    for label, members, other in (
        (execution, EXECUTION, Fault.EXECUTION_OTHER),
        (intent, INTENT, Fault.INTENT_OTHER),
    ):
        if label and label not in (INTENT_ERROR, EXECUTION_ERROR):
            return {_NAMES.get(fault, str(fault).casefold()): fault for fault in members}.get(label, other)
    broad = {INTENT_ERROR: Fault.INTENT_OTHER, EXECUTION_ERROR: Fault.EXECUTION_OTHER}
    found = broad.get(kind) or broad.get(intent) or broad.get(execution)
    if found is None:
        raise FieldError(f"its labels ('{kind}', '{intent}', '{execution}') do not say how it failed")
    return found


def _example_of(record: Fields, split: str) -> Example:
    """Return one of its rows as ours."""
    prompt, fault = record.text("prompt"), fault_of(record)
    line = record.whole("error_line_number", -1, least=-1)
    task = blake2b(" ".join(prompt.split()).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
    return Example(
        record.name("task_id") if "task_id" in record else f"prompt-{task}",
        record.text("program_id", ""),
        prompt,
        record.text("completion"),
        fault,
        line + 1 if fault in EXECUTION and line >= 0 else -1,
        model=record.text("model", ""),
        config=record.text("config", ""),
        split=split,
    )


def collapsed(rows: Iterable[tuple[Example, bool]]) -> Iterator[Example]:
    """Yield each row once, where copies stand one by one, with how often it stands there."""
    held: dict[Example, int] = {}
    for each, is_single in rows:
        if is_single:
            held[each] = held.get(each, 0) + each.n
        else:
            yield each
    yield from (replace(each, n=count) for each, count in held.items())


PARQUET = ".parquet"
_FAULTS = {str(fault).casefold(): fault for fault in Fault}


def read(path: Path) -> Dataset:
    """Read a data set; rows that cannot be used are reported, nothing usable at all is an error."""
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


def check_place(path: Path) -> None:
    """Refuse a place that no dataset can be written to."""
    if path.is_dir() or not path.suffix:
        raise InputError(f"cannot write a dataset to '{path}': give a file that ends in .jsonl or {PARQUET}")


def write(path: Path, examples: Sequence[Example]) -> None:
    """Write a data set; a file that is there is replaced at once or not at all."""
    check_place(path)
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
    found = [(split, path / f"{name}.json") for split, name in FILES.items()]
    if not any(file.exists() for _, file in found):
        names = ", ".join(f"{name}.json" for name in FILES.values())
        raise InputError(f"'{path}' is a folder without {names}; give a file, or a folder as CodeRanker's code has it")
    for split, file in found:
        if file.exists():
            yield from _file(file, split, problems)


def _file(path: Path, split: str, problems: list[Problem]) -> Iterator[Example]:
    yield from collapsed(_examples(path, split, problems))


def _examples(path: Path, split: str, problems: list[Problem]) -> Iterator[tuple[Example, bool]]:
    """Yield the rows, and of each whether it is one of CodeRanker's, where copies stand one by one."""
    for row, fields in rows.objects(path, problems):
        try:
            record = Fields(fields)
            if "completion" in fields and "fault" not in fields:
                yield _example_of(record, split), True
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
