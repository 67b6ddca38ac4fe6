"""Write the answer of `assay search` as text, JSON, JSON lines, or places for editors.

Text and places put the root before a path as it was typed, so that they can be opened from where one stands; JSON is
the record as servers answer it, and a line of JSON a hit of it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from assay.errors import InputError, counted, printable, printable_name
from assay.io.files import dumps
from assay.io.terminal import printable_line, say, terminal_width, wants_color
from assay.operations.found_commit import commits_text
from assay.operations.hits import Answer, FoundUnit, matches_text, notes_of, rooted_path
from assay.operations.requests import DETAILS, UNBOUNDED, Detail, Search
from assay.operations.sizing import OVERHEAD, cost
from assay.search.declared_names import declared
from assay.search.display import Line, declared_line, excerpt, lines, places, terms_to_mark, worth_showing
from assay.search.display import lines as lines_of
from assay.search.query_filters import query_words
from assay.settings import SearchSettings
from assay.terms import tokens
from assay.values import Chunk, Hit

if TYPE_CHECKING:
    from rich.text import Text

    from assay.cli.find import SearchOptions

_MAX_LISTED_PROBLEMS = 5
"""Roots that are named one by one on standard error."""
_DEPTHS = (3, 200)
"""If files are listed: the factor of hits to search for, and then their number."""


@dataclass(frozen=True, slots=True)
class SearchWriter:
    """How to request and print an answer: the options, the questions, and the settings of the search."""

    options: SearchOptions
    texts: Sequence[str]
    settings: SearchSettings

    def request(self, search: Search, limit: int) -> Search:
        """Return the request of the operation for a number of hits."""
        options, is_text = self.options, self.options.form == "text"
        budget = UNBOUNDED if options.budget is None or options.by == "file" else options.budget
        detail: Detail = next((one for one in DETAILS if one == options.detail and not is_text), "full")
        return replace(
            search,
            limit=limit,
            group=is_text if options.group is None else options.group,
            budget=budget + OVERHEAD if is_text else budget,  # which is what JSON has beside its hits
            detail=detail,  # of text, lines are chosen as it is written
        )

    def cost(self, unit: FoundUnit) -> int:
        """Return the tokens of a hit as printed."""
        return tokens(self._hit_text(unit, self._terms())) if self.options.form in {"text", "vimgrep"} else cost(unit)

    def enough(self, ask: Callable[[int], Answer]) -> Answer:
        """Return an answer with as many hits as are to be listed; if files are, with as many as these need."""
        limit = self.settings.limit
        if self.options.by != "file":
            return ask(limit)
        answer = ask(limit * _DEPTHS[0])
        return ask(_DEPTHS[1]) if answer.cursor and len(_by_file(answer)) < limit else answer

    def written(self, answer: Answer) -> str:
        """Return the text to print."""
        form = self.options.form
        if form == "json":
            return dumps(asdict(answer)) + "\n"
        if self.options.by == "file":
            return "".join(self._files(answer))
        if form == "jsonl":
            return "".join(f"{dumps(row)}\n" for row in self._rows(answer))
        query_terms, color = self._terms(answer.corrected), wants_color()
        shown = (_openable(answer, hit) for hit in self._printed_hits(answer))
        code = [self._hit_text(hit, query_terms, color=color) for hit in shown]
        docs = self._docs_text(answer, query_terms, color=color) if form == "text" else []
        commits = commits_text(answer.commits) + "\n" if answer.commits and form == "text" else ""
        return commits + "".join(docs + code if answer.docs_first else code + docs)

    def _docs_text(self, answer: Answer, query_terms: AbstractSet[str], *, color: bool) -> list[str]:
        """Return the sections beside code: with lines if they come first, else one line each."""
        if not answer.docs:
            return []
        docs = [_openable(answer, hit) for hit in answer.docs]
        if answer.docs_first and self.options.detail != "names":
            return [self._hit_text(hit, query_terms, color=color) for hit in docs] + [_heading("Code", color=color)]
        places = [f"{place(hit.chunk, query_terms)}\n" for hit in docs]
        return [_heading("Documentation", color=color), *places, "\n"]

    def _printed_hits(self, answer: Answer) -> Sequence[FoundUnit]:
        """Return the hits to print: without a limit, text omits those not worth showing."""
        if self.options.form != "text" or self.options.limit is not None or answer.matches >= 0 or not answer.hits:
            return answer.hits
        return answer.hits[: worth_showing([hit.score for hit in answer.hits])]

    def _rows(self, answer: Answer) -> list[dict[str, Any]]:
        rows = [_row(answer, asdict(hit)) for hit in answer.hits]
        counts = {"matches": answer.matches, "matched_files": answer.matched_files}
        return rows + ([counts] if answer.matches >= 0 else [])

    def _files(self, answer: Answer) -> Sequence[str]:
        """Return the best files with their best places, as many as the limit and the budget hold."""
        files = _by_file(answer)[: self.settings.limit]
        write = self._file_line if self.options.form == "jsonl" else self._file_text
        written = [write(answer, file) for file in files]
        budget = UNBOUNDED if self.options.budget is None else self.options.budget
        fitting = sum(total <= budget for total in accumulate(map(tokens, written)))
        if written and not fitting:
            raise InputError(f"a budget of {budget} tokens is too small for the best file; increase it")
        return written[:fitting]

    def _file_line(self, answer: Answer, hits: Sequence[FoundUnit]) -> str:
        row = {"path": hits[0].path, "root": hits[0].root, "places": list(map(_place_row, hits[:MAX_PLACES]))}
        return dumps(_row(answer, row)) + "\n"

    def _file_text(self, answer: Answer, hits: Sequence[FoundUnit]) -> str:
        return file_text([_openable(answer, hit) for hit in hits], self._terms(answer.corrected), color=wants_color())

    def _hit_text(self, unit: FoundUnit, query_terms: AbstractSet[str], *, color: bool = False) -> str:
        options, chunk = self.options, unit.chunk
        if options.detail == "names":
            signature = printable_line(" ".join(unit.signature.split()), clip=True)
            return f"{place(chunk, query_terms)}  {signature}".rstrip() + "\n"
        is_whole = options.detail == "full" or options.budget is not None
        shown = lines(chunk) if is_whole else excerpt(chunk, query_terms, self.settings.excerpt_lines, unit.line)
        hit, explain = Hit(chunk, unit.score, unit.why, line=unit.line), options.request.explain
        if options.form == "vimgrep":
            return quickfix(hit, shown)
        by, clip = unit.changed_by, not is_whole
        text = hit_text(hit, shown, query_terms, unit.more, explain=explain, changed_by=by, clip=clip, color=color)
        return f"{text}\n"

    def _terms(self, corrected: Sequence[str] = ()) -> AbstractSet[str]:
        """Return the terms that select and mark lines: those of the questions as they were searched."""
        return terms_to_mark(corrected or [query_words(text).text for text in self.texts])

    def say_notes(self, answer: Answer) -> None:
        """Print the notes on an answer to standard error."""
        for note in notes_of(answer):
            say(note)
        if answer.matches >= 0 and self.options.form in {"text", "vimgrep"}:
            from assay.search.text_matches import MAX_MATCHES  # and the engine of expressions

            more = " or more" if answer.matches == MAX_MATCHES else ""
            say(f"{matches_text(answer)}{more}; assay grep lists them")
        if self.options.form in {"jsonl", "vimgrep"} or self.options.by == "file":
            beside = {"section": len(answer.docs), "commit": len(answer.commits)}
            if told := " and ".join(counted(number, thing) for thing, number in beside.items() if number):
                say(f"{told} beside the code not shown; --format json has them")
        for problem in answer.problems[:_MAX_LISTED_PROBLEMS]:
            say(f"not all roots were searched: {problem}")
        if len(answer.problems) > _MAX_LISTED_PROBLEMS:
            say(f"{len(answer.problems) - _MAX_LISTED_PROBLEMS} more roots were not searched; --format json lists them")
        if left := len(answer.hits) - len(self._printed_hits(answer)):
            say(f"{counted(left, 'less likely place')} not shown; --limit {self.settings.limit} shows all")


def _heading(text: str, *, color: bool) -> str:
    import click

    return f"{click.style(text, bold=True) if color else text}\n"


def _by_file(answer: Answer) -> list[list[FoundUnit]]:
    """Return the hits of each file, in the order of their best ones."""
    files: dict[tuple[str, str], list[FoundUnit]] = {}
    for hit in answer:
        files.setdefault((hit.root, hit.path), []).append(hit)
    return list(files.values())


def _place_row(hit: FoundUnit) -> dict[str, Any]:
    fields = asdict(hit).items()
    return {key: value for key, value in fields if key in _PLACE_FIELDS}


def _openable(answer: Answer, hit: FoundUnit) -> FoundUnit:
    """Return a hit with a path that can be opened from the current folder."""
    return replace(hit, path=rooted_path(hit.root or answer.root, hit.path), root="")


def _row(answer: Answer, row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of JSON lines: the place, its relevance, and the rest."""
    root = row.pop("root") or answer.root
    return {"path": row.pop("path"), "relevant": answer.relevant, **row, "root": root}


