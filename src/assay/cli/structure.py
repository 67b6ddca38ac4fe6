"""`assay outline` and `assay pattern`: what files declare, and where code has a structure; no index is needed."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.errors import counted, printable
from assay.io.terminal import dumps, printable_line, say
from assay.operations.requests import PatternSearch, globs_option
from assay.parameters import Options, argument, form, shared

if TYPE_CHECKING:
    from assay.corpus.code_pattern import Pattern
    from assay.operations.read import ServedFile


class PatternOptions(Options):
    """Options of `assay pattern`."""

    asked: PatternSearch = shared(PatternSearch, hidden=("path", "limit", "budget", "cursor"))
    paths: tuple[str, ...] = argument("[PATH]...")
    form: str = form("text", "jsonl", "vimgrep")


@command(PatternOptions, example="assay pattern 'open($PATH, $$$REST)' --lang python src")
def pattern(given: PatternOptions) -> int:
    """Find every place whose code has a structure, whatever its spacing.

    PATTERN is code: $NAME stands for one expression, $$$NAME for any number of them. Each PATH is a file or a folder,
    by default the current folder.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.workspaces import listed_files
    from assay.corpus.code_pattern import Pattern
    from assay.operations.answer import language_named
    from assay.operations.read import DOUBT, may_be

    language = language_named(given.asked.lang)
    sought = Pattern(given.asked.pattern, language)
    files = [each for each in listed_files(given.paths, given.asked.file) if may_be(each[1].entry, language)]
    count = sum(_print_matches(*each, sought, given) for each in files)
    if not count and not sought.parses:
        say(DOUBT.format(language))
    say(f"{counted(count, 'match')} in {counted(len(files), 'file')} of {language}")
    return 0 if count else 1


def _print_matches(path: str, file: ServedFile, sought: Pattern, given: PatternOptions) -> int:
    from assay.operations.read import pattern_matches

    count = 0
    for match in pattern_matches(file, sought):
        count += 1
        row = {"path": path, "start_line": match.start_line, "end_line": match.end_line}
        if given.form == "jsonl":
            click.echo(dumps({**row, "text": match.text, "holes": dict(match.holes)}))
            continue
        lines = [printable_line(line, clip=True) for line in match.text.rstrip("\n").split("\n")]
        if given.form == "vimgrep":
            click.echo(f"{printable(path)}:{match.start_line}:1:{lines[0]}")
        else:
            click.echo("\n".join((f"{printable(path)}:{match.start_line}", *(f"  {line}" for line in lines), "")))
    return count


class OutlineOptions(Options):
    """Options of `assay outline`."""

    paths: tuple[str, ...] = argument("[PATH]...")
    file: tuple[str, ...] = globs_option()
    form: str = form("text", "jsonl")


@command(OutlineOptions, example="assay outline src --file '*.py'")
def outline(given: OutlineOptions) -> int:
    """Print what files declare: the signatures of code and the headings of prose, with their lines.

    Each PATH is a file or a folder, by default the current folder. The files are those that an index would hold.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.cli.workspaces import listed_files
    from assay.operations.read import entries_of, line_of

    found = False
    for path, file in listed_files(given.paths, given.file):
        if not (entries := entries_of(file)):
            continue
        if given.form == "jsonl":
            click.echo("\n".join(dumps({"path": path, **asdict(entry)}) for entry in entries))
        else:
            lines = (f"  {printable_line(line_of(entry), clip=True)}" for entry in entries)
            click.echo("\n".join((*([""] if found else []), printable(path), *lines)))
        found = True
    return 0 if found else 1
