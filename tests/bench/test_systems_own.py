"""Assay and the baselines as systems, and the corpora that systems search."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay import plugins
from assay.bench.system import SystemCorpus, corpus_of, lines_of, text_of
from assay.bench.systems.baseline_systems import words
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth
from assay.values import Chunk, Query

SPECS = ["assay", "bm25", "bow", "dense:static:default"]
TEXTS = {
    "d1": "def send_mail(server, message):\n    server.deliver(message)\n",
    "d2": "def is_valid(address):\n    return '@' in address\n",
    "d3": "def send_mail(server, message):\n    server.deliver(message)\n",
    "d4": "class Router:\n    def match(self, path):\n        return path\n\n    def add(self, path):\n        pass\n",
}


@pytest.fixture
def documents(tmp_path: Path) -> SystemCorpus:
    root = tmp_path / "documents"
    root.mkdir()
    chunks = [Chunk(name, text, "python", f"{name}.py") for name, text in TEXTS.items()]
    for chunk in chunks:
        (root / chunk.path).write_text(chunk.text)
    return SystemCorpus("documents", root, tuple(chunks), digest="d")


def found(spec: str, corpus: SystemCorpus, query: Query, k: int = 5, **options: Any) -> list[tuple[str, int, int]]:
    searcher = plugins.make("system", spec).prepare(corpus, options)
    return [(h.chunk.path, h.chunk.start_line, h.chunk.end_line) for h in searcher.search([query], k)[0]]


@pytest.mark.parametrize("spec", SPECS)
def test_places_of_files_and_whole_documents_are_found(
    spec: str, postbox: SystemCorpus, documents: SystemCorpus, tmp_path: Path
):
    where = {"location": str(tmp_path / "ix")}
    ranges = found(spec, postbox, Query("1", "deliver a message to a server", "code"), **where)
    assert ranges[0] == ("mail/send.py", 1, 3)
    assert {path for path, *_ in found(spec, postbox, Query("2", "mail", "docs"), **where)} == {"README.md"}
    only = found(spec, postbox, Query("3", "mail server address", "all", paths=("!send.py",)), **where)
    assert "mail/send.py" not in {path for path, *_ in only}
    assert len(found(spec, postbox, Query("4", "mail server address"), 1, **where)) == 1
    whole = found(spec, documents, Query("1", "send a message", "code"), location=str(tmp_path / "documents"))
    assert {path for path, *_ in whole[:2]} == {"d1.py", "d3.py"}
    assert {tuple(lines) for _, *lines in whole} == {(0, 0)}
    assert len(whole) == len(set(whole))
    if spec != "assay":  # equal texts stand in their order
        equal = found(spec, documents, Query("1", "send message server"))[:2]
        assert [path for path, *_ in equal] == ["d1.py", "d3.py"]
    (tmp_path / "empty").mkdir()
    assert found(spec, SystemCorpus("empty", tmp_path / "empty"), Query("1", "x"), location=str(tmp_path / "e")) == []


def test_assay_takes_settings_and_refuses_others(postbox: SystemCorpus, tmp_path: Path):
    where = {"location": str(tmp_path / "ix")}
    assert found("assay", postbox, Query("1", "send mail"), encoder={"spec": "hash"}, **where)
    with pytest.raises(InputError, match="did you mean 'encoder'"):
        found("assay", postbox, Query("1", "send mail"), encodr={"spec": "hash"}, **where)
    system = plugins.make("system", "assay")
    assert system.index_bytes() is None
    system.prepare(postbox, {"location": str(tmp_path / "other"), "timeout_s": 5.0})
    folder = next(place for place in (tmp_path / "other").iterdir() if place.is_dir())
    assert system.index_bytes() == sum(file.stat().st_size for file in folder.iterdir())


def test_settings_that_need_the_same_index_share_it_and_what_it_took(postbox: SystemCorpus, tmp_path: Path):
    where = str(tmp_path / "ix")

    def built(**options: Any) -> float:
        system = plugins.make("system", "assay")
        system.prepare(postbox, {"location": where, **options})
        return system.built_s

    first = built()
    note = next((tmp_path / "ix").glob("*.seconds"))
    note.write_text("12.5")
    assert first != built(search={"ranking": "keywords"}) == 12.5
    assert built(encoder={"spec": "hash"}) != 12.5
    assert len([place for place in (tmp_path / "ix").iterdir() if place.is_dir()]) == 2
    (postbox.root / "new.py").write_text("x = 1\n")
    assert built() != 12.5


def test_vectors_are_made_once_for_equal_texts_and_answer_on_disk_as_in_memory(documents: SystemCorpus, tmp_path: Path):
    where = {"location": str(tmp_path / "vectors")}
    first = found("dense:hash", documents, Query("1", "send message"), **where)
    file = next((tmp_path / "vectors").rglob("*.npy"))
    vectors = np.load(file)
    np.save(file, vectors[[1, 0, 2, 3]])
    assert found("dense:hash", documents, Query("1", "send message"), **where)[0] == ("d2.py", 0, 0) != first[0]
    other = replace(documents, documents=documents.documents[:3])
    found("dense:hash", other, Query("1", "send message"), **where)
    assert len(list((tmp_path / "vectors").rglob("*.npy"))) == 2
    assert not list((tmp_path / "vectors").rglob("*.new"))
    query = Query("1", "where is a path matched")
    mapped = found("dense:static:default", documents, query, location=str(tmp_path / "v"))
    assert mapped == found("dense:static:default", documents, query)


def test_specs_that_cannot_be_are_refused():
    for spec, said in (
        ("dense:", "names no encoder"),
        ("bow:many", "bow:2000"),
        ("bm25:x", "takes nothing"),
        ("assay:fast", "takes settings"),
    ):
        with pytest.raises(InputError, match=said):
            plugins.make("system", spec)


def test_bags_are_cosines_of_counts():
    """By hand: `a` is one letter and no word; counts are not weighted."""
    chunks = tuple(Chunk(str(n), text, path=f"{n}.txt") for n, text in enumerate(["red red blue", "blue a", "green"]))
    searcher = plugins.make("system", "bow").prepare(SystemCorpus("c", Path(), chunks), {})
    hits = searcher.search([Query("1", "Blue red unknown")], 5)[0]
    assert [hit.chunk.path for hit in hits] == ["0.txt", "1.txt"]
    assert [hit.score for hit in hits] == pytest.approx([3 / (5**0.5 * 2**0.5), 1 / 2**0.5], abs=1e-6)
    assert words("An_id x1 ab, c") == ["an_id", "x1", "ab"]
    chunks = (chunks[0], replace(chunks[1], text="blue blue"), chunks[2])
    searcher = plugins.make("system", "bow:2").prepare(SystemCorpus("c", Path(), chunks), {})  # the most frequent words
    assert [hit.chunk.path for hit in searcher.search([Query("1", "green blue")], 5)[0]] == ["1.txt", "0.txt"]
    assert searcher.search([Query("1", "green")], 5)[0] == []


HIDDEN = Truth("t", (), (), hidden=("mail/send.py:1-1",))


def texts_of(**documents: str) -> Truth:
    return Truth("t", (), (), tuple(Chunk(name, text, "python", name) for name, text in documents.items()))


def test_documents_become_files_that_keep_their_ids_and_nothing_lies_beside_them(tmp_path: Path):
    cache = tmp_path / "cache"
    corpus = corpus_of(texts_of(d0="a = 1\n", d1="b = 2\n"), None, cache)
    assert [(each.id, each.path) for each in corpus.documents] == [("d0", "0.py"), ("d1", "1.py")]
    assert (corpus.root / "1.py").read_text() == "b = 2\n"
    again = corpus_of(texts_of(d0="a = 1\n", d1="b = 2\n"), None, cache)
    assert (again.root, again.digest) == (corpus.root, corpus.digest)
    assert [each.name for each in cache.iterdir()] == [corpus.root.name]
    assert corpus_of(texts_of(d0="a = 1\n", d1="b = 3\n"), None, cache).root != corpus.root
    shutil.rmtree(corpus.root)
    assert (corpus_of(texts_of(d0="a = 1\n", d1="b = 2\n"), None, cache).root / "0.py").exists()


def test_no_name_of_a_document_or_a_ground_truth_leads_anywhere(project: Path, tmp_path: Path):
    names = ["../up", "/etc/passwd", "a/b", "A", "a", "x" * 300, "caf\u00e9", "", "parse_json"]
    corpus = corpus_of(texts_of(**dict.fromkeys(names, "x = 1\n")), None, tmp_path / "documents")
    assert sorted(file.name for file in corpus.root.iterdir()) == [f"{n}.py" for n in range(len(names))]
    assert [document.id for document in corpus.documents] == names
    cache = tmp_path / "deep" / "er" / "cache"
    for name in ("../../up", "/etc/x", "a/b", "..", "x" * 300, "\0", "\udcff"):
        for truth in (Truth(name, (), (), hidden=HIDDEN.hidden), Truth(name, (), (), (Chunk("d", "x", "", "d"),))):
            assert corpus_of(truth, project, cache).root.parent == cache


def test_questions_are_taken_out_and_line_numbers_stay(project: Path, tmp_path: Path):
    (project / "whole.py").write_text("a\nb\nc")
    (project / os.fsdecode(b"n\xff.py")).write_text("question\nb")
    hidden = ("mail/send.py:1-1", "mail/send.py:7-7", "gone.py:1-9", "whole.py", "n\\xff.py:1-1")
    corpus = corpus_of(Truth("t", (), (), hidden=hidden), project, tmp_path / "cache")
    lines = lines_of(corpus, "mail/send.py")
    assert (lines[0], lines[6]) == ("", "")
    assert lines[5].startswith("def send_mail")
    assert (lines_of(corpus, "whole.py"), lines_of(corpus, "n\\xff.py")) == (["", "", ""], ["", "b"])
    assert '"""Deliver' in (project / "mail" / "send.py").read_text()  # the original is untouched
    plain = corpus_of(Truth("t", (), ()), project, tmp_path / "cache")
    assert plain.root == project.resolve()
    assert plain.digest != corpus.digest
    first = corpus_of(HIDDEN, project, tmp_path / "cache").digest
    (project / "new.py").write_text("x = 1\n")
    assert corpus_of(HIDDEN, project, tmp_path / "cache").digest != first


