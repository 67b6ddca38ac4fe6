"""Find code and what is related to it: `assay search`, `related`, `outline`, `pattern`, `read`, `log` and `status`.

Each command asks the operation of its name, as a server does, and prints its record: as JSON as it is, or as text with
paths that can be opened from where one stands.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import RootsOptions, SettingsOptions
from assay.errors import InputError, counted, printable, printable_name
from assay.io.files import dumps
from assay.io.terminal import printable_line, say
from assay.operations.requests import (
    DETAILS,
    LAST_LINE,
    PLAIN_COMMANDS,
    UNBOUNDED,
    Log,
    Outline,
    PatternSearch,
    Related,
    Search,
    StatusOf,
    print_budget,
    print_limit,
)
from assay.parameters import Options, Request, argument, flag, form, option, shared
from assay.search.query_filters import MAX_QUERY_CHARS

if TYPE_CHECKING:
    from assay.operations.local_roots import LocalRoots
    from assay.operations.read import FileMatches, FileOutline, PatternPlace
    from assay.operations.status import Status
    from assay.search.related import RelatedPlace

F = TypeVar("F", "FileMatches", "FileOutline")
_PATIENCE_S = 0.5
"""Seconds to wait for another process that updates an index, before it is used as it is."""


@contextmanager
def _opened(
    paths: Sequence[str],
    settings_options: SettingsOptions,
    *,
    refresh: bool = True,
    limit: int | None = None,
    is_after_question: bool = False,
) -> Iterator[LocalRoots]:
    """Open the roots that were named, with a progress bar, and print the notes on their indexes."""
    from assay.cli.progress import progress
    from assay.operations.local_roots import LocalRoots
    from assay.operations.open_roots import RootOpening

    with progress() as watch:
        how = RootOpening(
            lambda root: settings_options.settings(root, limit=limit),
            refresh=refresh,
            progress=watch,
            patience_s=_PATIENCE_S,
            hint=is_after_question,
        )
        yield LocalRoots(paths, how, say, is_full=settings_options.verbose)


class SearchOptions(Options):
    """Options of `assay search`."""

    request: Search = shared(Search, hidden=("path", "limit", "detail", "group", "budget"))
    roots: tuple[str, ...] = argument("[PATH]...")
    many: RootsOptions = shared(RootsOptions)
    limit: int | None = print_limit("hits")
    by: str = option(
        "--by",
        "List places, or files with their best places each (--format text or jsonl).",
        choices=("place", "file"),
        default="place",
    )
    form: str = form("text", "json", "jsonl", "vimgrep")
    detail: str = option(
        "--detail",
        "Show of each hit its place and name, also its best lines, or all of it.  [default: lines; in JSON full]",
        choices=("", *DETAILS),
    )
    group: bool | None = flag(
        "--group/--no-group", "One hit for several members of a type, which it names.  [default: in text]"
    )
    budget: int | None = print_budget()
    no_refresh: bool = options.no_refresh()
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(SearchOptions, example='assay search "where are retries handled" src --limit 5')
def search(options: SearchOptions) -> int:
    """Find code by meaning.

    QUERY is a question, a name, an error message, or - to read it from standard input. It may have query words: file:,
    lang:, kind:, sym: and repo: keep what their value says (-file: leaves it out), "exact" keeps what holds a text
    letter by letter, and /regex/ what has a line that matches (RE2); these are counted. Each PATH is a folder, a file,
    or the URL of a git repository, by default the current folder. The first search builds the index, later ones
    update it. s3://BUCKET/PREFIX means the repositories indexed there, as they are. Several roots are ranked together;
    one that cannot be searched is named, and the others answer.

    Text leaves out hits that are far less likely than the first; with --limit it has all of them.

    Exits 0 if something relevant was found, 1 if not, 2 on an error.
    """
    from assay.cli.hit_text import SearchWriter
    from assay.operations.local_roots import roots_and_globs
    from assay.operations.search import repositories_asked
    from assay.operations.search import search as answer_of

    if options.by == "file" and options.form not in {"text", "jsonl"}:
        raise InputError(f"--by file has no --format {options.form}: use text or jsonl")
    paths, globs = roots_and_globs(options.roots)
    keep = options.request.keep
    if globs and (keep.file or options.many.places):
        raise InputError("a PATH is a file: leave --file and --roots out")
    first, *more = [_piped() if text == "-" else text for text in options.request.texts]
    request = replace(options.request, query=first, more=tuple(more), keep=replace(keep, file=globs or keep.file))
    named, refresh = options.many.roots(paths), not options.no_refresh
    with _opened(
        named, options.settings_options, refresh=refresh, limit=options.limit, is_after_question=True
    ) as roots:
        settings = roots.settings(repositories_asked(request)).search
        writer = SearchWriter(options, request.texts, settings)
        answer = writer.enough(lambda limit: answer_of(writer.request(request, limit), roots, cost_of=writer.cost))
    click.echo(writer.written(answer), nl=False, color=True)
    writer.say_notes(answer)
    return 0 if answer.relevant else 1


def _piped() -> str:
    """Return the text on standard input, of a long log only the end."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if len(text) <= MAX_QUERY_CHARS:
        return text
    from assay.search.issues import telling_part

    part = telling_part(text)
    first = part.partition("\n")[0]
    say(f"the input has {len(text):,} characters; only {len(part):,} are searched, from '{first:.60}' on")
    return part


