"""Select the files and units to mine, and build mined queries."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from random import Random
from typing import TypeVar

from assay.corpus.chunk import parse
from assay.corpus.languages import PROSE, language_of
from assay.corpus.walk import walk
from assay.corpus.walked_files import read
from assay.io.digest import digest, hex_digest
from assay.measure.line_spans import Span
from assay.terms import STOP_WORDS, WORD, parts, terms_of
from assay.truth.ground_truth import Truth
from assay.truth.target_places import Places, fault_of
from assay.values import Chunk, Judgment, Query

MAX_FILES = 20_000
"""Of larger repositories a sample of the files is looked at for documentation and tests."""
MAX_UNIT_LINES = 150
"""Lines of a unit that is one answer; of a longer one the piece that is meant."""
MAX_PLACES = 8
"""Places that one mined query may have as answers."""
CALLABLE = frozenset(("function", "method", "constructor"))
_NO_UNIT = frozenset(("", "block", "cell", "test"))
_TEST = re.compile(
    r"(?:^|/)(?:\w+[-_])?(?:tests?|testing|testutils?|test_?data|testfixtures|__tests__|specs?|e2e|cypress|fixtures?"
    r"|__?mocks?(?:__)?|snapshots?|bench(?:es|marks?)?|jmh)(?:[-_]\w+)?(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|conftest|(?:.*[._-])?(?:tests?|spec|bench|stories))\.\w+$|(?:Tests?|TestCase|Spec|IT)\.\w+$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|what-?s-?new|contributing|code_of_conduct"
    r"|security|sponsor\w*|licen[cs]e|authors|contributors|maintainers|ecosystem|adopters|showcase|todo|agents|claude)[^/]*\.(?:mdx?|rst|adoc|txt)$"
    r"|(?:^|/)(?:change-?logs?|newsfragments|releasenotes|i18n|locales?|translations?|whats_?new)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/"
    r"|(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground|third[-_]party|vendor|vendored|_vendor)/"
    r"|(?:^|/)\.[^/]+/|requirements[^/]*\.txt$|CMakeLists\.txt$|robots\.txt$",
    re.IGNORECASE,
)


def is_test(path: str) -> bool:
    """Say whether a file is a test, by its path."""
    return _TEST.search(path) is not None


def is_aside(path: str) -> bool:
    """Say whether a file is unsuitable as an answer, by its path: a changelog, an example, a copy, a translation."""
    return _ASIDE.search(path) is not None


def is_prose(path: str) -> bool:
    """Say whether a file is a document."""
    return language_of(path) in PROSE


class Files:
    """The files of a folder, parsed on demand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._entries = {entry.path: entry for entry in walk(root).files}
        self._chunks: dict[str, tuple[Chunk, ...]] = {}
        self._units: dict[str, tuple[Chunk, ...]] = {}
        self._lines: dict[str, list[str]] = {}

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def sample(self, seed: int) -> list[str]:
        """Return the paths in random order, a sample if there are very many."""
        paths = sorted(self._entries)
        Random(seed).shuffle(paths)  # noqa: S311  # a draw that can be repeated
        return paths[:MAX_FILES]

    def chunks(self, path: str) -> tuple[Chunk, ...]:
        """Return the chunks of a file; none if it is binary, generated or missing."""
        if path not in self._chunks:
            text = read(self.root, self._entries[path]) if path in self._entries else None
            self._chunks[path] = parse(path, text).chunks if isinstance(text, str) else ()
        return self._chunks[path]

    def functions(self, path: str) -> tuple[Chunk, ...]:
        """Return the functions of a file that may be answers, in order, each in one piece."""
        if is_test(path) or is_aside(path) or is_prose(path):
            return ()
        whole = units(self.chunks(path), longest=self._entries[path].size)
        return tuple(unit for unit in whole if unit.kind in CALLABLE and ", " not in unit.symbol)

    def units(self, path: str) -> tuple[Chunk, ...]:
        """Return the units of a file that may be answers, in order."""
        if path not in self._units:
            self._units[path] = () if is_test(path) or is_aside(path) else tuple(units(self.chunks(path)))
        return self._units[path]

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file; none if it is binary or missing."""
        if path not in self._lines:
            text = read(self.root, self._entries[path]) if path in self._entries else ""
            self._lines[path] = text.split("\n") if isinstance(text, str) else []
        return self._lines[path]

    def line(self, path: str, number: int) -> str:
        """Return one line of a file; empty if it does not exist."""
        lines = self.lines(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""


def units(chunks: Sequence[Chunk], *, longest: int = MAX_UNIT_LINES) -> Iterator[Chunk]:
    """Yield named units that are not tests, with the pieces of a unit joined unless it is very long."""
    waiting: Chunk | None = None
    for chunk in chunks:
        if waiting is not None and _continues(waiting, chunk, longest):
            between = "\n" * (chunk.start_line - waiting.end_line - 1)  # blank lines belong to no piece
            waiting = replace(waiting, end_line=chunk.end_line, text=waiting.text + between + chunk.text)
            continue
        if waiting is not None:
            yield waiting
        waiting = chunk if _is_unit(chunk) else None
    if waiting is not None:
        yield waiting


def _is_unit(chunk: Chunk) -> bool:
    inside = chunk.parent.replace("::", ".").split(".")
    return bool(chunk.symbol) and chunk.kind not in _NO_UNIT and not {"tests", "test"}.intersection(inside)


def _continues(unit: Chunk, chunk: Chunk, longest: int) -> bool:
    same = (unit.symbol, unit.parent, unit.kind) == (chunk.symbol, chunk.parent, chunk.kind)
    return same and unit.kind != "section" and not chunk.doc and chunk.end_line - unit.start_line < longest


_T = TypeVar("_T")


@dataclass(slots=True)
class MinedQueries:
    """The queries and judgments of one source."""

    queries: list[Query] = field(default_factory=list)
    judgments: list[Judgment] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    """The lines that hold the questions."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Why what was found did not become a query, and how often."""
    hidden_docs: list[str] = field(default_factory=list)
    """The symbols whose documentation holds the questions, where targets are symbols."""


