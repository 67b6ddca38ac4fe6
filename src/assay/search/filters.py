"""Turn a query's filters into one mask over the chunks of an index, and classify paths as test, example or auxiliary.

Texts are read last, of the chunks that everything else keeps.

An aside is about the project (changes, license), or nobody of the project wrote it by hand: a translation, a vendored
copy, a certificate, generated code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import definitions_of
from assay.corpus.languages import BY_EXTENSION
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.values import KINDS, Chunk, Query

if TYPE_CHECKING:
    from assay.search.text_matches import TextMatch

PROSE = frozenset(("markdown", "restructuredtext", "asciidoc", "text"))
"""Languages that are documentation; every other one is code."""

_REST = r".*)\Z"
"""How a translated glob ends that ends in a star; what is before it is matched where it comes first."""
_SEVERAL = re.compile(r"(?:\*\*/)+")
_GLOB = re.compile(r"[*?[]")
_MOST_KNOWN = 64
"""Filters of a snapshot that are remembered: a server is asked with any number."""
_FOLDERS = "(?:.*/)?"

Mask = NDArray[np.bool_]
Side = Literal["code", "docs"]
SIDES: tuple[Side, ...] = ("code", "docs")


def side_of(chunk: Chunk) -> Side:
    """Say whether a chunk is code or documentation."""
    return "docs" if chunk.language in PROSE else "code"


def filter_mask(snapshot: Snapshot, query: Query) -> Mask | None:
    """Return which chunks a query may find, shape `(size,)`, or nothing when it may find all."""
    if query.mode == "all" and not any(query.filters) and not len(snapshot.dead):
        return None
    key = (query.mode, *query.filters)
    known = snapshot.masks.get(key)
    if known is None:
        if len(snapshot.masks) >= _MOST_KNOWN:
            snapshot.masks.clear()
        known = snapshot.masks[key] = _chunks_mask(snapshot, query)
    return known


def _chunks_mask(snapshot: Snapshot, query: Query) -> Mask:
    masks = []
    for segment, live in snapshot.parts:
        mask = _files_mask(segment, query)[segment.file]
        if query.kinds:
            passes = _naming(query.kinds)
            mask &= np.array([passes(kind) for kind in KINDS])[segment.kind]
        if query.symbols:
            mask &= _symbols_mask(segment, query.symbols)
        masks.append(mask if live is None else mask & live)
    if query.reads_text:
        from assay.search.text_matches import finders, holding

        masks = holding([segment for segment, _ in snapshot.parts], masks, finders(query))
    return np.concatenate([np.zeros(0, dtype=bool), *masks])


def _files_mask(segment: Segment, query: Query) -> NDArray[np.bool_]:
    """Decide once a file, shape `(files,)`."""
    keep = np.ones(len(segment.paths), dtype=bool)
    if query.mode != "all":
        prose = np.array([language in PROSE for language in segment.languages], dtype=bool)
        keep &= prose if query.mode == "docs" else ~prose
    if query.languages:
        speaks = _naming(query.languages)
        keep &= np.array([speaks(language) for language in segment.languages], dtype=bool)
    if query.paths:
        passes = keeping(query.paths)
        keep &= np.array([passes(path) for path in segment.paths], dtype=bool)
    return keep


def kept_and_left_out(values: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part the values of a filter from those that start with `!`, which it is without then."""
    return [one for one in values if one[:1] != "!"], [one[1:] for one in values if one[:1] == "!"]


def _naming(names: Sequence[str]) -> Callable[[str], bool]:
    """Return what says whether some names, of which those that start with `!` leave out, keep one."""
    wanted, unwanted = kept_and_left_out(names)
    return lambda name: (not wanted or name in wanted) and name not in unwanted


_LAST_NAME = re.compile(r"[\w$!?]+")


def _symbols_mask(segment: Segment, symbols: Sequence[str]) -> NDArray[np.bool_]:
    """Decide by the names of each chunk, of which a run of small declarations has several, and by what is around it."""
    wanted, unwanted = map(_qualified_names, kept_and_left_out(symbols))
    keep = np.zeros(len(segment), dtype=bool)
    for number, (parent, names) in enumerate(zip(segment.parents.all(), segment.symbols.all(), strict=True)):
        full = [f"{parent}.{name}" for name in names.split(", ")]
        is_wanted = wanted is None or any(map(wanted.match, full))
        keep[number] = is_wanted and not (unwanted and any(map(unwanted.match, full)))
    if wanted:
        keep[[number for number, full in _declared_inside(segment, symbols) if wanted.match(full)]] = True
    return keep


