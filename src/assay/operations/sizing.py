"""Fit hits into a budget of tokens, in whole lines and whole functions; cursors that name the next page.

In full, a unit that is too long for one chunk is put together again where the budget allows; otherwise each hit has its
telling lines, or its name alone. What does not fit is left for the next page rather than cut, unless it is the first.
Costs are those of the form that is written, JSON or text, by the estimate of `assay search --budget`, which errs on the
high side.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from hashlib import blake2b
from itertools import accumulate, count
from struct import Struct, error
from typing import Any, TypeVar, dataclass_transform
from weakref import WeakKeyDictionary

import numpy as np

from assay.corpus.blocks import lines_of
from assay.corpus.outline import functions
from assay.errors import InputError, printable
from assay.operations.requests import Detail
from assay.search.display import cut, others_text, telling
from assay.search.reference_table import numbers_in
from assay.store.snapshot import Snapshot
from assay.terms import tokens
from assay.values import Chunk, Hit, Query

OVERHEAD = 130
"""Tokens of an answer besides its entries: names of fields, place, cursor."""
TELLING = (4,)
"""Lines of a hit that are shown where not all are."""
MATCHING = 6
"""The same where lines hold what the query quotes."""
_WIDEST = 200
"""Characters of a telling line that are shown."""
LONGEST_UNIT = 400
"""Lines of a unit that is put together again."""
_MOST_KNOWN = 4096  # files of an index whose functions are remembered
_PIECES = frozenset(("function", "method", "constructor", "test"))


@dataclass(frozen=True, slots=True)
class OtherPlace:
    """A further place that a hit stands for."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    root: str = ""


_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def answer_type(cls: type[_T]) -> type[_T]:
    """Make a class a frozen, slotted record whose fields' docstrings are in the schemas of MCP and HTTP."""
    cls.__pydantic_config__ = {"use_attribute_docstrings": True}  # type: ignore[attr-defined]
    return dataclass(frozen=True, slots=True)(cls)


@answer_type
class FoundUnit:
    """A unit of code or prose that was found."""

    path: str
    """Relative to the root."""
    start_line: int
    end_line: int
    score: float
    """For search the chance that this is right, 0 to 1."""
    symbol: str
    kind: str
    language: str
    text: str
    """Whole lines; empty where only names are wanted."""
    complete: bool = True
    """Whether this is all of the function; where not, read the file around it."""
    parent: str = ""
    """The names around it, outermost first, with dots between; for prose the headings above."""
    lines: list[int] = field(default_factory=list)
    """Which lines the text has where it has only the telling ones; of names alone, those that match."""
    description: str = ""
    """What a language model wrote about it, if one did."""
    why: dict[str, float] = field(default_factory=dict)
    """The parts of the score, if asked for."""
    root: str = ""
    """Of an answer from several roots, the one that holds this."""
    others: list[OtherPlace] = field(default_factory=list)
    """What this stands for: overloads, copies in other roots; where hits are grouped, further members of its type."""
    more: list[str] = field(default_factory=list)
    """The same in words: +3 in Task: retry:40, stop:52, run:61."""

    @property
    def rows(self) -> str:
        """Its lines with their numbers."""
        return with_line_numbers(self.text, self.lines or count(max(self.start_line, 1)))


@answer_type
class FoundAnswer:
    """What was found, best first."""

    root: str
    """Empty if several were searched: then each hit has its own."""
    hits: list[FoundUnit]
    relevant: bool = True
    """False: nothing here is likely to be right; these are only the nearest."""
    stale: bool = False
    """True: files changed that are not in the index yet; ask again for what is in them."""
    cursor: str = ""
    """For the next page; empty at the end."""
    corrected: list[str] = field(default_factory=list)
    """The queries as they were searched for, where the spelling of one was corrected or one was not in English."""
    notes: list[str] = field(default_factory=list)
    """What the answer does without, and why, and which languages are not read; mostly empty."""
    language: str = ""
    """The language that a query was read in, where that is not English."""
    problems: list[str] = field(default_factory=list)
    """Served folders that were not searched, and why; mostly empty."""
    truncated: bool = False
    """True: some served folders are still being indexed for the first time."""
    matches: int = -1
    """How often the query's quoted texts and expressions stand in what is searched; -1 without any."""
    matched_files: int = -1
    """In how many files."""


