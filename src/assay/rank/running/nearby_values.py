"""A value to a value a little different from it, of the same type: what a program may be asked beside an example.

Sign, length, order, repetition and case change; what only negative numbers or only one word would tell stays rare, for
most programs are not made for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

_DEEPEST: Final = 6
_LONGEST: Final = 40
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
            (value + value[:place])[:_LONGEST],
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
    elif kind == 2 and len(items) < _LONGEST:
        items.insert(place, lot.choice(items))
    elif kind == 3 and len(items) < _LONGEST:
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
