"""`assay search`: questions and folders in, the best hits out."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from assay.cli import options
from assay.cli.command import COUNT, argument, command, flag, form, option, shared
from assay.cli.options import FilterOptions, SettingsOptions


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of `assay search`."""

    query: str = argument()
    roots: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    more: tuple[str, ...] = option(
        "-q", "--query", multiple=True, metavar="TEXT", help="One more query; the hits are merged. Repeatable."
    )
    limit: int | None = options.limit()
    filters: FilterOptions = shared(FilterOptions)
    form: str = form("text", "json", "jsonl", "vimgrep")
    budget: int | None = option("--budget", type=COUNT, metavar="N", help="Print at most N tokens, in whole lines.")
    full: bool = flag("--full", help="Print whole hits, not only their most relevant lines.")
    explained: bool = flag("--explain", help="Print how each score is computed.")
    all_matches: bool = flag("--all-matches", help="Also print the number and places of all literal matches.")
    nearest: bool = flag("--nearest", help="With --format jsonl, print the nearest hits even if none is relevant.")
    no_refresh: bool = options.no_refresh()
    chosen: SettingsOptions = shared(SettingsOptions)


@command(SearchOptions, example='assay search "where are retries handled" src --limit 5')
def search(given: SearchOptions) -> int:
    """Find code by meaning.

    QUERY is a question, a name, an error message, or - to read it from standard input. Each PATH is a folder
    or the URL of a git repository, by default the current folder. The first search builds the index, later ones
    update it. s3://BUCKET/PREFIX means the repositories indexed there, as they are.

    Exits 0 if something relevant was found, 1 if not, 2 on an error.
    """
    from assay.assemble.search_answer import answer as answer_of
    from assay.cli.answer import AnswerOutput, Look, explain
    from assay.cli.workspaces import PATIENCE_S, open_roots

    queries = given.filters.queries([sys.stdin.read() if text == "-" else text for text in (given.query, *given.more)])
    opened = open_roots(
        given.roots or (".",),
        given.chosen,
        limit=given.limit,
        refresh=not given.no_refresh,
        patience_s=PATIENCE_S,
        hint=True,
    )
    look = Look(given.form, given.budget, full=given.full, explain=given.explained, nearest=given.nearest)
    limit = opened[0].settings.search.limit
    answer = answer_of(opened, queries, limit, literal=given.all_matches, named=look.names_root)
    output = AnswerOutput(answer, tuple(query.text for query in queries), opened, look)
    click.echo(output.written(), nl=False, color=True)
    explain(answer, opened, hidden=given.form == "jsonl" and not given.nearest)
    return 0 if answer.relevant else 1
