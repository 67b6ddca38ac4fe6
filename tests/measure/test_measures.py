"""Measures against the outside table, and names that parse as they print."""

from __future__ import annotations

import random
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.line_spans import Entry, Span, span_of
from assay.measure.matched import match
from assay.measure.measures import NAMES, parse

SEEDS, QUERIES = 12, 30
THEIRS = {
    "Hit@1": "Success@1",
    "Hit@5": "Success@5",
    "MRR": "RR",
    "MRR@10": "RR@10",
    "nDCG": "nDCG",
    "nDCG@3": "nDCG@3",
    "nDCG@10": "nDCG@10",
    "Recall@5": "R@5",
    "Recall@100": "R@100",
    "MAP": "AP",
    "MAP@5": "AP@5",
    "Precision@5": "P@5",
    "Precision@20": "P@20",
    "R-precision": "Rprec",
    "bpref": "Bpref",
    "judged@10": "Judged@10",
}


def collection(seed):
    """Return a run with scores and graded judgments: short answers, missing queries, unjudged documents, none right."""
    chance = random.Random(seed)
    documents = [f"d{n}" for n in range(chance.choice([4, 12, 40]))]
    qrels, scores = {}, {}
    for query in (f"q{n}" for n in range(QUERIES)):
        judged = chance.sample(documents, chance.randint(1, len(documents)))
        top = chance.choice([0, 1, 3])
        qrels[query] = {document: chance.randint(0, top) for document in judged}
        if chance.random() < 0.9:
            found = chance.sample(documents, chance.randint(1, len(documents)))
            scores[query] = {document: 1.0 - n / 1024 for n, document in enumerate(found)}
    return qrels, scores


def test_measures_are_those_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    theirs = {ours: ir_measures.parse_measure(name) for ours, name in THEIRS.items()}
    compared = 0
    for seed in range(SEEDS):
        qrels, scores = collection(seed)
        truth = {q: [Entry(Span(d), grade) for d, grade in judged.items()] for q, judged in qrels.items()}
        run = {q: [Span(d) for d in found] for q, found in scores.items()}
        found = match(run, truth, "line" if seed % 2 else "file")
        place = {query: n for n, query in enumerate(found.queries)}
        for name, measure in theirs.items():
            wanted = np.zeros(len(place))
            for metric in ir_measures.iter_calc([measure], qrels, scores):
                wanted[place[metric.query_id]] = metric.value
            np.testing.assert_allclose(parse(name).of(found), wanted, rtol=0, atol=1e-9, err_msg=f"{name}, seed {seed}")
            compared += len(wanted)
    assert compared == SEEDS * QUERIES * len(THEIRS)


def of(name, run, truth, **more):
    entries = [Entry(Span(path), grade) for path, grade in truth.items()]
    return float(parse(name).of(match({"q": [Span(path) for path in run]}, {"q": entries}, "file", **more))[0])


def test_measures_by_hand():
    truth = {"a": 2, "b": 1, "c": 1, "x": 0, "y": 0}
    wanted = {
        "binary-nDCG@3": 1 / log2(3) / (1 + 1 / log2(3) + 1 / 2),
        "MAP": (1 / 2 + 2 / 4) / 3,
        "MAP@3": 1 / 2 / 3,
        "Precision@8": 2 / 8,
        "R-precision": 1 / 3,
        "bpref": (1 + 1 - 1 / 2) / 3,
        "Acc@9": 0,
        "covered@4": 2 / 3,
        "judged@4": 3 / 4,
        "judged@9": 3 / 5,
        "MRR@1": 0,
        "MRR@2": 1 / 2,
    }
    found = {name: of(name, ["?", "a", "x", "b", "!"], truth) for name in wanted}
    assert found == pytest.approx(wanted, abs=1e-15)
    found = [of(f"Acc@{k}", ["a", "?", "b"], {"a": 2, "b": 1, "x": 0}) for k in (1, 2, 3, 9)]
    assert found == [0, 0, 1, 1], "every right answer and no wrong one"
    assert of("Acc@5", ["a"], {"a": 0}) == of("covered@5", ["a"], {"a": 0}) == 0, "nothing to find is never all found"


