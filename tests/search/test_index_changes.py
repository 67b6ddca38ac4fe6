"""A file is read again when anything that `stat` says of it differs, and encoded again only when its text does."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import pytest

from assay.corpus.walked_files import FileEntry, Walk
from assay.encode.hashed import HashedEncoder
from assay.search.folder_index import FolderIndex
from assay.search.index_changes import UNSURE_NS, sift, unchanged
from assay.store.catalog import STAT, Catalog, FileRecord
from assay.store.manifest import MANIFEST, manifest_bytes

CHECKED_NS = 10**18
OLD_NS = CHECKED_NS - 2 * UNSURE_NS
FILE = FileEntry("a.py", 5, OLD_NS, OLD_NS, 7)
RECORD = FileRecord("a.py", 5, OLD_NS, OLD_NS, 7, b"d" * 16)


def is_trusted(file: FileEntry, record: FileRecord) -> bool:
    """Say whether a file is not read again; both ways of comparing have to agree."""
    walk = Walk((file,), (), "")
    same = unchanged(walk, Catalog.of([record]), CHECKED_NS)
    assert same == (not sift(walk, {record.path: record}, CHECKED_NS).read)
    return same


def test_a_file_as_it_was_is_trusted():
    assert is_trusted(FILE, RECORD)


@pytest.mark.parametrize("name", STAT)
def test_whatever_differs_has_a_file_read(name):
    assert not is_trusted(replace(FILE, **{name: getattr(FILE, name) + 1}), RECORD)


@pytest.mark.parametrize("name", ["mtime_ns", "ctime_ns"])
def test_a_file_that_changed_as_it_was_recorded_is_read(name):
    late = {name: CHECKED_NS - UNSURE_NS}
    assert not is_trusted(replace(FILE, **late), replace(RECORD, **late))


@pytest.fixture
def index(tmp_path):
    """Return an index of two files, which was written long after they were."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text("def old(): pass\n")
    made = FolderIndex(root, tmp_path / "index", HashedEncoder("32"))
    made.refresh()
    manifest = made.folder.open().manifest
    later = replace(manifest, checked_ns=manifest.checked_ns + 100 * UNSURE_NS)
    (made.folder.location / MANIFEST).write_bytes(manifest_bytes(later))
    return FolderIndex(root, tmp_path / "index", HashedEncoder("32"))


@pytest.mark.parametrize("in_place", [True, False])
def test_an_edit_of_the_same_size_and_time_is_seen(index, in_place):
    file = index.root / "a.py"
    before = file.stat()
    if in_place:
        file.write_text("def new(): pass\n")
    else:
        (index.root / "new").write_text("def new(): pass\n")
        (index.root / "new").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert index.standing().stale.changed == ("a.py",)
    assert index.refresh().changed.changed == ("a.py",)
    corpus = index.snapshot()
    assert sorted(corpus.symbol(int(n)) for n in set(range(corpus.size)) - set(corpus.dead.tolist())) == ["new", "old"]


class NoEncoder(HashedEncoder):
    """Encodes nothing."""

    def encode(self, texts, role):
        raise AssertionError(f"{len(texts)} texts of role {role} are encoded")


def test_a_copy_of_a_tree_is_read_and_not_encoded(index, tmp_path):
    index.root.rename(tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", index.root)  # other inodes, and other times of change
    segments = index.folder.open().manifest.segments
    copied = FolderIndex(index.root, index.folder.location, NoEncoder("32"))
    assert not copied.refresh().changed
    assert index.folder.open().manifest.segments == segments
