"""Rank programs by running them on the examples of their task, and on generated inputs.

The examples' own inputs, their edges, and changes of them; the same task and seed give the same inputs. A program that
takes too long on one does not get the next, so small ones come first, and negative numbers and zeros last where no
example has them. Texts on standard input are changed within a line, for the first lines often say how many there are.

`examples` scores a program by the fraction of its task's examples that it passes. `agreement` scores it by how many
others answer as it does to inputs like those of the examples. Where the task shows none, they are like those of calls
that the programs themselves hold: models often write one below their function. Each text runs once for all inputs.
Values cross as plain data and are compared here, so a program can only agree by answering alike.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from assay.cage.limits import Limits
from assay.corpus.python_syntax import parse_python
from assay.faults import Fault
from assay.programs.answers import Input, ProgramAnswer, answers, is_askable
from assay.programs.execute import Execution, executions
from assay.programs.shown_doctests import literal_arguments
from assay.programs.shown_examples import examples_in
from assay.programs.verdict import usable_tests
from assay.values import Call, Program, Ranked, Stdin, Task, Test

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner

_TRIES: Final = 8
"""How many inputs are made for one that is kept: many turn out the same."""
_MAX_INPUT_CHARS: Final = 5000
"""Characters of one input."""
_MAX_SOURCE_CHARS: Final = 20_000
"""Characters of a program that is looked at for calls."""
_LARGE: Final = 1e9
_EDGES: Final = 0.35
"""The most that edges are of all inputs."""
_WORD: Final = re.compile(r"\S+")


def made_inputs(task: Task, examples: Iterable[Test], *, most: int, seed: int = 0) -> tuple[Input, ...]:
    """Generate at most so many distinct inputs; none for a task without examples."""
    lot = random.Random(f"{seed}\0{task.id}")  # noqa: S311  # nothing secret
    seeds: list[Input] = []
    for example in examples:
        if isinstance(example, Call):
            seeds.append(example.args)
        elif isinstance(example, Stdin):
            seeds.append(example.text)
    if task.entry_point:
        calls = [each for each in seeds if isinstance(each, tuple)]
        return in_order(_first(_arguments(calls, most, lot), most), calls)
    texts = [each for each in seeds if isinstance(each, str)]
    return in_order(_first(_texts(texts, most, lot), most), texts)


def in_order(inputs: Iterable[Input], seeds: Iterable[Input] = ()) -> tuple[Input, ...]:
    """Order inputs: small ones first, and last those that loops may not end on (negative, if no example is)."""
    usual = min((1.0, *map(_least, seeds)))
    return tuple(sorted(inputs, key=lambda each: (_least(each) < usual, _size(each))))


def _first(inputs: Iterable[Input], most: int) -> list[Input]:
    """Return the first inputs, each once."""
    kept: dict[str, Input] = {}
    for each in inputs:
        text = repr(each)
        if len(text) <= _MAX_INPUT_CHARS:
            kept.setdefault(text, each)
        if len(kept) >= most:
            break
    return list(kept.values())


def _least(value: Any) -> float:
    """Return the smallest number in a value."""
    if isinstance(value, int | float):
        return float(max(value, -_LARGE))
    if isinstance(value, dict):
        return _least([*value, *value.values()])
    return min(map(_least, value), default=_LARGE) if isinstance(value, list | tuple | set) else _LARGE


def _size(value: Any) -> float:
    """Return the length of a value plus the size of its numbers."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int | float):
        return float(min(abs(value), _LARGE))
    if isinstance(value, dict):
        return _size([*value, *value.values()])
    return 1 + sum(map(_size, value)) if isinstance(value, list | tuple | set) else 1


def _arguments(seeds: list[tuple[Any, ...]], most: int, lot: random.Random) -> Iterator[tuple[Any, ...]]:
    yield from seeds
    extreme = list(_edges(seeds))
    lot.shuffle(extreme)
    yield from islice(extreme, int(most * _EDGES))
    for _ in range(most * _TRIES if seeds else 0):
        args = lot.choice(seeds)
        for _ in range(lot.choice((1, 1, 2, 3))):
            args = _varied(args, seeds, lot)
        yield args


