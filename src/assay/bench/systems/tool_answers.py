"""Ask tools with a filled-in template, and read what they print as results below the corpus."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from assay.bench.system import SystemCorpus
from assay.corpus.walked_files import from_utf8
from assay.errors import AssayError, InputError, nearest
from assay.search.question import understand
from assay.values import Chunk, Hit, Query

NAMES = ("query", "regex", "k", "corpus", "location")
"""What may stand in braces; `{{query}}` stands for itself."""

_BRACES = re.compile(r"\{\{(\w+)\}\}|\{([a-z_]+)\}")
_PLACEHOLDERS = ("{query}", "{regex}")

Values = Mapping[str, str]


def words_of(template: str, known: tuple[str, ...] = NAMES) -> list[str]:
    """Split a command as a shell would, and refuse one that is empty, unknown or made by the query."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(f"invalid command '{template}': {error}") from error
    if not words:
        raise InputError("the command is empty; wanted one such as 'rg -n -e {regex} {corpus}'")
    if any(name in words[0] for name in _PLACEHOLDERS):
        raise InputError(f"'{words[0]}' would let a query name the program; start the command with the program")
    for word in words:
        check(word, known)
    return words


def check(value: Any, known: tuple[str, ...] = NAMES) -> None:
    """Refuse a name in braces that nothing is known of, anywhere in a text or a table."""
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            check(each, known)
    for found in _BRACES.finditer(value) if isinstance(value, str) else ():
        if found[2] and found[2] not in known:
            raise InputError(f"'{{{found[2]}}}' in '{value}' is unknown; {nearest(found[2], known)}")


def values_of(corpus: SystemCorpus, location: str, text: str = "", k: int = 0) -> Values:
    """Return what stands for each name; a query that looks like an option gets a space before it."""
    plain = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return {
        "query": f" {plain}" if plain.startswith("-") else plain,
        "regex": "|".join(re.escape(word) for word in understand(plain).words),
        "k": str(k),
        "corpus": str(corpus.root),
        "location": location,
    }


def filled(text: str, values: Values) -> str:
    """Return a text with each name in braces replaced, once."""
    return _BRACES.sub(lambda found: f"{{{found[1]}}}" if found[1] else values[found[2]], text)


