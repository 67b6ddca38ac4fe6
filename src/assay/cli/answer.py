"""Write an answer as text, JSON, JSON lines, or places for editors.

Paths are relative to the searched root in JSON; text, places, and JSON of several roots, put the root before them as
it was typed, so that they can be opened from where one stands.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from assay.cli.workspaces import about
from assay.errors import InputError, counted, printable
from assay.io.terminal import dumps, printable_line, say, terminal_width, wants_color
from assay.operations.answer import Answer
from assay.operations.sizing import as_row, record
from assay.operations.workspace import Workspace
from assay.search.declared_names import declared
from assay.search.display import (
    Line,
    by_file,
    declared_line,
    excerpt,
    fit,
    grouped,
    hits_to_group,
    lines,
    others_text,
    places,
    terms_to_mark,
    worth_showing,
)
from assay.search.display import lines as lines_of
from assay.search.text_matches import MOST_MATCHES
from assay.terms import tokens
from assay.values import Chunk, Hit

if TYPE_CHECKING:
    from rich.text import Text

    from assay.cli.search import SearchOptions


_MOST_PROBLEMS = 5
"""Roots that standard error names one by one."""


def listed(given: SearchOptions, ask: Callable[[int], Answer], limit: int) -> tuple[Answer, int]:
    """Return an answer with what is listed, and how many unlikely entries are left out; `ask` finds so many hits.

    An entry is a hit, a group of them or a file. Without a limit, text leaves out what is not worth showing.
    """
    answer, entries = _entries(given, ask, limit)
    shown = entries
    if given.form == "text" and given.limit is None and answer.matches is None and entries:
        shown = entries[: worth_showing([entry[0].score for entry in entries])]
    return replace(answer, hits=tuple(chain.from_iterable(shown))), len(entries) - len(shown)


def _entries(given: SearchOptions, ask: Callable[[int], Answer], limit: int) -> tuple[Answer, list[list[Hit]]]:
    if given.by != "file" and (given.form != "text" or given.expanded):
        answer = ask(limit)
        return answer, [[hit] for hit in answer]
    for depth in hits_to_group(limit):
        answer = ask(depth)
        groups = grouped(answer.hits)
        entries = by_file(groups) if given.by == "file" else [[hit] for hit in groups]
        if len(entries) >= limit or len(answer) < depth:
            break
    return answer, entries[:limit]


@dataclass(frozen=True, slots=True)
class AnswerOutput:
    """An answer with what it is printed with: the queries, the indexes asked, and how it is to look."""

    answer: Answer
    queries: tuple[str, ...]
    opened: Sequence[Workspace]
    given: SearchOptions

    def written(self) -> str:
        """Return what to print; with a budget, as much of it as that holds."""
        forms = {"text": self._text, "json": self._json, "jsonl": self._json_lines, "vimgrep": self._places}
        return forms[self.given.form]()

    def _json(self) -> str:
        first: dict[str, Any] = {"query": "\n".join(self.queries), "relevant": self.answer.relevant}
        notes = {
            "corrected": "\n".join(self.answer.corrected),
            "language": self.answer.language,
            "notes": self.answer.notes,
            "problems": [{"root": each.where, "problem": each.what} for each in self.answer.problems],
        }
        first |= {name: value for name, value in notes.items() if value}
        rest = {"index": about(self.opened, brief=self.given.budget is not None), **self._matches()}
        hits = self._fitting(dumps(first | rest | {"hits": []}), lambda hit: dumps(as_dict(hit)) + ", ")
        return dumps(first | {"hits": list(map(as_dict, hits))} | rest) + "\n"

    def _json_lines(self) -> str:
        matches = self._matches()
        rest = dumps(matches) + "\n" if matches else ""
        if not (self.answer.relevant or self.given.nearest):
            return rest
        if self.given.by == "file":
            return "".join(map(self._file_line, self._files(rest, self._file_line))) + rest
        return "".join(map(self._json_line, self._fitting(rest, self._json_line))) + rest

    def _json_line(self, hit: Hit) -> str:
        row = as_dict(hit)
        return dumps({"path": row.pop("path"), "relevant": self.answer.relevant, **row}) + "\n"

    def _file_line(self, hits: Sequence[Hit]) -> str:
        rows = list(map(as_dict, hits[:MOST_PLACES]))
        kept = ("start_line", "end_line", "score", "symbol", "kind", "others")
        file = {key: value for key, value in rows[0].items() if key in {"root", "path"}}
        places = [{key: row[key] for key in kept if key in row} for row in rows]
        return dumps({**file, "relevant": self.answer.relevant, "places": places}) + "\n"

    def _places(self) -> str:
        return "".join(map(self._place, self._fitting("", self._place)))

    def _place(self, hit: Hit) -> str:
        return quickfix(hit, self._lines(hit))

    def _text(self) -> str:
        if self.given.by == "file":
            shown = partial(file_text, wanted=terms_to_mark(self._asked))
            return "".join(shown(file, color=wants_color()) for file in self._files("", shown))
        if self.given.names:
            return "".join(map(self._name_line, self._fitting("", self._name_line)))
        color = wants_color()
        return "".join(self._hit_text(hit, color=color) for hit in self._fitting("", self._hit_text))

    def _hit_text(self, hit: Hit, *, color: bool = False) -> str:
        explain, clip, wanted = self.given.explained, not self._whole, terms_to_mark(self._asked)
        more = [f"also {place(one, wanted)}" for one in hit.others] if self.given.expanded else [*others_text(hit)]
        shown = hit_text(hit, self._lines(hit), wanted, more, explain=explain, clip=clip, color=color)
        return f"{shown}\n"

    def _name_line(self, hit: Hit) -> str:
        signature = printable_line(" ".join(hit.chunk.signature.split()), clip=True)
        return f"{place(hit.chunk, terms_to_mark(self._asked))}  {signature}".rstrip() + "\n"

    @property
    def _asked(self) -> tuple[str, ...]:
        """Return the queries as they were searched for, in whose words lines are chosen and marked."""
        return self.answer.corrected or self.queries

    @property
    def _whole(self) -> bool:
        return self.given.full or self.given.budget is not None

    def _lines(self, hit: Hit) -> list[Line]:
        """Return the lines of a hit that text shows; places are those of the same lines."""
        count = self.opened[0].settings.search.excerpt_lines
        return lines(hit.chunk) if self._whole else excerpt(hit.chunk, terms_to_mark(self._asked), count)

    def _fitting(self, rest: str, write: Callable[[Hit], str]) -> Sequence[Hit]:
        """Return the hits that the budget holds beside the rest of the output."""
        hits, budget = self.answer.hits, self.given.budget
        if budget is None:
            return hits
        fitting = fit(hits, terms_to_mark(self._asked), budget - tokens(rest), lambda hit: tokens(write(hit)))
        if hits and not fitting:
            raise InputError(f"a budget of {budget} tokens holds no line of the best hit; give it more")
        return fitting

    def _files(self, rest: str, write: Callable[[Sequence[Hit]], str]) -> Sequence[Sequence[Hit]]:
        """Return the hits of each file, of as many files as the budget holds beside the rest of the output."""
        files, budget = by_file(self.answer.hits), self.given.budget
        if budget is None:
            return files
        taken = accumulate((tokens(write(file)) for file in files), initial=tokens(rest))
        fitting = sum(each <= budget for each in taken) - 1
        if files and fitting < 1:
            raise InputError(f"a budget of {budget} tokens does not hold the best file; give it more")
        return files[:fitting]

    def _matches(self) -> dict[str, Any]:
        """Return how many matches there are, as JSON has it."""
        if self.answer.matches is None:
            return {}
        places = self.answer.matches
        return {"matches": {"count": len(places), "files": len({place.path for place in places})}}


def explain(answer: Answer, opened: Sequence[Workspace], *, hidden: bool = False, counts: bool = False) -> None:
    """Say on standard error what is to be known about an answer; `hidden` is of hits that are not printed.

    With `counts`, say how many matches there are, which the output does not list.
    """
    if answer.corrected:
        how = f"read as {answer.language}" if answer.language else "spelling corrected"
        say(f"{how}: {', '.join(map(repr, answer.corrected))}")
    for note in answer.notes:
        say(note)
    if counts and answer.matches is not None:
        files = len({place.path for place in answer.matches})
        more = "or more " if len(answer.matches) == MOST_MATCHES else ""
        say(f"{counted(len(answer.matches), 'match')} {more}in {counted(files, 'file')}; assay grep lists them")
    for problem in answer.problems[:_MOST_PROBLEMS]:
        say(f"not all roots were searched: {problem}")
    if len(answer.problems) > _MOST_PROBLEMS:
        say(f"{len(answer.problems) - _MOST_PROBLEMS} more roots were not searched; --format json lists them")
    if answer and not answer.relevant:
        nearest = "--nearest prints the nearest" if hidden else "these are only the nearest"
        say(f"nothing relevant here, it seems; {nearest}")
    elif not answer and any(one.report.files for one in opened):
        say("nothing found")


def as_dict(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON has it (docs/formats.md); lines are 1-based and inclusive."""
    unit = record(hit, explain=True)
    return as_row(unit, "more", "why") | {"why": unit.why}