def _edges(seeds: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for args in seeds[:3]:
        for place, value in enumerate(args):
            for edge in edges(value):
                yield (*args[:place], edge, *args[place + 1 :])


def _varied(args: tuple[Any, ...], seeds: list[tuple[Any, ...]], lot: random.Random) -> tuple[Any, ...]:
    """Return arguments with one of them changed, or taken from another example."""
    if not args:
        return args
    place = lot.randrange(len(args))
    other = lot.choice(seeds)
    fresh = other[place] if lot.random() < 0.2 and len(other) == len(args) else changed(args[place], lot)
    return (*args[:place], fresh, *args[place + 1 :])


def _texts(seeds: list[str], most: int, lot: random.Random) -> Iterator[str]:
    yield from seeds
    for _ in range(most * _TRIES if seeds else 0):
        lines = lot.choice(seeds).splitlines()
        for _ in range(lot.choice((1, 1, 2))):
            lines = _line_changed(lines, lot)
        yield "".join(f"{line}\n" for line in lines)


def _line_changed(lines: list[str], lot: random.Random) -> list[str]:
    places = [number for number, line in enumerate(lines) if line.strip()]
    if not places:
        return lines
    place = lot.choice(places)
    words = _WORD.findall(lines[place])
    if len(words) > 1 and lot.random() < 0.3:
        lot.shuffle(words)
    else:
        at = lot.randrange(len(words))
        words[at] = _word_changed(words[at], lot)
    return [*lines[:place], " ".join(words), *lines[place + 1 :]]


def _word_changed(word: str, lot: random.Random) -> str:
    for kind in (int, float):
        try:
            value: float = kind(word)
        except ValueError:
            continue
        return str(changed(value, lot)) if abs(value) < 1e15 else word  # larger ones stay
    return "".join(changed(word, lot).split()) or word


_MAX_DEPTH: Final = 6
_MAX_ITEMS: Final = 40
_RARE: Final = 0.12


def changed(value: Any, lot: random.Random, *, depth: int = 0) -> Any:
    """Return a random variation of a value."""
    change = _CHANGES.get(type(value))
    return value if change is None or depth > _MAX_DEPTH else change(value, lot, depth)


def edges(value: Any) -> tuple[Any, ...]:
    """Return the edge cases of the type of a value."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (0, 1, 2, value + 1, value * 2, -1)
    if isinstance(value, float):
        return (0.0, 1.0, value + 0.5, -value)
    if isinstance(value, str):
        return ("", value[:1], value[::-1], value.upper(), f"{value} {value}")
    if isinstance(value, list | tuple):
        return (value[:0], value[:1], value[::-1], value * 2, *_in_order(value))
    return (type(value)(),) if isinstance(value, dict | set) else ()


def _in_order(value: Any) -> tuple[Any, ...]:
    try:
        return (type(value)(sorted(value)),)
    except TypeError:
        return ()


def _integer(value: int, lot: random.Random, _: int) -> int:
    if lot.random() < _RARE:
        return lot.choice((0, -value, -1, 10 * value))
    size = max(4, abs(value))
    fresh = lot.choice((value + 1, value - 1, value + lot.randint(2, 10), lot.randint(0, 2 * size), lot.randint(1, 12)))
    return fresh if value < 0 else abs(fresh)


def _float(value: float, lot: random.Random, _: int) -> float:
    if lot.random() < _RARE:
        return lot.choice((0.0, -value, 1.0))
    return round(lot.choice((value + 1, value + 0.5, value * 2, lot.uniform(0, 2 * abs(value) + 1))), 2)


def _text(value: str, lot: random.Random, _: int) -> str:
    if not value:
        return lot.choice(("a", "abc", " ", "Ab 1"))
    place = lot.randrange(len(value))
    other = lot.choice(value)
    signs = list(value)
    lot.shuffle(signs)
    words = value.split(" ")
    lot.shuffle(words)
    return lot.choice(
        (
            value[:place] + value[place + 1 :],
            value[:place] + other + value[place + 1 :],
            value[:place] + other + value[place:],
            (value + value[:place])[:_MAX_ITEMS],
            "".join(signs),
            " ".join(words),
            value[:place] + value[place].swapcase() + value[place + 1 :],
            value[place:],
        )
    )


def _items(value: list[Any], lot: random.Random, depth: int) -> list[Any]:
    if not value:
        return []
    items = list(value)
    place = lot.randrange(len(items))
    kind = lot.randrange(7)
    if kind == 0:
        del items[place]
    elif kind == 1:
        lot.shuffle(items)
    elif kind == 2 and len(items) < _MAX_ITEMS:
        items.insert(place, lot.choice(items))
    elif kind == 3 and len(items) < _MAX_ITEMS:
        items.append(changed(lot.choice(items), lot, depth=depth + 1))
    elif kind == 4:
        items = [changed(item, lot, depth=depth + 1) for item in items]
    else:
        items[place] = changed(items[place], lot, depth=depth + 1)
    return items


def _tuple(value: tuple[Any, ...], lot: random.Random, depth: int) -> tuple[Any, ...]:
    """Change one item of a tuple, whose length often matters."""
    if not value or lot.random() < _RARE:
        return tuple(_items(list(value), lot, depth))
    place = lot.randrange(len(value))
    return (*value[:place], changed(value[place], lot, depth=depth + 1), *value[place + 1 :])


def _mapping(value: dict[Any, Any], lot: random.Random, depth: int) -> dict[Any, Any]:
    fresh = dict(value)
    if not fresh:
        return fresh
    key = lot.choice(list(fresh))
    kind = lot.randrange(3)
    if kind == 0:
        del fresh[key]
    elif kind == 1:
        fresh[key] = changed(fresh[key], lot, depth=depth + 1)
    else:
        fresh[changed(key, lot, depth=depth + 1)] = fresh[key]
    return fresh


def _set(value: set[Any], lot: random.Random, depth: int) -> set[Any]:
    return set(_items(sorted(value, key=repr), lot, depth))


_CHANGES: dict[type, Callable[[Any, random.Random, int], Any]] = {
    bool: lambda value, lot, _: value if lot.random() < 0.5 else not value,
    int: _integer,
    float: _float,
    str: _text,
    list: _items,
    tuple: _tuple,
    dict: _mapping,
    set: _set,
}


EXAMPLE_LIMITS: Final = Limits(cpu_s=2, wall_s=6)


class ExamplesRanker:
    """The ranker `examples`."""

    name = "examples"

    def __init__(self, runner: ProgramRunner, *, limits: Limits = EXAMPLE_LIMITS) -> None:
        self._runner = runner
        self._limits = limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the fraction of examples that each program passes."""
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
_MOSTLY: Final = 0.5
"""A program breaks that breaks on more of the inputs than this, which most programs answer."""

Row = tuple[ProgramAnswer, ...]
"""What one program answered to each input."""


class AgreementRanker:
    """The ranker `agreement`."""

    name = "agreement"

    def __init__(self, runner: ProgramRunner, *, inputs: int = INPUTS, seed: int = 0, limits: Limits = LIMITS) -> None:
        self._runner, self._inputs, self._seed, self._limits = runner, inputs, seed, limits

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how well each program agrees with the others."""
        distinct, counts = _distinct(programs)
        examples = examples_in(task) or calls_in(distinct, task.entry_point)
        made = made_inputs(task, examples, most=self._inputs, seed=self._seed)
        inputs = [each for each in made if is_askable(each)]
        rows = list(answers(task.entry_point, distinct, inputs, self._runner, self._limits))
        fair = _fair(rows)
        known = {
            program.source: (
                score,
                *_broken(row, fair),
                {"inputs": float(len(inputs)), "alike": float(same if inputs else 0)},
            )
            for program, row, score, same in zip(
                distinct, rows, alike(rows, counts), same_as(rows, counts), strict=True
            )
        }
        return [Ranked(program, *known[program.source]) for program in programs]


_MAX_CALLS: Final = 20


def calls_in(programs: Iterable[Program], name: str) -> tuple[Call, ...]:
    """Return the calls of a function with literal arguments in programs, the most common first."""
    known: dict[str, Call] = {}
    counts = Counter[str]()
    for program in programs:
        tree = parse_python(program.source) if len(program.source) <= _MAX_SOURCE_CHARS else None
        found = (literal_arguments(node, name) for node in (ast.walk(tree) if tree else ()))
        calls = {repr(args): Call(args, None) for args in found if args}
        known |= calls
        counts.update(calls.keys())
    return tuple(known[text] for text, _ in counts.most_common(_MAX_CALLS))


def _distinct(programs: Sequence[Program]) -> tuple[list[Program], list[int]]:
    """Return one program per text, and how often each text was sampled."""
    counts, first = Counter[str](), dict[str, Program]()
    for program in programs:
        counts[program.source] += program.n
        first.setdefault(program.source, program)
    return list(first.values()), list(counts.values())


def _fair(rows: Sequence[Row]) -> list[int]:
    """Return the inputs that most programs answer; all if there are none."""
    answered = [sum(each.fault is None for each in column) for column in zip(*rows, strict=True)]
    fair = [at for at, count in enumerate(answered) if count > len(rows) * _MOSTLY]
    return fair or list(range(len(answered)))


def _broken(row: Row, fair: Sequence[int]) -> tuple[Fault | None, int]:
    """Return the fault and the line of a program that breaks on most inputs."""
    broken = [row[at] for at in fair if row[at].fault is not None]
    return (broken[0].fault, broken[0].line) if len(broken) > len(fair) * _MOSTLY else (None, -1)


def alike(rows: Sequence[Row], counts: Sequence[int]) -> list[float]:
    """Score each program by the squared fraction of the pool with the same answer, averaged over inputs.

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
    """Return how many samples give the same answers to all inputs as each program, including itself."""
    keys = [tuple(answer.key for answer in row) for row in rows]
    samples = Counter[tuple[tuple[str, bool], ...]]()
    for key, count in zip(keys, counts, strict=True):
        samples[key] += count
    return [samples[key] for key in keys]


_EMPTY = 0.3


def _worth(answer: ProgramAnswer) -> float:
    return 0.0 if answer.fault is not None else 1.0 if answer.says else _EMPTY
