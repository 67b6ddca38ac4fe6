"""Results as somebody handed them over to the same, or to an error that says where they are not what they should be.

Whatever reads results takes their shape for granted; a file of them may come from anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.errors import InputError

FORMAT = 1

_NUMBER, _COUNT, _TEXT, _MAYBE = "a number", "a whole number from 0", "text", "a number or null"
_FIGURES = {"*": [_NUMBER]}
_GROUP = {"queries": _COUNT, "*": _FIGURES}
_QUERY = {"id": _TEXT, "text": _TEXT, "tags": {"*": _TEXT}, "expected": [[None]]}
_SET = {"role": _TEXT, "truth": _TEXT, "commit": _TEXT, "queries": [_QUERY], "problems": [_TEXT]}
_SYSTEM = {"spec": _TEXT, "base": _TEXT, "chosen_on": _TEXT, "failed": {"*": _TEXT}}
_TIMINGS = dict.fromkeys(("index_s", "cold_ms", "warm_p50_ms", "warm_p95_ms", "peak_mb", "index_bytes"), _MAYBE)
_CELL = {
    "set": _TEXT,
    "system": _TEXT,
    "figures": {"*": _FIGURES},
    "groups": {"*": {"*": _GROUP}},
    "values": {"*": {"*": [_NUMBER]}},
    "answers": [[_TEXT]],
    "seconds": [_MAYBE],
    "errors": {"*": _TEXT},
    "unjudged": _NUMBER,
    "timings": _TIMINGS,
}
_JUDGED = {"figures": {"*": _FIGURES}, "unjudged": _NUMBER}
"""What a cell holds beside, where a judge labelled what nobody had."""
_UNSEEN = {**dict.fromkeys(("judge", "stopped"), _TEXT), **dict.fromkeys(("depth", "asked", "right", "wrong"), _COUNT)}
_UNSEEN["undecided"] = _COUNT
_PAIR = {
    **dict.fromkeys(("set", "unit", "measure", "a", "b"), _TEXT),
    **dict.fromkeys(("difference", "low", "high", "randomisation", "t", "holm"), _NUMBER),
    "queries": _COUNT,
}
_MOST = 1e15
_UNITS = {"line", "function", "file", "line published"}
_ALL = {
    "manifest": {"measures": [_TEXT], "k": _COUNT, "seed": _COUNT, "versions": {"assay": _TEXT}, "when": _TEXT},
    "sets": {"*": _SET},
    "unusable": {"*": _TEXT},
    "systems": {"*": _SYSTEM},
    "cells": [_CELL],
    "comparisons": [_PAIR],
}
_ENDS = 3
"""A mean with the ends of its interval."""


def checked(value: Any, what: str) -> dict[str, Any]:
    """Return results whose shape is right; `what` is where they come from."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{what} is no results.json of format {FORMAT}: give one that assay bench wrote")
    fault = next(_wrong(value, _ALL, ""), "") or next(_loose(value), "") or next(_unseen(value), "")
    if fault:
        raise InputError(f"{what} is no results.json that can be used: {fault}; give one that assay bench wrote")
    return value


def _wrong(value: Any, shape: Any, where: str) -> Iterator[str]:
    """Yield where a value is not of a shape: a table of keys, a list of one shape, a kind; None is anything."""
    if isinstance(shape, Mapping):
        yield from _in_table(value, shape, where) if isinstance(value, dict) else [f"{where} is no table"]
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where} is no list"
            return
        for place, each in enumerate(value):
            yield from _wrong(each, shape[0], f"{where}[{place}]")
    elif shape is not None and not _is(value, shape):
        yield f"{where} is {str(value)[:40]!r}, wanted {shape}"


def _in_table(table: Mapping[str, Any], shape: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield what is wrong below the keys of a table; `*` is the shape of all that have none of their own."""
    for key in shape.keys() - {"*"} - table.keys():
        yield f"{where or 'it'} has no '{key}'"
    for key in table.keys() & shape.keys() if "*" not in shape else table:
        yield from _wrong(table[key], shape.get(key, shape.get("*")), f"{where}.{key[:40]}".lstrip("."))


def _is(value: Any, kind: str) -> bool:
    if kind == _TEXT:
        return isinstance(value, str)
    if kind == _COUNT:
        return type(value) is int and 0 <= value < 2**63
    if value is None:
        return kind == _MAYBE
    return type(value) in {int, float} and -_MOST < value < _MOST  # nor is what is not a number


def _loose(held: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is of the right shape and does not belong together."""
    if not held["manifest"]["measures"]:
        yield "manifest.measures is empty"
    for name, told in held["sets"].items():
        if told["role"] not in ("", "dev", "test"):
            yield f"the role of set '{name[:40]}' is '{told['role'][:40]}'"
        for query in told["queries"]:
            if not all(len(each) == 2 and _is(each[0], _TEXT) and _is(each[1], _COUNT) for each in query["expected"]):
                yield f"what query '{query['id'][:40]}' expects is no list of place and grade"
    for place, cell in enumerate(held["cells"]):
        if cell["set"] not in held["sets"] or cell["system"] not in held["systems"]:
            yield f"cells[{place}] is of a set or a system that is not there"
        else:
            yield from (f"cells[{place}]: {what}" for what in _of_cell(cell, len(held["sets"][cell["set"]]["queries"])))
    for place, pair in enumerate(held["comparisons"]):
        if {pair["a"], pair["b"]} - held["systems"].keys():
            yield f"comparisons[{place}] is of a system that is not there"


def _of_cell(cell: Mapping[str, Any], queries: int) -> Iterator[str]:
    groups = [group for values in cell["groups"].values() for group in values.values()]
    of_groups = [told for group in groups for unit, told in group.items() if unit != "queries"]
    if any(len(figure) != _ENDS for told in (*cell["figures"].values(), *of_groups) for figure in told.values()):
        yield "a figure is not mean, low and high"
    if not cell["values"] or cell["values"].keys() - cell["figures"].keys() or cell["figures"].keys() - _UNITS:
        yield "it has no values, some without figures, or an unknown unit"
    listed = [values for told in cell["values"].values() for values in told.values()]
    if any(len(each) != queries for each in (*listed, cell["answers"], cell["seconds"])):
        yield f"it has not one value for each of {queries} queries"


def _unseen(held: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the labels of a judge, which only some results have."""
    judged = [name for name, told in held["sets"].items() if "unseen" in told]
    for name in judged:
        yield from _wrong(held["sets"][name]["unseen"], _UNSEEN, f"sets.{name[:40]}.unseen")
    for place, cell in enumerate(held["cells"]):
        if cell["set"] in judged:
            told = cell.get("judged", {})
            yield from _wrong(told, _JUDGED, f"cells[{place}].judged")
            if told["figures"].keys() != cell["figures"].keys():
                yield f"cells[{place}].judged is of other units"
            if any(len(figure) != _ENDS for unit in told["figures"].values() for figure in unit.values()):
                yield f"cells[{place}].judged has a figure that is not mean, low and high"
