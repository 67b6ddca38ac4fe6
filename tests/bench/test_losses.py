"""Nothing is dropped unsaid when a ground truth is written in another format."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError, StorageError
from assay.truth import truth_formats
from assay.truth.ground_truth import Truth
from assay.values import Chunk, Judgment, Query

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


MODE = "queries with mode, languages, paths or kinds (1)"
JUDGES = "judges and reasons of judgments (1)"
AGAIN = "further judgments of a pair that is judged already (1)"
NO_DOCUMENT = "judgments of no document (1)"
UNJUDGED = "queries without a judgment (1)"
LOST = {
    "octocode": (PLACES, [MODE, "the tags qery", JUDGES, AGAIN, "judgments of grade 0 (1)",
                          "judgments of whole files or symbols (2)"]),
    "trec": (PLACES, [MODE, "the tags kind, qery", JUDGES, AGAIN, "judgments whose query or target holds a space (1)",
                      "queries of several lines or a spaced id (1)"]),
    "beir": (TEXTS, [NO_DOCUMENT, UNJUDGED, "the fields kind of documents",
                     "names of documents that do not begin with them (1)"]),
    "cosqaplus": (TEXTS, ["the tags kind", NO_DOCUMENT, "repository and commit", "the fields kind, symbol of documents",
                          "languages of documents, for all are Python there (2)",
                          "grades above 1, which become 1 (1)"]),
    "jsonl": (PLACES, []),
}  # fmt: skip


@pytest.mark.parametrize("form", LOST)
def test_what_would_be_lost_is_said_and_only_dropped_when_told_to(tmp_path: Path, form: str):
    target, (truth, lost) = tmp_path / "out", LOST[form]
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


def test_what_a_format_is_not_made_for_is_refused_even_when_lossy(tmp_path: Path):
    for truth, form, said in (
        (TEXTS, "octocode", "octocode's CSV holds files of a checkout"),
        (PLACES, "beir", "BEIR holds a corpus of texts"),
        (PLACES, "cosqaplus", "CoSQA\\+ holds a corpus of texts"),
        (PLACES, "swebench", "cannot be written as swebench, which is read only"),
        (PLACES, "csn", "cannot be written as csn, which is read only"),
        (Truth("set", (Query("a", "ask"),), ()), "trec", "there are no judgments"),
    ):
        with pytest.raises(InputError, match=said):
            truth_formats.write(truth, tmp_path / "out", form, lossy=True)
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_nobody_can_tell_is_asked_for(tmp_path: Path):
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    for name, form, said in (
        ("a.txt", "", r"cannot tell the format of .*; name it with --from: jsonl, octocode"),
        ("empty", "", r"cannot tell the format of .*; name it with --from: jsonl, octocode"),
        ("a.txt", "trek", r"unknown format 'trek'; did you mean 'trec'?"),
        ("none.csv", "", "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            truth_formats.read(tmp_path / name, form)
    with pytest.raises(InputError, match="does not say what format to write"):
        truth_formats.write(PLACES, tmp_path / "out.xyz")
    truth = Truth("out", (Query("a", "ask"),), (Judgment("a", "d", 1),), (Chunk("d", "x", path="d"),))
    truth_formats.write(truth, tmp_path / "out")  # texts without an ending make a folder
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
    for text, said in (
        ('{"repo": 7}', "a.meta.json:1: repo is '7', wanted text"),
        ('{"repo": "a/b", "comit": "0123"}', "a.meta.json:1: unknown key 'comit'; did you mean 'commit'?"),
    ):
        (tmp_path / "a.meta.json").write_text(text)
        assert [str(each) for each in truth_formats.read(tmp_path / "a.csv").problems] == [said]
