"""The format of the code of *Fault-Aware Neural Code Rankers* (microsoft/CodeRanker) to our rows and back.

A folder with train.json, val.json and test.json of JSON lines (prompt, completion, binary_label, ternary_label,
intent_error_label, execution_error_label, error_line_number), for each task the names of its classes in
labels_TASK.txt and their weights in weights_TASK.txt, and which rows of val.json belong to one task in
val_grouped_indices.npy and val_grouped_labels.npy. Tasks are told apart by their prompt. It knows no multiplicity:
copies stand one by one, and are counted when read. Its lines are what its training takes them for, the place of a
newline counted from 0; ours count from 1. Of its class names its code shows `Correct` and `Execution error`; the
others are written as the paper's tables 4 and 5 have them and read in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any

from assay.faults import EXECUTION, INTENT, Fault
from assay.io import files
from assay.io.fields import FieldError, Fields
from assay.rank.dataset.examples import Example, by_task

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


def example(record: Fields, split: str) -> Example:
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


def write(folder: Path, examples: Sequence[Example]) -> None:
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
