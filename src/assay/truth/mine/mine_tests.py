"""Tests to queries: a test's name, in words, asks for the function that it tests; the test itself is hidden.

The function is one that the test calls and whose name the test's name has in it, or the only one of the project that
it calls. Where several come into question the test is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from random import Random

from assay.corpus.languages import words
from assay.protocols import Progress
from assay.terms import WORD, parts, stem
from assay.truth.mine.minable import Files, is_aside, is_prose
from assay.truth.mine.mined import MinedQueries, query_id, split_of, target_of
from assay.truth.mine.subjects import telling
from assay.types import Chunk, Judgment, Query

SHORTEST = 3
MOST_OF_ONE = 3
"""Tests of one function that become queries."""
MOST_OVERLOADS = 4
_HALF = 0.5
_FOLDERS = frozenset(("index", "mod", "lib", "__init__", "main"))
_GROUP = re.compile(r"^\s*(?:describe|context|suite|feature|bench)\b[^\n]*\(")
_TEST_WORDS = frozenset(("test", "tests", "testing", "spec", "should", "it"))
_NUMBERED = re.compile(r"\b(?:issues?|bugs?|gh|pr|cve|regression)\W*\d+", re.IGNORECASE)
_MARKS = re.compile(r"^tests?[-_.]|[-_.]?(?:tests?|spec|testcase|it)$", re.IGNORECASE)
_CALL = re.compile(r"([A-Za-z_$][\w$]*)[!?]?(?:::<[^<>()]*>|<[\w ,.]*>)?\(")
_NOT_CALLS = words("""
    if for while switch match return catch and or not in is elif except with assert function func fn def lambda sizeof
    typeof instanceof new await async yield throw super this self print unless until when case else do try using lock
    foreach let var const use pub impl struct enum class interface where as from import raise del void int string bool
    Some Ok Err None
""")

Overloads = list[Chunk]
"""The functions of one name in one class or file."""


class Definitions:
    """Every function by its name, and by its name with what its file or class is called."""

    def __init__(self, files: Files, paths: Sequence[str]) -> None:
        self._all: defaultdict[str, dict[tuple[str, str], Overloads]] = defaultdict(dict)
        self._placed: defaultdict[tuple[str, str], dict[tuple[str, str], Overloads]] = defaultdict(dict)
        for path in paths:
            for unit in files.functions(path):
                if unit.kind != "constructor":  # whatever is tested, it is constructed first
                    self._add(unit)

    def _add(self, unit: Chunk) -> None:
        place = unit.path, unit.parent
        group = self._all[unit.symbol].setdefault(place, [])
        group.append(unit)
        for name in (*_names_of(*place), unit.path):
            self._placed[unit.symbol, name][place] = group

    def one(self, name: str, test: Chunk) -> Overloads:
        """Return the overloads of the one function that a name means in a test; none when that is in doubt."""
        groups = self._all.get(name, {})
        if len(groups) > 1:
            around = (*_names_around(test.path, test.parent), test.path)
            groups = {place: group for one in around for place, group in self._placed.get((name, one), {}).items()}
        found = next(iter(groups.values()), [])
        return found if len(groups) == 1 and len(found) <= MOST_OVERLOADS else []


def ask(files: Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None) -> MinedQueries:
    """Return queries from the tests in some files about functions in any of them."""
    told = MinedQueries()
    defined = Definitions(files, paths)
    by_file: list[list[tuple[str, Chunk, tuple[Chunk, ...]]]] = []
    for at, path in enumerate(paths, 1):
        by_file.append(list(_of_file(files, path, defined, told.left_out)))
        if progress:
            progress("tests", at, len(paths))
    chosen = list(_choose_evenly(by_file, told.left_out, seed))
    if len(chosen) > limit:
        told.left_out["more than were wanted"] += len(chosen) - limit
    for text, test, units in chosen[:limit]:
        _add(told, text, test, units)
    return told


def question_of(test: Chunk) -> str:
    """Return the name of a test as a person would say it, with what it is grouped under where that says more."""
    title = _words_of(test.symbol)
    group = test.parent.rpartition(".")[2]
    context = _words_of(group)
    is_code = " " not in test.symbol.strip()  # its group is a class or module, not what somebody wrote above it
    if not telling(context) - telling(title) or (is_code and len(telling(title)) >= SHORTEST):
        return title
    return f"{context} {title}"


def _words_of(name: str) -> str:
    """Return an identifier as words without those of testing; a title stays as it is."""
    if " " in name.strip():
        return " ".join(name.replace("`", " ").split())
    words = [part for word in WORD.findall(name) for part in parts(word)]
    while words and words[0] in _TEST_WORDS:
        words.pop(0)
    while words and words[-1] in _TEST_WORDS:
        words.pop()
    return " ".join(words)


def _of_file(
    files: Files, path: str, defined: Definitions, left_out: Counter[str]
) -> Iterator[tuple[str, Chunk, tuple[Chunk, ...]]]:
    if is_prose(path) or is_aside(path):
        return
    for test in files.chunks(path):
        if test.kind != "test" or not test.symbol or ", " in test.symbol or _is_group(test):
            continue
        text = question_of(test)
        if len(WORD.findall(text)) < SHORTEST or len(telling(text)) < 2 or _NUMBERED.search(text):
            left_out["a test whose name says too little"] += 1
        elif units := _tested(test, defined):
            yield text, test, units
        else:
            left_out["a test of several functions, or of none by its name"] += 1


def _is_group(test: Chunk) -> bool:
    """Say whether a unit is several tests under one title; the first test of a group may begin with its opening."""
    return _GROUP.match(test.text) is not None and test.symbol[:30] in test.text.lstrip().partition("\n")[0]


def _tested(test: Chunk, defined: Definitions) -> tuple[Chunk, ...]:
    """Return the function that a test is about, with its overloads, or nothing when that is in doubt."""
    called = [tuple(group) for name in calls(test) if (group := defined.one(name, test))]
    title = {stem(word) for word in _words(f"{test.symbol} {test.parent}")}
    covered = [group for group in called if _is_covered(group[0], title, test)]
    if covered:
        most = max(len(parts(group[0].symbol)) for group in covered)
        best = [group for group in covered if len(parts(group[0].symbol)) == most]
        near = [group for group in best if _is_near(group[0], test)]
        chosen = best if len(best) == 1 else near
        return chosen[0] if len(chosen) == 1 else ()
    if len(called) == 1 and _is_near(called[0][0], test) and _share(called[0][0], title) >= _HALF:
        return called[0]
    return ()


def _is_covered(unit: Chunk, title: set[str], test: Chunk) -> bool:
    return _share(unit, title) == 1 and (len(parts(unit.symbol)) > 1 or _is_near(unit, test))


def _share(unit: Chunk, title: set[str]) -> float:
    """Return how much of a function's name is in the name of a test."""
    name = {stem(word) for word in parts(unit.symbol)}
    return len(name & title) / len(name) if name else 0.0