def at_most(items: list[_T], limit: int, left_out: Counter[str]) -> list[_T]:
    """Return the first `limit` items, and count the others as left out."""
    if len(items) > limit:
        left_out["more than were wanted"] += len(items) - limit
    return items[:limit]


def target_of(unit: Chunk) -> str:
    """Return the target of a unit: its lines."""
    return f"{unit.path}:{unit.start_line}-{unit.end_line}"


def query_id(source: str, units: Iterable[Chunk]) -> str:
    """Return a name for a query that depends only on the names of its answers."""
    key = "\n".join(f"{unit.path} {unit.parent} {unit.symbol} {unit.signature}" for unit in units)
    return id_of(source, key)


def id_of(source: str, key: str) -> str:
    """Return the name of a query of a source, with a hash of its content."""
    return f"{source}-{hex_digest(key, 6)}"


def split_of(path: str) -> str:
    """Return the split of a file: half of the files are for tuning, the others for tests."""
    return "test" if digest(path, 1)[0] % 2 else "dev"


_EMPTY = frozenset(
    """
    add adds added adding fix fixes fixed fixing update updates updated change changes changed improve improves improved
    improvement improvements make makes made use uses used using remove removes removed removing delete drop support
    supports supported allow allows avoid avoids ensure handle handles enable disable implement implements introduce
    introduces move moved replace switch set better more new small some few bug bugs issue issues problem code stuff
    thing things misc various correct correctly properly instead via only just also no when don doesn all any same first
    one two up out off back through without about after before need needs should work works working way tweak tweaks
    follow gh pr see refactor refactors refactoring rename renames renamed renaming simplify simplifies reorganize
    reorder unused warning warnings deprecation flaky comment comments import imports annotation annotations test tests
    testing benchmark benchmarks minor feedback review modernize style whitespace indentation inline internal doc docs
    documentation example examples readme cleanup
    """.split()
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
TELLING = 3
"""Telling words of a subject at least."""
SAYING = 2
"""Telling words at least that are no part of a unit's name."""
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|\w_\w")
_MARKED = re.compile(r"`([^`]+)`|\b([A-Za-z_]\w*)\(|[.#:](\w+)\b")


def kind_of(text: str, answers: Sequence[Chunk]) -> str:
    """Return `symbol` for a question that names an answer, `hard` for one without a word of any, or else `standard`."""
    if _identifiers_in(text) & {name for answer in answers for name in _names(answer)}:
        return "symbol"
    return "standard" if any(telling(text) & words_of(answer) for answer in answers) else "hard"


def repeats_name(text: str, names: str) -> bool:
    """Say whether a text has too few significant words beside those of its answers' names."""
    return len(telling(text) - telling(names)) < SAYING


def units_at(units: Iterable[Chunk], path: str, spans: Iterable[Span]) -> list[Chunk]:
    """Return the units that overlap places of their file; only the path if there are none."""
    spans = list(spans)
    there = (each for each in units if any(Span(path, each.start_line, each.end_line).overlaps(s) for s in spans))
    return list(there) or [Chunk("", "", path=path)]


def with_kinds(truth: Truth, places: Places) -> Truth:
    """Tag each query without a kind by `kind_of`, from its right places that exist."""
    spans: defaultdict[str, list[Span]] = defaultdict(list)
    for each in truth.judgments:
        if each.grade and not fault_of(places, each.target):
            spans[each.query_id].append(places.span(each.target))

    def tagged(query: Query) -> Query:
        if "kind" in query.tags or query.id not in spans:
            return query
        found = ((span, parse(span.path, places.text(span.path)).chunks) for span in spans[query.id])
        answers = [unit for span, chunks in found for unit in units_at(units(chunks), span.path, [span])]
        return replace(query, tags={**query.tags, "kind": kind_of(query.text, answers)})

    return replace(truth, queries=tuple(map(tagged, truth.queries)))


def words_of(answer: Chunk) -> frozenset[str]:
    """Return the words that find an answer without reading its body: of its path, names and signature."""
    stem = str(PurePosixPath(answer.path).with_suffix(""))
    return telling(" ".join((stem.replace("/", " "), answer.parent, answer.symbol, answer.signature)))


def _identifiers_in(text: str) -> set[str]:
    """Return the identifiers in a text: marked as code, or not spelled like a word."""
    marked = {word for groups in _MARKED.findall(text) for word in WORD.findall(" ".join(groups))}
    return {word for word in marked if len(word) > 2} | {word for word in WORD.findall(text) if _CODE_LIKE.search(word)}


def _names(answer: Chunk) -> set[str]:
    names = set(answer.symbol.replace("::", ", ").replace(".", ", ").split(", "))
    return names | {answer.parent.rpartition(".")[2]} if len(parts(answer.parent.rpartition(".")[2])) > 1 else names


def telling(text: str) -> frozenset[str]:
    """Return the stemmed words of a text that say what it is about, without stop words."""
    found: set[str] = set()
    for word in WORD.findall(text):
        wide = len(_WIDE.findall(word))
        if wide:
            found.update(word[at : at + 2] for at in range(0, wide, 2))
        elif word.lower() not in _EMPTY | STOP_WORDS and not word.isdigit():
            found.update(term for term in terms_of(word) if len(term) > 1 and not term.startswith("="))
    return frozenset(found)


def in_turn(by_file: Sequence[list[_T]], random: Random) -> Iterator[_T]:
    """Yield one item of every file, at random, then a second of every file, and so on."""
    for found in by_file:
        random.shuffle(found)
    for place in range(max(map(len, by_file), default=0)):
        yield from (found[place] for found in by_file if place < len(found))
