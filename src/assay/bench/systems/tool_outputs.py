"""What a tool printed in, its results in order out: JSON, JSON lines, or lines of `path:line`.

Nothing is guessed silently: `auto` takes the first list of objects that name a file and a line by one of the keys
below, in the object or one level into it, else lines of text. What holds no result and does not say so is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from assay.errors import AssayError, InputError, nearest

FORMS = ("auto", "json", "jsonl", "lines")
PATHS = ("file_path", "path", "filepath", "filePath", "file", "filename", "relative_path", "relativePath", "uri")
STARTS = ("start_line", "startLine", "line_start", "lineStart", "start", "line_number", "lineNumber", "lineno", "line")
ENDS = ("end_line", "endLine", "line_end", "lineEnd", "end")
SCORES = ("score", "similarity", "relevance")

_LINE = re.compile(r"(?:\d+[.)] +|[-*] +)?(?P<path>\S.*?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?(?=[:\s]|$)")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class PrintedResult:
    """One result as a tool printed it; lines are 0 where it gave none."""

    path: str
    start: int = 0
    end: int = 0
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """Where things stand in JSON: dotted paths, `*` for every element; empty ones are looked for."""

    results: str = ""
    path: str = ""
    start: str = ""
    end: str = ""
    score: str = ""


def parse(text: str, form: str = "auto", where: Keys = Keys()) -> list[PrintedResult]:
    """Return the results of an output that is not empty."""
    if form not in FORMS:
        raise InputError(f"unknown output format '{form}'; {nearest(form, FORMS)}")
    looks_json = text.lstrip()[:1] in ("{", "[")
    if form == "json" or (form == "auto" and looks_json):
        try:
            return _of_json(json.loads(text), where)
        except (ValueError, RecursionError) as error:
            if form == "json" or "\n" not in text.strip():
                raise AssayError(f"the output is no JSON ({error}): {one_line(text)}") from error
    if form == "jsonl" or (form == "auto" and looks_json):
        return _of_json(_json_lines(text), where)
    return _of_lines(text)


def reach(value: Any, dotted: str) -> Iterator[Any]:
    """Yield what a dotted path leads to: keys, positions, and `*` for every element."""
    step, _, rest = dotted.partition(".")
    if not dotted:
        yield value
    elif step == "*":
        elements = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for each in elements:
            yield from reach(each, rest)
    elif isinstance(value, Mapping) and step in value:
        yield from reach(value[step], rest)
    elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
        yield from reach(value[int(step)], rest)


def _json_lines(text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise AssayError(f"the output is no JSON ({error}): {one_line(text)}") from error


def _of_json(value: Any, where: Keys) -> list[PrintedResult]:
    if isinstance(value, Mapping) and value.get("error"):
        raise AssayError(f"it answered with an error: {one_line(value['error'])}")
    if where.results:
        found = [one for each in reach(value, where.results) for one in (each if isinstance(each, list) else [each])]
        told = any(True for _ in reach(value, where.results.partition("*")[0].rstrip(".")))
        if not told:
            raise AssayError(f"there is no '{where.results}' in the output: {one_line(value)}")
    else:
        found, told = _results_in(value, where)
    results = [result for each in found if (result := _result(each, where)) is not None]
    if not results and (found or not told):
        raise AssayError(f"no object of the output names a file; say where with path = 'KEY': {one_line(value)}")
    return results


def _results_in(value: Any, where: Keys) -> tuple[list[Any], bool]:
    """Return the first list of objects that are results, level by level, and whether there was a list at all."""
    level, told = [value], False
    while level:
        for each in level:
            if isinstance(each, list):
                told = told or not each
                if any(_result(one, where) is not None for one in each):
                    return each, True
        level = [below for each in level for below in _below(each)]
    alone = _result(value, where) is not None
    return ([value], True) if alone else ([], told)


def _below(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


def _result(value: Any, where: Keys) -> PrintedResult | None:
    """Return an object as a result; without a file it is none, nor without a line unless the keys were named."""
    if not isinstance(value, Mapping):
        return None
    path = _first(value, where.path, PATHS, str)
    start = _first(value, where.start, STARTS, int)
    if not path or (start is None and not where.path):
        return None
    end = _first(value, where.end, ENDS, int)
    score = _first(value, where.score, SCORES, float)
    return PrintedResult(path, start or 0, start or 0 if end is None else end, score)


def _first(value: Mapping[str, Any], dotted: str, known: tuple[str, ...], kind: type) -> Any:
    """Return what stands at a dotted path, or under a known key here or one level below."""
    if dotted:
        return next((_as(each, kind) for each in reach(value, dotted)), None)
    nested = (each for each in value.values() if isinstance(each, Mapping))
    for table in (value, *nested):
        for key in known:
            if key in table and _as(table[key], kind) is not None:
                return _as(table[key], kind)
    return None


def _as(value: Any, kind: type) -> Any:
    """Return a value as text, whole number or number; None where it is none."""
    if isinstance(value, bool):
        return None
    if kind is str:
        return value if isinstance(value, str) else None
    try:
        number = kind(value) if isinstance(value, int | float | str) else None
        return number if number is None or isfinite(number) else None
    except (ValueError, OverflowError):
        return None


def _of_lines(text: str) -> list[PrintedResult]:
    found = [match for line in text.splitlines() if (match := _LINE.match(line))]
    if not found:
        raise AssayError(f"no line of the output reads 'path:line': {one_line(text)}")
    return [PrintedResult(one["path"], int(one["start"]), int(one["end"] or one["start"])) for one in found]


def one_line(value: Any) -> str:
    """Return the beginning of an output, or of a part of it, on one line."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return f"{line[:_SHOWN]}…" if len(line) > _SHOWN else line