def filled_all(value: Any, values: Values) -> Any:
    """Return a table with all of its texts filled in; the text `{k}` alone becomes a number."""
    if isinstance(value, Mapping):
        return {key: filled_all(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [filled_all(each, values) for each in value]
    if value == "{k}":
        return int(values["k"])
    return filled(value, values) if isinstance(value, str) else value


FORMS = ("auto", "json", "jsonl", "lines")
PATHS = ("file_path", "path", "filepath", "filePath", "file", "filename", "relative_path", "relativePath", "uri")
STARTS = ("start_line", "startLine", "line_start", "lineStart", "start", "line_number", "lineNumber", "lineno", "line")
ENDS = ("end_line", "endLine", "line_end", "lineEnd", "end")
SCORES = ("score", "similarity", "relevance")

_LINE = re.compile(r"(?:\d+[.)] +|[-*] +)?(?P<path>\S.*?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?(?=[:\s]|$)")
_MAX_LINE_CHARS = 80


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
    looks_json = form == "auto" and text.lstrip()[:1] in ("{", "[")
    if form == "json" or (looks_json and "\n" not in text.strip()):
        return _of_json(_json_of(text, lines=False), where)
    if looks_json:
        with suppress(ValueError, RecursionError):
            return _of_json(json.loads(text), where)
    return _of_json(_json_of(text, lines=True), where) if form == "jsonl" or looks_json else _of_lines(text)


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


def _json_of(text: str, *, lines: bool) -> Any:
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()] if lines else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise AssayError(f"the output is not JSON ({error}): {one_line(text)}") from error


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
        tables = (each.values() if isinstance(each, Mapping) else each for each in level)
        level = [below for each in tables if isinstance(each, Iterable) and not isinstance(each, str) for below in each]
    return ([value], True) if _result(value, where) is not None else ([], told)


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
    return f"{line[:_MAX_LINE_CHARS]}…" if len(line) > _MAX_LINE_CHARS else line


OPTIONS: Mapping[str, Any] = {
    "format": "auto",
    **asdict(Keys()),
    "first_line": 1,
    "merge": 0,
    "order": "printed",
    "empty": "error",
}
"""What every tool may be told about its output."""

_CHOICES = {"format": FORMS, "order": ("printed", "score", "count"), "empty": ("error", "nothing")}
_MAX_LISTED_RESULTS = 3
_LAST_LINE = 10**9
"""No file has more: what counts on is no line."""

Ask = Callable[[Query, int], str | list[PrintedResult]]
"""A query and how many results are wanted, to what was printed, or to results; no results is nothing found."""


@dataclass(slots=True)
class Answers:
    """A searcher over a tool that prints."""

    ask: Ask
    corpus: SystemCorpus
    options: Mapping[str, Any]
    cwd: Path
    note: str = ""
    """What was wrong with the last answer, though it may have results."""
    _relative: Callable[[str], str] = field(init=False)

    def __post_init__(self) -> None:
        """Refuse choices that do not exist."""
        for key, known in _CHOICES.items():
            given = self.options[key]
            if given not in known:
                raise InputError(f"option {key} = '{given}' is unknown; {nearest(given, known)}")
        self._relative = cache(self._mapped)

    def search(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Ask the tool once a query."""
        return [self._answer(query, k) for query in queries]

    def _answer(self, query: Query, k: int) -> list[Hit]:
        self.note = ""
        found = self._results(self.ask(query, k))
        more = 1 - self.options["first_line"]
        printed = [replace(one, start=one.start + more, end=one.end + more) for one in found]
        placed = [replace(one, path=self._relative(one.path)) for one in printed]
        inside = [one for one in placed if one.path and _has_lines(one)]
        if len(inside) < len(printed):
            self.note = _misfits(printed, placed)
        ranked = ordered(inside, self.options["merge"], self.options["order"])[:k]
        return [_hit(one, rank) for rank, one in enumerate(ranked, 1)]

    def _results(self, printed: str | list[PrintedResult]) -> list[PrintedResult]:
        """Return what was printed as results; silence is nothing found only where the options say so."""
        if not isinstance(printed, str):
            return printed
        if printed.strip():
            keys = Keys(**{key: self.options[key] for key in asdict(Keys())})
            return parse(printed, self.options["format"], keys)
        if self.options["empty"] == "error":
            raise AssayError("it answered with nothing at all; if that is how it finds nothing, say empty = 'nothing'")
        return []

    def _mapped(self, path: str) -> str:
        """Return a printed path relative to the root, empty where it names no file below it."""
        printed = Path(path.removeprefix("file://"))
        root = self.corpus.root
        tried = [root / printed, self.cwd / printed]
        if not printed.is_absolute() and printed.parts[:1] == (root.name,):
            tried.append(root.joinpath(*printed.parts[1:]))
        with suppress(OSError, ValueError):  # no file can be called that: a NUL, half a letter, a megabyte
            return next(filter(None, (self._below(each) for each in tried)), "")
        return ""

    def _below(self, each: Path) -> str:
        """Return a path relative to the root, as it is spelt or as its links lead, empty where it is no file there."""
        root = self.corpus.root
        for whole, top in ((os.path.normpath(each), root), (os.path.realpath(each), os.path.realpath(root))):
            relative = os.path.relpath(whole, top)
            if not relative.startswith("..") and from_utf8(Path(top), relative).is_file():
                return relative
        return ""


def _has_lines(one: PrintedResult) -> bool:
    """Say whether a result's lines could be those of a file; none at all are the whole file."""
    return one.start >= 0 and max(one.start, one.end) <= _LAST_LINE


def _misfits(printed: Sequence[PrintedResult], placed: Sequence[PrintedResult]) -> str:
    """Say which results are left out: those that name no file, else those that name no lines."""
    misfits = {"file of the corpus": [not at.path for at in placed], "line": [not _has_lines(at) for at in placed]}
    for what, wrong in misfits.items():
        named = dict.fromkeys(one_line(one.path) for one, is_wrong in zip(printed, wrong, strict=True) if is_wrong)
        if named:
            return f"{sum(wrong)} of {len(printed)} results name no {what}: {', '.join([*named][:_MAX_LISTED_RESULTS])}"
    return ""


def ordered(printed: Sequence[PrintedResult], merge: int, order: str) -> list[PrintedResult]:
    """Return results in rank order; with `merge`, those of a file within so many lines of one another are one range."""
    ranges: list[list[PrintedResult]] = [[one] for one in printed]
    if merge:
        ranges = []
        open_at: dict[str, list[PrintedResult]] = {}
        for one in sorted(printed, key=lambda one: (one.path, one.start)):
            near = open_at.get(one.path)
            if near and one.start - max(each.end for each in near) <= merge:
                near.append(one)
            else:
                open_at[one.path] = [one]
                ranges.append(open_at[one.path])
    place = {one: rank for rank, one in reversed(list(enumerate(printed)))}
    ranges.sort(key=lambda some: (-_worth(some, order), min(place[one] for one in some)))
    return [_joined(some, order) for some in ranges]


def _worth(some: Sequence[PrintedResult], order: str) -> float:
    return {"count": float(len(some)), "score": max(one.score or 0.0 for one in some)}.get(order, 0.0)


def _joined(some: Sequence[PrintedResult], order: str) -> PrintedResult:
    best = max((one.score for one in some if one.score is not None), default=None)
    end = max(one.end for one in some)
    return PrintedResult(some[0].path, some[0].start, end, float(len(some)) if order == "count" else best)


def _hit(one: PrintedResult, rank: int) -> Hit:
    where = f"{one.path}:{one.start}-{one.end}" if one.start > 0 else one.path
    chunk = Chunk(where, "", path=one.path, start_line=max(one.start, 0), end_line=max(one.end, one.start, 0))
    return Hit(chunk, 1.0 / rank if one.score is None else one.score)
