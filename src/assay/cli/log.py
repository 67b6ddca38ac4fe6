"""Find commits: `assay log`."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.errors import InputError
from assay.io.terminal import dumps, say
from assay.operations.requests import Log, LogKeep, print_limit
from assay.parameters import Options, argument, form, option, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.operations.commits import FoundCommit, FoundCommits


class LogOptions(Options):
    """Options of `assay log`."""

    asked: Log = shared(Log, hidden=("path", "line", "limit", "budget"))
    roots: tuple[str, ...] = argument("[PATH]...")
    limit: int | None = print_limit("commits")
    place: str = option("--at FILE:LINE", "Only commits that changed the unit at FILE:LINE.")
    form: str = form("text", "json", "jsonl")
    chosen: SettingsOptions = shared(SettingsOptions)


@command(LogOptions, example='assay log "why are retries limited" --since 2024')
def log(given: LogOptions) -> int:
    """Find commits by meaning, by what they changed, by author and by date.

    QUESTION is asked of the messages and the changes of the commits of each repository PATH, by default the current
    folder. It may be the beginning of a commit's id, and may have query words, as in assay search; without it, the
    newest commits are printed. The first question indexes the commits, later ones add what is new. A merge is found by
    its message alone.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.progress import progress
    from assay.operations.commits import History
    from assay.operations.indexes import root_of
    from assay.search.history import CommitFilter

    asked = given.asked
    keep = CommitFilter(asked.keep.author, asked.keep.since, asked.keep.until, asked.keep.file)
    roots = given.roots or (".",)
    answers: list[tuple[str, FoundCommits]] = []
    limit = given.limit or 10
    if given.place:
        if asked.query and not given.roots:  # the one argument beside --at is where the file is
            asked, roots = replace(asked, query=""), (asked.query,)
        answers.append(("", _unit_answer(replace(given, asked=asked), roots, limit)))
        roots = ()
    with progress() as watch:
        for name in dict.fromkeys(roots):
            root = root_of(name)
            history = History(root, given.chosen.settings(root))
            answers.append((name if len(roots) > 1 else "", history.search(asked.query, keep, limit, watch)))
    found = _best(answers, limit, by_date=not asked.query.strip())
    click.echo(_commits_text(found, given.form), nl=False)
    if not found:
        say(f"no commit found, of {sum(answer.indexed for _, answer in answers):,}")
    return 0 if found else 1


def _unit_answer(given: LogOptions, roots: Sequence[str], limit: int) -> FoundCommits:
    """Return the commits that changed the unit at a place, newest first."""
    from assay.cli.workspaces import parsed_place, path_below
    from assay.operations.commits import FoundCommits
    from assay.operations.indexes import root_of
    from assay.operations.log import unit_log
    from assay.serve.session import Session

    if given.asked.query or len(roots) > 1 or given.asked.keep != LogKeep():
        raise InputError("--at FILE:LINE says which commits: leave out QUESTION, --author, --since, --until and --file")
    file, line = parsed_place(given.place)
    root = root_of(roots[0])
    session = Session({root: given.chosen.settings(root)}, elsewhere=given.chosen.settings(None))
    path = str(root / path_below(root, file, roots[0]))
    found = unit_log(Log(path=path, line=line, limit=limit, budget=10**9), session)
    return FoundCommits(tuple(found.commits), found.relevant, found.indexed)


def _best(answers: list[tuple[str, FoundCommits]], limit: int, *, by_date: bool) -> list[FoundCommit]:
    every = [replace(commit, root=name) for name, answer in answers for commit in answer.commits]
    if by_date and len(answers) == 1:
        return every[:limit]
    if by_date:
        return sorted(every, key=lambda commit: datetime.fromisoformat(commit.date), reverse=True)[:limit]
    return sorted(every, key=lambda commit: -commit.score)[:limit]


def _commits_text(found: list[FoundCommit], form: str) -> str:
    from assay.operations.commits import commits_text

    if form == "json":
        return dumps({"commits": list(map(asdict, found))}) + "\n"
    if form == "jsonl":
        return "".join(dumps(asdict(commit)) + "\n" for commit in found)
    return commits_text(found)
