"""Labelled programs to the pools that the default ranker learns from, made to look like those it will meet.

Programs of many models lie together in most data, and what tells a strong model from a weak one says nothing about the
samples of one model. So each model's programs are pools of their own, and in mixed pools every program starts from how
often its model is right (`Lesson.start`), for trees to learn what is beyond that. Small pools and pools with few right
programs are drawn, too, and a text is given at times bare, with its signature, with an example, or not at all.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.faults import Fault
from assay.rank.consensus.pool_facts import look
from assay.rank.dataset.examples import Example, by_task
from assay.types import Call, Script, Task

_SIZES: Final = (5, 15)
_FAMILY: Final = 3
_FAMILIES: Final = 4
_SHARES: Final = (0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One pool: what is seen in its different programs, how each fared, and how much each row counts."""

    task_id: str
    rows: NDArray[np.float64]
    faults: tuple[Fault, ...]
    start: NDArray[np.float64]
    """The log-odds that a program of such a model is right."""
    weights: NDArray[np.float64]


def lessons(tasks: Mapping[str, Task], examples: Sequence[Example], *, seed: int = 0) -> Iterator[Lesson]:
    """Yield the pools of each task; those of one task count as much as those of any other."""
    odds = _odds(examples)
    for name, rows in sorted(by_task(examples).items()):
        lots = random.Random(f"{seed} {name}")  # noqa: S311  drawn, not secret
        task = tasks.get(name) or Task(name, rows[0].prompt)
        groups = list(_groups(rows, lots))
        for group in groups:
            yield _lesson(lots.choice(ways_to_tell(task)), group, odds, len(groups))


def ways_to_tell(task: Task) -> list[Task]:
    """Return the ways to tell a task: as it is, with an example, as a function to complete, and not at all."""
    if not task.entry_point or not task.prompt.strip():
        return [task, replace(task, prompt="")]
    shown = [call for test in task.tests[:2] if (call := _call(test, task.entry_point))]
    head = _head(task)
    ways = [task, replace(task, prompt="")]
    if shown:
        ways.append(replace(task, prompt=f"{task.prompt}\nassert {shown[0][0]} == {shown[0][1]}"))
    if head and "def " not in task.prompt:
        text = task.prompt.replace("\\", "\\\\").replace('"""', "'''")
        examples = "".join(f"    >>> {call}\n    {value}\n" for call, value in shown)
        ways += [replace(task, prompt=f'{head}\n    """{text}\n{more}    """\n') for more in {"", examples}]
    return ways


def _groups(rows: Sequence[Example], lots: random.Random) -> Iterator[Sequence[Example]]:
    yield rows
    right = [row for row in rows if row.fault is Fault.CORRECT]
    wrong = [row for row in rows if row.fault is not Fault.CORRECT]
    if right and wrong:
        share = lots.choice(_SHARES)
        few = max(1, min(len(right), round(share * len(wrong) / (1 - share))))
        yield [*lots.sample(right, few), *wrong]
    for size in _SIZES:
        if len(rows) > size:
            yield lots.sample(rows, size)
    families: dict[str, list[Example]] = {}
    for row in rows:
        families.setdefault(row.model, []).append(row)
    large = [family for _, family in sorted(families.items()) if len(family) >= _FAMILY]
    if len(families) > 1:
        yield from lots.sample(large, min(_FAMILIES, len(large)))
    yield [lots.choice(rows)]


def _lesson(task: Task, group: Sequence[Example], odds: Mapping[tuple[str, str], float], pools: int) -> Lesson:
    first: dict[str, Example] = {}
    counted: dict[str, int] = {}
    for row in group:
        first.setdefault(row.source, row)
        counted[row.source] = counted.get(row.source, 0) + max(row.n, 1)
    sources = sorted(first)
    n = np.array([counted[source] for source in sources], float)
    faults = tuple(first[source].fault for source in sources)
    decides = len({fault is Fault.CORRECT for fault in faults}) > 1
    weights = np.sqrt(n) / np.sqrt(n).sum() * (1.0 if decides else 0.3) / pools
    start = np.array([odds[first[source].model, first[source].config] for source in sources])
    seen = look(task, sources, [counted[source] for source in sources])
    return Lesson(task.id, seen.rows, faults, start, weights)


def _odds(examples: Sequence[Example]) -> dict[tuple[str, str], float]:
    """Return the log-odds of each model's programs, a little nearer to even."""
    right: dict[tuple[str, str], int] = {}
    every: dict[tuple[str, str], int] = {}
    for row in examples:
        key = row.model, row.config
        right[key] = right.get(key, 0) + row.n * (row.fault is Fault.CORRECT)
        every[key] = every.get(key, 0) + row.n
    return {key: log((right[key] + 2) / (every[key] - right[key] + 2)) for key in every}


def _call(test: object, name: str) -> tuple[str, str] | None:
    """Return a test as a call and its value, as text."""
    if isinstance(test, Call):
        return f"{name}({', '.join(map(repr, test.args))})", repr(test.expected)
    if not isinstance(test, Script):
        return None
    try:
        body = ast.parse(test.source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))]:
            return ast.unparse(left), ast.unparse(right)
        case _:
            return None


def _head(task: Task) -> str:
    """Return the first line of the reference's function."""
    try:
        body = ast.parse(task.reference).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == task.entry_point]
    return f"def {task.entry_point}({ast.unparse(found[-1].args)}):" if found else ""
