"""Make up inputs for programs from a task: arguments like those of its examples.

The examples' own inputs, their edges, and changes of them; the same task and seed give the same inputs. A program that
takes too long on one does not get the next, so small ones come first, and negative numbers and zeros last where no
example has them. Texts on standard input are changed within a line, for the first lines often say how many there are.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from assay.programs.answers import Input
from assay.values import Call, Stdin, Task, Test

_TRIES: Final = 8
"""How many inputs are made for one that is kept: many turn out the same."""
_LONGEST: Final = 5000
"""Characters of one input."""
_LARGE: Final = 1e9
_EDGES: Final = 0.35
"""The most that edges are of all inputs."""
_WORD: Final = re.compile(r"\S+")


def made_inputs(task: Task, examples: Iterable[Test], *, most: int, seed: int = 0) -> tuple[Input, ...]:
    """Return at most so many inputs, each once; none of a task without examples."""
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


_DEEPEST: Final = 6
_MOST_ITEMS: Final = 40
_RARE: Final = 0.12


def changed(value: Any, lot: random.Random, *, depth: int = 0) -> Any:
    """Return a value like it."""
    change = _CHANGES.get(type(value))
    return value if change is None or depth > _DEEPEST else change(value, lot, depth)


def edges(value: Any) -> tuple[Any, ...]:
    """Return the smallest values of its type."""
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
            (value + value[:place])[:_MOST_ITEMS],
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
    elif kind == 2 and len(items) < _MOST_ITEMS:
        items.insert(place, lot.choice(items))
    elif kind == 3 and len(items) < _MOST_ITEMS:
        items.append(changed(lot.choice(items), lot, depth=depth + 1))
    elif kind == 4:
        items = [changed(item, lot, depth=depth + 1) for item in items]
    else:
        items[place] = changed(items[place], lot, depth=depth + 1)
    return items


def _tuple(value: tuple[Any, ...], lot: random.Random, depth: int) -> tuple[Any, ...]:
    """Change a place of a tuple, whose length means something as often as not."""
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
