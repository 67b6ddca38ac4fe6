"""The rankers that run programs in a sandbox: on the examples of a task's text, and on inputs that have no answer.

`examples` scores a program by the fraction of its task's examples that it passes. `agreement` scores it by how many
others answer as it does: on generated tests CodeT's dual agreement (Chen et al. 2022), else on inputs made up from the
task's text. Each text runs once for all inputs. Values cross as plain data and are compared here, so a program can only
agree by answering alike.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cage.job import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.io import rows
from assay.io.fields import Fields
from assay.programs.answers import Input, ProgramAnswer, answers, askable
from assay.programs.execute import Execution, executions
from assay.programs.harness.comparison import canonical
from assay.programs.shown_examples import examples_in
from assay.programs.verdict import usable_tests
from assay.rank.running.inputs import in_order, made_inputs
from assay.values import Call, Problem, Program, Ranked, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner


EXAMPLE_LIMITS: Final = Limits(cpu_s=2, wall_s=6)


class ExamplesRanker:
    """The ranker `examples`."""

    name = "examples"

    def __init__(self, runner: ProgramRunner, *, limits: Limits = EXAMPLE_LIMITS) -> None:
        self._runner = runner
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the share of examples that each program passes."""
        posed = replace(task, setup="", timeout_s=0.0)
        posed = replace(posed, tests=usable_tests(posed, examples_in(task)))
        if not posed.tests:
            return [Ranked(program, 0.0, why={"examples": 0.0}) for program in programs]
        own = [replace(program, task_id=task.id) for program in programs]
        ran = executions([posed], own, self._runner, limits=self._limits, survey=True)
        return [_ranked(program, one, len(posed.tests)) for program, one in zip(programs, ran, strict=True)]


def _ranked(program: Program, one: Execution, count: int) -> Ranked:
    held = min(len(one.passed), count)
    why = {"examples": float(count), "passed": float(held)}
    return Ranked(program, held / count, one.outcome.fault, one.outcome.line, why)


LIMITS: Final = Limits(cpu_s=1, wall_s=4)
INPUTS: Final = 40
_MOST_TESTS: Final = 500
"""Those generated the most often; CodeT makes at most as many of its hundred texts."""
_MOSTLY: Final = 0.5
"""A program breaks that breaks on more of the inputs than this, which most programs answer."""

Tests = Sequence[tuple[Call, int]]


