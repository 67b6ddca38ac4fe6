"""Define the records of an answer to a search, the same on every interface, and the cursors of its pages.

A record is written as JSON as it is (`text.as_json`); Python gets the record itself.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import singledispatch
from itertools import count
from pathlib import PurePosixPath
from struct import Struct, error
from typing import Any, TypeVar, dataclass_transform

from assay.errors import InputError, counted, printable, printable_name
from assay.io.digest import digest
from assay.operations.found_commit import FoundCommit, commits_text
from assay.search.display import others_text
from assay.values import Chunk, Hit

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def answer_type(cls: type[_T]) -> type[_T]:
    """Make a class a frozen, slotted record, the docstrings of whose fields are in the schemas of MCP and HTTP."""
    cls.__pydantic_config__ = {"use_attribute_docstrings": True}  # type: ignore[attr-defined]
    return dataclass(frozen=True, slots=True)(cls)


@answer_type
class OtherPlace:
    """A further place that a hit represents."""

    path: str
    start_line: int
    end_line: int
    symbol: str
    root: str = ""


@answer_type
class FoundUnit:
    """A unit of code or prose that was found.

    >>> import assay
    >>> hit = assay.search("where is mail sent", ".")[0]
    >>> hit.path, hit.start_line, hit.symbol
    ('mail/send.py', 6, 'send_mail')
    """

    path: str
    """Relative to the root."""
    start_line: int
    end_line: int
    score: float
    """For a search, the probability that this is right, 0 to 1."""
    symbol: str
    kind: str
    language: str
    text: str
    """Whole lines; empty if only names are requested."""
    signature: str = ""
    """Its declaration, without the body."""
    complete: bool = True
    """Whether this is all of the function; if not, read the file around it."""
    parent: str = ""
    """The enclosing names, outermost first, joined by dots; for prose the headings above."""
    lines: list[int] = field(default_factory=list)
    """The numbers of the lines in the text, if it has only some; with names alone, the lines that match."""
    description: str = ""
    """A description by a language model, if there is one."""
    why: dict[str, float] = field(default_factory=dict)
    """The parts of the score, if requested."""
    changed_by: str = ""
    """With these, subject and date of the commit like the question that votes most for its file."""
    root: str = ""
    """Its root, in an answer from several roots."""
    others: list[OtherPlace] = field(default_factory=list)
    """What this hit represents: overloads, copies in other roots; with grouping, other members of its type."""
    more: list[str] = field(default_factory=list)
    """The same as text: +3 in Task: retry:40, stop:52, run:61."""
    line: int = 0
    """The line in question, if there is one: of a trace, of a message, of a call."""

    @property
    def rows(self) -> str:
        """Return its lines with their numbers."""
        return with_line_numbers(self.text, self.lines or count(max(self.start_line, 1)), self.line)

    @property
    def chunk(self) -> Chunk:
        """Return the unit as a chunk, from whose lines some are chosen."""
        name = f"{self.path}:{self.start_line}-{self.end_line}"
        return Chunk(name, **{name: getattr(self, name) for name in _OF_CHUNK})


@answer_type
class Answer:
    """The hits of a search, best first; a sequence of hits.

    >>> import assay
    >>> answer = assay.search("where is mail sent", ".")
    >>> answer.relevant
    True
    >>> [hit.symbol for hit in answer][0]
    'send_mail'
    """

    root: str
    """Empty if several roots were searched: then each hit has its own."""
    hits: list[FoundUnit]
    relevant: bool = True
    """False: nothing here is likely to be right; these are only the nearest."""
    stale: bool = False
    """True: changed files are not in the index yet; ask again to include them."""
    cursor: str = ""
    """For the next page; empty at the end."""
    corrected: list[str] = field(default_factory=list)
    """The queries as they were searched, if spelling was corrected or one was not in English."""
    notes: list[str] = field(default_factory=list)
    """What the answer lacks, and why, and which languages are not supported; usually empty."""
    language: str = ""
    """The language of a query that is not in English."""
    problems: list[str] = field(default_factory=list)
    """Served folders that were not searched, and why; usually empty."""
    truncated: bool = False
    """True: some served folders are still being indexed for the first time."""
    matches: int = -1
    """How often the query's quoted texts and expressions occur in what is searched; -1 without any."""
    matched_files: int = -1
    """In how many files."""
    docs: list[FoundUnit] = field(default_factory=list)
    """Sections of documentation beside code, if they are likely and no mode was chosen; ordered separately."""
    commits: list[FoundCommit] = field(default_factory=list)
    """The commits that changed something, for a question about changes; the newest first."""
    docs_first: bool = False
    """True: the question asks how to do something, and documentation answers that first."""

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.hits or self.docs or self.matches > 0)

    def __len__(self) -> int:
        """Return the number of hits."""
        return len(self.hits)

    def __iter__(self) -> Iterator[FoundUnit]:
        """Yield the hits, best first."""
        return iter(self.hits)

    def __getitem__(self, place: int) -> FoundUnit:
        """Return a hit by its position."""
        return self.hits[place]


_OF_CHUNK = (
    "path", "start_line", "end_line", "symbol", "kind", "language", "text", "signature", "root", "parent", "description"
)  # fmt: skip


