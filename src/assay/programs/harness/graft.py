"""A container and what it became elsewhere to the same container, changed in place, with those inside it kept too.

What the program did to an argument is done to the tests' own object, which other names may hold.
"""

from __future__ import annotations

import sys
from array import array
from collections import UserDict, UserList, deque
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

_WITH_FIELDS = (SimpleNamespace, UserDict, UserList)
_SLICED = (list, bytearray, array)
_REFILLED = (dict, set)


def graft(old: Any, new: Any) -> Any:
    """Make a container what it became; return what stands for it now."""
    pairs: dict[int, tuple[Any, Any]] = {}
    _match(old, new, pairs)

    def now(value: Any) -> Any:
        return pairs[id(value)][0] if id(value) in pairs else value

    for kept, became in pairs.values():
        _fill(kept, became, now)
    return now(new)


def graft_all(olds: Sequence[Any], news: Sequence[Any]) -> None:
    """Make each of some containers what the one at its place became; they may hold one another."""
    pairs = {id(new): (old, new) for old, new in zip(olds, news, strict=True) if type(old) is type(new)}

    def now(value: Any) -> Any:
        return pairs[id(value)][0] if id(value) in pairs else value

    for old, new in pairs.values():
        if _may_change(old, new):
            _fill(old, new, now)


def _match(old: Any, new: Any, pairs: dict[int, tuple[Any, Any]]) -> None:
    """Pair the containers of one kind at the same place in both."""
    waiting = [(old, new)]
    while waiting:
        old, new = waiting.pop()
        if type(old) is not type(new) or old is new or id(new) in pairs or not _may_change(old, new):
            continue
        pairs[id(new)] = (old, new)
        if isinstance(old, list):
            waiting += zip(old, new, strict=False)
        elif isinstance(old, dict):
            waiting += [(old[key], value) for key, value in new.items() if key in old]


def _may_change(old: Any, new: Any) -> bool:
    if isinstance(old, (*_WITH_FIELDS, *_SLICED, *_REFILLED, deque)):
        return True
    return _is_array(old) and (old.shape, old.dtype) == (new.shape, new.dtype)


def _is_array(value: Any) -> bool:
    return "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].ndarray)


def _fill(old: Any, new: Any, now: Any) -> None:
    if isinstance(old, list):
        old[:] = [now(value) for value in new]
    elif isinstance(old, _SLICED):
        old[:] = new
    elif isinstance(old, dict):
        items = [(key, now(value)) for key, value in new.items()]
        old.clear()
        for key, value in items:
            old[key] = value
    elif isinstance(old, set):
        old.clear()
        old.update(new)
    elif isinstance(old, deque):
        old.clear()
        old.extend(map(now, new))
    elif isinstance(old, _WITH_FIELDS):
        old.__dict__.clear()
        old.__dict__.update(new.__dict__)
    else:
        old[...] = new
