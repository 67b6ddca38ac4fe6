"""Read tasks from files in the formats of published benchmarks, pytest and Assay.

A format is told by the fields that the records of a file have, not by its name.

HumanEval (Chen et al. 2021): `task_id`, `prompt`, `entry_point`, `test`, `canonical_solution`. A program is the prompt
with a completion. Prompt, program and tests share their names there and in BigCodeBench: HumanEval/32, 38 and 50 define
a function above the one to be written, and their tests call it. A program could bring another one, so what the tests
use of the prompt runs with them, where a program cannot change it.

BigCodeBench (Zhuo et al. 2024): `complete_prompt` for `prompt`, `code_prompt`, and `test` with the unittest class
`TestCases`. Its evaluation starts each program with `code_prompt` and `pass`, so that what the prompt imports is there.

MBPP (Austin et al. 2021): `task_id`, `text` or `prompt`, `code`, `test_list`, and where there are any
`challenge_test_list`, whose asserts count too, `test_setup_code` or `test_imports`. Ids are `Mbpp/N`, as in EvalPlus.

EvalPlus (Liu et al. 2023): `task_id`, `prompt`, `entry_point`, `canonical_solution`, `base_input`, `plus_input`,
`contract`, `atol`. What it compares otherwise than by equality is here too: floats within 1e-6 where `atol` is 0, and
its own oracles. JSON has no tuples or sets: the contract and the reference tell where a list was one (`answering`).

APPS (Hendrycks et al. 2021), in any of its layouts: `apps`.

LiveCodeBench (Jain et al. 2024): `question_id`, `question_content`, `starter_code`, `metadata` with a `func_name` where
a function is called, `public_test_cases` and `private_test_cases`: lists of objects of `input` and `output` as JSON, or
as JSON in a pickle, compressed, in base64. A pickle can run anything, so no more of it is read than one text. Its
evaluation starts each program with imports of the standard library.

Assay: `id`, `prompt`, `entry_point`, `setup`, `reference`, `timeout_s`, `tags`, and `tests`, a list of objects of one
of four kinds: `script`; `args` with `expected` (JSON values), or `call` with `returns` (the same as Python writes it),
each with `atol`; `stdin` with `stdout`; `pytest`. An unknown field is refused.

pytest: each `test_NAME.py` or `NAME_test.py` is a task. Where a test imports `NAME`, it imports the program instead, on
the same line; `NAME.py` beside the test is the task's reference.
"""

from __future__ import annotations

import ast
import base64
import json
import math
import pickletools
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from assay.corpus.python_syntax import parse_python
from assay.errors import InputError, nearest
from assay.io import rows
from assay.io.fields import FieldError, Fields, describe_value
from assay.io.rows import text_of
from assay.programs.tasks.apps import apps_task, folders, is_apps
from assay.values import Call, Problem, Pytest, Script, Stdin, Task, Test


