"""Lists: files before more of one file where a topic is asked for, and weights learned on truth of both manners."""

from __future__ import annotations

import numpy as np
import pytest

from assay.search.list_order import (
    EVIDENCE,
    FORMS,
    ORDER_WEIGHTS,
    ListEvidence,
    ListOrder,
    QuestionTerms,
    evidence_of,
    file_support,
    form_of,
)
from assay.search.question import understand
from assay.values import Chunk


def order(**weights):
    return ListOrder.of(weights)


def evidence(odds, files):
    rows = np.zeros((len(odds), len(EVIDENCE)))
    return ListEvidence(rows, np.array(files), file_support(np.array(odds, np.float32), np.array(files)))


def listed(order, text, odds, files):
    scores = order.scores(understand(text), np.array(odds, float), evidence(odds, files))
    return np.argsort(-scores, kind="stable").tolist(), scores


def test_a_further_hit_of_a_file_is_worth_less_and_the_best_as_much_as_before():
    best, scores = listed(order(again_topic=1.0), "retry middleware", [3.0, 2.9, 2.8, 2.2], [0, 0, 0, 1])
    assert best == [0, 3, 1, 2]
    assert scores.max() == pytest.approx(3.0)
    same, _ = listed(order(again_topic=1.0), "where is the file locked before it is written", [3, 2.9, 2.0], [0, 0, 1])
    assert same == [0, 1, 2], "a sentence asks for units"


def test_what_else_of_a_file_is_good_lifts_its_best_hit_alone_where_how_is_asked():
    best, _ = listed(order(file_how=1.0), "how are routes matched", [2.0, 1.9, 1.8, 1.7], [0, 1, 1, 1])
    assert best == [1, 0, 2, 3]
    forms = {"APIRouter": "name", "how routes match": "how", "retry middleware": "topic", "where is it read?": "other"}
    assert {text: FORMS[form_of(text, understand(text).typed)] for text in forms} == forms


def test_evidence_is_of_names_files_and_types():
    question = understand("RetryMiddleware and backoff for HttpClient")
    chunks = [
        Chunk("1", "class", "python", "lib/retry_middleware.py", 1, 9, "RetryMiddleware", "class"),
        Chunk("2", "HttpClient RetryMiddleware", "python", "lib/x.py", 1, 9, "send", "method", "HttpClient"),
        Chunk("3", "nothing", "python", "lib/backoff/__init__.py", 1, 9),
    ]
    weights = np.full(len(question.terms), 1 / len(question.terms), np.float32)
    found = evidence_of(QuestionTerms(question, weights), chunks).tolist()
    rows = [dict(zip(EVIDENCE, row, strict=True)) for row in found]
    assert rows[0]["typed"] == rows[0]["typed_type"] == 1
    assert rows[0]["file_whole_short"] > 0 == rows[1]["file_whole_short"]
    assert rows[1]["member_of_typed"] == rows[1]["uses_typed"] == 1
    assert rows[2]["file_words"] > 0, "a file of a generic name is called like its folder"


def test_the_order_is_learned_on_files_and_on_lines_and_measured_where_it_was_not():
    pytest.importorskip("torch")
    from assay.train.ranking import FILES, LINES, ListExample, fit_order, order_figures

    dice = np.random.default_rng(0)

    def example(number):
        by_file = number % 2 == 0
        odds = np.sort(dice.normal(size=8))[::-1]
        files = np.array([0, 0, 0, 0, 1, 1, 2, 3])
        answers = np.array([files == 2, files == 1]) if by_file else (np.arange(8) == 1)[None, :]
        text = "retry middleware" if by_file else "where is the file locked before it is written"
        manner = FILES if by_file else LINES
        return ListExample(understand(text), f"group {number % 3}", manner, odds, evidence(odds, files), answers)

    examples = [example(number) for number in range(40)]
    weights = dict(zip(ORDER_WEIGHTS, fit_order(examples).weights.tolist(), strict=True))
    assert weights["again_topic"] > 0.2
    figures = {(each.group, each.system): each.figures[0].value for each in order_figures(examples, 2)}
    assert figures[FILES, "as a list"] > figures[FILES, "by score"]
    assert figures[LINES, "as a list"] == pytest.approx(figures[LINES, "by score"])
