"""EvalPlus (Liu et al. 2023), HumanEval+ and MBPP+: inputs of calls, whose expected values the reference gives.

Fields: `task_id`, `prompt`, `entry_point`, `canonical_solution`, `base_input`, `plus_input`, `contract`, `atol`. What
EvalPlus compares otherwise than by equality is here too: floats within 1e-6 where `atol` is 0, and its own oracles.
Files with the expected values in a `test` field read as HumanEval. JSON has no tuples or sets: the contract and the
reference tell where a list was one (`assay.programs.tasks.answering`).
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from assay.io.fields import FieldError, Fields
from assay.programs.tasks.humaneval import whole
from assay.programs.tasks.mbpp import id_of
from assay.programs.tasks.task_file import Inputs, TaskFile
from assay.programs.tasks.task_rows import gathered
from assay.types import Call, Script, Task, Test

_FLOAT_ATOL = 1e-6
_AS_SETS = frozenset(
    "similar_elements find_char_long common_in_nested_lists extract_singly larg_nnum intersection_array "
    "find_dissimilar Diff".split()
)
"""Functions of MBPP+ whose answers have no order."""
_AS_TRUTHS = frozenset("check_str text_match_three text_starta_endb".split())
"""Functions of MBPP+ that may answer with a match, or with whether there is one."""
_ROOT = "find_zero"
"""The function of HumanEval+ that has many right answers: a root of the polynomial it is given."""


def fits(keys: AbstractSet[str]) -> bool:
    """Say whether records with these fields are such tasks."""
    return "plus_input" in keys


def read(path: Path) -> TaskFile:
    """Read the tasks of a file."""
    return gathered(path, "evalplus", _task)


def _task(record: Fields) -> tuple[Task, Inputs]:
    prompt = record.text("prompt")
    inputs = (*record.list("base_input"), *(record.list("plus_input", ()) if record.values.get("plus_input") else ()))
    if not inputs or not all(isinstance(args, list) for args in inputs):
        raise FieldError("fields 'base_input' and 'plus_input' need a list of arguments for each call")
    task = Task(
        id_of(record),
        prompt,
        record.text("entry_point"),
        reference=whole(prompt.rstrip("\n") + "\n", record.text("canonical_solution")),
    )
    contract = record.text("contract", "")
    return task, Inputs(tuple(map(tuple, inputs)), contract, record.number("atol", 0.0))


def test_of(name: str, args: tuple[Any, ...], expected: Any, atol: float) -> Test:
    """Return the test that EvalPlus makes of a call and what the reference returned."""
    if name in _AS_SETS:
        return Script(f"assert set({name}(*{args!r})) == set({expected!r})")
    if name in _AS_TRUTHS:
        truth = expected if isinstance(expected, bool) else expected is not None
        return Script(
            f"found = {name}(*{args!r})\nassert (found if isinstance(found, bool) else found is not None) == {truth}"
        )
    if name == _ROOT:
        xs = "sum(c * root**i for i, c in enumerate(xs))"
        return Script(f"xs = {args[0]!r}\nroot = {name}(list(xs))\nassert abs({xs}) <= {max(atol, 1e-4)!r}")
    return Call(args, expected, max(atol, _FLOAT_ATOL) if _has_float(expected) else 0.0)


def _has_float(value: Any) -> bool:
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_has_float, value))
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return isinstance(value, float | complex)
