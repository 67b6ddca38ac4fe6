"""Writers that know nothing of one another, writers that die, and readers meanwhile: one whole version each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.encode.vectors import HashedEncoder
from assay.errors import StorageError
from assay.search.folder_index import FolderIndex
from assay.store.catalog import LocalBlobs
from assay.store.copies import UNNAMED_S, LocalCopies, SharedPlace
from assay.store.folder import IndexFolder
from assay.store.index_location import MANIFEST, bucket_place

ENCODER = HashedEncoder("16")


def write(root: Path, version: object, files: int = 3) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        (root / f"part{number}.py").write_text(f"def part_{number}():\n    return 'version {version}'\n")
    return root


def machine(root: Path, cache: Path, place: str) -> FolderIndex:
    """Return the index in a bucket as a machine with a cache of its own has it."""
    from assay.store.bucket import BucketBlobs

    where = bucket_place(f"{place}#shared")
    copies = LocalCopies(cache, cache, 1 << 30)
    return FolderIndex(root, IndexFolder(cache, SharedPlace(str(where), BucketBlobs(where), copies)), ENCODER)


def texts(index: FolderIndex) -> list[str]:
    return sorted(chunk.text for chunk in index.folder.open().snapshot().living())


def versions(index: FolderIndex) -> set[str]:
    return {text.rpartition("version ")[2].partition("'")[0] for text in texts(index)}


def test_two_writers_at_once_leave_what_one_of_them_wrote(shelf, tmp_path: Path):
    here, there = (machine(write(tmp_path / name, "0"), tmp_path / f"{name}.cache", shelf.place) for name in "ab")
    for turn in range(2):
        for name, index in (("a", here), ("b", there)):
            write(index.root, f"{turn}{name}")
        barrier = threading.Barrier(2)

        def refresh(index: FolderIndex, barrier: threading.Barrier = barrier) -> int:
            barrier.wait()
            return index.refresh().chunks

        with ThreadPoolExecutor(2) as pool:
            assert set(pool.map(refresh, (here, there))) == {3}
        reader = machine(tmp_path / "nowhere", tmp_path / f"reader{turn}", shelf.place)
        assert reader.check() == ""
        found = texts(reader)
        assert len(found) == len(set(found)) == 3
        assert len(versions(reader)) == 1
        ids = [chunk.id for chunk in reader.snapshot().living()]
        assert len(ids) == len(set(ids))


def test_who_was_overtaken_works_out_again_what_differs(shelf, tmp_path: Path):
    here, there = (machine(write(tmp_path / name, name), tmp_path / f"{name}.cache", shelf.place) for name in "ab")
    here.refresh()
    puts = []

    def overtake(method: str, path: str) -> None:
        if method == "PUT" and path.endswith(MANIFEST):
            puts.append(path)
            if len(puts) == 1:
                write(here.root, "later")
                here.refresh()

    shelf.proxy.before = overtake
    there.refresh()
    assert len(puts) == 3
    swaps = [status for method, path, status in shelf.requests if path.endswith(MANIFEST) and method == "PUT"]
    assert swaps == [200, 200, 412, 200]
    assert versions(machine(tmp_path, tmp_path / "reader", shelf.place)) == {"b"}


def test_who_is_always_overtaken_gives_up(shelf, tmp_path: Path):
    index = machine(write(tmp_path / "a", "1"), tmp_path / "a.cache", shelf.place)
    index.refresh()
    write(index.root, "2")
    shelf.proxy.before = lambda method, path: 412 if method == "PUT" and path.endswith(MANIFEST) else None
    with pytest.raises(StorageError, match="other machines write"):
        index.refresh()
    assert sum(method == "PUT" and path.endswith(MANIFEST) for method, path, _ in shelf.requests) == 1 + 3


def test_a_writer_killed_before_its_manifest_leaves_the_version_before(shelf, tmp_path: Path):
    root, place = write(tmp_path / "a", "1"), f"{shelf.place}#shared"
    run = [sys.executable, "-m", "assay", "index", str(root), "--index", place, "--encoder", "hash:16"]
    subprocess.run(run, check=True, capture_output=True)
    write(root, "2", files=4)
    started: list[subprocess.Popen] = []
    begun = threading.Event()

    def killer(*, at_manifest: bool) -> Callable[[str, str], int | None]:
        def kill(method: str, path: str) -> int | None:
            begun.wait(60)
            if method in ("PUT", "POST") and path.endswith(MANIFEST) >= at_manifest:
                os.kill(started[-1].pid, signal.SIGKILL)
                return 503
            return None

        return kill

    for number, at_manifest in enumerate((False, True)):
        begun.clear()
        shelf.proxy.before = killer(at_manifest=at_manifest)
        started.append(subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        begun.set()
        assert started[-1].wait() == -signal.SIGKILL
        shelf.proxy.before = lambda _method, _path: None
        reader = machine(tmp_path, tmp_path / f"reader{number}", shelf.place)
        assert (reader.check(), versions(reader), len(texts(reader))) == ("", {"1"}, 3)
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert "4 files" in done.stdout
    reader = machine(tmp_path, tmp_path / "later", shelf.place)
    assert (reader.check(), versions(reader), len(texts(reader))) == ("", {"2"}, 4)


def in_folder(tmp_path: Path, most_bytes: int = 1 << 30) -> Callable[[str], IndexFolder]:
    """Return what opens an index that is shared through a folder, for what needs no server."""
    there = tmp_path / "there"
    there.mkdir()

    def opened(machine: str) -> IndexFolder:
        cache = tmp_path / machine
        return IndexFolder(cache, SharedPlace("shared", LocalBlobs(there), LocalCopies(cache, tmp_path, most_bytes)))

    return opened


def test_what_no_manifest_names_goes_after_a_day(tmp_path: Path):
    open_folder = in_folder(tmp_path)
    root = write(tmp_path / "a", "1")
    FolderIndex(root, open_folder("one"), ENCODER).refresh()
    young, old = (tmp_path / "there" / f"{name}.segment" for name in ("1" * 32, "2" * 32))
    for file in (young, old):
        file.write_bytes(b"left by a writer that died")
    os.utime(old, (time.time() - UNNAMED_S - 60,) * 2)
    (first,) = set((tmp_path / "there").glob("*.segment")) - {young, old}
    os.utime(first, (time.time() - UNNAMED_S - 60,) * 2)
    write(root, "2")
    FolderIndex(root, open_folder("one"), ENCODER).refresh()
    assert (young.exists(), old.exists(), first.exists()) == (True, False, True)  # somebody may just read the first
    write(root, "3")
    FolderIndex(root, open_folder("one"), ENCODER).refresh()
    assert (young.exists(), first.exists()) == (True, False)


def test_copies_that_nobody_used_for_long_make_room(tmp_path: Path):
    open_folder = in_folder(tmp_path, most_bytes=1)
    root = write(tmp_path / "a", "1")
    FolderIndex(root, open_folder("writer"), ENCODER).refresh()
    reader = FolderIndex(root, open_folder("reader"), ENCODER)
    reader.status()
    first = {file.name for file in (tmp_path / "reader").iterdir()}
    for file in (tmp_path / "reader").iterdir():
        os.utime(file, (time.time() - 7200, file.stat().st_mtime))
    write(root, "2")
    FolderIndex(root, open_folder("writer"), ENCODER).refresh()
    again = FolderIndex(root, open_folder("reader"), ENCODER)
    assert again.status().files == 3
    assert not first & {file.name for file in (tmp_path / "reader").iterdir()}
    assert versions(again) == {"2"}


def test_a_manifest_asked_for_just_now_is_not_asked_for_again(shelf, tmp_path: Path):
    index = machine(write(tmp_path / "a", "1"), tmp_path / "a.cache", shelf.place)
    index.refresh()
    shelf.proxy.traffic.clear()
    for _ in range(20):
        index.snapshot()
        index.status()
    assert not shelf.requests


def test_another_checkout_reads_its_files_once(tmp_path: Path):
    open_folder = in_folder(tmp_path)
    FolderIndex(write(tmp_path / "a", "1"), open_folder("one"), ENCODER).refresh()
    there = write(tmp_path / "b", "1")
    before = (tmp_path / "there" / MANIFEST).read_bytes()
    for _ in range(2):
        index = FolderIndex(there, open_folder("two"), ENCODER)
        index.refresh()
        version, _ = index._usable()
        assert {record.inode for record in version.catalog.records()} == {
            path.stat().st_ino for path in there.iterdir()
        }
        assert not index.standing().stale
    assert (tmp_path / "there" / MANIFEST).read_bytes() == before
    assert len(list((tmp_path / "two").glob("*.seen"))) == 1
    write(there, "2")
    assert FolderIndex(there, open_folder("two"), ENCODER).refresh().changed.counts()["changed"] == 3
    assert versions(FolderIndex(there, open_folder("three"), ENCODER)) == {"2"}
