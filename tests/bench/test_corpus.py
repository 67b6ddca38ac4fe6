"""What systems search: documents as files, a checkout with its questions taken out, and nothing outside it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from assay.bench.system import SystemCorpus, corpus_of, lines_of, text_of
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.truth.ground_truth import Truth
from assay.values import Chunk

HIDDEN = Truth("t", (), (), hidden=("mail/send.py:1-1",))


def texts(**documents: str) -> Truth:
    return Truth("t", (), (), tuple(Chunk(name, text, "python", name) for name, text in documents.items()))


def test_documents_become_files_that_keep_their_ids_and_nothing_lies_beside_them(tmp_path: Path):
    cache = tmp_path / "cache"
    corpus = corpus_of(texts(d0="a = 1\n", d1="b = 2\n"), None, cache)
    assert [(each.id, each.path) for each in corpus.documents] == [("d0", "0.py"), ("d1", "1.py")]
    assert (corpus.root / "1.py").read_text() == "b = 2\n"
    again = corpus_of(texts(d0="a = 1\n", d1="b = 2\n"), None, cache)
    assert (again.root, again.digest) == (corpus.root, corpus.digest)
    assert [each.name for each in cache.iterdir()] == [corpus.root.name]
    assert corpus_of(texts(d0="a = 1\n", d1="b = 3\n"), None, cache).root != corpus.root
    shutil.rmtree(corpus.root)
    assert (corpus_of(texts(d0="a = 1\n", d1="b = 2\n"), None, cache).root / "0.py").exists()


def test_no_name_of_a_document_or_a_ground_truth_leads_anywhere(project: Path, tmp_path: Path):
    names = ["../up", "/etc/passwd", "a/b", "A", "a", "x" * 300, "caf\u00e9", "", "parse_json"]
    corpus = corpus_of(texts(**dict.fromkeys(names, "x = 1\n")), None, tmp_path / "documents")
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
