"""Declare the tools that a model may call, and write their answers as text.

Filters are query words, so that a model learns them once; a parameter costs each of its requests the tokens of its
schema.
"""

from __future__ import annotations

from functools import singledispatch
from itertools import count
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.errors import InputError, counted
from assay.operations.commits import commits_text
from assay.search.history import CommitFilter
from assay.search.related import related_text
from assay.serve import history_tools, read_tools, related_tools, search_tools
from assay.serve.history_tools import LogAnswer
from assay.serve.read_tools import OutlineAnswer, PatternAnswer, PatternPlace, UnitText
from assay.serve.related_tools import RelatedFound, related_code_of
from assay.serve.responses import Detail, FoundAnswer, rooted_path, unit_text, with_line_numbers
from assay.serve.search_tools import Order, Page, SearchFilter, Status
from assay.serve.session import Session

Path = Annotated[
    str, Field(description="A folder or file to keep to, a served folder's name, the URL of a repository; empty: all.")
]
Globs = Annotated[list[str], Field(description="Keep files that match one: *.py, src/**; !tests/** leaves out.")]
Budget = Annotated[
    int, Field(ge=search_tools.LEAST_BUDGET, le=200_000, description="Tokens that the answer may take, about.")
]
Cursor = Annotated[str, Field(description="The cursor of the page before, all else the same; empty for the first.")]
Count = Annotated[int, Field(ge=1, le=search_tools.MOST_HITS, description="Entries of a page, at most.")]

_QUESTION = (
    "A question, a name, an error message; with words that keep: file:src/** -file:tests lang:go kind:class "
    'sym:Task.retry repo:api-* "exact text" /regex/ (the last two count matches).'
)
_OF_EACH = "Of each hit its place and name, its telling lines too, or all of it."
_EMPTY_MODE = "Empty: code alone, unless words keep files or kinds."