@dataclass(frozen=True, slots=True)
class Inputs:
    """Arguments of calls whose expected values come from the task's reference."""

    args: tuple[tuple[Any, ...], ...]
    contract: str = ""
    """Statements over the parameters that fail for arguments that are not allowed."""
    atol: float = 0.0


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The tasks of a file, in order."""

    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...] = ()
    form: str = ""
    inputs: Mapping[str, Inputs] = field(default_factory=dict, hash=False)
    """By the id of a task that has no tests yet: its reference has to be run for them."""
    notes: tuple[Problem, ...] = ()
    """What is no problem and worth a look: tests that hold for programs that do nothing."""


Made = Task | tuple[Task, Inputs]


def gathered(path: Path, form: str, make: Callable[[Fields], Made]) -> TaskFile:
    """Return the tasks of a file; report unusable and repeated records."""
    problems: list[Problem] = []
    tasks: dict[str, Task] = {}
    inputs: dict[str, Inputs] = {}
    read = folders(path, problems) if path.is_dir() else rows.objects(path, problems)
    for row, fields in read:
        where = rows.place(path, row) if isinstance(row, int) else row
        try:
            made = make(Fields(fields))
        except FieldError as error:
            problems.append(Problem(where, str(error)))
            continue
        task, calls = made if isinstance(made, tuple) else (made, None)
        if task.id in tasks:
            same = "the same again" if tasks[task.id] == task else "another one: the first counts"
            problems.append(Problem(where, f"there is a task '{task.id}' already, and this is {same}"))
            continue
        tasks[task.id] = task
        if calls is not None:
            inputs[task.id] = calls
        elif not task.tests:
            problems.append(Problem(where, f"task '{task.id}' has no tests: its programs stay undecided"))
    return TaskFile(tuple(tasks.values()), tuple(problems), form, inputs)


_BINDING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign,
)  # fmt: skip


def helpers_of(prompt: str, entry: str, *tests: str) -> str:
    """Return the statements of a prompt that its tests need, without the function under test."""
    bindings = (node for node in parsed(prompt).body if isinstance(node, _BINDING))
    others = [node for node in bindings if getattr(node, "name", "") != entry]
    needed: set[int] = set()
    used = {name for test in tests for name in _names(parsed(test), ast.Load)}
    while more := {place for place, node in enumerate(others) if place not in needed and used & _bound(node)}:
        needed |= more
        used |= {name for place in more for name in _names(others[place], ast.Load)}
    return "\n".join(ast.unparse(others[place]) for place in sorted(needed))


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return _names(node, ast.Store)
    return {getattr(node, "name", "")}


def _names(tree: ast.AST, context: type[ast.expr_context]) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


def parsed(source: str) -> ast.Module:
    """Return the tree of a source; an empty one if it does not parse."""
    return parse_python(source) or ast.Module(body=[], type_ignores=[])


def _humaneval_task(record: Fields) -> Task:
    prompt = record.text("complete_prompt" if "complete_prompt" in record else "prompt")
    name, test, start = record.text("entry_point"), record.text("test", ""), record.text("code_prompt", "")
    setup, prelude = helpers_of(prompt, name, test), ""
    if start:
        setup, prelude = f"{_PRESENT}{setup}", f"{_PRESENT}{start}\n    pass\n"
    return Task(
        record.name("task_id"),
        prompt,
        name,
        tests=(Script(test),) if test.strip() else (),
        setup=setup,
        reference=whole(prompt, record.text("canonical_solution", "")),
        tags={"prelude": prelude} if prelude else {},
    )


_PRESENT = "import os, sys; from os import environ\n"
"""What BigCodeBench's evaluation has in the module in which programs and tests run."""


def whole(prompt: str, canonical: str) -> str:
    """Return the program of a prompt with its solution; empty without a solution."""
    return prompt + canonical if canonical else ""


def _mbpp_task(record: Fields) -> Task:
    tests = (*record.texts("test_list"), *record.texts("challenge_test_list", ()))
    code = record.text("code")
    setup = (record.text("test_setup_code", ""), *record.texts("test_imports", ()))
    return Task(
        id_of(record),
        record.text("prompt", "") or record.text("text"),
        function_of(code, "\n".join(tests)),
        tests=_separate([test for test in tests if test.strip()]),
        setup="\n".join(part for part in setup if part),
        reference=code,
    )


def _separate(sources: list[str]) -> tuple[Script, ...]:
    """Return one test per text, or one for all if a later one uses names of an earlier one."""
    bound = set[str]()
    for source in sources:
        tree = parsed(source)
        if bound & _names(tree, ast.Load):
            return (Script("\n".join(sources)),)
        targets = (node.target for node in tree.body if isinstance(node, ast.For | ast.AugAssign))
        bound = bound.union(*(_names(target, ast.Store) for target in targets))
        bound = bound.union(*(_bound(node) for node in tree.body if isinstance(node, _BINDING)))
    return tuple(map(Script, sources))


def id_of(record: Fields) -> str:
    """Return the id of a task, `Mbpp/N` for a number N."""
    name = record.name("task_id")
    return f"Mbpp/{name}" if name.isdecimal() else name


