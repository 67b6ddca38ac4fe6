from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.measure.line_spans import Entry, Span
from assay.search.ranking_examples import gather, judged_queries, worth_of

SPAN = Span("a.py", 11, 20)


def examples_of(judged, encoder):
    truths, checkouts = judged
    return gather(judged_queries(truths, checkouts), checkouts, encoder, frozenset, print)


def test_the_corpus_of_a_truth_is_the_folder_of_its_name(judged):
    truths, checkouts = judged
    queries = judged_queries(truths, checkouts)
    assert {one.repository for one in queries} == {"mail", "shop", "zoo"}
    assert {one.repository for one in queries if one.query.mode == "docs"} == {"mail", "shop"}
    assert {one.query.mode for one in queries if one.repository == "zoo"} == {"code"}


def test_candidates_are_right_where_an_answer_is(judged, encoder, capsys):
    examples = examples_of(judged, encoder)
    for example in examples.own:
        assert len(example.rows) == len(example.spans) == len(example.targets)
        right = {span.path for span, target in zip(example.spans, example.targets, strict=True) if target}
        assert right <= {entry.span.path for entry in example.judged.entries}
    assert any(example.targets.any() for example in examples.own)
    assert "zoo: 3 chunks" in capsys.readouterr().out


def test_every_query_is_put_to_one_repository_that_does_not_answer_it(judged, encoder):
    examples = examples_of(judged, encoder)
    asked = [(one.judged.repository, one.judged.query.text) for one in examples.own]
    assert sorted((one.judged.repository, one.judged.query.text) for one in examples.foreign) == sorted(asked)
    assert not any(one.targets.any() for one in examples.foreign)


def test_examples_are_parted_by_what_they_ask_for(judged, encoder):
    examples = examples_of(judged, encoder)
    code, docs = examples.of("code"), examples.of("docs")
    assert len(code.own) + len(docs.own) == len(examples.own)
    assert {one.judged.query.mode for one in docs.own} == {"docs"}


@pytest.mark.parametrize(
    ("answers", "target"),
    [
        ([Entry(Span("a.py", 11, 20), 2)], 2.0),
        ([Entry(Span("a.py", 1, 100), 2)], 2.0),
        ([Entry(Span("a.py"), 1)], 1.0),
        ([Entry(Span("a.py", 20, 40), 1)], 0.1**0.5),
        ([Entry(Span("a.py", 1, 11), 2), Entry(Span("a.py", 11, 15), 1)], 2 * 0.5**0.5),
        ([Entry(Span("a.py", 11, 20), 0)], 0.0),
        ([Entry(Span("b.py", 11, 20), 2), Entry(Span("a.py", 21, 30), 2)], 0.0),
        ([], 0.0),
    ],
)
def test_long_chunks_do_not_pay(answers, target):
    assert worth_of(SPAN, answers) == pytest.approx(target)


def test_a_truth_without_its_checkout_is_refused(judged, tmp_path: Path):
    truths, _ = judged
    with pytest.raises(InputError, match=r"speaks of the repository 'mail', and there is no folder"):
        judged_queries(truths, tmp_path / "elsewhere")


def test_a_checkout_of_another_commit_is_refused(judged):
    truths, checkouts = judged
    (checkouts / "zoo" / "animals.py").write_text("one = 1\n")
    with pytest.raises(InputError, match=r"zoo\.csv:3: .*the file ends at line 1.*\(\d such targets in 'zoo\.csv'\)"):
        judged_queries(truths, checkouts)


def test_one_repository_is_not_enough(judged):
    truths, checkouts = judged
    with pytest.raises(InputError, match="judged queries of 'zoo' alone; give the ground truths of two"):
        judged_queries([file for file in truths if file.stem == "zoo"], checkouts)


def test_a_question_about_all_of_a_repository_is_an_example_of_each_side(judged, encoder):
    (first, *others), checkouts = judged
    both = first.with_name("mail_both.csv")
    both.write_text("query,kind,writer,result1,result2\nbusy server,standard,A,send.py:1-3:2,README.md:1-3:2\n")
    queries = judged_queries([first, both, *others], checkouts)
    (asked,) = (one for one in queries if one.query.text == "busy server")
    assert (asked.repository, asked.query.mode, asked.group) == ("mail", "all", "writer A")
    examples = gather(queries, checkouts, encoder, frozenset, print).own
    sides = [one for one in examples if one.judged is not None and one.judged.query.text == "busy server"]
    assert [(one.ranking, {span.path for span in one.spans}) for one in sides] == [
        ("code", {"send.py"}),
        ("docs", {"README.md"}),
    ]
    assert all(one.targets.any() for one in sides)
    assert {one.judged.group for one in examples} == {"mail", "shop", "zoo", "writer A"}
