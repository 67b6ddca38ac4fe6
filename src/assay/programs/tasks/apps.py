"""APPS (Hendrycks et al. 2021): whole programs that read standard input, or functions by `fn_name`.

Fields: `id` or `problem_id`, `question`, `input_output` (an object, or its JSON as text, of `inputs`, `outputs`, and
`fn_name` where a function is called), `starter_code`, `solutions`. Also in the flat layout of others: `description`
and `test_list` of objects with `input` and `output`, whose programs all read standard input, whatever starter code
says. Ids are `APPS/N`. APPS keeps each return value in a list of its own and takes either: here the list is taken off
when every output of a task is one. The tag `values=json` says that a tuple may stand where a list is expected.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.io.fields import FieldError, Fields
from assay.programs.tasks.task_file import TaskFile
from assay.programs.tasks.task_rows import gathered
from assay.types import Call, Script, Stdin, Task, Test

_ON_INSTANCE = """\
answer = Solution().{}(*{!r})
def plain(value):
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value
assert plain(answer) == {!r}
"""


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return "input_output" in keys or {"description", "test_list", "starter_code"} <= keys


def read(path: Path) -> TaskFile:
    """Read the tasks of a file."""
    return gathered(path, "apps", _task)


def _task(record: Fields) -> Task:
    starter = record.text("starter_code", "")
    flat = "test_list" in record
    name, tests = ("", _pairs(record)) if flat else _tests(record, starter)
    number = record.name("problem_id", "id", "task_id")
    return Task(
        f"APPS/{number}" if number.isdecimal() else number,
        record.text("description" if flat else "question"),
        name,
        tests=tests,
        reference=_solution(record),
        tags={"values": "json", **record.tags("difficulty", "url", "starter_code")},
    )


def _pairs(record: Fields) -> tuple[Stdin, ...]:
    pairs = record.list("test_list")
    for pair in pairs:
        if not isinstance(pair, dict) or not {"input", "output"} <= pair.keys():
            raise FieldError("field 'test_list' holds something else than objects with 'input' and 'output'")
    return tuple(Stdin(_text(pair["input"]), _text(pair["output"])) for pair in pairs)


def _tests(record: Fields, starter: str) -> tuple[str, tuple[Test, ...]]:
    """Return the function under test, if it is one, and the tests."""
    told = record.from_text().mapping("input_output", {})
    inputs, outputs = told.get("inputs", []), told.get("outputs", [])
    if not isinstance(inputs, list) or not isinstance(outputs, list) or len(inputs) != len(outputs):
        raise FieldError("field 'input_output' needs lists 'inputs' and 'outputs' of one length")
    name = told.get("fn_name")
    if name is None:
        return "", tuple(Stdin(_text(given), _text(wanted)) for given, wanted in zip(inputs, outputs, strict=True))
    if not isinstance(name, str) or not all(isinstance(given, list) for given in inputs):
        raise FieldError("field 'input_output' with 'fn_name' needs that as text, and each of 'inputs' as a list")
    if all(isinstance(wanted, list) and len(wanted) == 1 for wanted in outputs):
        outputs = [wanted[0] for wanted in outputs]
    calls = [Call(tuple(given), wanted) for given, wanted in zip(inputs, outputs, strict=True)]
    if "class Solution" not in starter:
        return name, tuple(calls)
    return name, tuple(Script(_ON_INSTANCE.format(name, call.args, call.expected)) for call in calls)


def _solution(record: Fields) -> str:
    """Return the first solution, of a list or of its JSON as text."""
    solutions = record.from_text().list("solutions", ())
    return solutions[0] if solutions and isinstance(solutions[0], str) else ""


def _text(value: object) -> str:
    """Return what is read or printed: texts as they are, lists a line each, other values as `print` shows them."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value if isinstance(value, str) else str(value)
