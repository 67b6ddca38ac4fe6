"""An index in Lance follows its files as one in a folder does."""

from __future__ import annotations

import pytest

from assay.assemble.workspace import open_workspace
from assay.encode.hashed import HashedEncoder
from assay.errors import InputError
from assay.search.folder_index import FolderIndex
from assay.search.hybrid import LearnedSearcher
from assay.search.index_identity import Build
from assay.settings import load
from assay.terms import terms
from assay.types import Query

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
    folder = FolderIndex(root, tmp_path / "folder", ENCODER)
    texts = {"a.py": "def retry(): pass\n", "b.py": "def cache(): pass\n", "c.md": "# Retries\n\nAre handled.\n"}
    edits = [texts, {"a.py": "def again(): pass\n"}, {"b.py": None, "d.py": "class Cache: pass\n"}, {}]
    for edit in edits:
        for path, text in edit.items():
            (root / path).unlink() if text is None else (root / path).write_text(text)
        mine, theirs = lance.refresh(), folder.refresh()
        assert (mine.files, mine.chunks, mine.changed) == (theirs.files, theirs.chunks, theirs.changed)
        snapshot = folder.snapshot()
        dead = set(snapshot.dead.tolist())
        assert found(lance, "retry cache") == {snapshot.chunk(n) for n in range(snapshot.size) if n not in dead}


def test_another_encoder_rebuilds(tmp_path):
    from assay.search.index_lance import LanceIndex

    (tmp_path / "a.py").write_text("one = 1\n")
    uri = str(tmp_path / ".lance")
    LanceIndex(tmp_path, uri, ENCODER).refresh()
    report = LanceIndex(tmp_path, uri, HashedEncoder("16")).refresh()
    assert "hash:32 (32 dimensions)" in report.rebuilt_because
    assert len(report.changed.added) == 1
    report = LanceIndex(tmp_path, uri, HashedEncoder("16"), Build(chunk_lines=9)).refresh()
    assert report.rebuilt_because.endswith("chunk_lines 9")


def test_chunks_are_as_long_as_they_may_be(tmp_path):
    from assay.search.index_lance import LanceIndex

    (tmp_path / "a.py").write_text("def f():\n" + "    g()\n" * 39)
    assert LanceIndex(tmp_path, str(tmp_path / ".lance"), ENCODER, Build(chunk_lines=10)).refresh().chunks == 4


def test_its_vectors_are_quantised_by_lance_alone(tmp_path):
    from assay.search.index_lance import LanceIndex

    with pytest.raises(InputError, match=r"leave index\.quantisation at none"):
        LanceIndex(tmp_path, str(tmp_path / ".lance"), ENCODER, Build(quantisation="int8"))


@pytest.mark.parametrize("ranking", ["vectors", "keywords", "fused"])
def test_every_ranking_finds_the_same_as_in_a_folder(tmp_path, ranking):
    root = tmp_path / "root"
    root.mkdir()
    for number in range(9):
        (root / f"{number}.py").write_text(f"def retry_{number}():\n    return cache_{number % 3}\n")
    asked = [Query("", "retry the cache", mode="code"), Query("", "cache_2", mode="code", paths=("!7*",))]
    answers = []
    for location in (str(tmp_path / "folder"), f"lance:{tmp_path / 'lance'}"):
        options = {"index.location": location, "search.ranking": ranking, "encoder.spec": "hash:32"}
        found = open_workspace(root, load(options=options)).searcher.search(asked, 5)
        answers.append([[(hit.chunk.id, round(hit.score, 4)) for hit in hits] for hits in found])
    assert answers[0] == answers[1]
    assert all(answers[0])


def test_expansion_is_refused_where_links_cannot_be_followed(tmp_path):
    (tmp_path / "a.py").write_text("one = 1\n")
    options = {"index.location": f"lance:{tmp_path / '.lance'}", "search.expand": 5, "encoder.spec": "hash:32"}
    with pytest.raises(InputError, match=r"search\.expand .* use an index in a folder"):
        _ = open_workspace(tmp_path, load(options=options)).searcher


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
    folder = FolderIndex(root, tmp_path / "folder", ENCODER)
    lance = LanceIndex(root, str(tmp_path / "lance"), ENCODER)
    folder.refresh()
    lance.refresh()
    for kept in FILTERED:
        query = Query("", "retry handled", **({"mode": "all"} | kept))
        mine, theirs = (LearnedSearcher(index.corpus(), ENCODER).search([query], 50)[0] for index in (lance, folder))
        assert [hit.chunk.id for hit in mine] == [hit.chunk.id for hit in theirs] != []
        assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in theirs], abs=1e-3)