def function_of(source: str, tests: str = "") -> str:
    """Return the name of the function that tests call first, or else the last function of a source."""
    defined = [node.name for node in parsed(source).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    calls = (node.func for node in ast.walk(parsed(tests)) if isinstance(node, ast.Call))
    called = (function.id for function in calls if isinstance(function, ast.Name))
    return next((name for name in called if name in defined), defined[-1] if defined else "")


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
_ALSO_RIGHT: Mapping[str, Callable[..., int]] = {
    "sum_div": lambda *_: 0,
    "surface_Area": lambda side, height: round(side**2 + 2 * side * math.hypot(side / 2, height)),
    "digit_distance_nums": lambda *numbers: _by_digits(*map(str, numbers)),
}
"""Functions of MBPP+ whose prompts can be read in two ways, with what the other one answers."""


def _by_digits(one: str, other: str) -> int:
    """Return the sum of the differences of two numbers' digits."""
    width = max(len(one), len(other))
    return sum(abs(int(a) - int(b)) for a, b in zip(one.zfill(width), other.zfill(width), strict=True))


def _evalplus_task(record: Fields) -> tuple[Task, Inputs]:
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
    return task, Inputs(tuple(map(tuple, inputs)), record.text("contract", ""), record.number("atol", 0.0))


def evalplus_test(name: str, args: tuple[Any, ...], expected: Any, atol: float) -> Test:
    """Return EvalPlus's test for a call and the reference's result."""
    if name in _AS_SETS:
        return Script(f"assert set({name}(*{args!r})) == set({expected!r})")
    if name in _AS_TRUTHS:
        truth = expected if isinstance(expected, bool) else expected is not None
        found = "(found if isinstance(found, bool) else found is not None)"
        return Script(f"found = {name}(*{args!r})\nassert {found} == {truth}")
    if name == _ROOT:
        xs = "sum(c * root**i for i, c in enumerate(xs))"
        return Script(f"xs = {args[0]!r}\nroot = {name}(list(xs))\nassert abs({xs}) <= {max(atol, 1e-4)!r}")
    if name in _ALSO_RIGHT:
        return Script(f"assert {name}(*{args!r}) in ({expected!r}, {_ALSO_RIGHT[name](*args)!r})")
    return Call(args, expected, max(atol, _FLOAT_ATOL) if _has_float(expected) else 0.0)


def _has_float(value: Any) -> bool:
    if isinstance(value, list | tuple | set | frozenset | dict):
        return any(map(_has_float, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float | complex)


_MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json"
).split()
_PRELUDE = "; ".join(
    (
        *(f"from {name} import *" for name in (*_MODULES, "builtins", "typing")),
        f"import {', '.join(_MODULES)}",
        "sys.setrecursionlimit(50000)\n",
    )
)
"""What LiveCodeBench puts before each program, on one line."""


def _livecodebench_task(record: Fields) -> Task:
    name = record.from_text().mapping("metadata", {}).get("func_name")
    cases = [each for kind in ("public", "private") for each in _cases(record, f"{kind}_test_cases")]
    tests: tuple[Test, ...] = tuple(Stdin(given, wanted) for given, wanted in cases)
    if name is not None:
        if not isinstance(name, str) or not name.isidentifier():
            raise FieldError("field 'metadata' has a 'func_name' that is not the name of a function")
        tests = tuple(Call(tuple(map(_parsed, given.split("\n"))), _parsed(wanted)) for given, wanted in cases)
    return Task(
        f"LiveCodeBench/{record.name('question_id')}",
        record.text("question_content"),
        name or "",
        tests=tests,
        tags={
            "values": "json",
            "prelude": _PRELUDE,
            **record.tags("difficulty", "platform", "contest_date", "starter_code"),
        },
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FieldError(f"a test of a function has {text!r:.40}, which is not JSON") from error


def _cases(record: Fields, name: str) -> Iterator[tuple[str, str]]:
    """Yield input and output of each test in a field: a list, its JSON, or its JSON in a compressed pickle."""
    value = record.values.get(name) or []
    if isinstance(value, str):
        value = _parsed(value if value.lstrip().startswith("[") else _unpacked(name, value))
    if not isinstance(value, list):
        raise FieldError(f"field '{name}' is {describe_value(value)}, wanted a list of tests")
    for case in value:
        if not (isinstance(case, dict) and isinstance(case.get("input"), str) and isinstance(case.get("output"), str)):
            raise FieldError(f"field '{name}' has items that are not objects with texts 'input' and 'output'")
        yield case["input"], case["output"]


_MAX_UNPACKED_BYTES = 1 << 28
"""Bytes of the tests of one task."""
_TEXTS = frozenset({"SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"})
_MAX_OPCODES = 16
_AROUND = frozenset({"PROTO", "FRAME", "MEMOIZE", "BINPUT", "LONG_BINPUT", "STOP"})


def _unpacked(name: str, value: str) -> str:
    """Return the single text in a compressed pickle in base64; refuse any other pickle without loading it."""
    try:
        reader = zlib.decompressobj()
        pickled = reader.decompress(base64.b64decode(value, validate=True), _MAX_UNPACKED_BYTES)
        if not reader.eof:
            raise FieldError(f"field '{name}' unpacks to more than {_MAX_UNPACKED_BYTES >> 20} MiB, or is cut off")
        codes = [(code.name, given) for code, given, _ in islice(pickletools.genops(pickled), _MAX_OPCODES)]
    except (ValueError, zlib.error) as error:
        raise FieldError(f"field '{name}' is neither JSON nor a compressed pickle of it: {error!s:.80}") from error
    odd = next((code for code, _ in codes if code not in _TEXTS | _AROUND), "")
    texts = [given for code, given in codes if code in _TEXTS]
    if odd or len(texts) != 1 or len(codes) == _MAX_OPCODES:
        raise FieldError(f"field '{name}' is a pickle of more than one text{f' ({odd})' if odd else ''}: not read")
    return str(texts[0])


_FIELDS = ("id", "prompt", "entry_point", "tests", "setup", "reference", "timeout_s", "tags")


def _own_task(record: Fields) -> Task:
    record.only(_FIELDS)
    tags = record.mapping("tags", {})
    if not all(isinstance(value, str) for value in tags.values()):
        raise FieldError("field 'tags' has values that are not texts")
    name, prompt = record.text("entry_point", ""), record.text("prompt", "")
    tests = tuple(_test(f"tests[{number}]", test, name) for number, test in enumerate(record.list("tests", ())))
    if all(isinstance(test, Script) for test in tests):
        tests = _separate([test.source for test in tests if isinstance(test, Script)])
    sources = [test.source for test in tests if isinstance(test, Script | Pytest)]
    setup = record.text("setup", "")
    return Task(
        record.name("id"),
        prompt,
        name,
        tests=tests,
        setup="\n".join(filter(None, (helpers_of(prompt, name, setup, *sources), setup))),
        reference=record.text("reference", ""),
        timeout_s=record.number("timeout_s", 0.0),
        tags=tags,
    )


def _test(where: str, fields: object, name: str) -> Test:
    if not isinstance(fields, dict):
        raise FieldError(f"field '{where}' is {describe_value(fields)}, wanted an object")
    kind = next((kind for kind in _KINDS if kind in fields), "")
    if not kind:
        raise FieldError(f"field '{where}' is not a test: it needs one of {', '.join(_KINDS)}")
    if kind in {"args", "call"} and not name:
        raise FieldError(f"field '{where}' is a call, which needs the task's 'entry_point'")
    try:
        record, (names, make) = Fields(fields), _KINDS[kind]
        record.only(names)
        return make(record)
    except FieldError as error:
        raise FieldError(f"field '{where}': {error}") from error


def _args(record: Fields) -> Call:
    if "expected" not in record.values:
        raise FieldError("no field 'expected'")
    return Call(record.list("args"), record.values["expected"], record.number("atol", 0.0))


def _call(record: Fields) -> Call:
    args = _literal(record, "call")
    return Call(args if isinstance(args, tuple) else (args,), _literal(record, "returns"), record.number("atol", 0.0))


def _literal(record: Fields, name: str) -> Any:
    text = record.text(name)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
        raise FieldError(f"field '{name}' is not a Python literal: {text[:40]!r}") from error


_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[[Fields], Test]]] = {
    "script": (("script",), lambda record: Script(record.text("script"))),
    "args": (("args", "expected", "atol"), _args),
    "call": (("call", "returns", "atol"), _call),
    "stdin": (("stdin", "stdout"), lambda record: Stdin(record.text("stdin"), record.text("stdout"))),
    "pytest": (("pytest",), lambda record: Pytest(record.text("pytest"))),
}
"""What tells a kind of test: the fields that it has, and what makes it of them."""


