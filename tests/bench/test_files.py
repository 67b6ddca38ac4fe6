"""A format is told by what a file holds, and nothing is dropped unsaid when another is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import InputError, StorageError
from assay.truth import truth_formats
from assay.truth.ground_truth import Truth
from assay.types import Chunk, Judgment, Query

PLACES = Truth(
    "set",
    (Query("a", "ask\nmore", mode="code", tags={"kind": "hard", "qery": "x"}), Query("b", "idle")),
    (
        Judgment("a", "a.py:1-2", 2, "me", "because"),
        Judgment("a", "a.py:1-2", 1),
        Judgment("a", "b.py", 1),
        Judgment("a", "c d.py:1-2", 0),
        Judgment("a", "e.py::f", 1),
    ),
    commit="c0ffee",
)
TEXTS = Truth(
    "set",
    (Query("a", "ask", tags={"kind": "hard"}), Query("b", "idle")),
    (Judgment("a", "d1", 2), Judgment("a", "d9", 1)),
    (Chunk("d1", "x", "go", path="d1", symbol="f", kind="function"), Chunk("d2", "x", path="d2")),
    repository="o/n",
)


@pytest.mark.parametrize(
    ("truth", "form", "lost"),
    [
        (
            PLACES,
            "octocode",
            [
                "queries with mode, languages, paths or kinds (1)",
                "the tags qery",
                "judges and reasons of judgments (1)",
                "further judgments of a pair that is judged already (1)",
                "judgments of grade 0 (1)",
                "judgments of whole files or symbols (2)",
            ],
        ),
        (
            PLACES,
            "trec",
            [
                "queries with mode, languages, paths or kinds (1)",
                "the tags kind, qery",
                "judges and reasons of judgments (1)",
                "further judgments of a pair that is judged already (1)",
                "judgments whose query or target holds a space (1)",
                "queries of several lines or a spaced id (1)",
            ],
        ),
        (
            TEXTS,
            "beir",
            [
                "judgments of no document (1)",
                "queries without a judgment (1)",
                "the fields kind of documents",
                "names of documents that do not begin with them (1)",
            ],
        ),
        (
            TEXTS,
            "cosqa",
            [
                "the tags kind",
                "judgments of no document (1)",
                "queries without a judgment (1)",
                "repository and commit",
                "the fields kind, language, symbol of documents",
                "documents with the text of another, which become one (1)",
            ],
        ),
        (
            TEXTS,
            "cosqaplus",
            [
                "the tags kind",
                "judgments of no document (1)",
                "the fields kind, symbol of documents",
                "languages of documents, for all are Python there (2)",
                "grades above 1, which become 1 (1)",
                "repository and commit",
            ],
        ),
        (PLACES, "jsonl", []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_be_lost_is_said_and_only_dropped_when_told_to(
    tmp_path: Path, truth: Truth, form: str, lost: list[str]
):
    target = tmp_path / "out"
    if lost:
        with pytest.raises(InputError) as raised:
            truth_formats.write(truth, target, form)
        assert str(raised.value).startswith(f"{form} cannot hold {', '.join(lost)}: ")
        assert "drop them with --lossy" in str(raised.value)
        assert not target.exists()
    assert truth_formats.write(truth, target, form, lossy=True) == lost
    if form != "trec":  # of its queries, none is left
        again = truth_formats.read(target, form)
        assert again.problems == ()
        assert truth_formats.write(again.truth, tmp_path / "again", form) == []


@pytest.mark.parametrize(
    ("truth", "form", "said"),
    [
        (TEXTS, "octocode", "octocode's CSV holds lines of files"),
        (PLACES, "beir", "BEIR holds a corpus of texts"),
        (PLACES, "cosqa", "CoSQA holds a corpus of texts"),
        (PLACES, "cosqaplus", "CoSQA+ holds a corpus of texts"),
        (PLACES, "swebench", "patches, which cannot be made of lines"),
        (Truth("set", (Query("a", "ask"),), ()), "trec", "nothing is judged"),
    ],
)
def test_what_a_format_is_not_made_for_is_refused_even_when_lossy(tmp_path: Path, truth: Truth, form: str, said: str):
    with pytest.raises(InputError, match=said.replace("+", r"\+")):
        truth_formats.write(truth, tmp_path / "out", form, lossy=True)
    assert list(tmp_path.iterdir()) == []


def test_csn_holds_lines_on_github_alone(tmp_path: Path):
    lost = truth_formats.write(PLACES, tmp_path / "a.csv", "csn", lossy=True)
    assert "judgments of something else than lines of a file on GitHub (5)" in lost
    assert "the tags kind, qery" in lost


def test_a_format_that_nobody_can_tell_is_asked_for(tmp_path: Path):
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "a.txt", tmp_path / "empty"):
        with pytest.raises(InputError, match=r"cannot tell the format of .*; name it with --from: jsonl, octocode"):
            truth_formats.read(path)
    with pytest.raises(InputError, match=r"unknown format 'trek'; did you mean 'trec'?"):
        truth_formats.read(tmp_path / "a.txt", "trek")
    with pytest.raises(InputError, match="no such file"):
        truth_formats.read(tmp_path / "none.csv")
    with pytest.raises(InputError, match="does not say what format to write"):
        truth_formats.write(PLACES, tmp_path / "out.xyz")


def test_texts_without_an_ending_make_a_folder(tmp_path: Path):
    truth = Truth("out", (Query("a", "ask"),), (Judgment("a", "d", 1),), (Chunk("d", "x", path="d"),))
    truth_formats.write(truth, tmp_path / "out")
    assert truth_formats.form_of(tmp_path / "out") == "beir"
    assert truth_formats.read(tmp_path / "out").truth == truth


def test_a_file_that_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot write"):
        truth_formats.write(PLACES, tmp_path / "file" / "a.jsonl")
    surrogate = Truth("a", (Query("1", "\udc80"),), ())
    truth_formats.write(surrogate, tmp_path / "a.jsonl")
    assert truth_formats.read(tmp_path / "a.jsonl").truth == surrogate
    with pytest.raises(InputError, match="not UTF-8; write JSON lines"):
        truth_formats.write(surrogate, tmp_path / "a.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "file"]


def test_what_nobody_says_any_more_does_not_stay_beside(tmp_path: Path):
    queries, judgments = (Query("1", "ask"),), (Judgment("1", "a.py:1-2", 1),)
    truth_formats.write(Truth("a", queries, judgments, commit="c0ffee"), tmp_path / "a.csv")
    assert truth_formats.read(tmp_path / "a.csv").truth.commit == "c0ffee"
    truth_formats.write(Truth("a", queries, judgments), tmp_path / "a.csv")
    assert truth_formats.read(tmp_path / "a.csv").truth.commit == ""
    (tmp_path / "a.meta.json").write_text('{"repo": 7}')
    assert [str(each) for each in truth_formats.read(tmp_path / "a.csv").problems] == [
        'a.meta.json:1: wanted {"repo": "owner/name", "commit": "..."}'
    ]


def test_a_misspelt_key_beside_a_ground_truth_is_told(tmp_path: Path):
    file = tmp_path / "q.csv"
    file.write_text("query,result1\nwhere is it,a.py:1-2:1\n")
    (tmp_path / "q.meta.json").write_text('{"repo": "a/b", "comit": "0123", "language": "Python"}')
    reading = truth_formats.read(file)
    assert [str(problem) for problem in reading.problems] == [
        "q.meta.json:1: unknown key 'comit'; did you mean 'commit'?"
    ]


def test_a_pinned_truth_is_not_split_by_what_its_queries_say_of_commits():
    from assay.truth.formats.swebench import by_checkout
    from assay.types import Query

    truth = Truth("t", (Query("1", "a", tags={"commit": "abc"}), Query("2", "b", tags={"commit": "def"})), ())
    assert len(by_checkout(truth)) == 2
    assert by_checkout(replace(truth, commit="0123")) == [replace(truth, commit="0123")]
