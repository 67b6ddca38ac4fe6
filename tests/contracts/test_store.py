"""Wherever chunks are kept, the same question finds the same chunks with the same scores."""

from __future__ import annotations

import numpy as np
import pytest

from assay.encode.hashed import HashedEncoder
from assay.search.lexical import FieldWeights, bm25, match
from assay.store.change import IndexChange
from assay.store.folder import IndexFolder
from assay.store.manifest import Identity
from assay.store.segment import build
from assay.store.segment_file import write_segment
from assay.store.snapshot import Snapshot
from assay.terms import terms
from assay.types import Chunk

ENCODER = HashedEncoder("64")
WORDS = "retry timeout cache limit header server client token buffer stream".split()


def chunk(number, path=None):
    first, second = WORDS[number % 10], WORDS[number * 7 % 10]
    path = path or f"lib/{first}{number % 4}.py"
    text = f"def {first}_{second}_{number}():\n    return {second}\n"
    return Chunk(
        f"{path}:{number}-{number + 1}", text, "python", path, number, number + 1, f"{first}_{second}_{number}"
    )


def encoded(chunks):
    return ENCODER.encode([chunk.text for chunk in chunks], "code")


class Memory:
    """Everything in memory, built anew at each change."""

    def __init__(self):
        self.chunks = []

    def update(self, removed, chunks):
        self.chunks = [chunk for chunk in self.chunks if chunk.path not in removed] + list(chunks)

    def snapshot(self):
        return Snapshot.of(self.chunks, encoded(self.chunks))


class OnDisk:
    """Segments in a folder."""

    def __init__(self, location):
        self.folder = IndexFolder(location)

    def update(self, removed, chunks):
        last = self.folder.open()
        with self.folder.writing():
            path = self.folder.new_path()
            write_segment(path, build(chunks, encoded(chunks)))
            self.folder.save(last, IndexChange(Identity("hash:64", 64, ""), "", 0, [], removed, [path]))

    def snapshot(self):
        return self.folder.open().snapshot()


@pytest.fixture(params=["memory", "folder"])
def store(request, tmp_path):
    return Memory() if request.param == "memory" else OnDisk(tmp_path)


def nearest(store, query, k=10):
    snapshot = store.snapshot()
    cosines = snapshot.near(ENCODER.encode([query], "query")[0])
    living = np.delete(np.arange(snapshot.size), snapshot.dead)
    numbers = snapshot.order.ranked(cosines, living, k)
    return {snapshot.chunk(n).id: cosines[n] for n in numbers.tolist()}


def lexical(store, query):
    """Score by words with the statistics that a store gives; the best ten."""
    snapshot = store.snapshot()
    scores = bm25(snapshot, match(snapshot, terms(query)), FieldWeights())
    best = np.argsort(-scores, kind="stable")[:10]
    return sorted((round(float(scores[n]), 4) for n in best), reverse=True)


def check(store, reference, query):
    mine, theirs = nearest(store, query), nearest(reference, query)
    assert sorted(mine.values()) == pytest.approx(sorted(theirs.values()), abs=1e-5)
    assert lexical(store, query) == pytest.approx(lexical(reference, query), abs=1e-3)


def test_the_same_chunks_are_found_after_any_update(store):
    reference = Memory()
    for removed, chunks in (
        ((), [chunk(n) for n in range(40)]),
        (("lib/retry0.py",), [chunk(n) for n in range(100, 110)]),
        (("lib/timeout1.py", "lib/none.py"), []),
        (("lib/cache2.py",), [chunk(n, 'it\'s "quoted".py') for n in range(200, 205)]),
        (('it\'s "quoted".py',), []),
    ):
        store.update(removed, chunks)
        reference.update(removed, chunks)
        for query in ("retry timeout", "cache limit header", "stream"):
            check(store, reference, query)


def test_a_store_starts_empty_and_may_become_so_again(store):
    store.update((), [chunk(1)])
    store.update((chunk(1).path,), [])
    assert nearest(store, "retry") == {}


def test_chunks_come_back_as_they_were_given(store):
    odd = Chunk("ä:1-1", "naïve\n\ttext\r\n", "python", "ä.py", 1, 1, "naïve", "function", "A.b", "Doc — ü", "def ()")
    store.update((), [odd, chunk(2)])
    snapshot = store.snapshot()
    assert odd in [snapshot.chunk(number) for number in range(snapshot.size)]
