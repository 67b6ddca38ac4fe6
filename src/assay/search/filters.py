"""Turn a query's filters into one mask over the chunks of an index.

Texts are read last, of the chunks that everything else keeps.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import definitions_of
from assay.search.path_filters import PROSE, keeping, kept_and_left_out
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.values import KINDS, Chunk, Query

_MASK_CACHE_SIZE = 64
"""Filters of a snapshot that are cached; a server may receive any number of them."""

Mask = NDArray[np.bool_]
Side = Literal["code", "docs"]
SIDES: tuple[Side, ...] = ("code", "docs")


def side_of(chunk: Chunk) -> Side:
    """Return whether a chunk is code or documentation."""
    return "docs" if chunk.language in PROSE else "code"


def filter_mask(snapshot: Snapshot, query: Query) -> Mask | None:
    """Return which chunks a query may find, shape `(size,)`, or None if it may find all."""
    if query.mode == "all" and not any(query.filters) and not len(snapshot.dead):
        return None
    key = (query.mode, *query.filters)
    known = snapshot.masks.get(key)
    if known is None:
        if len(snapshot.masks) >= _MASK_CACHE_SIZE:
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
        from assay.search.text_matches import finders, matching_chunks

        masks = matching_chunks([segment for segment, _ in snapshot.parts], masks, finders(query))
    return np.concatenate([np.zeros(0, dtype=bool), *masks])


def _files_mask(segment: Segment, query: Query) -> NDArray[np.bool_]:
    """Apply filters that are decided once per file, shape `(files,)`."""
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


def _naming(names: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate of names; those that start with `!` exclude."""
    wanted, unwanted = kept_and_left_out(names)
    return lambda name: (not wanted or name in wanted) and name not in unwanted


_LAST_NAME = re.compile(r"[\w$!?]+")


def _symbols_mask(segment: Segment, symbols: Sequence[str]) -> NDArray[np.bool_]:
    """Apply filters of names to those that a chunk declares (a run of small declarations has several) and is within."""
    wanted, unwanted = map(_qualified_names, kept_and_left_out(symbols))
    keep = np.zeros(len(segment), dtype=bool)
    for number, (parent, names) in enumerate(zip(segment.parents.all(), segment.symbols.all(), strict=True)):
        full = [f"{parent}.{name}" for name in names.split(", ")]
        is_wanted = wanted is None or any(map(wanted.match, full))
        keep[number] = is_wanted and not (unwanted and any(map(unwanted.match, full)))
    if wanted:
        inside = _declared_inside(segment, kept_and_left_out(symbols)[0])
        full_names = ((number, name) for number, name in inside if not (unwanted and unwanted.match(name)))
        keep[[number for number, name in full_names if wanted.match(name)]] = True
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