def _is_near(unit: Chunk, test: Chunk) -> bool:
    """Say whether a test's file or group is named after a function's file or class."""
    return unit.path == test.path or bool(_names_around(test.path, test.parent) & _names_of(unit.path, unit.parent))


@lru_cache(maxsize=100_000)
def _names_around(path: str, parent: str) -> frozenset[str]:
    """Return what a test's file and groups are called, without the marks of tests."""
    return frozenset(map(_plain, (_stem(path), *parent.split(".")))) - {""}


@lru_cache(maxsize=100_000)
def _names_of(path: str, parent: str) -> frozenset[str]:
    """Return what a function's file and classes are called; a file that speaks for its folder, as that."""
    stem = _stem(path)
    folder = PurePosixPath(path).parent.name if stem in _FOLDERS else ""
    return frozenset(map(_plain, (stem, folder, *parent.split(".")))) - {""}


def _stem(path: str) -> str:
    return PurePosixPath(path).name.partition(".")[0]


def _plain(name: str) -> str:
    return "".join(parts(_MARKS.sub("", name)))


def _words(text: str) -> list[str]:
    return [part for word in WORD.findall(text) for part in parts(word)]


def _choose_evenly(
    by_file: list[list[tuple[str, Chunk, tuple[Chunk, ...]]]], left_out: Counter[str], seed: int
) -> Iterator[tuple[str, Chunk, tuple[Chunk, ...]]]:
    """Yield tests evenly over files; a name that two tests share is passed over, for it may mean either."""
    random = Random(seed)  # noqa: S311  # a draw that can be repeated
    said = Counter(text.casefold() for found in by_file for text, _, _ in found)
    of_one: Counter[str] = Counter()
    for found in by_file:
        random.shuffle(found)
    for place in range(max(map(len, by_file), default=0)):
        for found in by_file:
            if place >= len(found):
                continue
            text, test, units = found[place]
            of_one[units[0].id] += 1
            if said[text.casefold()] > 1:
                left_out["a name that several tests have"] += 1
            elif of_one[units[0].id] > MOST_OF_ONE:
                left_out["one more test of the same function"] += 1
            else:
                yield text, test, units


def _add(told: MinedQueries, text: str, test: Chunk, units: Sequence[Chunk]) -> None:
    name = query_id("tests", [test])
    told.queries.append(
        Query(name, text, "code", tags={"kind": "casual", "source": "tests", "split": split_of(units[0].path)})
    )
    for unit in units:
        told.judgments.append(Judgment(name, target_of(unit), 2, "tests", f"{test.path}:{test.start_line}"))
    told.hidden.append(target_of(test))


def calls(chunk: Chunk) -> tuple[str, ...]:
    """Return the names called inside a chunk, by a pattern for any language, each once, in order, without its own."""
    own = set(chunk.symbol.split(", "))
    return tuple(name for name in dict.fromkeys(_CALL.findall(chunk.text)) if name not in _NOT_CALLS | own)