def record(hit: Hit, *, explain: bool = False) -> FoundUnit:
    """Return the record of a hit."""
    chunk = hit.chunk
    why = {name: round(value, 3) for name, value in hit.why.items() if abs(value) >= 0.0005} if explain else {}
    others = tuple(each for each in hit.others if not is_within(each, chunk))
    return FoundUnit(
        **{name: getattr(chunk, name) for name in _OF_CHUNK},
        score=round(hit.score, 3),
        why=why,
        changed_by=getattr(hit.why, "changed_by", "") if explain else "",
        line=hit.line,
        others=[OtherPlace(each.path, each.start_line, each.end_line, each.symbol, each.root) for each in others],
        more=list(others_text(replace(hit, others=others), lambda each: rooted_path(each.root, each.path)))
        if others
        else [],
    )


def is_within(chunk: Chunk, unit: FoundUnit | Chunk) -> bool:
    """Return whether a chunk lies within a unit."""
    same = (chunk.root, chunk.path) == (unit.root, unit.path)
    return same and unit.start_line <= chunk.start_line and chunk.end_line <= unit.end_line


def rooted_path(root: str, path: str) -> str:
    """Return a path below its root's name, if it has one."""
    return str(PurePosixPath(root, path)) if root else path


def qualified_name(unit: FoundUnit) -> str:
    """Return the name of a unit with the names that enclose it."""
    joint = " > " if unit.kind in {"section", "cell"} else "."
    return joint.join(part for part in (unit.parent, unit.symbol) if part)


@singledispatch
def as_text(answer: Any) -> str:
    """Return an answer as text for a model, with the writer of its operation's module."""
    raise TypeError(f"no text for {type(answer).__name__}")


@as_text.register
def _(answer: Answer) -> str:
    units = list(map(unit_text, answer.hits))
    names_only = answer.hits and not any(hit.text for hit in answer.hits)
    problems = [f"not searched: {problem}" for problem in answer.problems]
    stale = ["changed files are not in the index yet; ask again to include them"] if answer.stale else []
    notes = [*notes_of(answer), *problems, *stale, *([matches_text(answer)] if answer.matches >= 0 else [])]
    found = ["\n".join(units)] if names_only else units
    docs = ["\n".join(map(unit_text, answer.docs))] if answer.docs else []
    commits = [commits_text(answer.commits).rstrip("\n")] if answer.commits else []
    return joined([*notes, *commits, *(docs + found if answer.docs_first else found + docs)], answer.cursor)


def notes_of(answer: Answer) -> Iterator[str]:
    """Yield notes on an answer, except for roots that were not searched."""
    if not answer.hits and not answer.docs:
        yield "nothing found"
    elif not answer.relevant:
        yield "probably nothing relevant here; these are only the nearest"
    if answer.corrected:
        how = f"read as {answer.language}" if answer.language else "spelling corrected"
        yield f"{how}: {'; '.join(map(repr, answer.corrected))}"
    yield from answer.notes


def matches_text(answer: Answer) -> str:
    """Return how many matches there are in how many files."""
    return f"{counted(answer.matches, 'match')} in {counted(answer.matched_files, 'file')}"


def joined(blocks: Sequence[str], cursor: str) -> str:
    """Join blocks of text, and add the cursor of the next page."""
    return "\n\n".join([*blocks, *([f"more with cursor {cursor}"] if cursor else [])])


def unit_text(unit: FoundUnit) -> str:
    """Return a unit as text for a model: its place and what it is, then its lines with their numbers."""
    part = "" if unit.complete else " (a part)"
    path = printable_name(rooted_path(unit.root, unit.path))
    why = f"\n  {', '.join(f'{name} {value:g}' for name, value in unit.why.items())}" if unit.why else ""
    named = f"{unit.kind} {qualified_name(unit)}".strip()
    head = f"{path}:{unit.start_line}-{unit.end_line} {named}{part} {unit.score:.2f}{why}"
    more = "".join(f"\n  {printable(row)}" for row in unit.more)
    if not unit.text:
        return (f"{head} at {', '.join(map(str, unit.lines))}" if unit.lines else head) + more
    return f"{head}\n{unit.rows}{more}"


def with_line_numbers(text: str, numbers: Iterable[int], marked: int = 0) -> str:
    """Return lines with their numbers in the file, so that a model can cite them; one may be marked."""
    lines = text.rstrip("\n").split("\n") if text else []
    rows = zip(lines, numbers, strict=False)
    return "\n".join(f"{'>' if number == marked else ''}{number:5} {line}".rstrip() for line, number in rows)


_HASH_BYTES = 6
_PLAIN = Struct(f">Q{_HASH_BYTES}s{_HASH_BYTES}s")


class NotOfThisList(InputError):
    """A cursor belongs to another question, or to an earlier version of the files."""


_NONE = "invalid cursor; omit it for the first page"


def cursor(offset: int, question: Any, version: str) -> str:
    """Return the cursor of what comes after `offset` entries."""
    return urlsafe_b64encode(_PLAIN.pack(offset, _digest(question), _digest(version))).decode().rstrip("=")


def offset_of(text: str, question: Any, version: str) -> int:
    """Return how many entries precede a cursor; 0 without one."""
    if not text:
        return 0
    try:
        packed = urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        offset, question_digest, version_digest = _PLAIN.unpack(packed)
    except (ValueError, error):
        raise NotOfThisList(_NONE) from None
    if question_digest != _digest(question):
        what = "the cursor belongs to another question; repeat the arguments of the first page, or omit it"
        raise NotOfThisList(what)
    if version_digest != _digest(version):
        raise NotOfThisList("files changed since the first page; ask again without the cursor")
    return int(offset)


def _digest(value: Any) -> bytes:
    return digest(json.dumps(value), _HASH_BYTES)
