"""`assay grep`: every line that matches, with the options and the output of grep, the files ordered by meaning."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from select import select
from typing import TYPE_CHECKING

from assay.cli.adapter import command
from assay.cli.grep_arguments import as_click_takes
from assay.errors import InputError, counted
from assay.io.terminal import say
from assay.parameters import Options, argument, flag, option

if TYPE_CHECKING:
    from assay.cli.grep_lines import Look
    from assay.operations.grep import Finder, SearchedFile
    from assay.search.grep_patterns import Syntax

_PATIENCE_S = 2.0
"""Seconds without input from a pipe before a note is printed."""


class GrepOptions(Options):
    """Options of `assay grep`."""

    words: tuple[str, ...] = argument("[PATTERN] [PATH]...")
    regexps: tuple[str, ...] = option("-e", "--regexp PATTERN", "A pattern; all arguments are PATHs then. Repeatable.")
    pattern_files: tuple[str, ...] = option("-f", "--file FILE", "A file with a pattern on each line. Repeatable.")
    basic: bool = flag("-G", "--basic-regexp", "PATTERN is a basic regular expression (the default).")
    extended: bool = flag("-E", "--extended-regexp", "PATTERN is an extended regular expression: a|b, (a), a+.")
    fixed: bool = flag("-F", "--fixed-strings", "PATTERN is plain text.")
    perl: bool = flag(
        "-P", "--perl-regexp", r"PATTERN is an expression of RE2: like Perl's, with \K, (?<=A) first, (?=B) last."
    )
    ignore_case: bool = flag("-i", "-y", "--ignore-case", "Ignore letter case.")
    keep_case: bool = flag("--no-ignore-case", "Do not ignore letter case; overrides -i before it.")
    word: bool = flag("-w", "--word-regexp", "Match whole words only.")
    line: bool = flag("-x", "--line-regexp", "Match whole lines only.")
    null_lines: bool = flag("-z", "--null-data", "Lines end in NUL, so that a pattern may match line ends.")
    inverted: bool = flag("-v", "--invert-match", "Print the lines that do not match.")
    most: int = option(
        "-m", "--max-count NUM", "Stop after NUM lines of a file.", least=-1, default=sys.maxsize, show=False
    )
    numbered: bool = flag("-n", "--line-number", "Print line numbers.")
    offsets: bool = flag("-b", "--byte-offset", "Print where each line begins, with -o each part, in bytes from 0.")
    named: bool = flag("-H", "--with-filename", "Print the file name with each line, of one file too.")
    unnamed: bool = flag("-h", "--no-filename", "Print no file names.")
    label: str = option(
        "--label LABEL", "Print LABEL as the name of standard input.", default="(standard input)", show=False
    )
    tabbed: bool = flag("-T", "--initial-tab", "Print a tab before each line, so that columns align.")
    null_names: bool = flag("-Z", "--null", "Print NUL after file names.")
    files: bool = flag("-l", "--files-with-matches", "Print only the names of files that match.")
    others: bool = flag("-L", "--files-without-match", "Print only the names of files that do not match.")
    counts: bool = flag("-c", "--count", "Print only how many lines of each file match.")
    only: bool = flag("-o", "--only-matching", "Print only the parts of lines that match.")
    quiet: bool = flag("-q", "--quiet", "--silent", "Print nothing; exit 0 if anything matches.")
    after: int | None = option("-A", "--after-context NUM", "Print NUM lines after each match.", least=0)
    before: int | None = option("-B", "--before-context NUM", "Print NUM lines before each match.", least=0)
    context: int | None = option(
        "-C", "--context NUM", "Print NUM lines before and after each match; so does -NUM.", least=0
    )
    separator: str = option("--group-separator SEP", "Print SEP between groups of lines.", default="--", show=False)
    joined: bool = flag("--no-group-separator", "Print nothing between groups of lines.")
    globs: tuple[str, ...] = option(
        "--include",
        "--exclude GLOB",
        "Search only files whose names match, or exclude them; the last match decides.",
    )
    exclude_from: tuple[str, ...] = option("--exclude-from FILE", "Exclude files by the globs in FILE. Repeatable.")
    exclude_dir: tuple[str, ...] = option("--exclude-dir GLOB", "Exclude folders whose names match. Repeatable.")
    recursive: bool = flag(
        "-r", "-R", "--recursive", "--dereference-recursive", "Search the current folder if no PATH is given."
    )
    directories: str = option(
        "-d",
        "--directories ACTION",
        "Search folders or skip them.",
        choices=("recurse", "skip", "read"),
        default="recurse",
    )
    devices: str = option(
        "-D", "--devices ACTION", "Read devices and pipes or skip them.", choices=("read", "skip"), default="read"
    )
    binary_files: str = option(
        "--binary-files TYPE",
        "How to treat binary files.",
        choices=("binary", "text", "without-match"),
        default="binary",
    )
    is_text: bool = flag("-a", "--text", "Search binary files as if they were text.")
    no_binary: bool = flag("-I", "Treat binary files as not matching.")
    unsaid: bool = flag("-s", "--no-messages", "Do not report files that cannot be read.")
    color: str = option(
        "--color",
        "--colour WHEN",
        "Color what matches, names and numbers.",
        choices=("never", "auto", "always"),
        default="never",
    )
    flushed: bool = flag("--line-buffered", "Flush the output after each line.")
    raw: bool = flag("-U", "--binary", "Ignored: carriage returns at line ends are always part of lines.")
    plain_order: bool = flag("--plain-order", "Order files by path; no index is read.")

    @property
    def lists(self) -> bool:
        """Whether names or counts are printed rather than lines."""
        return self.files or self.others or self.counts

    @property
    def sides(self) -> tuple[int, int] | None:
        """How many lines are printed before and after a match."""
        if {self.before, self.after, self.context} == {None}:
            return None
        before, after = ((self.context or 0) if each is None else each for each in (self.before, self.after))
        return before, after


@command(GrepOptions, example="assay grep -rn 'def retry' src --include '*.py'", read=as_click_takes)
def grep(options: GrepOptions) -> int:
    r"""Print every line that matches, as GNU grep does, the files that matter most first.

    Each PATH is a file, a folder, or - for standard input. Without one, standard input is searched if it is a pipe or a
    file, else, or with -r, the current folder. Files are read from disk. Those below a folder are searched unless git
    ignores them or they may hold keys; a file that is named always is. Code comes before tests, documentation and
    generated files; what declares the name comes first, then, of more than 100 files, what the index ranks best, if
    there is one, without updating it. Standard error says how many lines match.

    PATTERN is a basic regular expression (a\|b, \(a\), a\+), unless -E, -F or -P says otherwise. Words, classes and
    letter case are those of Unicode; composed and decomposed forms of a letter differ. Patterns are matched in linear
    time: back-references are refused, and looking around but for \K, (?<=A) first and (?=B) last.

    Other than with GNU grep, folders are searched without -r, and links below them are not followed. -c leaves out
    files below a folder without a match. A GLOB with a slash is matched against paths. Text in other encodings than
    UTF-8 is text. \d is a digit with -G and -E too, and ranges such as [à-ü] go by code point.

    Exits 0 if a line matches, 1 if not, 2 on an error.
    """
    patterns, places = _patterns(options), _places(options)
    if not options.most and not options.others:
        return 1
    finder, files = _finder(patterns, options), _files(places, options)
    if options.quiet:
        return _quiet_status((each.searched(finder) for each in files), options)
    searched, note = list(files), ""
    if _is_input_alone(searched) and not options.lists:
        searched = [replace(searched[0], count=_write(searched, finder, options, places))]
    else:
        searched = [_searched(each, finder, options) for each in searched]
        searched, note = _ordered(searched, patterns, places, options)
        _write(searched, finder, options, places)
    problems = [f"{each.name}: {each.problem}" for each in searched if each.problem]
    say(_counted(searched, patterns, options))
    for problem in [*([note] if note else []), *(problems if not options.unsaid else [])]:
        say(problem)
    return 2 if problems else int(not any(each.count for each in searched))


def _patterns(options: GrepOptions) -> tuple[str, ...]:
    """Return the patterns; none if all pattern files are empty."""
    if options.regexps or options.pattern_files:
        texts = [sys.stdin.read() if each == "-" else _text_of(each) for each in options.pattern_files]
        return (*options.regexps, *(each.removesuffix("\n") for each in texts if each))
    if not options.words:
        raise InputError("no PATTERN: name what to search for")
    return options.words[:1]


def _text_of(file: str) -> str:
    return Path(file).read_text(encoding="utf-8", errors="surrogateescape")


def _places(options: GrepOptions) -> list[str]:
    """Return the places to search: those named, else standard input if it has data, else the current folder."""
    named = options.words[not (options.regexps or options.pattern_files) :]
    return [*named] or ["-" if not options.recursive and "-" not in options.pattern_files and _has_input() else ""]


def _has_input() -> bool:
    """Return whether standard input is a pipe or a file; prints a note if nothing arrives for a while."""
    try:
        kind = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):  # it is closed
        return False
    if stat.S_ISFIFO(kind) and not select([sys.stdin], [], [], _PATIENCE_S)[0]:
        say("waiting for standard input, which is a pipe; name a PATH, or -r, to search files")
    return stat.S_ISFIFO(kind) or stat.S_ISREG(kind)


def _syntax(options: GrepOptions) -> Syntax:
    return "fixed" if options.fixed else "perl" if options.perl else "extended" if options.extended else "basic"


def _finder(patterns: Sequence[str], options: GrepOptions) -> Finder:
    """Return the finder; it stops at the first match of a file if only names of files are printed."""
    from assay.operations.grep import Finder
    from assay.search.grep_patterns import PatternOptions, declaration_finder, line_finder

    pattern = PatternOptions(_syntax(options), options.ignore_case, options.word, options.line, options.null_lines)
    binary_files = "text" if options.is_text else "without-match" if options.no_binary else options.binary_files
    most = 1 if options.quiet else options.most if options.most >= 0 else sys.maxsize
    declaring = declaration_finder(patterns, pattern)
    return Finder(line_finder(patterns, pattern), declaring, options.inverted, most, binary_files, options.null_lines)


def _files(places: Sequence[str], options: GrepOptions) -> Iterator[SearchedFile]:
    from assay.operations.grep import FileChoice, files_in

    left_out = [f"!{glob}" for each in options.exclude_from for glob in _text_of(each).split("\n") if glob]
    globs = (*options.globs, *left_out)
    return files_in(places, FileChoice(globs, options.exclude_dir, options.directories, options.devices, options.label))


def _quiet_status(searched: Iterable[SearchedFile], options: GrepOptions) -> int:
    """Return the exit status as soon as a line matches."""
    problems = []
    for each in searched:
        if each.count:
            return 0
        if each.problem:
            problems.append(f"{each.name}: {each.problem}")
    for problem in () if options.unsaid else problems:
        say(problem)
    return 2 if problems else 1


def _searched(file: SearchedFile, finder: Finder, options: GrepOptions) -> SearchedFile:
    """Search a file; a pipe is stored if its lines are printed, else read only as far as needed."""
    if not options.lists:
        return file.with_content().searched(finder)
    is_decided = file.is_stream and (options.files or options.others)
    return file.searched(replace(finder, most=min(finder.most, 1)) if is_decided else finder)


def _ordered(
    searched: list[SearchedFile], patterns: Sequence[str], places: Sequence[str], options: GrepOptions
) -> tuple[list[SearchedFile], str]:
    """Return files in the order for a reader, those that match first, and a note on why it is not the best order."""
    from assay.operations.grep import order_files
    from assay.search.query_filters import names_in

    if options.plain_order:
        return searched, ""
    found = [each for each in searched if each.count]
    others = [each for each in searched if not each.count]
    found, note = order_files(found, places[0], "" if options.inverted else names_in(patterns))
    return [*found, *others], note


def _write(searched: Sequence[SearchedFile], finder: Finder, options: GrepOptions, places: Sequence[str]) -> int:
    """Print the output of grep, and return how many matching lines were printed."""
    from assay.cli.grep_lines import write_lines

    look, count = _look(options, places), 0
    for file in searched:
        if options.files or options.others:
            if bool(file.count) is options.files and not file.problem:
                sys.stdout.buffer.write(look.name_row(file))
        elif options.counts:
            if file.count or (file.is_named and not file.problem):
                sys.stdout.buffer.write(look.count_row(file))
        elif file.count and file.is_binary:
            say(f"{file.name}: binary file matches")
        elif file.count or file.is_stream:
            count += write_lines(file, finder, look, is_first=not count)
    sys.stdout.buffer.flush()
    return count


def _look(options: GrepOptions, places: Sequence[str]) -> Look:
    from assay.cli.grep_lines import Look

    is_named = (len(places) != 1 or Path(places[0]).is_dir() or options.named) and not options.unnamed
    is_terminal = sys.stdout.isatty()
    is_colored = options.color == "always" or (
        options.color == "auto" and is_terminal and os.environ.get("TERM", "dumb") != "dumb"
    )
    return Look(
        is_named=is_named,
        is_numbered=options.numbered,
        has_offsets=options.offsets,
        is_tabbed=options.tabbed,
        ends_names=options.null_names,
        is_null=options.null_lines,
        only=options.only,
        is_colored=is_colored,
        is_terminal=is_terminal,
        is_flushed=options.flushed or is_terminal,
        sides=options.sides,
        separator=None if options.joined else options.separator,
    )


def _counted(searched: Sequence[SearchedFile], patterns: Sequence[str], options: GrepOptions) -> str:
    """Return how many lines match, and if none does, a hint."""
    total, files = sum(each.count for each in searched), len([each for each in searched if each.count])
    found = f"{counted(total, 'match')} in {counted(files, 'file')}"
    if not total and _syntax(options) == "basic" and any(re.search(r"(?<!\\)[+?|({]", one) for one in patterns):
        found += "; without -E, + ? | ( { stand for themselves"
    if not total and _is_input_alone(searched):
        found += "; standard input was searched, -r searches the folder"
    return found


def _is_input_alone(searched: Sequence[SearchedFile]) -> bool:
    from assay.operations.grep import STANDARD_INPUT

    return [each.path for each in searched] == [STANDARD_INPUT]
