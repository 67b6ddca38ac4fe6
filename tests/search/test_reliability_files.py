"""Files of every size, shape and name are indexed, or named with the reason why not."""

from __future__ import annotations

import os
import sys

import pytest

from assay.corpus.walked_files import as_utf8
from assay.encode.hashed import HashedEncoder
from assay.search.folder_index import FolderIndex

ENCODER = HashedEncoder("16")


@pytest.fixture
def index(tmp_path):
    (tmp_path / "root").mkdir()
    return FolderIndex(tmp_path / "root", tmp_path / "index", ENCODER)


def paths(snapshot):
    return {snapshot.path(number) for number in range(snapshot.size)}


def test_a_file_of_two_gigabytes_is_left_out_with_its_reason(index):
    (index.root / "small.py").write_text("one = 1\n")
    with (index.root / "large.py").open("wb") as file:
        file.truncate(2 << 30)
    report = index.refresh()
    assert [skipped.path for skipped in report.skipped] == ["large.py"]
    assert report.skipped[0].reason
    assert paths(index.snapshot()) == {"small.py"}


def test_a_line_of_fifty_megabytes_is_no_trouble(index):
    (index.root / "small.py").write_text("one = 1\n")
    (index.root / "line.js").write_text("var a=1;" * (50_000_000 // 8))
    report = index.refresh()
    assert "small.py" in paths(index.snapshot())
    assert "line.js" in {skipped.path for skipped in report.skipped} | set(report.notes)


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system allows UTF-8 names only")
@pytest.mark.parametrize(
    "name",
    [
        b"latin-\xe9\xff.py",
        "kyrillisch-привет.py".encode("cp1251"),
        "日本語.py".encode("shift_jis"),
        "日本語.py".encode(),
        "e\u0301-decomposed.py".encode(),
        "emoji-🦀.py".encode(),
        b"line\nbreak.py",
        b"tab\tand  spaces .py",
        b"-dash.py",
        b"quote\"and'and`.py",
        b"back\\slash.py",
        b"\x01\x1b[31mred.py",
        b"x" * 252 + b".py",
    ],
)
def test_names_in_every_encoding(index, name):
    folder = os.fsencode(index.root)
    with open(os.path.join(folder, name), "wb") as file:  # noqa: PTH118, PTH123  bytes
        file.write(b"def found(): pass\n")
    index.refresh()
    (path,) = paths(index.snapshot())
    assert path == as_utf8(os.fsdecode(name))
    assert len(index.refresh().changed.added) == 0
    assert paths(FolderIndex(index.root, index.folder.location, ENCODER).snapshot()) == {path}
    os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118
    index.refresh()
    assert len(index.snapshot()) == 0


@pytest.mark.parametrize(
    "text", ["\ud800", "\x00", "\ufeffx = 1\n", "a\r\nb\rc\n", "\u2028" * 10, "\n" * 1000, "(" * 5000]
)
def test_hostile_texts_are_indexed_or_named(index, text):
    (index.root / "hostile.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    (index.root / "plain.py").write_text("one = 1\n")
    report = index.refresh()
    assert "plain.py" in paths(index.snapshot())
    assert report.files + len(report.skipped) == 2