_NAMES = 3
"""Names of a run of small declarations that are shown; the rest are counted."""
_PARTS = 10
"""Parts of a score that are shown; JSON has all of them."""
_MARGIN = " " * 8
"""What stands before a line of code where its number is not."""
_LEAST_ROOM = 20
MOST_PLACES = 3
"""Places of a file that are shown."""
_HARD_SPACE = "\N{NO-BREAK SPACE}"
_Row = list[Any]
"""Pieces of a line: rich texts, or pairs of a text and its style."""


def hit_text(
    hit: Hit,
    lines: Sequence[Line],
    wanted: AbstractSet[str],
    more: Sequence[str] = (),
    *,
    explain: bool,
    clip: bool,
    color: bool = False,
) -> str:
    """Return one hit as text: a line that names it, then the lines of it, then what more it stands for.

    In color, its syntax is highlighted, line numbers are dimmed, and the words of the question marked.
    """
    chunk = hit.chunk
    shown = [(number, printable_line(line, clip=clip)) for number, line in lines]
    rows: list[_Row] = [
        [(_escaped(chunk.path), "bold magenta"), (f":{_line(chunk, lines)}  ", ""), (_what(chunk, wanted), "bold")]
    ]
    if explain:
        rows.append([(f"    {score(hit)}", "dim")])
        rows += [[(f"    described: {printable(chunk.description)}", "dim")]] * bool(chunk.description)
    highlighted = iter(_highlighted(chunk.language, [line for _, line in shown], wanted) if color else ())
    for number, line in with_gaps(shown):
        pieces = _pieces(line) if number else [""]
        parts = next(highlighted).divide(accumulate(map(len, pieces[:-1]))) if color and number else pieces
        margins = [(f"{number:6d}  ", "dim") if number else ("     …", "dim"), *[(_under(line), "")] * (len(parts) - 1)]
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