class RelatedOptions(Options):
    """Options of `assay related`."""

    place: str = argument("FILE:LINE|NAME")
    root: str = argument("[PATH]", default=".")
    request: Related = shared(Related, hidden=("path", "line", "name", "limit", "budget"))
    limit: int | None = print_limit("places of each group")
    form: str = form("text", "json", "jsonl", "vimgrep")
    budget: int | None = print_budget()
    no_refresh: bool = options.no_refresh()
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(RelatedOptions, example="assay related Task.retry")
def related(options: RelatedOptions) -> int:
    """List the callers, callees and tests of the unit at FILE:LINE or of a NAME, and similar code.

    FILE:LINE may be a line of a trace, or of what a tool prints, with a path of another machine.
    The unit is the whole function, method or type around the line, or the one that declares the name, in the folder
    or file PATH, by default the current folder. Of several declarations of a name the best is taken; the output says
    of how many. Calls are read from the code and resolved by file, import and receiver; a name that several
    definitions have says so. A line of prose has similar text only.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.operations.local_roots import parsed_place, root_and_file
    from assay.operations.related import related as answer_of
    from assay.operations.related import related_text
    from assay.search.declared_names import typed_names

    place = options.place
    is_name = typed_names(place).target and not re.search(r":\d", place) and not Path(place).is_file()
    root, inside = root_and_file(options.root)
    path, line = (options.root if inside else "", 0) if is_name else parsed_place(place)
    with _opened([root], options.settings_options, refresh=not options.no_refresh, limit=options.limit) as roots:
        limit, budget = roots.settings().search.limit, options.budget or UNBOUNDED
        name = place if is_name else ""
        request = Related(path=path, line=line, name=name, limit=limit, budget=budget, cursor=options.request.cursor)
        answer = answer_of(request, roots)
    if options.form == "json":
        click.echo(dumps(asdict(answer)))
    elif options.form == "jsonl":
        _print_rows(answer.hits, root=answer.root)
    else:
        shown = replace(answer, subject=_below(root, answer.subject), hits=[_below(root, one) for one in answer])
        click.echo(related_text(shown) if options.form == "text" else "".join(map(_quickfix, shown)), nl=False)
    if not answer:
        say("nothing found")
    return 0 if answer else 1


def _below(root: str, record: Any) -> Any:
    """Return a record with a path that can be opened from the current folder."""
    from assay.operations.hits import rooted_path

    return replace(record, path=rooted_path(root, record.path))


def _quickfix(unit: RelatedPlace) -> str:
    from assay.operations.related import among_text

    name = f"{printable(unit.symbol or unit.kind)}{among_text(unit).replace('  ', ' ')}"
    text = f": {printable(unit.text)}" if unit.text else ""
    return f"{printable_name(unit.path)}:{unit.start_line}:1:{unit.group}: {name}{text}\n"


def _print_rows(records: Iterable[Any], **first: Any) -> None:
    """Print each record as a line of JSON, with the fields that all of them share."""
    for each in records:
        click.echo(dumps({**asdict(each), **first}))


class PatternOptions(Options):
    """Options of `assay pattern`."""

    request: PatternSearch = shared(PatternSearch, hidden=("path", "limit", "budget", "cursor"))
    paths: tuple[str, ...] = argument("[PATH]...")
    form: str = form("text", "jsonl", "vimgrep")


@command(PatternOptions, example="assay pattern 'open($PATH, $$$REST)' --lang python src")
def pattern(options: PatternOptions) -> int:
    """Find every place whose code has a structure, whatever its spacing.

    PATTERN is code: $NAME stands for one expression, $$$NAME for any number of them. Each PATH is a file or a folder,
    by default the current folder.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.operations.read import doubt_of, matched_files
    from assay.search.query_filters import language_named

    count = files = 0
    for root, file in _each_file(
        options.paths, lambda path, roots: matched_files(replace(options.request, path=path), roots)
    ):
        for match in file.matches:
            _print_match(match, root, options.form)
        files, count = files + 1, count + len(file.matches)
    if not count and (doubt := doubt_of(options.request)):
        say(doubt)
    say(f"{counted(count, 'match')} in {counted(files, 'file')} of {language_named(options.request.lang)}")
    return 0 if count else 1