PYTHON = "*.py"
"""What stands for fields where a file has none, being Python, or a folder."""
_MODULE = "solution"


def read_pytest(path: Path) -> TaskFile:
    """Read each test file as a task; its id is the path without suffix."""
    problems: list[Problem] = []
    tasks: list[Task] = []
    base = path if path.is_dir() else path.parent
    for file in filter(_subject, sorted(path.rglob("*.py")) if path.is_dir() else [path]):
        where = file.relative_to(base)
        try:
            tasks.append(_pytest_task(file, where.with_suffix("").as_posix()))
        except InputError as error:
            problems.append(Problem(where.as_posix(), str(error)))
    return TaskFile(tuple(tasks), tuple(problems), "pytest")


def _subject(file: Path) -> str:
    """Return the module under test of a test file; empty for other files."""
    found = re.fullmatch(r"test_(.*)|(.*)_test", file.stem, re.DOTALL)
    return (found[1] or found[2] or "") if found and file.suffix == ".py" else ""


def _pytest_task(file: Path, name: str) -> Task:
    subject = _subject(file)
    beside = file.with_name(f"{subject}.py")
    return Task(
        name,
        prompt="",
        tests=(Pytest(_redirected(text_of(file), subject)),),
        reference=text_of(beside) if beside.is_file() else "",
    )


