"""A large segment is searched through lists: what they bring near is exact, and what a filter keeps is found."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import DamagedIndex
from assay.store.inverted_lists import SMALLEST, build_lists
from assay.store.quantised import products
from assay.store.segment import build
from assay.store.segment_file import read_segment, write_segment
from assay.store.snapshot import Snapshot
from assay.types import Chunk

SIZE, WIDTH = SMALLEST + 2_000, 16


def points(count, seed):
    chance = np.random.default_rng(seed)
    rows = (
        chance.standard_normal((40, WIDTH))[chance.integers(0, 40, count)] + chance.standard_normal((count, WIDTH)) / 2
    )
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def vectors():
    return points(SIZE, 1)


@pytest.fixture(scope="module")
def path(vectors, tmp_path_factory):
    path = tmp_path_factory.mktemp("lists") / "large.segment"
    write_segment(path, build([Chunk(str(n), "x", path=f"{n % 7}.py") for n in range(SIZE)], vectors))
    return path


@pytest.fixture(scope="module")
def segment(path):
    return read_segment(path)


def test_every_chunk_is_in_one_list_with_its_code(vectors):
    lists = build_lists(vectors)
    assert sorted(lists.chunks.tolist()) == list(range(SIZE))
    assert np.abs(lists.codes * lists.steps[:, None] - vectors[lists.chunks]).max() < 0.01
    assert np.diff(lists.starts).min() >= 0
    again = build_lists(vectors)
    assert np.array_equal(lists.chunks, again.chunks)
    assert np.array_equal(lists.centroids, again.centroids)


def test_the_nearest_are_known_and_exact_in_one_large_segment_and_several(vectors, segment):
    small = points(500, 2)
    parts = [(build([Chunk(str(n), "x") for n in range(500)], small), None), (segment, None)]
    exact = np.concatenate([small, vectors])
    for vector in points(20, 3):
        cosines = Snapshot(parts).near(vector)
        known = ~np.isnan(cosines)
        assert known[:500].all()
        assert known.sum() < 2_000
        wanted = products(vector[None, :], exact)[0]
        assert np.array_equal(cosines[known], wanted[known])
        best = np.argsort(-wanted)[:50]
        assert known[best].mean() > 0.9
        numbers = np.arange(0, SIZE, 997)
        assert np.array_equal(Snapshot(parts).cosines(vector, numbers), wanted[numbers])


@pytest.mark.parametrize("every", [5, 50])
def test_what_a_filter_keeps_is_found_however_little_it_is(vectors, segment, every):
    keep = np.zeros(SIZE, dtype=bool)
    keep[::every] = True
    for vector in points(10, 4):
        cosines = Snapshot([(segment, None)]).near(vector, [keep])
        wanted = np.where(keep, vectors @ vector, -2)
        assert (~np.isnan(cosines[np.argsort(-wanted)[:50]])).mean() > 0.9
        assert not (~np.isnan(cosines) & ~keep).any()


def test_mean_and_deviation_are_those_of_the_living(vectors, segment):
    live = np.arange(SIZE) % 3 > 0
    small = points(300, 5)
    snapshot = Snapshot([(segment, live), (build([Chunk(str(n), "x") for n in range(300)], small), None)])
    vector = points(1, 6)[0]
    wanted = np.concatenate([vectors[live], small]) @ vector
    mean, deviation = snapshot.nearness(vector, snapshot.near(vector))
    assert mean == pytest.approx(wanted.mean(), abs=1e-5)
    assert deviation == pytest.approx(wanted.std(), abs=1e-5)


def test_a_small_segment_has_none(tmp_path):
    write_segment(tmp_path / "small.segment", build([Chunk("1", "x")], points(1, 7)))
    assert read_segment(tmp_path / "small.segment").lists is None


def test_codes_that_are_not_as_written_are_refused_when_they_are_read(path, tmp_path, segment):
    data = bytearray(path.read_bytes())
    place = bytes(data).find(segment.lists.codes.tobytes()[:4096])
    data[place + 100] ^= 1
    (tmp_path / "bad.segment").write_bytes(data)
    damaged = read_segment(tmp_path / "bad.segment")
    with pytest.raises(DamagedIndex, match="corrupt in block"):
        damaged.lists.estimates(np.arange(len(segment.lists.centroids)), points(1, 8)[0])