_NAMES = 3
"""Names of a run of small declarations that are shown; the rest are counted."""
_PARTS = 10
"""Parts of a score that are shown; JSON has all of them."""
_MARGIN = " " * 8
"""The margin of a line of code without a number."""
_MIN_COLUMNS = 20
_PLACE_FIELDS = {"start_line", "end_line", "score", "symbol", "kind", "others"}
MAX_PLACES = 3
"""Places of a file that are shown."""
_HARD_SPACE = "\N{NO-BREAK SPACE}"
_Row = list[Any]
"""Pieces of a line: rich texts, or pairs of a text and its style."""


def hit_text(
    hit: Hit,
    lines: Sequence[Line],
    query_terms: AbstractSet[str],
    more: Sequence[str] = (),
    *,
    explain: bool,
    changed_by: str = "",
    clip: bool,
    color: bool = False,
) -> str:
    """Return one hit as text: a line that names it, its lines, and the other places that it represents.

    In color, its syntax is highlighted, line numbers are dimmed, and the words of the question marked.
    """
    chunk = hit.chunk
    shown = [(number, printable_line(line, clip=clip)) for number, line in lines]
    name, line = printable_name(chunk.path), f":{hit.line or _line(chunk, lines)}  "
    rows: list[_Row] = [[(name, "bold magenta"), (line, ""), (_what(chunk, query_terms), "bold")]]
    if explain:
        rows += ([(f"    {reason}", "dim")] for reason in _reasons(hit, changed_by))
    highlighted = iter(_highlighted(chunk.language, [line for _, line in shown], query_terms) if color else ())
    for number, line in with_gaps(shown):
        pieces = _pieces(line) if number else [""]
        parts = next(highlighted).divide(accumulate(map(len, pieces[:-1]))) if color and number else pieces
        margins = [
            (f"{'>' if number == hit.line else ' '}{number:5d}  ", "dim") if number else ("     …", "dim"),
            *[(_under(line), "")] * (len(parts) - 1),
        ]
        rows += (
            [margin, part if color and number else (part, "")] for margin, part in zip(margins, parts, strict=True)
        )
    rows += ([(_MARGIN + printable(row), "dim")] for row in more)
    if not color:
        return "".join("".join(text for text, _ in row).rstrip() + "\n" for row in rows)
    from rich.console import Console
    from rich.text import Text

    console = Console(force_terminal=True, color_system="standard", highlight=False)
    with console.capture() as written:
        console.print(Text("\n").join(Text.assemble(*row) for row in rows), soft_wrap=True)
    return written.get()


