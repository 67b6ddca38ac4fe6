"""Ask an object of a program whether it equals a value, and check its answer with other values.

An object with a hand-written `==` and no content that can be drawn can only be asked. One that would say yes to
anything says yes to the others, too. They are made so that little tells the one that counts from them: numbers moved by
chance, texts and containers with a part of them changed.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from random import SystemRandom
from typing import Any, Final

_chance: Final = SystemRandom()
_OTHERS: Final = 15
"""Values that are asked beside the one that counts."""
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_MAX_MOVE: Final = 1000


def says_equal(ask: Callable[[Any], bool], value: Any) -> bool:
    """Say whether an object claims to equal a value, and to equal none of some others."""
    others = [other for other in _others(value) if other != value]
    if len(others) < _OTHERS // 2:
        return False
    asked = [(other, False) for other in others] + [(value, True)]
    _chance.shuffle(asked)
    return all((ask(value) if wanted else _is_called_equal(ask, other)) is wanted for other, wanted in asked)


def _is_called_equal(ask: Callable[[Any], bool], other: Any) -> bool:
    """Ask about an unexpected value: an object that raises does not equal it."""
    try:
        return ask(other)
    except Exception:  # noqa: BLE001 - the program's own comparison
        return False


def _others(value: Any) -> list[Any]:
    changed = [_changed(value) for _ in range(_OTHERS)]
    return [other for other in changed if other is not None]


def _changed(value: Any) -> Any:
    """Return another value of the same kind; None if the kind is unknown."""
    if type(value) in {int, Fraction, Decimal, float, complex}:
        return value + _chance.choice((-1, 1)) * _chance.randint(1, _MAX_MOVE)
    if type(value) is str:
        place, letter = _chance.randint(0, len(value)), _chance.choice(_LETTERS)
        return value[:place] + letter + value[place + _chance.randint(0, 1) :]
    if type(value) in {list, tuple}:
        return type(value)(_with_one_changed(list(value)))
    if type(value) in {set, frozenset}:
        return type(value)({*_with_one_changed(list(value)), _chance.randint(1, _MAX_MOVE)})
    if type(value) is dict:
        keys = list(value)
        return dict(zip(keys, _with_one_changed(list(value.values())), strict=False)) if keys else {0: 0}
    return None


def _with_one_changed(items: list[Any]) -> list[Any]:
    place = _chance.randrange(len(items)) if items else 0
    other = _changed(items[place]) if items else _chance.randint(1, _MAX_MOVE)
    return [*items[:place], _chance.randint(1, _MAX_MOVE) if other is None else other, *items[place + 1 :]]
