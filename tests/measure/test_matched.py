"""Spans that overlap, what each rank earns at each unit, and the measures of that."""

from __future__ import annotations

import random
from dataclasses import replace
from math import log2
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.line_spans import UNITS, Entry, Span, span_of
from assay.measure.matched import match
from assay.measure.measures import NAMES, parse

SPANS = st.one_of(
    st.builds(
        lambda path, start, length: Span(path, start, start + length),
        st.sampled_from("ab"),
        st.integers(1, 30),
        st.integers(0, 12),
    ),
    st.builds(Span, st.sampled_from("ab")),
)
ALSO = st.sampled_from(((), ("b",), ("c", "a")))
ENTRIES = st.lists(st.builds(Entry, SPANS, st.integers(0, 3), ALSO), max_size=6)
RUNS = st.lists(SPANS, max_size=12)
FEW = settings(max_examples=40)
FUNCTIONS = {"a": [(1, 5, "one"), (7, 20, "Two"), (8, 12, "Two.inner")], "b": [(10, 12, "three")]}


def matched(run, truth, unit="line", **more):
    run, truth = [[span_of(one) if isinstance(one, str) else one for one in given] for given in (run, truth)]
    entries = [one if isinstance(one, Entry) else Entry(*one) for one in truth]
    return match({"q": run}, {"q": entries}, unit, units=lambda path: FUNCTIONS.get(path, ()), **more)


def entry(target, grade):
    return Entry(span_of(target), grade)


def row(table):
    return table[0].tolist()


def value(name, found):
    return float(parse(name).of(found)[0])


def meets(one, span):
    """Say whether a published script takes a result for an answer."""
    return any(replace(one.span, path=path).overlaps(span) for path in (one.span.path, *one.also))


def strict(run, truth):
    """What each result earns, without arrays."""
    length = {one.span: one.span.end - one.span.start if one.span.start else 10**6 for one in truth}
    open_entries = sorted(truth, key=lambda one: (-one.grade, length[one.span], one.span.path, one.span.start))
    earned = []
    for span in dict.fromkeys(run):
        taken = next((one for one in open_entries if one.grade and one.span.overlaps(span)), None)
        if taken is not None:
            open_entries.remove(taken)
        earned.append(taken.grade if taken else 0)
    return earned


def test_octocode_s_own_script_says_the_same():
    """The figures are those that its benchmark/score.py wrote for this run, a stand-in answering for its program."""
    truth = {
        "twice": [entry("a.py:10-50", 2), entry("b.py:20-30", 1)],
        "at once": [entry("a.py:5-9", 1), entry("a.py:40-40", 2), entry("c.py:1-3", 1)],
        "late": [entry("d.py:7-7", 2)],
        "never": [entry("e.py:1-9", 2), entry("e.py:30-39", 1)],
        "nothing": [entry("a.py:1-5", 1)],
    }
    run = {
        "twice": "a.py:10-20 a.py:21-30 a.py:21-30 c.py:1-9 b.py:30-60",
        "at once": "c.py:4-9 a.py:9-40 a.py:1-4 a.py:41-50 d.py:1-2 c.py:3-3",
        "late": "d.py:1-6 d.py:8-20 c.py:7-7 d.py:8-20 e.py:7-7 a.py:1-9 d.py:7-8",
        "never": "e.py:10-29 f.py:1-9",
        "nothing": "",
    }
    spans = {query: [span_of(one) for one in line.split()] for query, line in run.items()}
    found = match(spans, truth, "line published")
    values = {name: parse(name).of(found) for name in ("Hit@5", "Hit@10", "MRR", "nDCG@10", "Recall@5", "Recall@10")}
    assert {name: sum(one.tolist()) / 5 for name, one in values.items()} == {
        "Hit@5": 0.4,
        "Hit@10": 0.6,
        "MRR": 0.32857142857142857,
        "nDCG@10": 0.5234161218371205,
        "Recall@5": 0.3333333333333333,
        "Recall@10": 0.6,
    }
    assert values["nDCG@10"][0] > 1


@given(RUNS, ENTRIES, st.randoms())
@FEW
@example(["a:11-20", "a:60-70"], [Entry(Span("a", 10, 12), 1), Entry(Span("a", 1, 90), 1)], Random(0))
def test_the_order_of_answers_decides_nothing(run, truth, random):
    shuffled = random.sample(truth, len(truth))
    for unit in UNITS:
        one, other = matched(run, truth, unit), matched(run, shuffled, unit)
        for table in ("gains", "judged", "wrong", "ideal"):
            assert row(getattr(one, table)) == row(getattr(other, table))


def test_judged_wrong_is_counted_once_and_repeats_keep_no_rank_unless_published():
    truth = [entry("a:1-9", 0), entry("a:5-20", 2)]
    found = matched(["a:5", "a:6-7", "a:1-2", "a:3-4", "b"], truth)
    assert (row(found.gains), row(found.judged)) == ([2, 0, 0, 0, 0], [True, True, True, True, False])
    assert row(found.wrong) == [False, False, True, False, False]
    assert found.irrelevant.tolist() == [1]
    assert row(found.ideal) == [2]
    run = ["a:1-2", "a:1-2", "a", "a", "b:3-4"]
    truth = [entry("b:1-9", 1)]
    assert value("MRR", matched(run, truth)) == pytest.approx(1 / 3)
    assert value("MRR", matched(run, truth, "file")) == 0.5
    assert value("MRR", matched(run, truth, "line published")) == 0.2