def _reasons(hit: Hit, changed_by: str) -> Iterator[str]:
    yield score(hit)
    if changed_by:
        yield f"changed by: {printable(changed_by)}"
    if hit.chunk.description:
        yield f"described: {printable(hit.chunk.description)}"


def place(chunk: Chunk, query_terms: AbstractSet[str]) -> str:
    """Return on one line where a unit is declared and what it is."""
    return f"{printable_name(chunk.path)}:{declared_line(chunk)}  {_what(chunk, query_terms)}".rstrip()


def file_text(hits: Sequence[FoundUnit], query_terms: AbstractSet[str], *, color: bool = False) -> str:
    """Return the best places of one file as text below its path, and the number of the others."""
    import click

    path = printable_name(hits[0].path)
    rows = [click.style(path, fg="magenta", bold=True) if color else path]
    for hit in hits[:MAX_PLACES]:
        rows.append(f"{hit.line or declared_line(hit.chunk):6d}  {_what(hit.chunk, query_terms)}".rstrip())
        rows += (f"{_MARGIN}  {printable(row)}" for row in hit.more)
    if len(hits) > MAX_PLACES:
        rows.append(f"{_MARGIN}+{len(hits) - MAX_PLACES} more")
    return "\n".join(rows) + "\n\n"


def quickfix(hit: Hit, lines: Sequence[Line]) -> str:
    """Return one hit in the format of compilers, which editors read: `PATH:LINE:COLUMN:TEXT`, the column in bytes.

    The line is the one that text names for the same lines.
    """
    chunk = hit.chunk
    number = hit.line or _line(chunk, lines)
    line = dict(lines_of(chunk)).get(number, "")
    name = chunk.symbol.partition(",")[0]
    found = line.find(name) if name else -1
    before = line[: found if found >= 0 else len(line) - len(line.lstrip())]
    column = len(before.encode("utf-8", "surrogatepass")) + 1
    return f"{printable_name(chunk.path)}:{number}:{column}:{printable_line(line, clip=True)}\n"


