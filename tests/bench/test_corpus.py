from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.bench.system_corpus import corpus_of, lines_of
from assay.errors import InputError
from assay.truth.ground_truth import Truth
from assay.types import Chunk


def documents(*texts: str) -> tuple[Chunk, ...]:
    return tuple(Chunk(f"d{n}", text, "python", f"d{n}") for n, text in enumerate(texts))


def test_documents_become_files_that_keep_their_ids(tmp_path: Path):
    corpus = corpus_of(Truth("t", (), (), documents("a = 1\n", "b = 2\n")), None, tmp_path)
    assert [(each.id, each.path) for each in corpus.documents] == [("d0", "0.py"), ("d1", "1.py")]
    assert (corpus.root / "1.py").read_text() == "b = 2\n"
    again = corpus_of(Truth("t", (), (), documents("a = 1\n", "b = 2\n")), None, tmp_path)
    assert (again.root, again.digest) == (corpus.root, corpus.digest)
    other = corpus_of(Truth("t", (), (), documents("a = 1\n", "b = 3\n")), None, tmp_path)
    assert other.root != corpus.root


def test_an_id_says_nothing_about_a_file(tmp_path: Path):
    names = ["../up", "/etc/passwd", "a/b", "A", "a", "x" * 300, "caf\u00e9", "", "parse_json"]
    documents = tuple(Chunk(name, "x = 1\n", "python", name) for name in names)
    corpus = corpus_of(Truth("t", (), (), documents), None, tmp_path)
    assert sorted(file.name for file in corpus.root.iterdir()) == [f"{n}.py" for n in range(len(names))]
    assert [document.id for document in corpus.documents] == names


def test_questions_are_taken_out_and_line_numbers_stay(project: Path, tmp_path: Path):
    hidden = ("mail/send.py:1-1", "mail/send.py:7-7", "gone.py:1-9")
    corpus = corpus_of(Truth("t", (), (), hidden=hidden), project, tmp_path / "cache")
    lines = lines_of(corpus, "mail/send.py")
    assert (lines[0], lines[6]) == ("", "")
    assert lines[5].startswith("def send_mail")
    assert '"""Deliver' in (project / "mail" / "send.py").read_text()  # the original is untouched
    plain = corpus_of(Truth("t", (), ()), project, tmp_path / "cache")
    assert plain.root == project.resolve()
    assert plain.digest != corpus.digest


def test_a_folder_that_changed_is_copied_anew(project: Path, tmp_path: Path):
    truth = Truth("t", (), (), hidden=("mail/send.py:1-1",))
    first = corpus_of(truth, project, tmp_path / "cache").digest
    (project / "new.py").write_text("x = 1\n")
    assert corpus_of(truth, project, tmp_path / "cache").digest != first


def test_what_is_missing_is_told(project: Path, tmp_path: Path):
    with pytest.raises(InputError, match="nobody said where owner/name lies; give the checkout with --corpus"):
        corpus_of(Truth("t", (), (), repository="owner/name"), None, tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        corpus_of(Truth("t", (), ()), tmp_path / "none", tmp_path)
    with pytest.raises(InputError, match="is no git repository, and 't' speaks of commit 0123456"):
        corpus_of(Truth("t", (), (), commit="0123456789"), project, tmp_path)


def test_nothing_half_written_lies_about(tmp_path: Path):
    truth = Truth("t", (), (), documents("a = 1\n"))
    made = corpus_of(truth, None, tmp_path / "cache")
    assert [each.name for each in made.root.parent.iterdir()] == [made.root.name]  # nothing lies beside it
    shutil.rmtree(made.root)
    assert (corpus_of(truth, None, tmp_path / "cache").root / "0.py").exists()
