"""Find the places that a text names: lines of files in traces, in the output of tools, or alone.

What stands before the corpus's own folders (another machine's, a container's, a host's, a package's) is passed over:
the ends of two paths are compared, and the longest common end says which file is meant. Files come from the postings of
the last name, so no list of files is walked. In an installed package or a standard library all of the path inside it
has to be the same, or a file of another project would be taken for one's own.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import unescape
from itertools import islice, pairwise
from posixpath import commonprefix
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import counted, printable
from assay.search.features import PATH
from assay.search.filters import filter_mask
from assay.search.looked_up import MAX_UNITS, LookedUp
from assay.search.pattern_table import rows_for
from assay.store.snapshot import Snapshot
from assay.terms import terms
from assay.values import Hit, Query

_MAX_READ_CHARS = 20_000
_MAX_PLACES = 400
_MAX_NAMED = 40
"""Files that are named to the ranking."""
_MAX_ALIKE = 3
"""Files that one place may mean; a name of more files is too ambiguous."""
_CONTEXT_CHARS = 200
_COMMON = frozenset(("__init__", "conftest", "index", "lib", "main", "mod", "setup", "utils"))
"""Names of files that are too ambiguous with one folder and no line."""


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A file as named in a text, with folders that may be those of another machine."""

    path: str
    line: int = 0
    """0 where no line is named."""
    context: str = field(default="", compare=False)
    """Its context: the line that names it, and the one before."""

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]

    @property
    def term(self) -> str:
        """The term by which its file is looked up."""
        return (terms(self.name.rpartition(".")[0] or self.name) or [""])[-1]

    def __str__(self) -> str:
        """Return it as people write it."""
        return f"{self.path}:{self.line}" if self.line else self.path


def places_of(text: str) -> tuple[NamedPlace, ...]:
    """Return the places that a text names, the most telling first, each once.

    Those are lines of files, of a trace from the innermost frame of its first cause, then files without a line.
    """
    return _parse(text[:_MAX_READ_CHARS])[0] if _MAY_NAME.search(text) else ()