def _declared_inside(segment: Segment, symbols: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the chunks in whose units something of a name is declared, such as a handler, with its full name."""
    for symbol in symbols:
        name = _LAST_NAME.findall(symbol)[-1:]
        for number in segment.postings(f":{name[0]}")[0].tolist() if name else ():
            yield from ((number, each.full_name) for each in definitions_of(segment.facts[number]))


def _qualified_names(globs: Sequence[str]) -> re.Pattern[str] | None:
    """Join globs of names; each matches from the start of any of the enclosing names."""
    found = [rf"(?:.*?[.:> ])?(?:{translate(glob)})" for glob in globs]
    return re.compile("|".join(found), re.IGNORECASE | re.DOTALL) if found else None


def keeping(paths: Sequence[str]) -> Callable[[str], bool]:
    """Return what says whether globs, of which those that start with `!` leave out, keep a path; none keep all."""
    wanted, unwanted = map(globs, kept_and_left_out(paths))
    return lambda path: (wanted is None or bool(wanted.match(path))) and not (unwanted and unwanted.match(path))


def as_glob(value: str) -> str:
    """Return the glob of a filter's value: without a glob's characters it is a part of a path, unless it is rooted."""
    return value if _GLOB.search(value) or value.startswith(("/", "./")) else f"/*{value}*"


def globs(globs: Sequence[str]) -> re.Pattern[str] | None:
    """Join globs; one without a slash is matched against the file's name, a folder's against all below it."""
    patterns = []
    for glob in map(as_glob, globs):
        anywhere = "" if "/" in glob.rstrip("/") else _FOLDERS
        from_root = glob.removeprefix("./").lstrip("/")
        patterns += [anywhere + _pattern(from_root), anywhere + _pattern(from_root.rstrip("/") + "/*")]
    return re.compile("|".join(patterns)) if patterns else None


def _pattern(glob: str) -> str:
    """Return a glob as a pattern; `**/` stands for any folders or none, as in `.gitignore`.

    What stands between two of them is taken where it comes first and for good: any other place leaves less to the rest,
    and trying all of them would take a server as long as somebody likes.
    """
    *before, last = _SEVERAL.sub("**/", glob).split("**/")
    if not before:
        return translate(last)
    first, *between = (translate(piece + "*").removesuffix(_REST) for piece in before)
    return first + ")" + "".join(f"(?>(?:.*?/)??{piece}))" for piece in between) + _FOLDERS + translate(last)


_TEST = re.compile(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|testdata|test[-_]\w+|fixtures?|mocks?|benchmarks?|benches)(?:/|$)"
    r"|(?:^|/)[\w.]+\.(?:Unit|Integration)?Tests?(?:\.\w+)*/"
    r"|(?:^|/)(?:tests?|test_[^/]*|conftest|[^/]*[._-](?:tests?|spec|bench))\.\w+$|(?:Tests?|Spec|IT)\.\w+$"
)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?_src|tutorials?|playground)(?:/|$)|[._-]examples?\.\w+$"
)
_ASIDE = re.compile(
    r"(?:^|/)(?:change-?log|changes|history|news|releases?|release[-_]?notes|contributing|code_of_conduct|security"
    r"|sponsor\w*|licen[cs]e|authors|migrat\w*|upgrad\w*)[^/]*\.(?:mdx?|rst|adoc|txt)$|(?:^|/)(?:i18n|locales?|translations?)/"
    r"|(?:^|/)docs?/(?:content/)?(?!en(?:/|[-_]))[a-z]{2}(?:[-_][a-zA-Z]{2,4})?/"
    r"|(?:^|/)(?:vendor(?:ed)?|third[-_]?party|externals?|generated)/"
    r"|[-.]\d+(?:\.\d+)+(?:[-.]min)?\.(?:js|css)$|\.min\.(?:js|css)$|\.(?:po|pot|pem|crt|cer)$"
    r"|_pb2(?:_grpc)?\.pyi?$|\.pb\.(?:go|cc|h)$|[._]generated\.\w+$|(?:^|/)zz_generated[^/]*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=65536)
def traits_of(path: str) -> tuple[bool, bool, bool]:
    """Say whether a path is of a test, of an example, of an aside."""
    return bool(_TEST.search(path)), bool(_EXAMPLE.search(path)), bool(_ASIDE.search(path))


def reading_class(path: str) -> int:
    """Return 0 for code of the program, 1 for its tests and examples, 2 for documentation, 3 for what else there is."""
    is_test, is_example, is_aside = traits_of(path)
    is_prose = BY_EXTENSION.get(path.rpartition(".")[2].lower(), "") in PROSE
    return 3 if is_aside else 2 if is_prose else int(is_test or is_example)


def reading_order(place: TextMatch) -> tuple[int, TextMatch]:
    """Return what orders places for a reader: code of the program first, then tests, documentation and the rest."""
    return reading_class(place.path), place