def test_files_rank_by_their_first_result_and_functions_are_what_is_overlapped():
    truth = [entry("a:9", 2), entry("b:1-11", 1)]
    found = matched(["a:6", "a:4-7", "b:12-30"], truth, "function")
    # <module>; one and Two; three
    assert (row(found.gains), row(found.ideal)) == ([0, 0, 2, 1], [2, 2, 1])
    assert row(matched(["a"], truth, "function").gains) == [0, 2, 2]
    outside = [entry("a:25", 1), entry("c:9", 2)]  # lines in no function are their module
    assert row(matched(["c:1-3", "a:6", "a:22-30"], outside, "function").gains) == [2, 1]
    truth = [entry("a:1-5", 1), entry("a:9-10", 3), entry("b:1-2", 0)]
    found = matched(["c:1-3", "b:7-8", "c:8-9", "a:100-120"], truth, "file")
    assert (row(found.gains), row(found.wrong), row(found.ideal)) == ([0, 0, 3], [False, True, False], [3])
    assert found.irrelevant.tolist() == [1]
    found = match({"x": [Span("a")], "b": [Span("a")]}, {"c": [entry("a", 1)], "b": [entry("a", 1)]}, "file")
    assert (found.queries, found.filled.tolist()) == (("c", "b"), [0, 1])
    assert parse("Hit@1").of(found).tolist() == [0, 1]


def test_a_result_costs_once_and_what_shows_nothing_new_counts_to_the_next():
    run = ["a:1-10", "a:11-12", "a:1-10", "b:1-3", "a:20-24"]
    found = matched(run, [entry("b", 1)], "file", cost=lambda span: 10 * span.end)
    assert (row(found.tokens), row(found.lines)) == ([100, 120 + 30], [10, 2 + 3])
    found = matched(["a:1-8", "a:9", "b:11"], [entry("b", 1)], "function", cost=lambda span: span.end)
    # one, Two, Two.inner, three: the second result shows nothing new
    assert row(found.tokens) == [8, 0, 0, 9 + 11]
    assert matched(run, []).tokens is None
    two = {"p": [Span("a", 1, 1), Span("a", 2, 2)], "q": [Span("b", 1, 1)]}
    assert match(two, {"p": [], "q": []}, "file", cost=lambda _: 7).tokens.tolist() == [[7], [7]]


def test_nothing_asked_nothing_found_and_nothing_right_are_nought():
    names = ("Hit@5", "MRR", "nDCG", "Recall@5", "MAP", "Precision@5", "R-precision", "bpref", "judged@5", "lines@5")
    for unit in UNITS:
        empty = match({}, {}, unit, units=FUNCTIONS.__getitem__)
        assert all(parse(name).of(empty).shape == (0,) for name in names)
        for truth in ([entry("a", 1)], []):
            assert all(value(name, matched([], truth, unit)) == 0 for name in names)
        assert value("Hit@5", matched(["a:3"], [], unit)) == 0


@given(RUNS, ENTRIES)
@FEW
def test_each_rank_earns_what_a_plain_loop_gives_it(run, truth):
    assert row(matched(run, truth).gains) == strict(run, truth)
    found = matched(run, truth, "line published")
    right = [one for one in truth if one.grade]
    assert row(found.gains) == [max([one.grade for one in truth if meets(one, span)], default=0) for span in run]
    met = [sum(any(meets(one, span) for span in run[:k]) for one in right) for k in range(len(run) + 1)]
    assert row(found.found) == np.diff(met).tolist()
    assert row(found.judged) == [any(meets(one, span) for one in truth) for span in run]
    assert (found.right.tolist(), found.irrelevant.tolist()) == ([len(right)], [len(truth) - len(right)])


def test_targets_are_read_and_invalid_ones_and_unknown_units_are_refused():
    assert span_of("src/a.py:3-9") == Span("src/a.py", 3, 9)
    assert span_of("src/a.py:3") == Span("src/a.py", 3, 3)
    assert span_of("C:/a b.py:3-3") == Span("C:/a b.py", 3, 3)
    for whole in ("src/a.py", "doc-12", "https://example.org/a#L1-L2", "a.py:b-9"):
        assert span_of(whole) == Span(whole)
    for target, says in (
        ("a.py:9-3", "invalid line range"),
        ("a.py:0", "count from 1"),
        ("a.py:0-4", "count from 1"),
        ("a.py::Foo.bar", "checkout"),
    ):
        with pytest.raises(InputError, match=says):
            span_of(target)
    for unit, says in (("fil", "did you mean 'file'"), ("function", "units=")):
        with pytest.raises(InputError, match=says):
            match({}, {}, unit)


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


def qrels_and_scores(seed):
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
        qrels, scores = qrels_and_scores(seed)
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


def test_success_reads_whole_results_while_they_fit_and_lines_are_what_a_reader_reads():
    costs = {"z": 10, "a": 20, "y": 99, "b": 1}
    for tokens, wanted in ((1, 0), (29, 0), (30, 0.5), (129, 0.5), (130, 1), (9999, 1)):
        found = of(f"success@{tokens}tokens", list(costs), {"a": 1, "b": 2}, cost=lambda span: costs[span.path])
        assert found == wanted, tokens
    with pytest.raises(InputError, match="cost="):
        of("success@10tokens", ["a"], {"a": 1})
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