_OF_CHUNK = ("path", "start_line", "end_line", "symbol", "kind", "language", "text", "root", "parent", "description")


def record(hit: Hit, *, explain: bool = False) -> FoundUnit:
    """Return a hit as it is answered."""
    chunk = hit.chunk
    why = {name: round(value, 3) for name, value in hit.why.items() if abs(value) >= 0.0005} if explain else {}
    others = tuple(each for each in hit.others if not _within(each, chunk))
    return FoundUnit(
        **{name: getattr(chunk, name) for name in _OF_CHUNK},
        score=round(hit.score, 3),
        why=why,
        others=[OtherPlace(each.path, each.start_line, each.end_line, each.symbol, each.root) for each in others],
        more=list(others_text(replace(hit, others=others), lambda each: rooted_path(each.root, each.path))),
    )


def as_row(entry: Any, *left_out: str) -> dict[str, Any]:
    """Return a record as JSON lines have it: without what is empty or as it usually is."""
    row = {}
    for each in fields(entry):
        value = getattr(entry, each.name)
        usual = each.default if each.default_factory is MISSING else each.default_factory()
        if value != usual and each.name not in left_out:
            row[each.name] = [as_row(one) for one in value] if each.name == "others" else value
    return row


def qualified_name(unit: FoundUnit) -> str:
    """Return the name of a unit below the names around it."""
    joint = " > " if unit.kind in {"section", "cell"} else "."
    return joint.join(part for part in (unit.parent, unit.symbol) if part)


def rooted_path(root: str, path: str) -> str:
    """Return a path behind its root, if it has one."""
    return f"{root}/{path}" if root else path


def unit_text(unit: FoundUnit) -> str:
    """Return a unit as text for a model: its place and what it is, then its lines with their numbers."""
    part = "" if unit.complete else " (a part)"
    path = rooted_path(unit.root, unit.path)
    why = f"\n  {', '.join(f'{name} {value:g}' for name, value in unit.why.items())}" if unit.why else ""
    named = f"{unit.kind} {qualified_name(unit)}".strip()
    head = f"{path}:{unit.start_line}-{unit.end_line} {named}{part} {unit.score:.2f}{why}"
    more = "".join(f"\n  {printable(row)}" for row in unit.more)
    if not unit.text:
        return (f"{head} at {', '.join(map(str, unit.lines))}" if unit.lines else head) + more
    return f"{head}\n{unit.rows}{more}"


def with_line_numbers(text: str, numbers: Iterable[int]) -> str:
    """Return lines with their numbers in the file: whoever reads code has to say where it is."""
    lines = text.rstrip("\n").split("\n") if text else []
    return "\n".join(f"{number:5} {line}".rstrip() for line, number in zip(lines, numbers, strict=False))


def text_cost(unit: FoundUnit) -> int:
    """Return the tokens of a unit as text, with what separates it from the next."""
    return tokens(unit_text(unit)) + 1


def cost(entry: Any) -> int:
    """Return the tokens of a record, with what separates it from the next."""
    held = {each.name: getattr(entry, each.name) for each in fields(entry)}
    written = json.dumps(held, ensure_ascii=False, default=asdict)
    numbers = len(getattr(entry, "why", ()))
    return tokens(written) + written.count("\\") + written.count('":') + numbers + 1  # JSON makes short tokens


def fitting(entries: Sequence[_T], budget: int, cost_of: Callable[[_T], int] = cost) -> list[_T]:
    """Return as many of some entries as a budget holds, from the first."""
    spent = accumulate(map(cost_of, entries))
    return [entry for entry, total in zip(entries, spent, strict=True) if total <= budget]


def most_fitting(most: int, budget: int, cost_of: Callable[[int], int]) -> int:
    """Return how many of `most` a budget holds, by what so many cost."""
    return bisect_right(range(1, most + 1), budget, key=cost_of)