def place(chunk: Chunk, wanted: AbstractSet[str]) -> str:
    """Return where a unit is declared and what it is, on one line."""
    return f"{_escaped(chunk.path)}:{declared_line(chunk)}  {_what(chunk, wanted)}".rstrip()


def file_text(hits: Sequence[Hit], wanted: AbstractSet[str], *, color: bool = False) -> str:
    """Return the best places of one file as text below its path, and how many more there are."""
    import click

    from assay.search.display import others_text

    path = _escaped(hits[0].chunk.path)
    rows = [click.style(path, fg="magenta", bold=True) if color else path]
    for hit in hits[:MOST_PLACES]:
        rows.append(f"{declared_line(hit.chunk):6d}  {_what(hit.chunk, wanted)}".rstrip())
        rows += (f"{_MARGIN}  {printable(row)}" for row in others_text(hit))
    return "\n".join([*rows, *[f"{_MARGIN}+{len(hits) - MOST_PLACES} more"] * (len(hits) > MOST_PLACES), ""]) + "\n"


def quickfix(hit: Hit, lines: Sequence[Line]) -> str:
    """Return one hit as editors read places from other programs: `PATH:LINE:COLUMN:TEXT`, the column in bytes.

    The line is the one that text names for the same lines.
    """
    chunk = hit.chunk
    number = _line(chunk, lines)
    line = dict(lines_of(chunk)).get(number, "")
    name = chunk.symbol.partition(",")[0]
    found = line.find(name) if name else -1
    before = line[: found if found >= 0 else len(line) - len(line.lstrip())]
    column = len(before.encode("utf-8", "surrogatepass")) + 1
    return f"{_escaped(chunk.path)}:{number}:{column}:{printable_line(line, clip=True)}\n"


