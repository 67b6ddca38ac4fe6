"""Files of every size, shape and name are indexed, or named with the reason why not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from assay.corpus.walked_files import as_utf8
from assay.encode.vectors import HashedEncoder
from assay.search.folder_index import FolderIndex

ENCODER = HashedEncoder("16")


@pytest.fixture
def index(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "small.py").write_text("one = 1\n")
    return FolderIndex(tmp_path / "root", tmp_path / "index", ENCODER)


def paths(snapshot):
    dead = set(snapshot.dead.tolist())
    return {snapshot.path(number) for number in range(snapshot.size) if number not in dead}


def test_what_is_too_large_is_left_out_with_its_reason(index):
    with (index.root / "large.py").open("wb") as file:
        file.truncate(2 << 30)
    (index.root / "line.js").write_text("var a=1;" * 2_000_000)
    report = index.refresh()
    assert {skipped.path for skipped in report.skipped if skipped.reason} == {"large.py", "line.js"}
    assert paths(index.snapshot()) == {"small.py"}


NAMES = [
    *(b"latin-\xe9\xff.py", "kyrillisch-привет.py".encode("cp1251"), "日本語.py".encode("shift_jis")),
    *("日本語.py".encode(), "e\u0301-decomposed.py".encode(), "emoji-🦀.py".encode(), b"line\nbreak.py"),
    *(b"tab\tand  spaces .py", b"-dash.py", b"quote\"and'and`.py", b"back\\slash.py", b"\x01\x1b[31mred.py"),
    b"x" * 252 + b".py",
]


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system allows UTF-8 names only")
def test_names_in_every_encoding(index):
    files = [Path(os.fsdecode(os.fsencode(index.root) + b"/" + name)) for name in NAMES]
    for number, file in enumerate(files):
        file.write_bytes(b"def found_%d(): pass\n" % number)
    index.refresh()
    wanted = {"small.py", *(as_utf8(os.fsdecode(name)) for name in NAMES)}
    assert paths(index.snapshot()) == wanted
    assert not index.refresh().changed
    assert paths(FolderIndex(index.root, index.folder.location, ENCODER).snapshot()) == wanted
    for file in files:
        file.unlink()
    index.refresh()
    assert paths(index.snapshot()) == {"small.py"}


def test_hostile_texts_are_indexed_or_named(index):
    texts = ["\ud800", "\x00", "\ufeffx = 1\n", "a\r\nb\rc\n", "\u2028" * 10, "\n" * 1000, "(" * 5000]
    for number, text in enumerate(texts):
        (index.root / f"hostile{number}.py").write_bytes(text.encode("utf-8", "surrogatepass"))
    report = index.refresh()
    assert "small.py" in paths(index.snapshot())
    assert report.files + len(report.skipped) == 1 + len(texts)
