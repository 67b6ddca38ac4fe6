"""Mine queries from documentation and from tests."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from random import Random

from assay.corpus.comments import plain_comment
from assay.corpus.languages import words
from assay.protocols import Progress
from assay.terms import WORD, parts, stem
from assay.truth import minable
from assay.values import Chunk, Judgment, Query

MIN_SENTENCE_WORDS = 4
"""Words of a sentence at least."""
_MAX_SENTENCE_WORDS = 60
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)|.+?。|.+$")
_PARAGRAPH = re.compile(
    r"\n\s*\n|\n(?=\s*(?:[-*:@\\#>]|\d+[.)]\s|<\w|\.\. "
    r"|(?:Args|Arguments|Parameters|Returns|Raises|Yields|Examples?|Notes?):))"
)
_TAG = re.compile(r"^\s*(?:/\*+|\*|///?|#+|--+)?\s*[@\\][a-zA-Z]\w+")
_MARKUP = re.compile(
    r":[\w:]+:`~?([^`<]*)[^`]*`|\{@\w+\s+([^}]*)\}|</?\w+[^>]*>|https?://\S+|\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?"
)
_NO_SENTENCE = re.compile(
    r"^\W*(?:todo|fixme|xxx|hack|note|deprecated|see\b|eslint|ts-|noqa|nolint|pylint|type:|pragma|prettier|istanbul"
    r"|v8 ignore|c8 ignore|go:|rustfmt|clippy|safety|inherit|\{?@inherit|override|@|same as|like\b|equivalent to|alias"
    r"|region|internal|this \w+ (?:is|was|should|must|can|will|does not)\b|example|usage|copyright|licen[cs]e"
    r"|private\b|helper\b|legacy|non-javadoc|constructor)"
    r"|^[-=#*~_/\s]{3,}|[;{}]\s*$|=>|:=|\breturn \w+[;(]",
    re.IGNORECASE,
)
_BLOCK = {"/*": "*/", "{-": "-}", "(*": "*)", "--[[": "]]", '@doc """': '"""', "=begin": "=end"}
_LINE = ("//", "#", "--", ";", "%", "*")
_ATTRIBUTE = ("#[", "#!", "#include", "#define", "#if")
_LITERAL = re.compile(r"^[ \t]*[rRuU]?(\"\"\"|'''|\"|')", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Documented:
    sentence: str
    unit: Chunk
    lines: tuple[int, int]


def ask_docs(
    files: minable.Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None
) -> minable.MinedQueries:
    """Mine queries from the documentation of functions in some files."""
    told = minable.MinedQueries()
    by_file: list[list[_Documented]] = []
    same: defaultdict[str, list[_Documented]] = defaultdict(list)
    for at, path in enumerate(paths, 1):
        found = list(_docs_of_file(files, path, told.left_out))
        for one in found:
            same[one.sentence.casefold()].append(one)
        by_file.append(found)
        if progress:
            progress("documentation", at, len(paths))
    for group in minable.at_most(list(_choose_docs(by_file, same, told.left_out, seed)), limit, told.left_out):
        units = [one.unit for one in group]
        name = minable.query_id("docs", units)
        kind = minable.kind_of(group[0].sentence, units)
        tags = {"kind": kind, "source": "docs", "split": minable.split_of(units[0].path)}
        told.queries.append(Query(name, group[0].sentence, "code", tags=tags))
        for one in group:
            told.judgments.append(Judgment(name, minable.target_of(one.unit), 2, "docs", one.unit.symbol))
            told.hidden.append(f"{one.unit.path}:{one.lines[0]}-{one.lines[1]}")
    return told


def doc_lines(unit: Chunk) -> tuple[int, int] | None:
    """Return the first and last line of a unit's documentation in its file; None if it shares lines with code."""
    said = set(WORD.findall(unit.doc.partition("\n\n")[0].lower()))
    if not said:
        return None
    lines = unit.text.split("\n")
    literal = _literal(unit.text) if unit.language == "python" else None
    for first, last in [*([literal] if literal else []), *_comments(lines)]:
        words = set(WORD.findall("\n".join(lines[first : last + 1]).lower()))
        if len(said & words) >= 0.8 * len(said):
            return unit.start_line + first, unit.start_line + last
    return None


def _literal(text: str) -> tuple[int, int] | None:
    """Return the lines of the docstring of a Python function."""
    opening = _LITERAL.search(text)
    if opening is None:
        return None
    end = text.find(opening[1], opening.end())
    after = text[end + len(opening[1]) :].partition("\n")[0] if end >= 0 else ""
    if end < 0 or after.strip():
        return None
    return text.count("\n", 0, opening.start(1)), text.count("\n", 0, end)


