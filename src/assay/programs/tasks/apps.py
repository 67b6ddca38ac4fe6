"""Read the tasks of APPS (Hendrycks et al. 2021), in each of its layouts.

As its authors publish it, a folder a problem with `question.txt`, `input_output.json`, `solutions.json`. On the hub,
rows of `id` or `problem_id`, `question`, `input_output` (an object, or its JSON as text, of `inputs`, `outputs`, and
`fn_name` where a function is called), `starter_code`, `solutions`. In the flat layout of others: `description` and
`test_list` of objects with `input` and `output`, whose programs all read standard input, whatever starter code says.

APPS keeps each return value in a list of its own and takes either: the list is taken off when every output of a task is
one. The tag `values=json` says that a tuple may stand where a list is expected. Keys of JSON that are whole numbers are
numbers again, and each program begins with the imports of its harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import text_of
from assay.values import Call, Problem, Stdin, Task, Test

_QUESTION = "question.txt"
"""What a folder of APPS has in the folder of each problem."""


def is_apps(path: Path) -> bool:
    """Say whether a folder has problems in the published layout of APPS."""
    return next(path.glob(f"**/{_QUESTION}"), None) is not None


def folders(path: Path, problems: list[Problem]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the problems of a folder in the published layout of APPS, each with the name of its folder."""
    for question in sorted(path.glob(f"**/{_QUESTION}")):
        folder = question.parent
        where = folder.relative_to(path).as_posix()
        fields: dict[str, Any] = {"problem_id": str(int(folder.name)) if folder.name.isdecimal() else folder.name}
        try:
            fields["question"] = text_of(question)
            for name in ("input_output", "solutions", "starter_code", "metadata"):
                file = next(
                    (folder / f"{name}{end}" for end in (".json", ".py") if (folder / f"{name}{end}").is_file()), None
                )
                if file:
                    value = text_of(file) if file.suffix == ".py" else rows.value_of(file)
                    fields |= value if name == "metadata" and isinstance(value, dict) else {name: value}
        except InputError as error:
            problems.append(Problem(where, str(error)))
            continue
        yield where, fields


_BEFORE = (
    "import sys, time, itertools, collections, math, fractions, random, heapq; "
    "from itertools import accumulate, product, permutations, combinations; "
    "from collections import Counter, OrderedDict, deque, defaultdict, ChainMap; "
    "from functools import lru_cache; "
    "from math import sqrt, sin, cos, tan, ceil, fabs, floor, gcd, exp, log, log2; "
    "from typing import List, Tuple; "
    "from heapq import *\n"
)
"""What APPS puts before each program, on one line; `import numpy as np` only programs that say `np.` get."""


def apps_task(record: Fields) -> Task:
    """Return the task of a row, or of the files of a folder."""
    flat = "test_list" in record
    name, tests = ("", _pairs(record)) if flat else _tests(record)
    number = record.name("problem_id", "id", "task_id")
    return Task(
        f"APPS/{number}" if number.isdecimal() else number,
        record.text("description" if flat else "question"),
        name,
        tests=tests,
        reference=_solution(record),
        tags={"values": "json", "prelude": _BEFORE, "numpy": "np", **record.tags("difficulty", "url", "starter_code")},
    )


def _pairs(record: Fields) -> tuple[Stdin, ...]:
    pairs = record.list("test_list")
    if not all(isinstance(pair, dict) and {"input", "output"} <= pair.keys() for pair in pairs):
        raise FieldError("field 'test_list' has items that are not objects with 'input' and 'output'")
    return tuple(Stdin(_text(pair["input"]), _text(pair["output"])) for pair in pairs)


def _tests(record: Fields) -> tuple[str, tuple[Test, ...]]:
    """Return the function under test, if it is one, and the tests."""
    shown = record.from_text().mapping("input_output", {})
    inputs, outputs = shown.get("inputs", []), shown.get("outputs", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise FieldError("field 'input_output' needs lists 'inputs' and 'outputs' of one length")
    name = shown.get("fn_name")
    if name is None:
        return "", tuple(Stdin(_text(given), _text(wanted)) for given, wanted in zip(inputs, outputs, strict=True))
    if not isinstance(name, str) or not all(isinstance(given, list) for given in inputs):
        raise FieldError("field 'input_output' with 'fn_name' needs that as text, and each of 'inputs' as a list")
    if all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs):
        outputs = [wanted[0] for wanted in outputs]
    return name, tuple(
        Call((*map(_with_whole_keys, given[:1]), *given[1:]), _with_whole_keys(wanted))
        for given, wanted in zip(inputs, outputs, strict=True)
    )


def _with_whole_keys(value: Any) -> Any:
    """Return a JSON object whose keys are all whole numbers with these as numbers; any other value unchanged."""
    if isinstance(value, dict) and all(re.fullmatch(r"-?\d{1,18}", key) for key in value):
        return {int(key): each for key, each in value.items()}
    return value


def _solution(record: Fields) -> str:
    """Return the first solution, of a list or of its JSON as text."""
    solutions = record.from_text().list("solutions", ())
    return solutions[0] if solutions and isinstance(solutions[0], str) else ""


def _text(value: object) -> str:
    """Return input or output as text: texts unchanged, lists one item per line, other values as printed."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else str(value)