def _print_match(match: PatternPlace, root: str, form: str) -> None:
    path = printable_name(_below(root, match).path)
    lines = [printable_line(line, clip=True) for line in match.text.rstrip("\n").split("\n")]
    if form == "jsonl":
        _print_rows([match], root=root)
    elif form == "vimgrep":
        click.echo(f"{path}:{match.start_line}:1:{lines[0]}")
    else:
        click.echo("\n".join((f"{path}:{match.start_line}", *(f"  {line}" for line in lines), "")))


class OutlineOptions(Options):
    """Options of `assay outline`."""

    paths: tuple[str, ...] = argument("[PATH]...")
    request: Outline = shared(Outline, hidden=("path", "limit", "budget", "cursor"))
    form: str = form("text", "jsonl")


@command(OutlineOptions, example="assay outline src --file '*.py'")
def outline(options: OutlineOptions) -> int:
    """Print what files declare: the signatures of code and the headings of prose, with their lines.

    Each PATH is a file or a folder, by default the current folder. The files are those that an index would hold.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.operations.read import outlined_files

    count = 0
    for root, file in _each_file(
        options.paths, lambda path, roots: outlined_files(replace(options.request, path=path), roots)
    ):
        if options.form == "jsonl":
            _print_rows([file], root=root)
        else:
            lines = (f"  {printable_line(row, clip=True)}" for row in file.rows)
            click.echo("\n".join((*([""] if count else []), printable_name(_below(root, file).path), *lines)))
        count += 1
    return 0 if count else 1


def _each_file(paths: Sequence[str], ask: Callable[[str, LocalRoots], Iterable[F]]) -> Iterator[tuple[str, F]]:
    """Yield what is asked about the files at some places, each file once, with the folder of its path."""
    from assay.operations.local_roots import LocalRoots
    from assay.operations.open_roots import RootOpening
    from assay.settings import Settings

    seen = set[Path]()
    for typed in paths or (".",):
        place = Path(typed)
        if not place.exists():
            raise InputError(f"no such file or folder: '{typed}'")
        folder = place.parent if place.is_file() else place
        roots = LocalRoots([str(folder)], RootOpening(lambda _: Settings()))
        for file in ask(typed if place.is_file() else "", roots):
            real = Path(folder, file.path).resolve()
            if real not in seen:
                seen.add(real)
                yield str(folder), file


class LogOptions(Options):
    """Options of `assay log`."""

    request: Log = shared(Log, hidden=("path", "line", "limit", "budget"))
    roots: tuple[str, ...] = argument("[PATH]...")
    limit: int | None = print_limit("commits")
    budget: int | None = print_budget()
    place: str = option("--at FILE:LINE", "Only commits that changed the unit at FILE:LINE.")
    form: str = form("text", "json", "jsonl")
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(LogOptions, example='assay log "why are retries limited" --since 2024')
def log(options: LogOptions) -> int:
    """Find commits by meaning, by what they changed, by author and by date.

    QUESTION is asked of the messages and the changes of the commits of each repository PATH, by default the current
    folder. It may be the beginning of a commit's id, and may have query words, as in assay search; without it, the
    newest commits are printed. The first question indexes the commits, later ones add what is new. A merge is found by
    its message alone.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.operations.found_commit import commits_text
    from assay.operations.local_roots import parsed_place
    from assay.operations.log import log as answer_of

    request, roots = options.request, options.roots or (".",)
    path, line = parsed_place(options.place) if options.place else ("", 0)
    if options.place and request.query and not options.roots:  # the one argument beside --at is where the file is
        request, roots = replace(request, query=""), (request.query,)
    limit, budget = options.limit or Log.limit, options.budget or UNBOUNDED
    with _opened(tuple(dict.fromkeys(roots)), options.settings_options) as opened:
        answer = answer_of(replace(request, path=path, line=line, limit=limit, budget=budget), opened)
    if options.form == "json":
        click.echo(dumps(asdict(answer)))
    elif options.form == "jsonl":
        _print_rows(answer.commits)
    else:
        click.echo(commits_text(answer.commits), nl=False)
    if not answer.commits:
        say(f"no commit found, of {answer.indexed:,}")
    return 0 if answer.commits else 1


