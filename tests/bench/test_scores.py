from __future__ import annotations

from pathlib import Path

import pytest

from assay.bench.scores import score
from assay.bench.system import SystemCorpus
from assay.measure.line_spans import Entry, Span
from assay.measure.measures import parse
from assay.truth.ground_truth import Truth, qrels_of
from assay.values import Chunk, Judgment, Query


def queries(*tags: dict[str, str]) -> tuple[Query, ...]:
    return tuple(Query(str(n), f"question {n}", tags=each) for n, each in enumerate(tags))


def test_every_unit_is_measured_from_one_run(project: Path):
    judgments = (Judgment("0", "mail/send.py:6-12", 2), Judgment("0", "mail/address.py:9-9", 1))
    corpus = SystemCorpus("t", project)
    right = qrels_of(Truth("t", queries({}), judgments))
    assert right.units == ("line", "function", "file", "line published")
    run = {"0": [Span("web/router.js", 1, 4), Span("mail/send.py", 10, 10), Span("mail/address.py", 1, 3)]}
    found = score(right, run, corpus, [parse("Recall@5"), parse("MRR"), parse("success@9000tokens")]).values
    assert found["line"]["Recall@5"].tolist() == [0.5]  # __init__ is judged, and lines 1-3 do not reach it
    assert (found["file"]["Recall@5"].tolist(), found["function"]["Recall@5"].tolist()) == ([1.0], [0.5])
    assert (found["line"]["MRR"].tolist(), found["line"]["success@9000tokens"].tolist()) == ([0.5], [0.5])
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "mail/send.py:6-12", 1),)))
    tight, wide = parse("success@20tokens"), parse("success@200tokens")
    whole = score(right, {"0": [Span("mail/send.py", 1, 12)]}, corpus, [tight, wide]).values["line"]
    assert [whole[str(each)].tolist() for each in (tight, wide)] == [[0.0], [1.0]], (
        "tokens are those of the lines found"
    )


def test_what_is_right_is_the_highest_grade_and_what_cannot_be_used_is_told():
    said = ((0, "a"), (2, "b"), (1, "c"))
    judgments = tuple(Judgment("0", "web/router.js:2-4", grade, judge) for grade, judge in said)
    right = qrels_of(Truth("t", queries({}), judgments))
    assert right.entries["0"] == [Entry(Span("web/router.js", 2, 4), 2)]
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "mail/address.py::Address", 1),)))
    assert "names a symbol" in str(right.problems[0])
    right = qrels_of(Truth("t", queries({}), (Judgment("9", "a.py:1-2", 1),)))
    assert "for a query that is not in the file" in str(right.problems[0])
    assert right.entries == {"0": []}


def test_documents_are_measured_whole_and_cost_what_they_hold(tmp_path: Path):
    names = ("q:12", "a::b", "plain")
    documents = tuple(Chunk(name, "x = 1", "python", name) for name in names)
    judgments = tuple(Judgment("0", name, 1) for name in names)
    right = qrels_of(Truth("t", queries({}), judgments, documents))
    assert (right.units, right.problems) == (("file",), ())
    scored = score(
        right, {"0": [Span("a::b"), Span("q:12", 3, 9)]}, SystemCorpus("t", tmp_path, documents), [parse("Recall@5")]
    )
    assert scored.values["file"]["Recall@5"].tolist() == [pytest.approx(2 / 3)]
    (tmp_path / "d1.py").write_text("total = left + right\n" * 100)
    documents = (Chunk("d1", "", "python", "d1.py"),)
    right = qrels_of(Truth("t", queries({}), (Judgment("0", "d1", 1),), documents))
    measures = [parse("success@100tokens"), parse("success@5000tokens")]
    scored = score(right, {"0": [Span("d1")]}, SystemCorpus("t", tmp_path, documents), measures)
    assert [values.tolist() for values in scored.values["file"].values()] == [[0.0], [1.0]]


def test_intervals_are_drawn_with_the_seed_of_the_plan(project: Path):
    truth = Truth("t", queries({}, {}, {}), tuple(Judgment(str(n), "web/router.js:2-4", 1) for n in range(3)))
    run = {str(n): [Span("README.md", 1, 1)] * n + [Span("web/router.js", 1, 4)] for n in range(3)}
    run["2"] = [Span("README.md", 1, 1), Span("README.md", 2, 2), *run["2"][2:]]
    found = [
        score(qrels_of(truth), run, SystemCorpus("t", project), [parse("MRR")], seed=seed).figures()["line"]["MRR"]
        for seed in (0, 0, 1)
    ]
    assert (found[0], found[0][0]) == (found[1], found[2][0])


def test_a_query_without_an_answer_counts_zero_and_groups_are_told_apart(project: Path):
    truth = Truth(
        "t",
        queries({"kind": "hard", "language": "python"}, {"kind": "easy", "language": "python"}, {}),
        tuple(Judgment(str(n), "web/router.js:2-4", 1) for n in range(3)),
    )
    corpus = SystemCorpus("t", project)
    scored = score(qrels_of(truth), {"1": [Span("web/router.js", 1, 4)]}, corpus, [parse("MRR")])
    assert scored.values["line"]["MRR"].tolist() == [0.0, 1.0, 0.0]
    mean, low, high = scored.figures()["line"]["MRR"]
    assert (mean, low) == (pytest.approx(1 / 3), 0.0)
    assert mean < high <= 1
    kinds = scored.groups()["kind"]
    means = {kind: (told.queries, told.figures["line"]["MRR"].mean) for kind, told in kinds.items()}
    assert means == {"(none)": (1, 0.0), "easy": (1, 1.0), "hard": (1, 0.0)}
    assert "split" not in scored.groups()


def test_unjudged_results_are_counted(project: Path):
    right = qrels_of(
        Truth("t", queries({}), (Judgment("0", "web/router.js:2-4", 0), Judgment("0", "README.md:1-3", 1)))
    )
    run = {"0": [Span("web/router.js", 1, 4), Span("mail/send.py", 1, 3), Span("mail/send.py", 5, 9)]}
    assert score(right, run, SystemCorpus("t", project), [parse("MRR")]).unjudged == pytest.approx(2 / 3)
    assert score(right, {}, SystemCorpus("t", project), [parse("MRR")]).unjudged == 0.0