def _comments(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of comment lines; the head of an `impl` may precede the first."""
    start, close = -1, ""
    for at, line in enumerate(lines):
        text = line.strip()
        opening = next((mark for mark in _BLOCK if text.startswith(mark)), "") if not close else ""
        if opening:
            close = _BLOCK[opening] if _BLOCK[opening] not in text[len(opening) :] else ""
        elif close:
            close = "" if close in text else close
        elif not text.startswith(_LINE) or text.startswith(_ATTRIBUTE):
            if start >= 0:
                yield start, at - 1
            start = -1
            continue
        start = at if start < 0 else start


def _docs_of_file(files: minable.Files, path: str, left_out: Counter[str]) -> Iterator[_Documented]:
    for unit in files.functions(path):
        if not unit.doc:
            continue
        lines = doc_lines(unit)
        sentence = first_sentence(unit, lines)
        reason = _why_not(sentence, unit, lines)
        if reason or lines is None:
            left_out[reason] += 1
        else:
            yield _Documented(sentence, unit, lines)


def first_sentence(unit: Chunk, lines: tuple[int, int] | None) -> str:
    """Return the first sentence of a unit's documentation on one line, without marks and without the unit's name."""
    paragraph = _PARAGRAPH.split(_untagged(unit, lines).strip(), maxsplit=1)[0]
    text = _MARKUP.sub(lambda found: found[1] or found[2] or found[3] or "", paragraph)
    found = _SENTENCE.match(" ".join(text.replace("`", "").split()))
    sentence = found[0].strip(" -:*#/").rstrip(".") if found else ""
    first, _, rest = sentence.partition(" ")
    return rest if rest and (WORD.findall(first) or [""])[-1] == unit.symbol else sentence


def _untagged(unit: Chunk, lines: tuple[int, int] | None) -> str:
    """Return a documentation up to the first tag, such as `@param`; in Python, all of it."""
    if lines is None or unit.language == "python":
        return unit.doc
    first = lines[0] - unit.start_line
    raw = unit.text.split("\n")[first : lines[1] - unit.start_line + 1]
    cut = next((at for at, line in enumerate(raw) if _TAG.match(line)), len(raw))
    return plain_comment("\n".join(raw[:cut]))


def _why_not(sentence: str, unit: Chunk, lines: tuple[int, int] | None) -> str:
    words = WORD.findall(sentence)
    if not MIN_SENTENCE_WORDS <= len(words) <= _MAX_SENTENCE_WORDS or _NO_SENTENCE.search(sentence):
        return "no sentence, or a short or very long one"
    if minable.repeats_name(sentence, f"{unit.symbol} {unit.parent.rpartition('.')[2]}"):
        return "a sentence that only repeats the name"
    if lines is None:
        return "documentation in the middle of a line of code"
    text = unit.text.split("\n")
    first, last = lines[0] - unit.start_line, lines[1] - unit.start_line
    rest = sum(bool(line.strip()) for line in text[:first] + text[last + 1 :])
    return "a function without a body" if rest < MIN_SENTENCE_WORDS - 1 else ""


def _choose_docs(
    by_file: list[list[_Documented]], same: dict[str, list[_Documented]], left_out: Counter[str], seed: int
) -> Iterator[list[_Documented]]:
    """Yield each sentence once with all its functions: one sentence of every file, then a second, and so on."""
    taken: set[str] = set()
    for one in minable.in_turn(by_file, Random(seed)):  # noqa: S311  # a draw that can be repeated
        key = one.sentence.casefold()
        if key in taken:
            continue
        taken.add(key)
        if len(same[key]) > minable.MAX_PLACES:
            left_out["the same sentence above too many functions"] += 1
        else:
            yield sorted(same[key], key=lambda one: (one.unit.path, one.unit.start_line))


MIN_NAME_WORDS = 3
MAX_TESTS_PER_FUNCTION = 3
"""Tests of one function that become queries."""
MAX_OVERLOADS = 4
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


_Tested = tuple[str, Chunk, tuple[Chunk, ...]]
"""What a test asks, itself, and the function that it is about with its overloads."""


class Definitions:
    """All functions by name, and by name with the name of their file or class."""

    def __init__(self, files: minable.Files, paths: Sequence[str]) -> None:
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
        """Return the overloads of the one function that a name in a test refers to; none if that is in doubt."""
        groups = self._all.get(name, {})
        if len(groups) > 1:
            around = (*_names_around(test.path, test.parent), test.path)
            groups = {place: group for one in around for place, group in self._placed.get((name, one), {}).items()}
        found = next(iter(groups.values()), [])
        return found if len(groups) == 1 and len(found) <= MAX_OVERLOADS else []


def ask_tests(
    files: minable.Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None
) -> minable.MinedQueries:
    """Mine queries from the tests in some files about functions in all of them."""
    told = minable.MinedQueries()
    defined = Definitions(files, paths)
    by_file: list[list[_Tested]] = []
    for at, path in enumerate(paths, 1):
        by_file.append(list(_tests_of_file(files, path, defined, told.left_out)))
        if progress:
            progress("tests", at, len(paths))
    for text, test, units in minable.at_most(list(_choose_tests(by_file, told.left_out, seed)), limit, told.left_out):
        name = minable.query_id("tests", [test])
        tags = {"kind": "casual", "source": "tests", "split": minable.split_of(units[0].path)}
        told.queries.append(Query(name, text, "code", tags=tags))
        where = f"{test.path}:{test.start_line}"
        told.judgments += [Judgment(name, minable.target_of(unit), 2, "tests", where) for unit in units]
        told.hidden.append(minable.target_of(test))
    return told


def question_of(test: Chunk) -> str:
    """Return the name of a test as prose, with the name of its group if that adds words."""
    title = _words_of(test.symbol)
    group = test.parent.rpartition(".")[2]
    context = _words_of(group)
    is_code = " " not in test.symbol.strip()  # its group is a class or module, not what somebody wrote above it
    if not minable.telling(context) - minable.telling(title) or (
        is_code and len(minable.telling(title)) >= MIN_NAME_WORDS
    ):
        return title
    return f"{context} {title}"


def _words_of(name: str) -> str:
    """Return an identifier as words, without those about testing; a title is unchanged."""
    if " " in name.strip():
        return " ".join(name.replace("`", " ").split())
    words = _words(name)
    while words and words[0] in _TEST_WORDS:
        words.pop(0)
    while words and words[-1] in _TEST_WORDS:
        words.pop()
    return " ".join(words)


def _tests_of_file(files: minable.Files, path: str, defined: Definitions, left_out: Counter[str]) -> Iterator[_Tested]:
    if minable.is_prose(path) or minable.is_aside(path):
        return
    for test in files.chunks(path):
        if test.kind != "test" or not test.symbol or ", " in test.symbol or _is_group(test):
            continue
        text = question_of(test)
        if len(WORD.findall(text)) < MIN_NAME_WORDS or len(minable.telling(text)) < 2 or _NUMBERED.search(text):
            left_out["a test whose name says too little"] += 1
        elif units := _tested(test, defined):
            yield text, test, units
        else:
            left_out["a test of several functions, or of none by its name"] += 1


def _is_group(test: Chunk) -> bool:
    """Say whether a unit is a group of tests under one title; the first test may include the group's opening."""
    return _GROUP.match(test.text) is not None and test.symbol[:30] in test.text.lstrip().partition("\n")[0]


def _tested(test: Chunk, defined: Definitions) -> tuple[Chunk, ...]:
    """Return the function that a test is about, with its overloads; none if that is in doubt."""
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
    """Return the fraction of a function's name in the name of a test."""
    name = {stem(word) for word in parts(unit.symbol)}
    return len(name & title) / len(name) if name else 0.0


def _is_near(unit: Chunk, test: Chunk) -> bool:
    """Say whether a test's file or group is named after the file or class of a function."""
    return unit.path == test.path or bool(_names_around(test.path, test.parent) & _names_of(unit.path, unit.parent))


@lru_cache(maxsize=100_000)
def _names_around(path: str, parent: str) -> frozenset[str]:
    """Return the names of a test's file and groups, without the marks of tests."""
    return frozenset(map(_plain, (_stem(path), *parent.split(".")))) - {""}


@lru_cache(maxsize=100_000)
def _names_of(path: str, parent: str) -> frozenset[str]:
    """Return the names of a function's file and classes; for a file such as `__init__`, the name of its folder."""
    stem = _stem(path)
    folder = PurePosixPath(path).parent.name if stem in _FOLDERS else ""
    return frozenset(map(_plain, (stem, folder, *parent.split(".")))) - {""}


def _stem(path: str) -> str:
    return PurePosixPath(path).name.partition(".")[0]


def _plain(name: str) -> str:
    return "".join(parts(_MARKS.sub("", name)))


def _words(text: str) -> list[str]:
    return [part for word in WORD.findall(text) for part in parts(word)]


def _choose_tests(by_file: list[list[_Tested]], left_out: Counter[str], seed: int) -> Iterator[_Tested]:
    """Yield tests evenly over files; an ambiguous name of two tests is skipped."""
    said = Counter(text.casefold() for found in by_file for text, _, _ in found)
    of_one: Counter[str] = Counter()
    for text, test, units in minable.in_turn(by_file, Random(seed)):  # noqa: S311  # a draw that can be repeated
        of_one[units[0].id] += 1
        if said[text.casefold()] > 1:
            left_out["a name that several tests have"] += 1
        elif of_one[units[0].id] > MAX_TESTS_PER_FUNCTION:
            left_out["one more test of the same function"] += 1
        else:
            yield text, test, units


def calls(chunk: Chunk) -> tuple[str, ...]:
    """Return the names called in a chunk, by a pattern for any language, once each, in order, without its own name."""
    own = set(chunk.symbol.split(", "))
    return tuple(name for name in dict.fromkeys(_CALL.findall(chunk.text)) if name not in _NOT_CALLS | own)