def test_what_holds_the_questions_can_be_left_out(project: Path, tmp_path: Path):
    (project / "bench").mkdir()
    (project / "bench" / "results.json").write_text("{}")
    (project / "bench.py").write_text("x = 1\n")
    left_out = (project / "bench", project / "q.csv", tmp_path / "elsewhere")
    first = corpus_of(Truth("t", (), ()), project, tmp_path / "cache", without=left_out)
    (project / "q.csv").write_text("query,result1\nsend mail,mail/send.py:1-2:1\n")
    (project / "bench" / "RESULTS.md").write_text("# Results\n")
    again = corpus_of(Truth("t", (), ()), project, tmp_path / "cache", without=left_out)
    assert again.digest == first.digest
    assert {"bench", "q.csv"}.isdisjoint(each.name for each in again.root.iterdir())
    assert (again.root / "bench.py").exists()


def test_lines_are_read_below_the_corpus_alone(postbox: SystemCorpus, tmp_path: Path):
    (tmp_path / "secret").write_text("s")
    (postbox.root / "link").symlink_to(tmp_path / "secret")
    (postbox.root / "round").symlink_to("round")
    os.mkfifo(postbox.root / "pipe")
    assert lines_of(postbox, "README.md")[:2] == ["# Postbox", ""]
    assert text_of(postbox, Span("README.md", 2, 3)) == "\nSends mail to every address."
    for path in ("../secret", str(tmp_path / "secret"), "link", "round", "pipe", "/dev/zero", "a\0b", "x" * 5000, ""):
        assert lines_of(postbox, path) == []


def test_a_corpus_that_is_missing_or_cannot_be_written_is_told(project: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")
    plain = Truth("t", (), ())
    pinned = Truth("t", (), (), commit="0123456789", hidden=("mail.py:1-1",))
    for truth, root, cache, said in (
        (Truth("t", (), (), repository="o/n"), None, tmp_path, "nobody said where o/n lies; give the checkout with"),
        (plain, tmp_path / "none", tmp_path, "is not a folder"),
        (pinned, project, tmp_path, "not a git repository, and .t. names commit 012"),
        (HIDDEN, project, tmp_path / "file" / "cache", "the corpus cannot be written"),
    ):
        with pytest.raises(InputError, match=said):
            corpus_of(truth, root, cache)
