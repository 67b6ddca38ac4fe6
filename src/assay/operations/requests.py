"""Declare the requests of operations on open roots: one for each operation, and parts that several share.

Command line, HTTP API, MCP and `import assay` are made of these; the functions that answer them lie in the modules
beside this one. Nothing heavy loads here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from assay.parameters import Request, argument, flag, option, shared
from assay.search.query_filters import FILTERS, MAX_QUERY_CHARS, queries_of

if TYPE_CHECKING:
    from assay.values import Mode, Query

MAX_GLOBS, MAX_GLOB_CHARS = 100, 500
MAX_PATH_CHARS = 4096
MAX_PATTERN_CHARS = 5000
LAST_LINE = 10**9
MIN_BUDGET, DEFAULT_BUDGET = 1, 4000
UNBOUNDED = 10**9
"""A budget that holds any answer, in tokens."""
MAX_ENTRIES = 1000
MAX_LINES = 2000
MAX_CHANGES = 50
MAX_PROGRAMS = 1000
_MODES: tuple[Mode, ...] = ("all", "code", "docs")
Detail = Literal["names", "lines", "full"]
"""What to show of each hit: its place and name, its best lines too, or all of it."""
DETAILS: tuple[Detail, ...] = get_args(Detail)
_WORDS = (
    f"A question, a name, an error message; with filters: {' '.join(each.example for each in FILTERS)} "
    '"exact text" /regex/ (the last two count matches).'
)


def path_option(text: str = "A folder or file to search, a served folder's name, an https URL; empty: all.") -> Any:
    """Declare the parameter for the place to search."""
    return option("--path PATH", text, longest=MAX_PATH_CHARS)


def file_option() -> Any:
    """Declare the parameter that names one file."""
    return option("--path FILE", "A file below what is served.", longest=MAX_PATH_CHARS, required=True)


def line_option(text: str, least: int = 0) -> Any:
    """Declare the parameter that names a line; without a minimum, 0 means none."""
    more: dict[str, Any] = {"required": True} if least else {"default": 0}
    return option("--line N", text, least=least, most=LAST_LINE, **more)


def limit_option(default: int, text: str = "Entries of a page, at most.", most: int = MAX_ENTRIES) -> Any:
    """Declare the parameter that limits how many entries an answer has."""
    return option("-k", "--limit N", text, least=1, most=most, default=default)


def print_limit(what: str) -> Any:
    """Declare the option for the number of printed entries."""
    return option("-k", "--limit N", f"Print at most N {what}.  [default: 10]", least=1, most=MAX_ENTRIES)


def print_budget() -> Any:
    """Declare the option for the number of printed tokens."""
    return option("--budget N", "Print at most N tokens, in whole lines.", least=MIN_BUDGET, most=UNBOUNDED)


def globs_option(text: str = "Only files that match; !GLOB excludes. Repeatable.") -> Any:
    """Declare the parameter that filters files by globs."""
    return option("--file GLOB", text, entries=MAX_GLOBS, longest=MAX_GLOB_CHARS)


def budget_option() -> Any:
    """Declare the parameter that limits how long an answer is."""
    text = "About how many tokens the answer may take; whole lines."
    return option("--budget N", text, least=MIN_BUDGET, most=UNBOUNDED, default=DEFAULT_BUDGET)


def cursor_option() -> Any:
    """Declare the parameter that asks for the next page."""
    text = "The cursor of the page before, all else the same; empty for the first."
    return option("--cursor CURSOR", text, longest=100)


def filter_option(name: str) -> Any:
    """Declare the option of a filter."""
    row = next(each for each in FILTERS if each.option == name)
    flag = f"--{name} {row.metavar}"
    return option(flag, row.help, names=row.names, entries=MAX_GLOBS, longest=MAX_GLOB_CHARS)


class SearchFilter(Request):
    """The filters of a search."""

    repo: tuple[str, ...] = filter_option("repo")
    lang: tuple[str, ...] = filter_option("lang")
    file: tuple[str, ...] = filter_option("file")
    kind: tuple[str, ...] = filter_option("kind")
    sym: tuple[str, ...] = filter_option("sym")
    mode: str = option(
        "--mode", "Code, prose, or both.  [default: code; with other filters, all]", choices=("", *_MODES)
    )

    def queries(self, texts: Sequence[str | Query], globs: Sequence[str] | None = None) -> list[Query]:
        """Return checked queries with these filters, and with other globs in place of these if there are some."""
        mode: Mode | None = next((one for one in _MODES if one == self.mode), None)
        keep = {each.option: getattr(self, each.option) for each in FILTERS}
        return queries_of(texts, keep if globs is None else {**keep, "file": globs}, mode=mode)


class Question(Request):
    """Queries, and where to search."""

    query: str = argument("QUERY", _WORDS, longest=MAX_QUERY_CHARS)
    more: tuple[str, ...] = option(
        "-q", "--more TEXT", "One more query; the hits are merged. Repeatable.", entries=9, longest=MAX_QUERY_CHARS
    )
    path: str = path_option()
    keep: SearchFilter = shared(SearchFilter)

    @property
    def texts(self) -> tuple[str, ...]:
        """All queries."""
        return (self.query, *self.more)


class Typed(Request):
    """Take a question apart: its query words, quoted texts and expressions, and whether there is more."""

    query: str = argument("[QUERY]", "A question as it is typed.", default="", longest=MAX_QUERY_CHARS)


class Facets(Question):
    """Count what a search finds by repository, language and kind: all of it where filters decide, else the best 200."""


class Matches(Question):
    """List every line that holds what a query quotes or matches its expressions, file by file."""

    limit: int = limit_option(200, "Lines of a page, at most.")
    cursor: str = cursor_option()


class Names(Request):
    """Find files by parts of their paths, and declared names by a part: the beginning, some letters, a misspelling."""

    query: str = argument("[TEXT]", "Parts of a path, blanks between, or a part of a name.", default="", longest=200)
    path: str = path_option()
    limit: int = limit_option(20, "Files, and names, at most.")


class Search(Question):
    """Find code or documentation by meaning: functions, types and sections that answer a question, best first."""

    limit: int = limit_option(8, "At most N hits.")
    detail: Detail = option(
        "--detail",
        "Show of each hit its place and name, also its best lines, or all of it.",
        choices=DETAILS,
        default="full",
    )
    group: bool = flag("--group", "One hit for several members of a type: the best one, which names the others.")
    budget: int = budget_option()
    cursor: str = cursor_option()
    explain: bool = flag("--explain", "Show what each score is made of.")


class Read(Request):
    """Read a function, type or section of a file, by line or name, or some lines, or all of it."""

    path: str = file_option()
    line: int = line_option("Alone: all of the unit there; with an end line the first line.")
    end_line: int = option("--end-line N", "The last line of a range.", least=0, most=LAST_LINE, default=0)
    name: str = option("--name NAME", "A unit of the file, such as Task.retry.", longest=200)
    budget: int = budget_option()


class Outline(Request):
    """List the signatures of files, with their lines, and the headings of prose: what is there, without bodies."""

    path: str = path_option()
    file: tuple[str, ...] = globs_option()
    limit: int = limit_option(50)
    budget: int = budget_option()
    cursor: str = cursor_option()


class PatternSearch(Request):
    """Find every place whose code has a structure (ast-grep), in order of path; spacing does not count."""

    pattern: str = argument(
        "PATTERN", "Code with holes: open($PATH, $$$REST); $X is one node, $$$X any number.", longest=MAX_PATTERN_CHARS
    )
    lang: str = option(
        "--lang NAME", "The language, by name or file extension.", required=True, names="languages", longest=100
    )
    path: str = path_option()
    file: tuple[str, ...] = globs_option()
    limit: int = limit_option(50)
    budget: int = budget_option()
    cursor: str = cursor_option()


class Related(Request):
    """List the callers, callees and tests of the whole unit around a line or of a name, and similar code.

    limit is for each group.
    """

    path: str = path_option("With line a file; with name where to look, if not everywhere.")
    line: int = line_option("A line of the file.")
    name: str = option("--name NAME", "Instead of a line: a unit, such as Task.retry.", longest=200)
    limit: int = limit_option(8)
    budget: int = budget_option()
    cursor: str = cursor_option()


class Definitions(Request):
    """Find where a name on a line of a file is defined."""

    path: str = file_option()
    line: int = line_option("A line of it, from 1.", 1)
    name: str = option("--name NAME", "A name on that line, alone.", longest=200, pattern=r"^[\w$#!?]+$", required=True)
    limit: int = limit_option(8)
    budget: int = budget_option()


class References(Request):
    """List every place that calls the function, method or type at a line of a file."""

    path: str = file_option()
    line: int = line_option("A line of it, from 1.", 1)
    limit: int = limit_option(50)
    budget: int = budget_option()


class LogKeep(Request):
    """The filters of commits."""

    author: str = option("--author NAME", "Only commits whose author contains NAME.", longest=200)
    since: str = option("--since DATE", "Only commits from DATE on: 2024-05-01, 2024-05, 2024.", longest=10)
    until: str = option("--until DATE", "Only commits up to DATE, which is included.", longest=10)
    file: tuple[str, ...] = globs_option("Only commits that change a matching file; !GLOB excludes. Repeatable.")


class Log(Request):
    """Find commits by meaning of their messages and changes, by path, author and date."""

    query: str = argument(
        "[QUESTION]", "What a commit did or why, or its id; empty for the newest.", default="", longest=MAX_QUERY_CHARS
    )
    path: str = path_option("A repository, or what in it was changed.")
    line: int = line_option("Of a file: only what changed the unit there; no query.")
    keep: LogKeep = shared(LogKeep)
    limit: int = limit_option(8)
    budget: int = budget_option()


class LineHistory(Request):
    """List the commits that changed lines of a file, or all of it, newest first."""

    path: str = file_option()
    line: int = line_option("The first line of the unit; 0: the whole file.")
    end_line: int = option("--end-line N", "The last line; 0: the first alone.", least=0, most=LAST_LINE, default=0)
    limit: int = limit_option(20, "Commits, at most.", MAX_CHANGES)


class FileLines(Request):
    """Read lines of a file; with the first come what it declares and where a code host shows it."""

    path: str = file_option()
    line: int = option("--line N", "The first line, from 1.", least=1, most=LAST_LINE, default=1)
    count: int = option("--count N", "Maximum number of lines.", least=1, most=MAX_LINES, default=MAX_LINES)


class Blame(FileLines):
    """Show which commits wrote lines of a file."""


class Find(Request):
    """Find the lines of a file that hold a text."""

    path: str = file_option()
    text: str = option("--text TEXT", "A text; capitals count only where it has one.", longest=500, required=True)


class Tree(Request):
    """List the files and folders directly in a folder."""

    path: str = path_option()
    limit: int = limit_option(500)
    cursor: str = cursor_option()


class StatusOf(Request):
    """Show what the index of a folder holds, what it leaves out and why, and how fresh it is; changes nothing."""

    path: str = path_option()
    limit: int = limit_option(20, "Files that are named, at most, of those left out, stale or noted.", LAST_LINE)


class Candidates(Request):
    """Order candidate programs for one task so that a right one comes early, by reading them; nothing is run."""

    programs: tuple[str, ...] = option(
        "--programs", "Python sources that try to solve one task.", entries=MAX_PROGRAMS, required=True
    )
    prompt: str = option("--prompt", "The task.")
    entry_point: str = option("--entry-point", "The function that is to be written.")


PLAIN_COMMANDS: dict[str, tuple[type[Request], str]] = {"read": (Read, "assay read src/app.py --name Task.retry")}
"""Commands that are generated from a request alone, each with its example; the others are in `cli/find.py`."""