@dataclass(frozen=True, slots=True)
class Size:
    """How much of hits is to be shown."""

    budget: int
    wanted: AbstractSet[str] = frozenset()
    """The terms to show where only a part of a hit is shown."""
    explain: bool = False
    aside: int = 0
    """Tokens of what is answered beside the hits, as long as the question makes it."""
    detail: Detail = "full"
    queries: Sequence[Query] = ()
    """Whose quoted texts and expressions are shown first."""
    cost: Callable[[FoundUnit], int] = cost
    lines: Sequence[int] = TELLING
    """How many telling lines each hit has, in order; further ones have as many as the last."""

    def complete(self, hit: Hit) -> FoundUnit:
        """Return a hit that is all of its unit."""
        return record(hit, explain=self.explain)

    def part(self, hit: Hit) -> FoundUnit:
        """Return a hit that is less than its unit."""
        return replace(record(hit, explain=self.explain), complete=False)

    def brief(self, hit: Hit, unit: Chunk, place: int = 0) -> FoundUnit:
        """Return the unit of a hit with the telling lines of the hit, or with its name and the lines that match."""
        matching = sorted({line for query in self.queries for line in _matching(unit, query)})
        shown = self.complete(replace(hit, chunk=unit))
        if self.detail == "names":
            return replace(shown, text="", lines=matching)
        most = self.lines[min(place, len(self.lines) - 1)]
        every = telling(unit, self.wanted, matching, max(most, MATCHING) if matching else most)
        text = "".join(f"{line[:_WIDEST]}{'…' * (len(line) > _WIDEST)}\n" for _, line in every)
        return replace(shown, text=text, lines=[number for number, _ in every])


def _matching(chunk: Chunk, query: Query) -> list[int]:
    if not query.reads_text:
        return []
    from assay.search.text_matches import lines_matching

    return lines_matching(chunk, query)


def sized(hits: Sequence[Hit], size: Size, snapshots: Mapping[str, Snapshot]) -> tuple[list[FoundUnit], int]:
    """Return the records that a budget holds, and how many of the hits they account for.

    The snapshots, by root, are where the pieces of long units are.
    """
    left, shown = size.budget - OVERHEAD - size.aside, list[FoundUnit]()
    for taken, hit in enumerate(hits):
        if size.detail == "full" and any(_within(hit.chunk, one) for one in shown):
            continue
        fitting = _fitting(hit, left, size, snapshots[hit.chunk.root], taken)
        if fitting is None and not shown:
            fitting = _first_lines(hit, left, size)
        if fitting is None:
            return shown, taken
        left -= size.cost(fitting)
        shown.append(fitting)
    return shown, len(hits)


def _fitting(hit: Hit, left: int, size: Size, snapshot: Snapshot, place: int) -> FoundUnit | None:
    """Return all of a hit's unit if that fits, else the hit itself if that does; in brief only its telling lines."""
    unit = whole(hit.chunk, snapshot)
    if size.detail != "full":
        brief = size.brief(hit, unit, place)
        return brief if size.cost(brief) <= left else None
    choices = [size.complete(replace(hit, chunk=unit))] + ([size.part(hit)] if unit is not hit.chunk else [])
    return next((choice for choice in choices if size.cost(choice) <= left), None)


def _first_lines(hit: Hit, left: int, size: Size) -> FoundUnit:
    hit = replace(hit, others=())
    best = cut(hit, size.wanted, left, lambda hit: size.cost(size.part(hit)))
    brief = size.brief(hit, hit.chunk)
    if best is None and size.cost(brief) <= left:
        return replace(brief, complete=False)
    if best is None:
        raise InputError(f"a budget of {size.budget} tokens holds no line of the best hit; give it more")
    return size.part(best)