def _redirected(source: str, subject: str) -> str:
    """Return a test that imports the program in place of the module under test."""
    name = re.escape(subject)
    source = re.sub(rf"^(\s*from\s+)\.?{name}(\s+import\s)", rf"\1{_MODULE}\2", source, flags=re.MULTILINE)
    source = re.sub(rf"^(\s*import\s+){name}(\s+as\s)", rf"\1{_MODULE}\2", source, flags=re.MULTILINE)
    return re.sub(rf"^(\s*import\s+){name}[ \t]*$", rf"\1{_MODULE} as {subject}", source, flags=re.MULTILINE)


_FORMATS: Mapping[str, tuple[Callable[[Fields], Made] | None, Callable[[AbstractSet[str]], bool], str]] = {
    "evalplus": (_evalplus_task, lambda keys: "plus_input" in keys, "HumanEval+ and MBPP+ as EvalPlus keeps them"),
    "bigcodebench": (
        _humaneval_task, lambda keys: {"complete_prompt", "test", "entry_point"} <= keys, "BigCodeBench, full or hard",
    ),
    "humaneval": (
        _humaneval_task, lambda keys: {"prompt", "test", "entry_point"} <= keys, "HumanEval, or a file with its fields",
    ),
    "livecodebench": (
        _livecodebench_task,
        lambda keys: {"question_id", "question_content", "public_test_cases"} <= keys,
        "LiveCodeBench's code generation, functions and whole programs",
    ),
    "apps": (
        apps_task,
        lambda keys: "input_output" in keys or {"description", "test_list", "starter_code"} <= keys,
        "APPS, functions and whole programs",
    ),
    "mbpp": (_mbpp_task, lambda keys: {"task_id", "code", "test_list"} <= keys, "MBPP, all 974 or sanitized"),
    "own": (_own_task, lambda keys: {"id", "tests"} <= keys, "our own JSON lines, which hold every kind of test"),
    "pytest": (None, lambda keys: PYTHON in keys, "a test file of pytest, or a folder of them"),
}  # fmt: skip
"""By name, in the order in which they are tried: what makes a task of a record, what its fields are, what it is."""


def read_tasks(path: Path, form: str = "") -> TaskFile:
    """Read tasks, by default in the format of their contents; raise InputError if none is usable."""
    name = form or form_of(path)
    if name not in _FORMATS:
        raise InputError(f"unknown format '{name}'; {nearest(name, list(_FORMATS))}")
    make = _FORMATS[name][0]
    reading = gathered(path, name, make) if make else read_pytest(path)
    if not reading.tasks:
        first = f": {reading.problems[0]}" if reading.problems else ""
        more = f" (and {len(reading.problems) - 1:,} more)" if len(reading.problems) > 1 else ""
        raise InputError(f"'{path}' has no usable task{first}{more}")
    return reading


def form_of(path: Path) -> str:
    """Return the format of a file or folder by its contents."""
    problems: list[Problem] = []
    if path.is_dir() and is_apps(path):
        return "apps"
    is_python = path.is_dir() or path.suffix == ".py"
    keys = {PYTHON} if is_python else {name for record in rows.sample(path, problems) for name in record}
    found = next((name for name, (_, fits, _) in _FORMATS.items() if fits(keys)), "")
    if not found:
        why = f" (its fields: {', '.join(sorted(keys)[:12])})" if keys else f" ({problems[0]})" if problems else ""
        known = "; ".join(f"{name} ({what})" for name, (*_, what) in _FORMATS.items())
        raise InputError(f"cannot tell the format of '{path}'{why}: name it with --from; known: {known}")
    return found
