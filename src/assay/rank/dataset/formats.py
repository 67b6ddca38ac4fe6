"""Read and write datasets: our own JSON lines, Parquet, and the folder that the code of CodeRanker trains from.

A folder is CodeRanker's; a file holds our rows or CodeRanker's, in any form that `assay.io.rows` reads. A row of a file
that cannot be used is reported as FILE:ROW and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b, file_digest
from itertools import accumulate
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.faults import EXECUTION, INTENT, Fault
from assay.io import files, rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import on_disk
from assay.programs.samples import logprob_of
from assay.rank.dataset.rows import SPLITS, Dataset, Example, by_task
from assay.values import Problem

FILES = {"train": "train", "valid": "val", "test": "test"}
"""Our splits to the names of its files."""
CORRECT, WRONG, INTENT_ERROR, EXECUTION_ERROR, MISC = "Correct", "Wrong", "Intent error", "Execution error", "Misc"
_NAMES = {
    Fault.TIMEOUT: "TimeoutException",
    Fault.FUNCTION_NOT_FOUND: "Function not found",
    Fault.EXECUTION_OTHER: MISC,
    Fault.INTENT_OTHER: MISC,
}
_TASKS = ("binary", "ternary", "intent_error", "execution_error")


def labels_of(fault: Fault) -> dict[str, str]:
    """Return the class of a fault in each of its tasks, under its names."""
    if fault is Fault.CORRECT:
        return dict.fromkeys(_TASKS, CORRECT)
    kind, name = EXECUTION_ERROR if fault in EXECUTION else INTENT_ERROR, _NAMES.get(fault, str(fault))
    return {
        "binary": WRONG,
        "ternary": kind,
        "intent_error": name if fault in INTENT else kind,
        "execution_error": name if fault in EXECUTION else kind,
    }


def classes_of(task: str) -> tuple[str, ...]:
    """Return all classes of a task in a fixed order."""
    return tuple(dict.fromkeys(labels_of(fault)[task] for fault in Fault))


def fault_of(record: Fields) -> Fault:
    """Return the fault of one of its rows, as fine as its labels say it."""
    kind = record.text("ternary_label", record.text("binary_label", "")).casefold()
    intent = record.text("intent_error_label", "").casefold()
    execution = record.text("execution_error_label", "").casefold()
    if CORRECT.casefold() in (kind, intent, execution):
        return Fault.CORRECT
    for label, members, other in (
        (execution, EXECUTION, Fault.EXECUTION_OTHER),
        (intent, INTENT, Fault.INTENT_OTHER),
    ):
        named = {_NAMES.get(fault, str(fault)).casefold(): fault for fault in members}
        if label in named or (label and label not in (INTENT_ERROR.casefold(), EXECUTION_ERROR.casefold())):
            return named.get(label, other)
    broad = {INTENT_ERROR.casefold(): Fault.INTENT_OTHER, EXECUTION_ERROR.casefold(): Fault.EXECUTION_OTHER}
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


def _write_folder(folder: Path, examples: Sequence[Example]) -> None:
    """Write the folder; rows without a split are of the training part."""
    for split, name in FILES.items():
        rows = [each for each in examples if (each.split or "train") == split]
        if rows:
            files.write_rows(folder / f"{name}.json", _records(rows))
            if split == "valid":
                _grouped(folder, rows)
    train = [each for each in examples if (each.split or "train") == "train"]
    for task in _TASKS:
        _weights(folder, task, train)


def _records(rows: Iterable[Example]) -> Iterator[dict[str, Any]]:
    for each in rows:
        record = {
            "prompt": each.prompt,
            "completion": each.source,
            **{f"{task}_label": label for task, label in labels_of(each.fault).items()},
            "error_line_number": each.line - 1 if each.fault in EXECUTION and each.line > 0 else -1,
            "task_id": each.task_id,
            "program_id": each.program_id,
            "model": each.model,
            "config": each.config,
        }
        yield from [record] * each.n


def _grouped(folder: Path, rows: Sequence[Example]) -> None:
    """Write which rows are of one task, each task a line; short ones are filled with -1 and `Execution error`."""
    import numpy as np

    start = {
        id(each): place for each, place in zip(rows, accumulate((each.n for each in rows), initial=0), strict=False)
    }
    groups = [
        [(start[id(each)] + copy, labels_of(each.fault)["ternary"]) for each in group for copy in range(each.n)]
        for group in by_task(rows).values()
    ]
    width = max(map(len, groups))
    filled = [group + [(-1, EXECUTION_ERROR)] * (width - len(group)) for group in groups]
    for name, column in (("indices", 0), ("labels", 1)):
        with files.replacing(folder / f"val_grouped_{name}.npy") as file:
            np.save(file, np.array([[each[column] for each in group] for group in filled]))


def _weights(folder: Path, task: str, rows: Sequence[Example]) -> None:
    """Write the classes of a task and their weights: inverse to how frequent each is, 1 where there is none."""
    names = classes_of(task)
    counts = Counter[str]()
    for each in rows:
        counts[labels_of(each.fault)[task]] += each.n
    total = counts.total() or 1
    weights = [total / (len(names) * counts[name]) if counts[name] else 1.0 for name in names]
    files.write(folder / f"labels_{task}.txt", (f"{name}\n" for name in names))
    files.write(folder / f"weights_{task}.txt", (f"{weight:.6f}\n" for weight in weights))


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
        _write_folder(path, examples)
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
