"""Classify values of a program's classes derived from plain data: data, a named tuple, or an object.

With special methods of its own a value behaves unlike its base and stays an object. One that only has other methods, or
more attributes, is the data. A named tuple is made again on the other side, where its fields have their names.
"""

from __future__ import annotations

import collections
import sys
from enum import Enum
from functools import lru_cache
from itertools import takewhile
from typing import Any, Final

ABILITIES: Final = frozenset(
    f"__{name}__"
    for name in (
        "iter next len getitem setitem delitem contains call eq hash lt le gt ge bool str repr format bytes fspath"
        " int float complex index round trunc floor ceil neg pos abs invert reversed array"
        " add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor"
        " radd rsub rmul rmatmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand ror rxor"
        " iadd isub imul imatmul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor"
    ).split()
)
"""Special methods that tests use; those of context managers are none, for one may swallow a failed assert."""
_SPECIAL: Final = ABILITIES | {"__ne__", "__missing__"}
"""Special methods by which a class behaves unlike its base."""
_LIBRARIES: Final = sys.stdlib_module_names | {"numpy"}
_PLAIN: Final = frozenset({"builtins", "collections"})
_TUPLE_BYTES: Final = tuple.__basicsize__ + 16
"""With a dictionary and weak references: a class that adds more holds more than the tuple."""


@lru_cache(maxsize=512)
def behaves_otherwise(kind: Any) -> bool:
    """Say whether a class overrides special methods of a base of plain data; enumerations cross as data."""
    if issubclass(kind, Enum):
        return False
    own = list(takewhile(lambda each: not _is_of_library(each), kind.__mro__))
    base = kind.__mro__[len(own)]
    return base is not object and base.__module__ in _PLAIN and any(map(_has_special, own))


@lru_cache(maxsize=512)
def is_record(kind: Any) -> bool:
    """Say whether a class is a `collections.namedtuple`, or one that only adds fields and methods."""
    if not issubclass(kind, tuple) or kind.__basicsize__ > _TUPLE_BYTES or not any(map(_shows_names, kind.__mro__)):
        return False
    try:
        record_class(kind.__name__, kind._fields)
    except (ValueError, TypeError):  # made with `rename=True`, or by hand
        return False
    return True


@lru_cache(maxsize=256)
def record_class(name: str, fields: tuple[str, ...]) -> Any:
    """Return the class of named tuples with these names; raises ValueError for invalid names."""
    return collections.namedtuple(name, fields, module="solution")  # noqa: PYI024  its names are known only now


def _is_of_library(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] in _LIBRARIES


def _has_special(kind: Any) -> bool:
    return not _SPECIAL.isdisjoint(vars(kind).keys() - ({"__repr__"} if _shows_names(kind) else set()))


def _shows_names(kind: Any) -> bool:
    code = getattr(vars(kind).get("__repr__"), "__code__", None)
    made = collections.namedtuple.__code__.co_filename  # noqa: PYI024  the same
    return "_fields" in vars(kind) and code is not None and code.co_filename == made