class StatusOptions(Options):
    """Options of `assay status`."""

    path: str = argument("[PATH]", default=".")
    request: StatusOf = shared(StatusOf, hidden=("path",))
    form: str = form("text", "json")
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(StatusOptions, example="assay status . -v")
def status(options: StatusOptions) -> int:
    """Show what the index of PATH holds, what it leaves out, and what changed since.

    Files that were left out are counted by reason, stale files by what happened to them: added, changed or removed.
    With -v each is named, and so are files whose grammar failed. Nothing is written.

    Exits 0 if there is an index and it is intact, 1 if there is none, 2 if it is corrupt or cannot be read.
    """
    from assay.operations.status import status as answer_of
    from assay.operations.status import status_text
    from assay.store.index_location import holds_many

    limit = LAST_LINE if options.settings_options.verbose else options.request.limit
    with _opened([options.path], options.settings_options) as roots:
        answers = [answer_of(StatusOf(path=each.name, limit=limit), roots) for each in roots.readers]
    if options.form == "json":
        found = list(map(asdict, answers))
        click.echo(dumps({"roots": found} if holds_many(options.path) else found[0]))
    else:
        texts = [status_text(one, named=options.settings_options.verbose) for one in answers if one.whole]
        click.echo("\n".join(texts), nl=False)
    return max(_status_of(one, options) for one in answers)


def _status_of(answer: Status, options: StatusOptions) -> int:
    """Report what is wrong with an index, and what to do; return the exit status."""
    from assay.search.retrievers import rebuild_command
    from assay.store.index_location import is_bucket

    path, location = (
        ("PATH", answer.location) if is_bucket(options.path) else (options.path, options.settings_options.location)
    )
    if answer.damage:
        say(f"the index of '{answer.root}' is corrupt: {answer.damage}; {rebuild_command(path, location)} rebuilds it")
        return 2
    if not answer.indexed:
        say(f"no index of '{answer.root}' yet: {rebuild_command(path, location)}")
        return 1
    return 0


def __getattr__(name: str) -> Callable[[], click.Command]:
    """Return the builder of a command that needs only the request of its operation."""
    if name not in PLAIN_COMMANDS:
        raise AttributeError(f"no command {name}")
    return _command_of(name, *PLAIN_COMMANDS[name])


def _command_of(name: str, request: type[Request], example: str) -> Callable[[], click.Command]:
    """Return the builder of a command for an operation on a file or folder, with its parameters as options."""
    fields = {
        "path": argument("PATH", default="."),
        "request": shared(request, hidden=("path", "budget")),
        "budget": print_budget(),
        "form": form("text", "json"),
        "settings_options": shared(SettingsOptions),
    }
    kinds = dict.fromkeys(fields, "str") | {"budget": "int | None"}
    kind = type(f"{name.title()}Options", (Options,), {**fields, "__annotations__": kinds})

    def run(options: Any) -> int:
        from assay.operations.catalogue import OPERATIONS
        from assay.operations.hits import as_text
        from assay.operations.local_roots import root_and_file

        root, _ = root_and_file(options.path)
        asked = replace(options.request, path=options.path, budget=options.budget or UNBOUNDED)
        (operation,) = (each for each in OPERATIONS if each.name == name)
        with _opened([root], options.settings_options) as roots:
            answer = operation.run(asked, roots)
        click.echo(dumps(asdict(answer)) if options.form == "json" else as_text(_below(root, answer)))
        return 0

    run.__name__, run.__doc__ = name, f"{cleandoc(request.__doc__ or '')}\n\nExits 0 if it is there, 2 on an error."
    return command(kind, example=example)(run)
