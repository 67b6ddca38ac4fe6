"""A line of a file in, the chunks that have to do with the unit there out.

What is alike in meaning, what it calls, and what calls it; names link calls, so no language needs a resolver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.corpus.symbols import calls
from assay.errors import InputError
from assay.search.features import NAME
from assay.search.path_traits import traits_of
from assay.store.snapshot import Snapshot
from assay.terms import exact, parts, stem
from assay.types import Chunk, Hit

_LINK = 0.25
"""What a call weighs beside a cosine."""
_ASIDE = 0.1
"""What a test or an example is set back, unless the unit is one itself."""
_COMMON = 20
"""A name that so many units have says nothing about which of them is called."""
_LOOKED_AT = 400


def related(snapshot: Snapshot, path: str, line: int, k: int) -> list[Hit]:
    """Return at most `k` chunks, best first; the unit itself is not among them."""
    number = chunk_at(snapshot, path, line)
    chunk = snapshot.chunk(number)
    (vector,) = snapshot.vectors(np.array([number]))
    cosines = snapshot.near(vector)
    cosines[[number, *snapshot.dead]] = -np.inf
    links = {"is called": called(snapshot, chunk), "calls": calling(snapshot, chunk)}
    nearest = snapshot.order.strongest(cosines, np.flatnonzero(~np.isnan(cosines)), _LOOKED_AT)
    numbers = snapshot.order.ordered(np.unique(np.concatenate([nearest, *links.values()])))
    numbers = numbers[cosines[numbers] != -np.inf]
    near = snapshot.cosines(vector, numbers)
    scores = near + sum(_LINK * np.isin(numbers, linked) for linked in links.values())
    if not any(traits_of(path)):
        scores -= _ASIDE * np.array([any(traits_of(snapshot.path(int(n)))) for n in numbers])
    best = np.argsort(-scores, kind="stable")[:k]
    hits = []
    for i in best:
        why = {"meaning": float(near[i])}
        why |= {name: _LINK for name, linked in links.items() if numbers[i] in linked}
        hits.append(Hit(snapshot.chunk(int(numbers[i])), float(scores[i]), why))
    return hits


def chunk_at(snapshot: Snapshot, path: str, line: int) -> int:
    """Return the number of the smallest chunk that holds a line."""
    numbers = numbers_in(snapshot, path)
    spans = snapshot.rows("lines", numbers).tolist() if len(numbers) else []
    found = [(last - first, number, first, last) for number, (first, last) in zip(numbers, spans, strict=True)]
    if not found:
        raise InputError(f"'{path}' is not indexed; `assay status` lists what was left out and why")
    holding = [entry for entry in found if entry[2] <= line <= entry[3]]
    if not holding:
        last = max(entry[3] for entry in found)
        raise InputError(f"no code at '{path}:{line}'; the file's last line of text is {last}")
    return int(min(holding)[1])


def numbers_in(snapshot: Snapshot, path: str) -> NDArray[np.int64]:
    """Return the numbers of the living chunks of a file, in the order of their first lines."""
    found = [np.zeros(0, dtype=np.int64)]
    for base, (segment, live) in zip(snapshot.bases[:-1], snapshot.parts, strict=True):
        for file in segment.paths.positions(path):
            here = segment.file == file
            found.append(base + np.flatnonzero(here if live is None else here & live))
    numbers = np.concatenate(found)
    ordered: NDArray[np.int64] = numbers[np.argsort(snapshot.rows("lines", numbers)[:, 0], kind="stable")]
    return ordered


def called(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the numbers of the units whose names are called in a chunk."""
    found = [_units_named(snapshot, name) for name in calls(chunk)]
    few = [numbers for numbers in found if len(numbers) <= _COMMON]
    return np.concatenate(few) if few else np.zeros(0, dtype=np.int64)


def _units_named(snapshot: Snapshot, name: str) -> NDArray[np.int64]:
    """Return the units of a name: those that hold it whole, or that one word and no other."""
    several = len(parts(name)) > 1
    numbers, counts = snapshot.postings(exact(name) if several else stem(name.lower()))
    here = counts[:, NAME] > 0
    named: NDArray[np.int64] = numbers[here]
    if several:
        return named
    return np.array([n for n in named.tolist() if parts(snapshot.symbol(n)) == parts(name)], dtype=np.int64)


def calling(snapshot: Snapshot, chunk: Chunk) -> NDArray[np.int64]:
    """Return the units that hold a chunk's name whole outside their own name; a one-word name is too common to tell."""
    if len(parts(chunk.symbol)) < 2 or "," in chunk.symbol:
        return np.zeros(0, dtype=np.int64)
    numbers, counts = snapshot.postings(exact(chunk.symbol))
    calling: NDArray[np.int64] = numbers[counts[:, NAME] == 0]
    return calling