def test_an_answer_is_covered_when_all_of_its_lines_are_shown():
    for run, truth, wanted in (
        (["a:1-9", "a:20-30"], ["a:3-4", "a:9-9"], [1, 1]),  # one result covers two hunks
        (["a:1-4", "b:1-9", "a:5-9"], ["a:3-6"], [0, 0, 1]),  # two results cover one together
        (["a:5-5", "a:1-4", "a:6-9"], ["a:3-6", "a:8-9"], [0, 0, 1]),
        (["a:3-5", "a:3-5"], ["a:3-6"], [0, 0]),
        (["a"], ["a:3-6", "b:1-1"], [1 / 2]),  # a whole file shows every line of it
        (["b:1-1", "a:7-8"], ["a"], [0, 1]),  # an answer without lines is met or not
    ):
        entries = [Entry(span_of(target), 1) for target in truth]
        found = match({"q": [span_of(target) for target in run]}, {"q": entries}, "line")
        covered = [float(parse(f"covered@{k}").of(found)[0]) for k in range(1, len(run) + 1)]
        assert covered == pytest.approx(wanted, abs=1e-15)


def test_success_reads_whole_results_from_the_top_while_they_fit():
    costs = {"z": 10, "a": 20, "y": 99, "b": 1}
    for tokens, wanted in ((1, 0), (29, 0), (30, 0.5), (129, 0.5), (130, 1), (9999, 1)):
        found = of(f"success@{tokens}tokens", list(costs), {"a": 1, "b": 2}, cost=lambda span: costs[span.path])
        assert found == wanted, tokens
    with pytest.raises(InputError, match="cost="):
        of("success@10tokens", ["a"], {"a": 1})


def test_lines_are_what_a_reader_reads():
    run = {"p": [Span("a", 1, 10), Span("b", 30, 60)], "q": [Span("a", 5, 5), Span("c")]}
    found = match(run, {"p": [], "q": []}, "line")
    assert (parse("lines@1").of(found).tolist(), parse("lines@5").of(found)[0]) == ([10, 1], 41)
    assert np.isnan(parse("lines@5").of(found)[1])
    assert [str(parse(name)) for name in NAMES_GIVEN if parse(name).less_is_better] == ["lines@7", "tokens@7"]
    read = match(run, {"p": [], "q": []}, "line", cost=lambda span: 2 * span.end)
    assert parse("tokens@5").of(read)[0] == 140
    assert np.isnan(parse("tokens@5").of(read)[1])


NAMES_GIVEN = [name.replace("@k", "@7").replace("@N", "@500") for name in NAMES]


@given(st.sampled_from(NAMES), st.integers(1, 10**6))
def test_a_name_parses_as_it_prints(name, k):
    given = name.replace("@k", f"@{k}").replace("@N", f"@{k}")
    assert str(parse(given)) == given
    assert parse(given.upper()) == parse(given.lower()) == parse(f" {given} ") == parse(given)


def test_common_names_are_understood():
    names = {
        "ndcg@10": "nDCG@10",
        "P@5": "Precision@5",
        "R@10": "Recall@10",
        "AP": "MAP",
        "ap@5": "MAP@5",
        "RR": "MRR",
        "rr@10": "MRR@10",
        "Rprec": "R-precision",
        "hit@05": "Hit@5",
        "BPREF": "bpref",
    }
    assert {alias: str(parse(alias)) for alias in names} == names


def test_an_unknown_name_is_said_with_the_nearest():
    for text, says in (
        ("nDGC@10", "did you mean 'nDCG@10'"),
        ("Recall", "did you mean 'Recall@k'"),
        ("bpref@5", "did you mean 'bpref'"),
        ("success@500", "did you mean 'success@500tokens'"),
        ("Hit@5tokens", "did you mean 'tokens@5'"),
        ("Hit@0", "did you mean 'Hit@k'"),
        ("MRR@0", "did you mean 'MRR@k'"),
        ("success@0tokens", "success@Ntokens"),
        ("Hit@-1", "Hit@k"),
        ("nDCG@", "nDCG"),
        ("", "known: Hit@k, MRR"),
        ("accuracy", "known: Hit@k, MRR"),
    ):
        with pytest.raises(InputError, match="unknown measure") as caught:
            parse(text)
        assert says in str(caught.value)
