"""A system's table of options to checked values: an unknown key or a value of another type is an error that says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import InputError, nearest

GENERAL: Mapping[str, Any] = {"location": "", "timeout_s": 30.0}
"""What every system is given: a folder that is its own, and how long a query may take."""

_WANTED = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list of texts"}


def checked(system: str, options: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return every known option of a system: as it was given, else its default, whose type it must have."""
    defaults = {**GENERAL, **known}
    for key, value in options.items():
        if key not in defaults:
            raise InputError(f"unknown option '{key}' of the system '{system}'; {nearest(key, sorted(defaults))}")
        if not _fits(value, defaults[key]):
            wanted = _WANTED.get(type(defaults[key]), "a table")
            raise InputError(f"option '{key}' of the system '{system}' is {value!r}; wanted {wanted}")
    return {**defaults, **options}


def _fits(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    if isinstance(default, float):
        return isinstance(value, int | float) and value > 0
    if isinstance(default, list):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, type(default))
