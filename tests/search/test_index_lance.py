"""An index in Lance follows its files as one in a folder does."""

from __future__ import annotations

import pytest

from assay.encode.hashed import HashedEncoder
from assay.search.hybrid import Hybrid
from assay.search.index import Index
from assay.types import Query
from assay.words import terms

pytest.importorskip("lance", reason="the extra `lance` is not installed")

ENCODER = HashedEncoder("32")


def found(index, query):
    asked = Query("", query, mode="all")
    snapshot = index.candidates(asked, terms(query), (), ENCODER.encode([query], "query")[0])
    return {snapshot.chunk(number) for number in range(snapshot.size)}


def test_refreshes_end_equal_to_an_index_in_a_folder(tmp_path):
    from assay.search.index_lance import LanceIndex

    root = tmp_path / "root"
    root.mkdir()
    lance = LanceIndex(root, str(tmp_path / "lance"), ENCODER)
    folder = Index(root, tmp_path / "folder", ENCODER)
    texts = {"a.py": "def retry(): pass\n", "b.py": "def cache(): pass\n", "c.md": "# Retries\n\nAre handled.\n"}
    edits = [texts, {"a.py": "def again(): pass\n"}, {"b.py": None, "d.py": "class Cache: pass\n"}, {}]
    for edit in edits:
        for path, text in edit.items():
            (root / path).unlink() if text is None else (root / path).write_text(text)
        mine, theirs = lance.refresh(), folder.refresh()
        assert (mine.files, mine.chunks, mine.counts) == (theirs.files, theirs.chunks, theirs.counts)
        snapshot = folder.snapshot()
        dead = set(snapshot.dead.tolist())
        assert found(lance, "retry cache") == {snapshot.chunk(n) for n in range(snapshot.size) if n not in dead}


def test_another_encoder_rebuilds(tmp_path):
    from assay.search.index_lance import LanceIndex

    (tmp_path / "a.py").write_text("one = 1\n")
    uri = str(tmp_path / ".lance")
    LanceIndex(tmp_path, uri, ENCODER).refresh()
    report = LanceIndex(tmp_path, uri, HashedEncoder("16")).refresh()
    assert report.rebuilt_because
    assert report.counts.added == 1


FILTERED = (
    {"mode": "docs"},
    {"languages": ("python",)},
    {"kinds": ("class",)},
    {"paths": ("lib/*.py",)},
    {"mode": "code", "paths": ("*.py", "!lib/b*")},
    {"paths": ("it's [a-c]*",)},
)


def test_filters_keep_the_same_chunks_as_in_a_folder(tmp_path):
    from assay.search.index_lance import LanceIndex

    root = tmp_path / "root"
    (root / "lib").mkdir(parents=True)
    for name in ("lib/a.py", "lib/b.py", "top.py", "it's a.py"):
        (root / name).write_text(f"class Retry:\n    value = {len(name)}\n\n\ndef retry_{name[-4]}():\n    pass\n" * 3)
    (root / "notes.md").write_text("# Retries\n\nAre handled.\n")
    folder = Index(root, tmp_path / "folder", ENCODER)
    lance = LanceIndex(root, str(tmp_path / "lance"), ENCODER)
    folder.refresh()
    lance.refresh()
    for kept in FILTERED:
        query = Query("", "retry handled", **({"mode": "all"} | kept))
        mine, theirs = (Hybrid(index.corpus(), ENCODER).search([query], 50)[0] for index in (lance, folder))
        assert [hit.chunk.id for hit in mine] == [hit.chunk.id for hit in theirs] != []
        assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-3)
