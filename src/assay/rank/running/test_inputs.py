"""A task and its programs to inputs that nobody has answered: arguments like those shown, or of the types stated.

The examples' own inputs, their edges, and changes of them; the same task and seed give the same inputs. A program that
takes too long on one is not asked the next, so small ones come first, and negative numbers and zeros last where no
example has them. Texts on standard input are changed within a line, for the first lines often say how many there are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from assay.programs.answers import Input
from assay.rank.running.argument_kinds import KINDS, kinds_of, value_of
from assay.rank.running.nearby_values import changed, edges
from assay.types import Call, Program, Stdin, Task, Test

_TRIES: Final = 8
"""How many inputs are made for one that is kept: many turn out the same."""
_LONGEST: Final = 5000
"""Characters of one input."""
_LARGE: Final = 1e9
_EDGES: Final = 0.35
"""The most that edges are of all inputs."""
_WORD: Final = re.compile(r"\S+")


def made_inputs(
    task: Task, examples: Iterable[Test], programs: Sequence[Program], *, most: int, seed: int = 0
) -> tuple[Input, ...]:
    """Return at most so many inputs, each once."""
    lot = random.Random(f"{seed}\0{task.id}")  # noqa: S311  # nothing secret
    seeds: list[Input] = []
    for example in examples:
        if isinstance(example, Call):
            seeds.append(example.args)
        elif isinstance(example, Stdin):
            seeds.append(example.text)
    if task.entry_point:
        calls = [each for each in seeds if isinstance(each, tuple)]
        return in_order(_first(_arguments(task, calls, programs, most, lot), most), calls)
    texts = [each for each in seeds if isinstance(each, str)]
    return in_order(_first(_texts(texts, most, lot), most), texts)


def in_order(inputs: Iterable[Input], seeds: Iterable[Input] = ()) -> tuple[Input, ...]:
    """Return the small inputs first, and last those that loops may not end on: negative, where no seed is."""
    usual = min((1.0, *map(_least, seeds)))
    return tuple(sorted(inputs, key=lambda each: (_least(each) < usual, _size(each))))


def _first(inputs: Iterable[Input], most: int) -> list[Input]:
    """Return the first inputs, each once."""
    kept: dict[str, Input] = {}
    for each in inputs:
        text = repr(each)
        if len(text) <= _LONGEST:
            kept.setdefault(text, each)
        if len(kept) >= most:
            break
    return list(kept.values())


def _least(value: Any) -> float:
    """Return the least number in a value."""
    if isinstance(value, int | float):
        return float(max(value, -_LARGE))
    if isinstance(value, dict):
        return _least([*value, *value.values()])
    return min(map(_least, value), default=_LARGE) if isinstance(value, list | tuple | set) else _LARGE


def _size(value: Any) -> float:
    """Return how long a value is, with the size of its numbers."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int | float):
        return float(min(abs(value), _LARGE))
    if isinstance(value, dict):
        return _size([*value, *value.values()])
    return 1 + sum(map(_size, value)) if isinstance(value, list | tuple | set) else 1


def _arguments(
    task: Task, seeds: list[tuple[Any, ...]], programs: Sequence[Program], most: int, lot: random.Random
) -> Iterator[tuple[Any, ...]]:
    if not seeds:
        yield from _unseen(kinds_of(task, programs), most, lot)
        return
    yield from seeds
    extreme = list(_edges(seeds))
    lot.shuffle(extreme)
    yield from islice(extreme, int(most * _EDGES))
    for _ in range(most * _TRIES):
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


def _unseen(kinds: tuple[str, ...], most: int, lot: random.Random) -> Iterator[tuple[Any, ...]]:
    """Yield arguments of the kinds; unknown ones have all kinds in turn, the same for all half of the time."""
    for number in range(most * _TRIES):
        common = KINDS[number % len(KINDS)]
        own = lot.random() < 0.5
        chosen = (kind or (lot.choice(KINDS) if own else common) for kind in kinds)
        yield tuple(value_of(kind, lot) for kind in chosen)


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