def _pieces(line: str) -> list[str]:
    """Return a line in pieces that fit a terminal beside the margin, cut where words begin if they can be."""
    width = terminal_width()
    indent = line[: len(line) - len(line.lstrip())]
    room = width - len(_MARGIN) - _columns(indent) if width else 0
    if not room or _columns(line) <= room + _columns(indent):
        return [line]
    room, pieces = max(room, _LEAST_ROOM), [""]
    for word in re.findall(r"\S+\s*", line[len(indent) :]):
        if pieces[-1] and _columns((pieces[-1] + word).rstrip()) > room:
            pieces.append("")
        for letter in word if _columns(word.rstrip()) > room else [word]:  # longer than a line: cut anywhere
            if _columns(pieces[-1] + letter.rstrip()) > room:
                pieces.append("")
            pieces[-1] += letter
    return [indent + pieces[0], *pieces[1:]]


def _under(line: str) -> str:
    """Return what stands before the later pieces of a line: the margin, and its own indentation."""
    return _MARGIN + line[: len(line) - len(line.lstrip())]


def _columns(text: str) -> int:
    """Return how many columns of a terminal a text takes, which begins at a tab stop."""
    columns = len(text.expandtabs())
    if text.isascii():
        return columns
    from unicodedata import east_asian_width

    return columns + sum(east_asian_width(letter) in "WF" for letter in text)


def with_gaps(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with a line numbered 0 wherever some are left out between them."""
    shown: list[Line] = []
    for line in lines:
        if shown and line[0] > shown[-1][0] + 1:
            shown.append((0, ""))
        shown.append(line)
    return shown


def score(hit: Hit) -> str:
    """Return the score of a hit and the weightiest parts of it; the others are summed up."""
    ordered = sorted(hit.why.items(), key=lambda part: -abs(part[1]))
    if rest := ordered[_PARTS:]:
        ordered = [*ordered[:_PARTS], (f"{len(rest)} others", sum(value for _, value in rest))]
    parts = [f"{name} {value:+.3f}" for name, value in ordered if abs(value) >= 0.0005]
    parts = [part.replace(" ", _HARD_SPACE) for part in (f"score {hit.score:.3f}", *parts)]
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return "\n      ".join(wrap(" ".join(parts), max(width - 6, 24))).replace(_HARD_SPACE, " ")


def _line(chunk: Chunk, shown: Sequence[Line]) -> int:
    """Return the line to open: where the unit is declared, else the first that is shown."""
    at = declared(chunk)
    return shown[0][0] if at is None else lines_of(chunk)[at][0]


def _what(chunk: Chunk, wanted: AbstractSet[str]) -> str:
    """Return what a chunk is: its kind, and its name below its parents; later parts of a long unit are `in` it."""
    separator = " > " if chunk.kind == "section" else "."
    symbol = chunk.symbol if chunk.kind == "section" else _few(chunk.symbol, wanted)
    name = separator.join(part for part in (chunk.parent, symbol) if part)
    later = chunk.symbol and chunk.signature and declared(chunk) is None
    return " ".join(_escaped(part) for part in ("in" if later else "", chunk.kind, name) if part)


def _few(symbol: str, wanted: AbstractSet[str]) -> str:
    """Return a few names of a run of small declarations, those that were asked for first."""
    names = symbol.split(", ")
    if len(names) <= _NAMES:
        return symbol
    first = sorted(names, key=lambda name: not places(name, wanted))[:_NAMES]
    return f"{', '.join(first)} and {len(names) - _NAMES} more"


def _escaped(name: str) -> str:
    """Return a name on one line: what would move the cursor is written as an escape."""
    return "".join(
        letter if letter.isprintable() or "\udc80" <= letter <= "\udcff" else repr(letter)[1:-1] for letter in name
    )


def _highlighted(language: str, lines: Sequence[str], wanted: AbstractSet[str]) -> list[Text]:
    """Return the lines in colour; a language that no lexer knows stays plain."""
    from rich.syntax import Syntax
    from rich.text import Text

    syntax = Syntax("", language or "text", theme="ansi_dark")
    text = syntax.highlight("\n".join(lines)) if syntax.lexer else Text("\n".join(lines))
    rows = list(text.split("\n", allow_blank=True))[: len(lines)]
    for row, line in zip(rows, lines, strict=True):
        for start, end in places(line, wanted):
            row.stylize("bold yellow underline", start, end)
    return rows