def _pieces(line: str) -> list[str]:
    """Return a line in pieces that fit the terminal beside the margin, split at words if possible."""
    width = terminal_width()
    indent = line[: len(line) - len(line.lstrip())]
    room = width - len(_MARGIN) - _columns(indent) if width else 0
    if not room or _columns(line) <= room + _columns(indent):
        return [line]
    room, pieces = max(room, _MIN_COLUMNS), [""]
    for word in re.findall(r"\S+\s*", line[len(indent) :]):
        if pieces[-1] and _columns((pieces[-1] + word).rstrip()) > room:
            pieces.append("")
        for letter in word if _columns(word.rstrip()) > room else [word]:  # longer than a line: cut anywhere
            if _columns(pieces[-1] + letter.rstrip()) > room:
                pieces.append("")
            pieces[-1] += letter
    return [indent + pieces[0], *pieces[1:]]


def _under(line: str) -> str:
    """Return the indentation of the later pieces of a line: the margin, and that of the line itself."""
    return _MARGIN + line[: len(line) - len(line.lstrip())]


def _columns(text: str) -> int:
    """Return the width of a text in columns, starting at a tab stop."""
    columns = len(text.expandtabs())
    if text.isascii():
        return columns
    from unicodedata import east_asian_width

    return columns + sum(east_asian_width(letter) in "WF" for letter in text)


def with_gaps(lines: Sequence[Line]) -> list[Line]:
    """Return lines with a line numbered 0 where some between them are missing."""
    shown: list[Line] = []
    for line in lines:
        if shown and line[0] > shown[-1][0] + 1:
            shown.append((0, ""))
        shown.append(line)
    return shown


def score(hit: Hit) -> str:
    """Return the score of a hit and its largest parts; the others are summed up."""
    ordered = sorted(hit.why.items(), key=lambda part: -abs(part[1]))
    if rest := ordered[_PARTS:]:
        ordered = [*ordered[:_PARTS], (f"{len(rest)} others", sum(value for _, value in rest))]
    parts = [f"{name} {value:+.3f}" for name, value in ordered if abs(value) >= 0.0005]
    parts = [part.replace(" ", _HARD_SPACE) for part in (f"score {hit.score:.3f}", *parts)]
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return "\n      ".join(wrap(" ".join(parts), max(width - 6, 24))).replace(_HARD_SPACE, " ")


def _line(chunk: Chunk, every: Sequence[Line]) -> int:
    """Return the line to open: where the unit is declared, else the first line shown."""
    at = declared(chunk)
    return every[0][0] if at is None else lines_of(chunk)[at][0]


def _what(chunk: Chunk, query_terms: AbstractSet[str]) -> str:
    """Return what a chunk is: its kind, and its name below its parents; later parts of a long unit are `in` it."""
    separator = " > " if chunk.kind == "section" else "."
    symbol = chunk.symbol if chunk.kind == "section" else _few(chunk.symbol, query_terms)
    name = separator.join(part for part in (chunk.parent, symbol) if part)
    later = chunk.symbol and chunk.signature and declared(chunk) is None
    return " ".join(printable_name(part) for part in ("in" if later else "", chunk.kind, name) if part)


def _few(symbol: str, query_terms: AbstractSet[str]) -> str:
    """Return some names of a run of small declarations, those in the query first."""
    names = symbol.split(", ")
    if len(names) <= _NAMES:
        return symbol
    first = sorted(names, key=lambda name: not places(name, query_terms))[:_NAMES]
    return f"{', '.join(first)} and {len(names) - _NAMES} more"


def _highlighted(language: str, lines: Sequence[str], query_terms: AbstractSet[str]) -> list[Text]:
    """Return the lines in color; a language without a lexer stays plain."""
    from rich.syntax import Syntax
    from rich.text import Text

    syntax = Syntax("", language or "text", theme="ansi_dark")
    text = syntax.highlight("\n".join(lines)) if syntax.lexer else Text("\n".join(lines))
    rows = list(text.split("\n", allow_blank=True))[: len(lines)]
    for row, line in zip(rows, lines, strict=True):
        for start, end in places(line, query_terms):
            row.stylize("bold yellow underline", start, end)
    return rows
