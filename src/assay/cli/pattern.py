"""`assay pattern`: code with holes and folders in, every place of that structure out, or what a replacement changes."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.command import argument, command, flag, form, option
from assay.cli.completions import complete_languages
from assay.errors import InputError, counted, printable
from assay.io.terminal import dumps, harmless, printable_line, say

if TYPE_CHECKING:
    from assay.corpus.code_pattern import Pattern, Rewriting
    from assay.serve.read_tools import ServedFile


@dataclass(frozen=True, slots=True)
class PatternOptions:
    """Options of `assay pattern`."""

    pattern: str = argument()
    paths: tuple[str, ...] = argument("[PATH]...", nargs=-1)
    language: str = option(
        "--lang",
        required=True,
        metavar="NAME",
        shell_complete=complete_languages,
        help="The language, by name or file extension.",
    )
    globs: tuple[str, ...] = option(
        "--path", multiple=True, metavar="GLOB", help="Only files that match; !GLOB excludes. Repeatable."
    )
    rewrite: str | None = option(
        "--rewrite", metavar="CODE", help="Print a diff in which each match is CODE, with the holes of PATTERN."
    )
    writes: bool = flag("--write", help="With --rewrite: write the files instead of printing the diff.")
    form: str = form("text", "jsonl", "vimgrep")


@command(PatternOptions, example="assay pattern 'open($PATH, $$$REST)' --lang python src")
def pattern(given: PatternOptions) -> int:
    """Find every place whose code has a structure, whatever its spacing, and rewrite it if wanted.

    PATTERN is code: $NAME stands for one expression, $$$NAME for any number of them. Each PATH is a file or a folder,
    by default the current folder. With --rewrite, the change is printed as a diff; nothing is written without --write.

    Exits 0 if something was found, 1 if not, 2 on an error.
    """
    from assay.assemble.answer import language_named
    from assay.cli.listed_files import listed_files
    from assay.corpus.code_pattern import Pattern, Rewriting
    from assay.serve.read_tools import may_be

    if given.writes and given.rewrite is None:
        raise InputError("--write is for --rewrite CODE: give that, too")
    language = language_named(given.language)
    sought = Pattern(given.pattern, language)
    change = None if given.rewrite is None else Rewriting(sought, given.rewrite)
    files = [each for each in listed_files(given.paths, given.globs) if may_be(each[1].entry, language)]
    if change and given.writes:
        count = _write_all(files, change)
    else:
        count = sum(_rewrite_file(*each, change) if change else _print_matches(*each, sought, given) for each in files)
    _explain(sought, count, len(files), given)
    return 0 if count else 1


def _print_matches(path: str, file: ServedFile, sought: Pattern, given: PatternOptions) -> int:
    from assay.serve.read_tools import pattern_matches

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


def _rewriting_of(file: ServedFile, change: Rewriting) -> tuple[str, str, int]:
    """Return a file's text, what becomes of it, and how many matches it has."""
    from assay.corpus.languages import language_of

    text = file.text
    if text is None or language_of(file.entry.path, text) != change.pattern.language:
        return "", "", 0
    return text, *change.rewrite(text)


def _rewrite_file(path: str, file: ServedFile, change: Rewriting) -> int:
    """Print what becomes of a file; return how many matches it has."""
    text, rewritten, count = _rewriting_of(file, change)
    if rewritten != text:
        old, new = (re.findall(r"[^\n]*\n|[^\n]+", each) for each in (text, rewritten))
        rows = [
            row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
            for row in unified_diff(old, new, f"a/{path}", f"b/{path}")
        ]
        _print_diff("".join(rows))
    return count


def _print_diff(diff: str) -> None:
    """Print a diff: exactly where a program reads it, and on a terminal so that nothing in it draws there."""
    if sys.stdout.isatty():
        diff = harmless(diff.replace("\r\n", "\n"))
    click.echo(diff, nl=False, color=True)


def _write_all(files: Sequence[tuple[str, ServedFile]], change: Rewriting) -> int:
    """Write what becomes of files, once all are found fit for it; return how many matches they have."""
    from assay.io.files import write

    every = [(path, file, *_rewriting_of(file, change)) for path, file in files]
    places = [(_place(path, file, text), after) for path, file, text, after, _ in every if after != text]
    for place, after in places:
        write(place, after.encode("utf-8"))
    return sum(count for *_, count in every)


def _place(path: str, file: ServedFile, text: str) -> Path:
    """Return where a file lies that may be written; one that is protected or in another encoding is refused."""
    from assay.corpus.walked_files import from_utf8
    from assay.io.files import check_writable

    place = from_utf8(file.place.engine.root, file.entry.path)
    check_writable(place)
    if place.read_bytes() != text.encode("utf-8"):
        raise InputError(
            f"'{path}' is not plain UTF-8, so that it is not written; apply the diff that is printed without --write"
        )
    return place


def _explain(sought: Pattern, count: int, files: int, given: PatternOptions) -> None:
    from assay.serve.read_tools import DOUBT

    if not count and not sought.parses:
        say(DOUBT.format(sought.language))
    what = "" if given.rewrite is None else " written" if given.writes else " would change; --write writes them"
    say(f"{counted(count, 'match')} in {counted(files, 'file')} of {sought.language}{what}")
