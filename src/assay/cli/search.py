"""`assay search`: questions and folders in, the best hits out."""

from __future__ import annotations

import sys

import click

from assay.cli import options
from assay.cli.options import Chosen, Filters


@click.command(short_help="Find code by meaning.")
@click.argument("query")
@click.argument("roots", nargs=-1, metavar="[PATH]...")
@click.option("-q", "--query", "more", multiple=True, metavar="TEXT", help="One more query; the hits are united.")
@options.limit
@options.with_filters
@options.form("text", "json", "jsonl", "vimgrep")
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Print at most N tokens, in whole lines.")
@click.option("--full", is_flag=True, help="Print whole hits, not their most telling lines.")
@click.option("--explain", is_flag=True, help="Print what each score is made of.")
@click.option("--all-matches", is_flag=True, help="Add the count and places of every literal match.")
@options.no_refresh
@options.with_settings
@click.pass_context
def search(
    context: click.Context,
    query: str,
    roots: tuple[str, ...],
    more: tuple[str, ...],
    limit: int | None,
    filters: Filters,
    form: str,
    budget: int | None,
    full: bool,
    explain: bool,
    all_matches: bool,
    no_refresh: bool,
    chosen: Chosen,
) -> None:
    """Find code by meaning.

    QUERY is a question, a name, an error message, or - to read it from standard input. Each PATH is a folder
    or the URL of a git repository; without one it is the current folder. The first search makes the index,
    later ones keep it up to date.

    Leaves with 0 when something was found, 1 when nothing relevant was, 2 on an error.
    """
    from assay.cli.answer import Look, find
    from assay.cli.workspaces import PATIENCE_S, open_roots, say

    queries = filters.queries([sys.stdin.read() if text == "-" else text for text in (query, *more)])
    opened = open_roots(roots or (".",), chosen, limit=limit, refresh=not no_refresh, patience_s=PATIENCE_S, asked=True)
    answer = find(queries, opened, form, all_matches=all_matches)
    click.echo(answer.written(Look(form, budget, full=full, explain=explain)), nl=False, color=True)
    if answer and not answer.relevant:
        say("nothing relevant here, it seems; these are only the nearest")
    elif not answer and any(one.workspace.report.files for one in opened):
        say("nothing found")
    context.exit(0 if answer.relevant else 1)
