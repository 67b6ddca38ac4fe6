"""Whatever keeps blobs, a folder or a bucket, keeps them alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from assay.store.catalog import Blobs, LocalBlobs, Overtaken, TaggedBytes
from assay.store.index_location import bucket_place


@pytest.fixture(params=["folder", "bucket"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    if request.param == "folder":
        (tmp_path / "kept").mkdir()
        return LocalBlobs(tmp_path / "kept")
    return in_bucket(request)


def in_bucket(request: pytest.FixtureRequest) -> Blobs:
    shelf = request.getfixturevalue("shelf")
    from assay.store.bucket import BucketBlobs

    return BucketBlobs(bucket_place(f"{shelf.place}#some/name"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some"
    path.write_bytes(b"0123456789")
    return path


def test_a_blob_is_read_whole_in_parts_and_once(blobs: Blobs, file: Path):
    assert blobs.get("a") is None
    blobs.put("a", file)
    assert blobs.get("a").data == b"0123456789"
    assert blobs.get_range("a", 2, 5) == b"234"
    assert blobs.get_range("a", 8, 20) == b"89"
    with pytest.raises(FileNotFoundError):
        blobs.get_range("b", 0, 5)
    known = blobs.get("a")
    assert blobs.get("a", known) is known
    file.write_bytes(b"other")
    blobs.put("a", file)
    assert blobs.get("a", known).data == b"other"
    blobs.delete(["a"])
    assert blobs.get("a", known) is None


def test_only_the_version_that_was_read_is_replaced(blobs: Blobs):
    first = blobs.put_if("m", b"1", None)
    assert blobs.get("m", first) is first
    with pytest.raises(Overtaken):
        blobs.put_if("m", b"2", None)
    second = blobs.put_if("m", b"2", first)
    with pytest.raises(Overtaken):
        blobs.put_if("m", b"3", first)
    assert blobs.get("m").data == b"2"
    blobs.delete(["m"])
    with pytest.raises(Overtaken):
        blobs.put_if("m", b"3", second)


def test_a_listing_has_names_and_sizes(blobs: Blobs, file: Path):
    for name in ("a.segment", "b.catalog"):
        blobs.put(name, file)
    found = blobs.list()
    assert sorted((entry.name, entry.size) for entry in found) == [("a.segment", 10), ("b.catalog", 10)]
    assert all(-5 < entry.age_s < 60 for entry in found)
    blobs.delete(["a.segment", "never"])
    assert [entry.name for entry in blobs.list()] == ["b.catalog"]


def test_one_of_many_concurrent_replacements_wins(request: pytest.FixtureRequest):
    blobs = in_bucket(request)
    before = None
    for turn in range(2):
        with ThreadPoolExecutor(8) as pool:
            won = [data for data in pool.map(partial(put, blobs, before), range(8 * turn, 8 * turn + 8)) if data]
        before = blobs.get("m")
        assert won == [before.data]


def put(blobs: Blobs, before: TaggedBytes | None, number: int) -> bytes | None:
    try:
        return blobs.put_if("m", str(number).encode(), before).data
    except Overtaken:
        return None
