"""`assay search`: find code by meaning."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.options import RootsOptions, SettingsOptions
from assay.errors import InputError, counted
from assay.io.terminal import say
from assay.operations.requests import LONGEST_QUERY, Question, print_budget, print_limit
from assay.parameters import Options, argument, flag, form, option, shared


class SearchOptions(Options):
    """Options of `assay search`."""

    asked: Question = shared(Question, hidden=("path",))
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
    budget: int | None = print_budget()
    names: bool = flag("--names", "Print one line per hit: its place, kind, name and signature.")
    full: bool = flag("--full", "Print whole hits, not only their most relevant lines.")
    expanded: bool = flag("--expand-groups", "Print every hit, rather than one for several members of a type.")
    explained: bool = flag("--explain", "Print how each score is computed.")
    nearest: bool = flag("--nearest", "With --format jsonl, print the nearest hits even if none is relevant.")
    no_refresh: bool = options.no_refresh()
    chosen: SettingsOptions = shared(SettingsOptions)


@command(SearchOptions, example='assay search "where are retries handled" src --limit 5')
def search(given: SearchOptions) -> int:
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
    from assay.cli.answer import AnswerOutput, explain, listed
    from assay.cli.workspaces import open_many_roots, roots_and_globs
    from assay.operations.answer import answer as answer_of
    from assay.operations.answer import repositories_in

    if given.by == "file" and given.form not in {"text", "jsonl"}:
        raise InputError(f"--by file has no --format {given.form}: take text or jsonl")
    if given.names and (given.form != "text" or given.by == "file"):
        raise InputError("--names has text of its own: leave --format and --by out")
    texts = [_piped() if text == "-" else text for text in given.asked.texts]
    paths, globs = roots_and_globs(given.roots)
    if globs and (given.asked.keep.file or given.many.places):
        raise InputError("a PATH is a file: leave --file and --roots out")
    queries = given.asked.keep.queries(texts, globs or None)
    repositories = given.asked.keep.repo + repositories_in(texts)
    are_several = len(paths) > 1 or bool(given.many.places or repositories)
    found = open_many_roots(
        given.many.roots(paths), given.chosen, repositories, limit=given.limit, refresh=not given.no_refresh
    )
    opened = found.workspaces
    named = given.form in {"text", "vimgrep"} or are_several
    ask = partial(answer_of, opened, queries, named=named)
    limit = opened[0].settings.search.limit
    answer, left = listed(given, ask, limit)
    answer = replace(answer, problems=found.problems + answer.problems)
    output = AnswerOutput(answer, tuple(query.text for query in queries), opened, given)
    click.echo(output.written(), nl=False, color=True)
    hidden = given.form == "jsonl" and not given.nearest
    explain(answer, opened, hidden=hidden, counts=given.form in {"text", "vimgrep"})
    if left:
        say(f"{counted(left, f'less likely {given.by}')} not shown; --limit {limit} shows all")
    return 0 if answer.relevant else 1


def _piped() -> str:
    """Return what standard input holds, of a long log only the end."""
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if len(text) <= LONGEST_QUERY:
        return text
    from assay.search.issues import end_of_log

    end = end_of_log(text)
    first = end.partition("\n")[0]
    say(f"the input has {len(text):,} characters; only its last {len(end):,} are searched, from '{first:.60}' on")
    return end
