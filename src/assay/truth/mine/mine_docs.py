"""Documented functions to queries: the first sentence asks, the function answers, and the documentation is hidden.

Only sentences that say more than the function's name are taken, evenly over the files. A sentence that stands above
several functions is one query with several answers.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from assay.corpus.units import plain_comment
from assay.protocols import Progress
from assay.terms import WORD
from assay.truth.mine.minable import Files
from assay.truth.mine.mined import MinedQueries, query_id, split_of, target_of
from assay.truth.mine.question_kinds import kind_of
from assay.truth.mine.subjects import telling
from assay.types import Chunk, Judgment, Query

SHORTEST = 4
"""Words of a sentence at least."""
SAYING = 2
"""Telling words at least that are no part of the function's name."""
MOST_ANSWERS = 8
_LONGEST = 60
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
class _Found:
    sentence: str
    unit: Chunk
    lines: tuple[int, int]


def ask(files: Files, paths: Sequence[str], limit: int, seed: int, progress: Progress | None = None) -> MinedQueries:
    """Return queries from the documentation of functions in some files."""
    told = MinedQueries()
    by_file: list[list[_Found]] = []
    same: defaultdict[str, list[_Found]] = defaultdict(list)
    for at, path in enumerate(paths, 1):
        found = list(_of_file(files, path, told.left_out))
        for one in found:
            same[one.sentence.casefold()].append(one)
        by_file.append(found)
        if progress:
            progress("documentation", at, len(paths))
    chosen = list(_choose_evenly(by_file, same, told.left_out, seed))
    if len(chosen) > limit:
        told.left_out["more than were wanted"] += len(chosen) - limit
    for group in chosen[:limit]:
        _add(told, group)
    return told


def doc_lines(unit: Chunk) -> tuple[int, int] | None:
    """Return the first and last line of a unit's documentation in its file, or None where it is not on its own."""
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
    """Return the lines of the string with which the body of a function in Python begins."""
    opening = _LITERAL.search(text)
    if opening is None:
        return None
    end = text.find(opening[1], opening.end())
    after = text[end + len(opening[1]) :].partition("\n")[0] if end >= 0 else ""
    if end < 0 or after.strip():
        return None
    return text.count("\n", 0, opening.start(1)), text.count("\n", 0, end)


def _comments(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the runs of lines that are comments and nothing else; an opened `impl` may stand above the first."""
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


def _of_file(files: Files, path: str, left_out: Counter[str]) -> Iterator[_Found]:
    for unit in files.functions(path):
        if not unit.doc:
            continue
        lines = doc_lines(unit)
        sentence = first_sentence(unit, lines)
        reason = _why_not(sentence, unit, lines)
        if reason or lines is None:
            left_out[reason] += 1
        else:
            yield _Found(sentence, unit, lines)


def first_sentence(unit: Chunk, lines: tuple[int, int] | None) -> str:
    """Return the first sentence of a unit's documentation on one line, without marks and without the unit's name."""
    paragraph = _PARAGRAPH.split(_untagged(unit, lines).strip(), maxsplit=1)[0]
    text = _MARKUP.sub(lambda found: found[1] or found[2] or found[3] or "", paragraph)
    found = _SENTENCE.match(" ".join(text.replace("`", "").split()))
    sentence = found[0].strip(" -:*#/").rstrip(".") if found else ""
    first, _, rest = sentence.partition(" ")
    return rest if rest and (WORD.findall(first) or [""])[-1] == unit.symbol else sentence


def _untagged(unit: Chunk, lines: tuple[int, int] | None) -> str:
    """Return a documentation up to the first tag, such as `@param`: a language's comments hold no mark of it later."""
    if lines is None or unit.language == "python":
        return unit.doc
    first = lines[0] - unit.start_line
    raw = unit.text.split("\n")[first : lines[1] - unit.start_line + 1]
    cut = next((at for at, line in enumerate(raw) if _TAG.match(line)), len(raw))
    return plain_comment("\n".join(raw[:cut]))


def _why_not(sentence: str, unit: Chunk, lines: tuple[int, int] | None) -> str:
    words = WORD.findall(sentence)
    if not SHORTEST <= len(words) <= _LONGEST or _NO_SENTENCE.search(sentence):
        return "no sentence, or a short or very long one"
    names = telling(f"{unit.symbol} {unit.parent.rpartition('.')[2]}")
    if len(telling(sentence) - names) < SAYING:
        return "a sentence that only repeats the name"
    if lines is None:
        return "documentation in the middle of a line of code"
    text = unit.text.split("\n")
    first, last = lines[0] - unit.start_line, lines[1] - unit.start_line
    rest = sum(bool(line.strip()) for line in text[:first] + text[last + 1 :])
    return "a function without a body" if rest < SHORTEST - 1 else ""


def _choose_evenly(
    by_file: list[list[_Found]], same: dict[str, list[_Found]], left_out: Counter[str], seed: int
) -> Iterator[list[_Found]]:
    """Yield each sentence once with all its functions: one of every file, then a second, and so on."""
    random = Random(seed)  # noqa: S311  # a draw that can be repeated
    taken: set[str] = set()
    for found in by_file:
        random.shuffle(found)
    for place in range(max(map(len, by_file), default=0)):
        for found in by_file:
            key = found[place].sentence.casefold() if place < len(found) else ""
            if not key or key in taken:
                continue
            taken.add(key)
            if len(same[key]) > MOST_ANSWERS:
                left_out["the same sentence above too many functions"] += 1
            else:
                yield sorted(same[key], key=lambda one: (one.unit.path, one.unit.start_line))


def _add(told: MinedQueries, group: Sequence[_Found]) -> None:
    units = [one.unit for one in group]
    name = query_id("docs", units)
    tags = {"kind": kind_of(group[0].sentence, units), "source": "docs", "split": split_of(units[0].path)}
    told.queries.append(Query(name, group[0].sentence, "code", tags=tags))
    for one in group:
        told.judgments.append(Judgment(name, target_of(one.unit), 2, "docs", one.unit.symbol))
        told.hidden.append(f"{one.unit.path}:{one.lines[0]}-{one.lines[1]}")