_COLOUR = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|(?<!\w)\[\d{1,3}(?:;\d{1,3})*m|\[0m")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+(?!\d)", re.MULTILINE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#x?\d+);")


def _plain(text: str) -> str:
    """Remove what terminals, mails, pages and log records put around a text."""
    text = _QUOTE.sub("", _COLOUR.sub("", text))
    if _ENTITY.search(text):
        text = unescape(text)
    return text.replace("\\n", "\n").replace('\\"', '"') if "\n" not in text.strip() and "\\n" in text else text


_MAY_NAME = re.compile(r"\w\W{1,4}L?\d|[/\\]\w|::\w")


@lru_cache(32)
def _parse(text: str) -> tuple[tuple[NamedPlace, ...], bool]:
    """Return the places of a text, and whether the text has nothing else."""
    text = _plain(text)
    taken, found = list[tuple[int, int]](), dict[int, NamedPlace]()
    for _, pattern in rows_for("place_forms", re.MULTILINE, text):
        for each in pattern.finditer(text):
            at = bisect_left(taken, each.span())
            is_free = (at == 0 or taken[at - 1][1] <= each.start()) and (at == len(taken) or taken[at][0] >= each.end())
            if is_free and _is_telling(place := _place(each)):
                insort(taken, each.span())
                found[each.start()] = place
    places = [found[at] for at in _most_telling_first(text, dict(taken))]
    lines = {place.name for place in places if place.line}
    rest = [place for place in places if not place.line and place.name not in lines]
    around = "".join(text[start:end] for (_, start), (end, _) in pairwise([(0, 0), *taken, (len(text), 0)]))
    says_more = any(word.lower() not in _BESIDE for word in _WORD.findall(around))
    return tuple(dict.fromkeys([*(place for place in places if place.line), *rest]))[:_MAX_PLACES], not says_more


_WORD = re.compile(r"[^\W\d_]{2,}")
_BESIDE = frozenset("at in on file line from http https col column char https".split())
"""Words beside a place that add nothing."""


def _place(match: re.Match[str]) -> NamedPlace:
    groups = match.groupdict()
    line = int(groups.get("line") or 0) + (groups.get("body") or "").count("\n")
    text, start = match.string, match.string.rfind("\n", 0, match.start()) + 1
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    end = text.find("\n", match.end())
    context = text[max(before, match.start() - _CONTEXT_CHARS) : end if end >= 0 else None][: 2 * _CONTEXT_CHARS]
    if "unit" in groups:
        package = groups["unit"].rpartition("/")[2].split(".")[:-2]
        return NamedPlace("/".join([*package, groups["file"]]), line, context)
    if "type" in groups:
        return NamedPlace(groups["type"].replace(".", "/"), line, context)
    path = groups["path"].replace("\\", "/").removeprefix("...").rstrip(".")
    return NamedPlace(path.partition(":")[2] if path[1:3] == ":/" else path, line, context)


def _is_telling(place: NamedPlace) -> bool:
    """Return whether it is likely a file: a line of one, or a path with folders that ends as those of a language do."""
    stem, _, extension = place.name.rpartition(".")
    is_code = bool(stem) and extension.lower() in BY_EXTENSION
    if not place.line:
        return is_code and "/" in place.path
    return is_code or place.name in BY_NAME or bool(_FILE_NAME.search(place.path))


_FILE_NAME = re.compile(r"\w\.[A-Za-z]\w{0,9}$|/[A-Za-z][\w.-]*$")


_OUTERMOST_FIRST = re.compile(
    r'File "[^"\n]+", line \d+(?:, column \d+)?(?:, in |<|$)|\.py:\d+(?:: (?:in |$)|,? in )'
    r'|\.py in (?!.* at line ).*$|^\s*\d+: from |"lineno": '
)
_BORDER = re.compile(
    r"^(?:(?P<cause>.{0,80}(?<!\w)Caused by:|\s*\[cause\]:|.{0,80}During handling of the above exception"
    r"|[ |+]*\+-\+-+ 1 -)"
    r"|_{3,} .+ _{3,}|[ |+]*\+-+ \d+ -|={20,}|.{0,80}The above exception was the direct cause"
    r"|.{0,80}Traceback \(most recent call last\):).*(?:\n\s*.{0,80}Traceback \(most recent call last\):)?",
    re.MULTILINE,
)
"""Where another trace begins; a *cause* happened before the trace above it, or deeper."""
_BEFORE_ASIDE = re.compile(r"(?:^\s*In file included|^\s+) from $|\bcalled in $|^\s+::: $|↳ $|✔.*$|location: '?$")
_AFTER_ASIDE = re.compile(
    r"^\S{0,20}(?:: note: |: +required from here| template/generic instantiation|\n\s+\*\* \(|\n\.{9})"
)
"""The texts before and after a place that is not where the fault is: an include, a caller."""


def _most_telling_first(text: str, ends: Mapping[int, int]) -> list[int]:
    """Return the order of places, from the innermost frame of the first cause; places of includes come last."""
    borders = [(one.start(), bool(one["cause"])) for one in _BORDER.finditer(text)]
    blocks, order = [list[int]() for _ in range(len(borders) + 1)], list[int]()
    for start in ends:
        blocks[bisect_left(borders, (start, False))].append(start)
    for at, block in enumerate(blocks):
        aside = [start for start in block if _is_aside(text, start, ends[start])]
        inner = [start for start in block if start not in aside]
        is_turned = any(_OUTERMOST_FIRST.search(_line_at(text, start)) for start in inner)
        own = [*reversed(inner)] if is_turned else inner
        is_cause = at > 0 and borders[at - 1][1]
        order = [*own, *order, *aside] if is_cause else [*order, *own, *aside]
    return order


def _is_aside(text: str, start: int, end: int) -> bool:
    before = text[max(text.rfind("\n", 0, start) + 1, start - _CONTEXT_CHARS) : start]
    return bool(_BEFORE_ASIDE.search(before) or _AFTER_ASIDE.match(text[end : end + _CONTEXT_CHARS]))


def _line_at(text: str, at: int) -> str:
    """Return the line around a place, of a long one the part near it."""
    first = max(text.rfind("\n", 0, at) + 1, at - _CONTEXT_CHARS)
    end = text.find("\n", at, at + _CONTEXT_CHARS)
    return text[first : end if end >= 0 else at + _CONTEXT_CHARS]


class FileOfPlace(NamedTuple):
    """A file of an index that a place may mean."""

    path: str
    chunks: NDArray[np.int64]
    """The numbers of its chunks, in no order."""


def files_of(snapshot: Snapshot, place: NamedPlace, allowed: NDArray[np.bool_] | None = None) -> list[FileOfPlace]:
    """Return the files that a place may mean, by their paths: those with the longest common end."""
    chunks, counts = snapshot.postings(place.term)
    chunks = chunks[counts[:, PATH] > 0]
    if allowed is not None:
        chunks = chunks[allowed[chunks]]
    numbers = snapshot.files(chunks)
    files = np.unique(numbers).tolist()
    shared = [_shared_end(place, path) for path in snapshot.paths_of(files)]
    longest = max(shared, default=0)
    best = [file for file, length in zip(files, shared, strict=True) if length == longest > 0]
    paths = snapshot.paths_of(best)
    return sorted(
        (FileOfPlace(path, chunks[numbers == file]) for file, path in zip(best, paths, strict=True)),
        key=lambda each: each.path,
    )


def named_files(snapshot: Snapshot, places: Sequence[NamedPlace]) -> Iterator[str]:
    """Yield the files that places mean, in their order; of an ambiguous place few or none."""
    for place in places[:_MAX_NAMED]:
        meant = files_of(snapshot, place)
        yield from (each.path for each in meant if len(meant) <= _MAX_ALIKE)


_PACKAGES = re.compile(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules(?:/\.pnpm/[^/]+/node_modules)?|go/pkg/mod|gems/[^/]+(?:/gems)?"
    r"|registry/src/[^/]+|rustc/[^/]+(?:/library)?|lib/python\d[.\d]*|(?:local|lib|libexec)/go[^/]*/src|vendor(?:/bundle)?)/"
)
"""Where programs of others lie."""


def _shared_end(place: NamedPlace, ours: str) -> int:
    """Return how many of the last parts two paths share, 0 if too few to tell."""
    their = [part for part in place.path.split("/") if part not in {"", ".", ".."}]
    our = (ours if "." in place.name else ours.rpartition(".")[0] or ours).split("/")
    same = len(commonprefix([their[::-1], our[::-1]]))
    packages = [found.end() for found in _PACKAGES.finditer(place.path)]
    inside = place.path[packages[-1] :].split("/") if packages else []
    if inside and same < len(our):  # the whole path inside the package, but for the name that the package itself has
        enough = max(len(inside) - ("@" in inside[0] or "-" in inside[0] or "node_modules" in place.path), 2)
    elif len(their) == 1 or (len(their) == 2 and place.name.endswith(".swift")):  # which has the module before it
        enough = 1
    else:
        enough = 3 if our[-1].partition(".")[0] in _COMMON and not place.line else 2
    least = enough if inside and len(our) < len(inside) - 1 else min(enough, len(our))
    return same if same >= least else 0


def lines_named(snapshot: Snapshot, query: Query) -> LookedUp:
    """Return the units around the lines that a query names, first the innermost frame that is indexed."""
    places = [place for place in places_of(query.text) if place.line]
    if not places:
        return LookedUp()
    allowed = filter_mask(snapshot, replace(query, mode="all", exact=(), patterns=()))
    found, passed, notes = dict[int, Hit](), list[str](), list[str]()
    for place in places:
        files = files_of(snapshot, place, allowed)
        if not files:
            if place.name.rpartition(".")[2].lower() in BY_EXTENSION:
                passed.append(str(place))
            continue
        at = {file.path: _chunk_at(snapshot, file, place.line) for file in files}
        if len(files) > 1:
            named = {path: one for path, one in at.items() if _is_named_in(snapshot.symbol(one[0]), place.context)}
            at = named or at
        if len(at) > _MAX_ALIKE:
            notes.append(
                f"{len(at):,} files end in '{printable(place.path)}', of which these are some; give more of the path"
            )
            at = dict(islice(at.items(), _MAX_ALIKE))
        for path, (number, last) in at.items():
            if place.line > last:
                notes.append(f"'{printable(path)}' has {counted(last, 'line')}: {place.line} is beyond its end")
            chunk = snapshot.chunk(number)
            hit = Hit(chunk, 1.0, {"place": 1.0}, line=min(place.line, chunk.end_line))
            found.setdefault(number, hit)
    is_all = bool(found) and _parse(query.text[:_MAX_READ_CHARS])[1]
    return LookedUp(tuple(found.values())[:MAX_UNITS], frozenset(passed), tuple(dict.fromkeys(notes)), is_all)


def _chunk_at(snapshot: Snapshot, file: FileOfPlace, line: int) -> tuple[int, int]:
    """Return the number of the smallest chunk that holds a line, or else the last one before it; and the last line."""
    spans = snapshot.rows("lines", file.chunks).astype(np.int64)
    starts, ends = spans[:, 0], spans[:, 1]
    last = int(ends.max())
    at = min(line, last)
    holding = (starts <= at) & (at <= ends)
    order = np.lexsort((ends - starts, np.where(holding, 0, np.where(ends < at, at - ends, last + starts))))
    return int(file.chunks[order[0]]), last


def _is_named_in(symbol: str, context: str) -> bool:
    return any(len(name) > 1 and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", context) for name in symbol.split(", "))