class AgreementRanker:
    """The ranker `agreement`, or `agreement:FILE` with a file of generated tests."""

    def __init__(  # each is one thing
        self, runner: ProgramRunner, given: str = "", *, inputs: int = INPUTS, seed: int = 0, limits: Limits = LIMITS
    ) -> None:
        self.name = f"agreement:{given}" if given else "agreement"
        self._runner = runner
        self._given = GeneratedTests(Path(given)) if given else None
        self._inputs = inputs
        self._seed = seed
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how well each program agrees with the others."""
        distinct, counts = _distinct(programs)
        tests = self._tests(task)
        inputs = in_order(_arguments(tests)) if tests else self._make_inputs(task, distinct)
        rows = list(answers(task.entry_point, distinct, inputs, self._runner, self._limits))
        scores = _agreement(rows, counts, inputs, tests) if tests else alike(rows, counts)
        told = zip(distinct, rows, scores, same_as(rows, counts), strict=True)
        fair = _fair(rows)
        known = {
            program.source: (score, *_broken(row, fair), _why(len(inputs), len(tests), same))
            for program, row, score, same in told
        }
        return [Ranked(program, *known[program.source]) for program in programs]

    def _tests(self, task: Task) -> list[tuple[Call, int]]:
        tests = [pair for pair in self._given.tests(task) if askable(pair[0].args)] if self._given else []
        return sorted(tests, key=lambda pair: -pair[1])[:_MOST_TESTS]

    def _make_inputs(self, task: Task, programs: Sequence[Program]) -> list[Input]:
        made = made_inputs(task, examples_in(task), programs, most=self._inputs, seed=self._seed)
        return [each for each in made if askable(each)]


def _distinct(programs: Sequence[Program]) -> tuple[list[Program], list[int]]:
    """Return one program a text, and how often that text was sampled."""
    counts: dict[str, int] = {}
    for program in programs:
        counts[program.source] = counts.get(program.source, 0) + program.n
    first: dict[str, Program] = {}
    for program in programs:
        first.setdefault(program.source, program)
    return list(first.values()), list(counts.values())


def _arguments(tests: Tests) -> list[Input]:
    return list({repr(call.args): call.args for call, _ in tests}.values())


def _agreement(rows: Sequence[Row], counts: Sequence[int], inputs: Sequence[Input], tests: Tests) -> list[float]:
    place = {repr(each): number for number, each in enumerate(inputs)}
    wanted = [(place[repr(call.args)], canonical(call.expected)) for call, _ in tests]
    held = [
        frozenset(number for number, (at, text) in enumerate(wanted) if row[at].fault is None and row[at].text == text)
        for row in rows
    ]
    return dual(held, counts, [times for _, times in tests])


def _fair(rows: Sequence[Row]) -> list[int]:
    """Return the inputs that most programs answer, all where there is none."""
    columns = list(zip(*rows, strict=True))
    fair = [at for at, column in enumerate(columns) if sum(each.fault is None for each in column) > len(rows) * _MOSTLY]
    return fair or list(range(len(columns)))


def _broken(row: Row, fair: Sequence[int]) -> tuple[Fault | None, int]:
    """Return how and where a program breaks that does so on most of the inputs."""
    broken = [row[at] for at in fair if row[at].fault is not None]
    return (broken[0].fault, broken[0].line) if len(broken) > len(fair) * _MOSTLY else (None, -1)


def _why(inputs: int, tests: int, same: int) -> Mapping[str, float]:
    return {"inputs": float(inputs), "tests": float(tests), "alike": float(same if inputs else 0)}


Row = tuple[ProgramAnswer, ...]
"""What one program answered to each input."""


def dual(held: Sequence[frozenset[int]], counts: Sequence[int], times: Sequence[int]) -> list[float]:
    """Score sets of programs that pass the same tests: the root of their samples times the tests, as CodeT does.

    `held` are the tests that each program passes, `times` how often each test was generated.
    """
    samples: Counter[frozenset[int]] = Counter()
    for passed, count in zip(held, counts, strict=True):
        samples[passed] += count
    return [sqrt(samples[passed]) * sum(times[test] for test in passed) for passed in held]


def alike(rows: Sequence[Row], counts: Sequence[int]) -> list[float]:
    """Score each program by the square of the share of the pool that answers as it does, in the mean over inputs.

    A text weighs the root of its samples. An input weighs what share of the pool answers it at all; an answer that is
    None or nothing counts `_EMPTY`, and an error, however common, nothing: counting errors cost 5 points on MBPP.
    """
    masses = [sqrt(count) for count in counts]
    whole = sum(masses)
    scores, weights = [0.0] * len(rows), 0.0
    for column in zip(*rows, strict=True):
        shares: dict[tuple[str, bool], float] = {}
        for answer, mass in zip(column, masses, strict=True):
            shares[answer.key] = shares.get(answer.key, 0.0) + mass / whole
        weight = sum(share for (_, answered), share in shares.items() if answered)
        weights += weight
        for number, answer in enumerate(column):
            scores[number] += weight * _worth(answer) * shares[answer.key] ** 2
    return [score / weights if weights else 0.0 for score in scores]


def same_as(rows: Sequence[Row], counts: Sequence[int]) -> list[int]:
    """Return how many samples answer every input as each program does, itself among them."""
    keys = [tuple(answer.key for answer in row) for row in rows]
    samples: Counter[tuple[tuple[str, bool], ...]] = Counter()
    for key, count in zip(keys, counts, strict=True):
        samples[key] += count
    return [samples[key] for key in keys]


_EMPTY = 0.3


def _worth(answer: ProgramAnswer) -> float:
    if answer.fault is not None:
        return 0.0
    return 1.0 if answer.says else _EMPTY


PER_SAMPLE: Final = 5
_LONGEST: Final = 20_000
_ENDS: Final = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
_NAME: Final = re.compile(r"check the correctness of (\w+)")


class GeneratedTests:
    """Generated tests, read once; asked by task."""

    def __init__(self, path: Path) -> None:
        self._by_task: dict[str, list[list[str]]] = {}
        self._by_name: dict[str, list[list[str]]] = {}
        problems: list[Problem] = []
        for row, fields in rows.objects(path, problems):
            self._add(rows.place(path, row), Fields(fields))
        if problems:
            raise InputError(f"{path} holds rows that are no tests: {problems[0]}; take them out to go on")

    def tests(self, task: Task) -> list[tuple[Call, int]]:
        """Return each test of a task, and how often it was generated."""
        samples = self._by_task.get(task.id) or self._by_name.get(task.entry_point, [])
        return counted(samples, task.entry_point)

    def _add(self, where: str, record: Fields) -> None:
        if "tests" in record and "task_id" in record:
            tests = self._by_task.setdefault(record.name("task_id"), [])
            tests.extend([str(each)] for each in record.list("tests"))
            return
        name = _NAME.findall(record.text("prompt", ""))
        if not name or "samples" not in record:
            raise InputError(
                f"{where}: no generated tests; wanted task_id and tests, or prompt and samples as CodeT has"
            )
        self._by_name.setdefault(name[-1], []).extend(_asserts(str(each)) for each in record.list("samples"))


def counted(samples: Iterable[Iterable[str]], name: str) -> list[tuple[Call, int]]:
    """Return the tests that asserts are, each once with how often it is there."""
    found: dict[str, tuple[Call, int]] = {}
    for sample in samples:
        calls = [call for text in sample if (call := call_of(text, name))]
        for call in calls[:PER_SAMPLE]:
            key = repr((call.args, call.expected))
            found[key] = (call, found[key][1] + 1 if key in found else 1)
    return list(found.values())


def call_of(text: str, name: str) -> Call | None:
    """Return the call that an assert is about, None for an assert of another form."""
    if name not in text or len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text.strip()).body
            return _call(body[0].test, name) if len(body) == 1 and isinstance(body[0], ast.Assert) else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _call(tree: ast.expr, name: str) -> Call | None:
    expected: Any = True
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
        tree, expected = tree.operand, False
    elif isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq | ast.Is):
        left, right = tree.left, tree.comparators[0]
        tree, value = (left, right) if isinstance(left, ast.Call) else (right, left)
        expected = ast.literal_eval(value)
    if not isinstance(tree, ast.Call) or getattr(tree.func, "id", "") != name or tree.keywords:
        return None
    return Call(tuple(map(ast.literal_eval, tree.args)), expected)


def _asserts(text: str) -> list[str]:
    """Return the asserts of what followed `assert`, each up to where other code begins."""
    parts = f"assert {text[:_LONGEST]}".split("assert ")[1:]
    cut = []
    for part in parts:
        ends = [place for end in _ENDS if (place := part.find(end)) >= 0]
        cut.append(f"assert {part[: min(ends, default=len(part))].strip()}")
    return cut
