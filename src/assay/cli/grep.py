"""`assay grep`: every line that matches, with the options and the output of grep, the files ordered by meaning."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.adapter import command
from assay.errors import InputError, counted, printable_name
from assay.io.terminal import harmless, say
from assay.parameters import Options, argument, flag, option

if TYPE_CHECKING:
    from assay.operations.grep import Finder, SearchedFile
    from assay.search.text_matches import Syntax


class GrepOptions(Options):
    """Options of `assay grep`."""

    words: tuple[str, ...] = argument("[PATTERN] [PATH]...")
    regexps: tuple[str, ...] = option("-e", "--regexp PATTERN", "A pattern; all arguments are PATHs then. Repeatable.")
    extended: bool = flag("-E", "--extended-regexp", "PATTERN is an extended regular expression: a|b, (a), a+.")
    fixed: bool = flag("-F", "--fixed-strings", "PATTERN is plain text.")
    perl: bool = flag("-P", "--perl-regexp", "PATTERN is as RE2 has it: like Perl's, without look-around.")
    ignore_case: bool = flag("-i", "--ignore-case", "Ignore letter case.")
    word: bool = flag("-w", "--word-regexp", "Match whole words only.")
    line: bool = flag("-x", "--line-regexp", "Match whole lines only.")
    inverted: bool = flag("-v", "--invert-match", "Print the lines that do not match.")
    numbered: bool = flag("-n", "--line-number", "Print line numbers.")
    named: bool = flag("-H", "--with-filename", "Print the file name with each line, of one file too.")
    unnamed: bool = flag("-h", "--no-filename", "Print no file names.")
    files: bool = flag("-l", "--files-with-matches", "Print only the names of files that match.")
    counts: bool = flag("-c", "--count", "Print only how many lines of each file match.")
    only: bool = flag("-o", "--only-matching", "Print only the parts of lines that match.")
    quiet: bool = flag("-q", "--quiet", "--silent", "Print nothing; exit 0 if anything matches.")
    most: int = option(
        "-m", "--max-count NUM", "Stop after NUM lines of a file.", least=0, default=sys.maxsize, show=False
    )
    after: int | None = option("-A", "--after-context NUM", "Print NUM lines after each match.", least=0)
    before: int | None = option("-B", "--before-context NUM", "Print NUM lines before each match.", least=0)
    context: int = option("-C", "--context NUM", "Print NUM lines before and after each match.", least=0, default=0)
    include: tuple[str, ...] = option("--include GLOB", "Below folders, search only files that match. Repeatable.")
    exclude: tuple[str, ...] = option("--exclude", "--exclude-dir GLOB", "Leave out files and folders. Repeatable.")
    is_text: bool = flag("-a", "--text", "Search binary files as if they were text.")
    unsaid: bool = flag("-s", "-I", "--no-messages", "Do not name files that cannot be read, or are binary and match.")
    usual: bool = flag("-r", "-R", "-G", "--recursive", "As always: all below folders, and basic regular expressions.")
    color: str = option("--color", "As always: output has no colors.", choices=("never", "auto"), default="never")
    plain_order: bool = flag("--plain-order", "Order files by path; no index is read.")

    @property
    def sides(self) -> tuple[int, int]:
        """How many lines are printed before a match, and after it."""
        before, after = (self.context if each is None else each for each in (self.before, self.after))
        return (0, 0) if self.only else (before, after)


@command(GrepOptions, example="assay grep -rn 'def retry' src --include '*.py'")
def grep(given: GrepOptions) -> int:
    r"""Print every line that matches, as grep does, the files that matter most first.

    Each PATH is a file or a folder, by default the current folder. Files are read from disk. Those below a folder are
    searched unless git ignores them or they may hold keys; a file that is named always is. Code comes before tests,
    documentation and generated files; what declares the name comes first, then what the index ranks best, if there is
    one: it is read as it is. PATTERN is a basic regular expression (a\|b, \(a\), a\+), unless -E, -F or -P says
    otherwise. Standard error says how many lines match.

    Exits 0 if a line matches, 1 if not, 2 on an error.
    """
    from assay.operations.grep import Finder, files_in, ordered
    from assay.search.query_filters import names_in
    from assay.search.text_matches import declaration_finder, line_finder

    patterns, places = (given.regexps, given.words) if given.regexps else (given.words[:1], given.words[1:])
    if not patterns:
        raise InputError("no PATTERN: name what to search for")
    syntax: Syntax = "fixed" if given.fixed else "perl" if given.perl else "extended" if given.extended else "basic"
    pattern = line_finder(patterns, syntax, ignore_case=given.ignore_case, word=given.word, line=given.line)
    declaring = declaration_finder(patterns, syntax, ignore_case=given.ignore_case)
    finder = Finder(pattern, declaring, given.inverted, given.most, given.is_text)
    files = files_in(places, (*given.include, *(f"!{each}" for each in given.exclude)))
    searched = [each.searched(finder) for each in files]
    found, note = [each for each in searched if each.count], ""
    problems = [f"{each.name}: {each.problem}" for each in searched if each.problem]
    if not given.quiet:
        if not given.plain_order:
            found, note = ordered(found, places[0] if places else "", "" if given.inverted else names_in(patterns))
        _print([*found, *(each for each in searched if each.is_named and not each.count)], finder, given, places)
        is_misread = not found and syntax == "basic" and any(re.search(r"(?<!\\)[+?|({]", one) for one in patterns)
        hint = "; without -E, + ? | ( { stand for themselves" * is_misread
        say(f"{counted(sum(each.count for each in found), 'match')} in {counted(len(found), 'file')}{hint}")
    for problem in [*([note] if note else []), *(problems if not given.unsaid else [])]:
        say(problem)
    return 2 if problems and not (found and given.quiet) else 0 if found else 1


def _print(searched: Sequence[SearchedFile], finder: Finder, given: GrepOptions, places: Sequence[str]) -> None:
    """Print what grep would: names on one line each; on a terminal so that nothing in it moves the cursor."""
    is_named = (len(places) != 1 or Path(places[0]).is_dir() or given.named) and not given.unnamed
    is_terminal = sys.stdout.isatty()
    for row in _rows(searched, finder, given, is_named=is_named):
        sys.stdout.buffer.write((harmless(row.decode("utf-8", "replace")).encode() if is_terminal else row) + b"\n")
    sys.stdout.buffer.flush()


def _rows(searched: Sequence[SearchedFile], finder: Finder, given: GrepOptions, *, is_named: bool) -> Iterator[bytes]:
    """Yield names, counts, or the lines that match with those around them and what parts them."""
    last: tuple[str, int] | None = None
    for file in searched:
        name = printable_name(file.name).encode("utf-8", "surrogateescape")
        if given.files or given.counts:
            row = name if given.files else (name + b":") * is_named + str(file.count).encode()
            yield from [row] * bool(file.count or (given.counts and not given.files and not file.problem))
        elif file.count and not file.is_binary:
            for number, row in _lines(file, finder, given, name if is_named else b""):
                if last not in {None, (file.name, number), (file.name, number - 1)} and any(given.sides):
                    yield b"--"
                last = file.name, number
                yield row
        elif file.is_binary and not given.unsaid:
            say(f"{file.name}: binary file matches")


def _lines(file: SearchedFile, finder: Finder, given: GrepOptions, name: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are printed, with their numbers."""
    for number, text, matches in file.lines(finder, *given.sides):
        mark = b":" if matches else b"-"
        head = (name + mark) * bool(name) + (str(number).encode() + mark) * given.numbered
        parts = [text] if not given.only else [] if given.inverted else finder.parts(text)
        yield from ((number, head + part) for part in parts)