def whole(chunk: Chunk, snapshot: Snapshot) -> Chunk:
    """Return the function that a chunk is a piece of, or the chunk itself; functions inside it are part of it."""
    if chunk.kind not in _PIECES or not chunk.symbol:
        return chunk
    file = _file(snapshot, chunk.path)
    named = (snapshot.chunk(number) for number in file.numbers_of(chunk.symbol))
    if sum(piece.parent == chunk.parent for piece in named) < 2:
        return chunk
    name = f"{chunk.parent}.{chunk.symbol}" if chunk.parent else chunk.symbol
    around = [
        (last - first, first, last)
        for first, last, full in file.functions(snapshot)
        if full == name and first <= chunk.end_line and chunk.start_line <= last
    ]
    size, first, last = min(around, default=(0, 0, 0))
    if size <= chunk.end_line - chunk.start_line or size >= LONGEST_UNIT:
        return chunk
    text = text_of_lines(snapshot, file.numbers, first, last)
    return replace(chunk, id=f"{chunk.path}:{first}-{last}", start_line=first, end_line=last, text=text)


@dataclass(slots=True)
class _File:
    """What is known of a file of an index: the numbers of its chunks, their symbols, and its functions once asked."""

    path: str
    numbers: list[int]
    symbols: list[str]
    found: list[tuple[int, int, str]] | None = None

    def numbers_of(self, symbol: str) -> list[int]:
        """Return the chunks of a symbol, or none where it is but one, which is no piece."""
        if self.symbols.count(symbol) < 2:
            return []
        return [number for number, named in zip(self.numbers, self.symbols, strict=True) if named == symbol]

    def functions(self, snapshot: Snapshot) -> list[tuple[int, int, str]]:
        """Return first line, last line and name of the functions, read off the chunks once."""
        if self.found is None:
            self.found = functions(self.path, text_of_lines(snapshot, self.numbers, 1))
        return self.found


_known: WeakKeyDictionary[Snapshot, dict[str, _File]] = WeakKeyDictionary()


def _file(snapshot: Snapshot, path: str) -> _File:
    known = _known.setdefault(snapshot, {})
    found = known.get(path)
    if found is None:
        if len(known) >= _MOST_KNOWN:
            known.clear()
        numbers = numbers_in(snapshot, path).tolist()
        found = known[path] = _File(path, numbers, list(map(snapshot.symbol, numbers)))
    return found


def text_of_lines(snapshot: Snapshot, numbers: Sequence[int], first: int, last: int | None = None) -> str:
    """Return lines of a file as its chunks have them; one that no chunk has is empty."""
    spans = snapshot.rows("lines", np.array(numbers)).tolist()
    last = last or max(end for _, end in spans)
    lines: dict[int, str] = {}
    for number, (start, end) in zip(numbers, spans, strict=True):
        if start <= last and end >= first:
            lines.update(enumerate(lines_of(snapshot.chunk(number).text), start))
    return "".join(lines.get(number, "\n") for number in range(first, last + 1))


def _within(chunk: Chunk, shown: FoundUnit | Chunk) -> bool:
    same = (chunk.root, chunk.path) == (shown.root, shown.path)
    return same and shown.start_line <= chunk.start_line and chunk.end_line <= shown.end_line


_HASH_BYTES = 6
_PLAIN = Struct(f">Q{_HASH_BYTES}s{_HASH_BYTES}s")


class NotOfThisList(InputError):
    """A cursor is of another question, or of files as they were before."""


_NONE = "invalid cursor; omit it for the first page"


def cursor(offset: int, question: Any, version: str) -> str:
    """Return the cursor of what comes after `offset` entries."""
    return urlsafe_b64encode(_PLAIN.pack(offset, _digest(question), _digest(version))).decode().rstrip("=")


def offset_of(text: str, question: Any, version: str) -> int:
    """Return how many entries came before; 0 without a cursor."""
    if not text:
        return 0
    try:
        offset, question_digest, version_digest = _PLAIN.unpack(
            urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        )
    except (ValueError, error):
        raise NotOfThisList(_NONE) from None
    if question_digest != _digest(question):
        what = "the cursor belongs to another question; repeat the arguments of the first page, or omit it"
        raise NotOfThisList(what)
    if version_digest != _digest(version):
        raise NotOfThisList("files changed since the first page; ask again without the cursor")
    return int(offset)


def _digest(value: Any) -> bytes:
    return blake2b(json.dumps(value).encode(), digest_size=_HASH_BYTES).digest()