class Tools:
    """The tools of one session; each parameter is what a client sees of it."""

    def __init__(self, session: Session, *, is_text: bool = True) -> None:
        self._session, self._is_text = session, is_text

    def _page(self, k: int, budget: int, cursor: str, detail: Detail = "full") -> Page:
        return Page(k, budget, cursor, detail=detail, is_text=self._is_text, is_grouped=self._is_text)

    def search(  # noqa: PLR0913, PLR0917  what a client sees
        self,
        query: Annotated[str, Field(description=_QUESTION)],
        path: Path = "",
        more_queries: Annotated[list[str], Field(description="Other wordings; their hits are united.")] = [],  # noqa: B006  a schema
        detail: Annotated[Detail, Field(description=_OF_EACH)] = "lines",
        mode: Annotated[Literal["", "code", "docs", "all"], Field(description=_EMPTY_MODE)] = "",
        k: Count = 8,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> FoundAnswer:
        """Find code or documentation by meaning: functions, types and sections that answer a question, best first."""
        page = self._page(k, budget, cursor, detail)
        return search_tools.search(self._session, [query, *more_queries], path, keep=SearchFilter(mode), page=page)

    def related(  # noqa: PLR0913, PLR0917
        self,
        path: Annotated[str, Field(description="With line a file; with name where to look, if not everywhere.")] = "",
        line: Annotated[int, Field(ge=0, description="A line of the file.")] = 0,
        name: Annotated[str, Field(description="Instead of a line: a unit, such as Task.retry.")] = "",
        k: Count = 8,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> RelatedFound:
        """List the callers, callees and tests of the whole unit around a line or of a name, and similar code.

        k is for each group.
        """
        return related_tools.related(self._session, path, line, name, page=self._page(k, budget, cursor))

    def read(
        self,
        path: Annotated[str, Field(description="A file below what is served.")],
        line: Annotated[int, Field(ge=0, description="Alone: all of the unit there; with end_line the first.")] = 0,
        end_line: Annotated[int, Field(ge=0, description="The last line of a range.")] = 0,
        name: Annotated[str, Field(description="A unit of the file, such as Task.retry.")] = "",
        budget: Budget = search_tools.USUAL_BUDGET,
    ) -> UnitText:
        """Read a function, type or section of a file, by line or name, or some lines, or all of it."""
        page = self._page(1, budget, "")
        return read_tools.read(self._session, path, line=line, end_line=end_line, name=name, page=page)

    def log(  # noqa: PLR0913, PLR0917
        self,
        query: Annotated[str, Field(description="What a commit did or why, or its id; empty for the newest.")] = "",
        path: Annotated[str, Field(description="A repository, or what in it was changed.")] = "",
        line: Annotated[int, Field(ge=0, description="Of a file: only what changed the unit there; no query.")] = 0,
        author: Annotated[str, Field(description="A part of the author's name or address.")] = "",
        since: Annotated[str, Field(description="2024-05-01, 2024-05 or 2024.")] = "",
        until: Annotated[str, Field(description="The last day, month or year.")] = "",
        k: Count = 4,
        budget: Budget = search_tools.USUAL_BUDGET,
    ) -> LogAnswer:
        """Find commits by meaning of their messages and changes, by path, author and date."""
        if line and (query or author or since or until):
            raise InputError("line says which commits: leave out query, author, since and until")
        if line:
            return history_tools.unit_log(self._session, path, line, page=self._page(k, budget, ""))
        keep = CommitFilter(author, since, until)
        return history_tools.log(self._session, query, path, keep, page=self._page(k, budget, ""))

    def outline(
        self,
        path: Path = "",
        globs: Globs = [],  # noqa: B006
        k: Count = 50,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> OutlineAnswer:
        """List the signatures of files, with their lines, and the headings of prose: what is there, without bodies."""
        return read_tools.outlines(self._session, path, globs, page=self._page(k, budget, cursor))

    def pattern(  # noqa: PLR0913, PLR0917
        self,
        pattern: Annotated[
            str, Field(description="Code with holes: open($PATH, $$$REST); $X is one node, $$$X any number.")
        ],
        language: Annotated[str, Field(description="Of the files to look in, such as python, rust or tsx.")],
        path: Path = "",
        globs: Globs = [],  # noqa: B006
        k: Count = 50,
        budget: Budget = search_tools.USUAL_BUDGET,
        cursor: Cursor = "",
    ) -> PatternAnswer:
        """Find every place whose code has a structure (ast-grep), in order of path; spacing does not count."""
        page = self._page(k, budget, cursor)
        return read_tools.patterns(self._session, (pattern, language), path, globs, page=page)

    def status(self, path: Path = "") -> Status:
        """Say what the index of a folder holds, what it leaves out and why, and how fresh it is; changes nothing."""
        return search_tools.status(self._session, path)

    def rank(
        self,
        programs: Annotated[list[str], Field(description="Python sources that try to solve one task.")],
        prompt: Annotated[str, Field(description="The task.")] = "",
        entry_point: Annotated[str, Field(description="The function that is to be written.")] = "",
    ) -> Order:
        """Order candidate programs for one task by how likely each is right, by reading them; nothing is run."""
        return search_tools.rank(programs, prompt, entry_point)


@singledispatch
def as_text(answer: Any) -> str:
    """Return an answer as text."""
    raise TypeError(f"no text for {type(answer).__name__}")


@as_text.register
def _(answer: FoundAnswer) -> str:
    notes = []
    if not answer.hits:
        notes.append("nothing found")
    elif not answer.relevant:
        notes.append("nothing relevant here, it seems; these are only the nearest")
    if answer.corrected:
        how = f"read as {answer.language}" if answer.language else "spelling corrected"
        notes.append(f"{how}: {'; '.join(answer.corrected)}")
    notes += answer.notes
    notes += [f"not searched: {problem}" for problem in answer.problems]
    if answer.stale:
        notes.append("files changed that are not in the index yet; ask again for what is in them")
    if answer.matches >= 0:
        notes.append(f"{counted(answer.matches, 'match')} in {counted(answer.matched_files, 'file')}")
    units = list(map(unit_text, answer.hits))
    names_only = answer.hits and not any(hit.text for hit in answer.hits)
    return _joined([*notes, *(["\n".join(units)] if names_only else units)], answer.cursor)


@as_text.register
def _(answer: LogAnswer) -> str:
    if not answer.commits:
        return f"no commit found, of {answer.indexed}"
    return commits_text(answer.commits).rstrip("\n")


@as_text.register
def _(answer: UnitText) -> str:
    named = f" {answer.kind} {answer.name}".rstrip() if answer.name else ""
    more = "" if answer.complete else f"\n… the budget ends here; read on from line {answer.end_line + 1}"
    head = f"{answer.path}:{answer.start_line}-{answer.end_line} of {answer.lines}{named}"
    return f"{head}\n{with_line_numbers(answer.text, count(answer.start_line))}{more}"


@as_text.register
def _(answer: OutlineAnswer) -> str:
    blocks = ["\n".join((rooted_path(file.root, file.path), *file.signatures)) for file in answer.files]
    return _joined(blocks or ["no file there declares anything"], answer.cursor)


@as_text.register
def _(answer: PatternAnswer) -> str:
    blocks = list(map(_match, answer.matches)) or [f"no match in {answer.files} files"]
    return _joined([*blocks, *([answer.note] if answer.note else [])], answer.cursor)


@as_text.register
def _(answer: Status) -> str:
    if answer.damage:
        return f"{answer.root}: the index is damaged ({answer.damage}); a search rebuilds it"
    if not answer.indexed:
        return f"{answer.root}: not indexed yet; a search makes the index"
    counts = {"added": answer.added, "changed": answer.changed, "removed": answer.removed}
    stale = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    left_out = ", ".join(f"{name} {count}" for name, count in answer.left_out.items())
    rows = (
        f"{answer.root}: {answer.files} files, {answer.chunks} chunks, {answer.encoder}",
        f"files since then: {stale}; a search sees to them" if stale else "up to date with the files",
        *([f"left out: {left_out}"] if left_out else []),
    )
    return "\n".join(rows)


@as_text.register
def _(answer: Order) -> str:
    rows = []
    for place, each in enumerate(answer.programs, 1):
        line = f", line {each.line}" if each.line > 0 else ""
        rows.append(f"{place}. program {each.index}: {each.score:.3f} {each.fault}{line}".rstrip())
    return "\n".join(rows)


@as_text.register
def _(answer: RelatedFound) -> str:
    return related_text(related_code_of(answer)) + (f"more with cursor {answer.cursor}\n" if answer.cursor else "")


def _match(match: PatternPlace) -> str:
    part = "" if match.complete else " (its first lines)"
    place = f"{rooted_path(match.root, match.path)}:{match.start_line}-{match.end_line}{part}"
    return f"{place}\n{with_line_numbers(match.text, count(match.start_line))}"


def _joined(blocks: list[str], cursor: str) -> str:
    return "\n\n".join([*blocks, *([f"more with cursor {cursor}"] if cursor else [])])
