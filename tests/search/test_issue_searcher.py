"""Issues asked part by part: what is pooled, what is spread, and that questions are asked as they stand."""

from __future__ import annotations

import pytest

from assay.search.hybrid import LearnedSearcher
from assay.search.issue_searcher import WEIGHTS, IssueSearcher, pooled
from assay.types import Chunk, Hit, Query

CHUNKS = [
    Chunk(f"{path}:{n}", f"def {name}_{n}():\n    {body}\n", "python", path, n, n + 1, f"{name}_{n}", "function")
    for path, name, body in (
        ("src/post/send.py", "send_letter", "deliver the letter to the relay"),
        ("src/post/box.py", "open_box", "take a letter out"),
        ("src/post/relay.py", "connect", "busy relay"),
        ("tests/test_send.py", "test_send_letter", "deliver the letter twice"),
    )
    for n in range(1, 13, 2)
]
ISSUE = "The letter is delivered twice\n\n" + "The relay was busy and the letter went out again. " * 8


@pytest.fixture
def searchers(snapshot_of, encoder):
    snapshot = snapshot_of(CHUNKS)
    inner = LearnedSearcher(snapshot, encoder)
    return inner, IssueSearcher(inner, snapshot)


def hit(path, number, score):
    return Hit(Chunk(f"{path}:{number}", "", "python", path, number, number), score)


def test_questions_are_asked_as_they_stand(searchers):
    inner, issues = searchers
    queries = [Query("1", "send letter"), Query("2", "busy relay\nconnect")]
    assert issues.search(queries, 9) == inner.search(queries, 9)
    assert issues.search([queries[0], Query("3", ISSUE)], 9)[0] == inner.search(queries, 9)[0]


def test_no_file_has_more_than_three_places(searchers):
    _, issues = searchers
    paths = [one.chunk.path for one in issues.search([Query("1", ISSUE)], 20)[0]]
    assert max(paths.count(path) for path in paths) == 3
    assert len(set(paths)) == 4


def test_a_file_that_is_named_comes_up(searchers):
    _, issues = searchers
    (without,), (named,) = (
        issues.search([Query("1", ISSUE + more)], 20) for more in ("", '\n  File "/x/post/box.py", line 3, in open_box')
    )
    places = [[one.chunk.path for one in hits].index("src/post/box.py") for hits in (without, named)]
    assert places[1] < places[0]
    assert next(one for one in named if one.chunk.path == "src/post/box.py").why["file_named"] > 0


def test_an_issue_without_a_title_is_asked_as_a_whole(searchers):
    _, issues = searchers
    (hits,) = issues.search([Query("1", "### What happens\n\n" + ISSUE + "\nsrc/post/box.py:3")], 20)
    assert {name for one in hits for name in one.why} == {"text", "named", "file_text", "file_named"}


def test_filters_hold_for_what_is_named(searchers):
    _, issues = searchers
    text = ISSUE + "\nsee src/post/box.py and src/post/send.py"
    (hits,) = issues.search([Query("1", text, paths=("!box.py",))], 20)
    assert {one.chunk.path for one in hits} == {
        path for path in (c.path for c in CHUNKS) if not path.endswith("box.py")
    }


def test_a_test_that_is_named_is_not_where_the_fault_is(searchers):
    _, issues = searchers
    (hits,) = issues.search([Query("1", ISSUE + "\ntests/test_send.py:3: AssertionError")], 20)
    assert not any("file_named" in one.why for one in hits)


def test_a_score_is_half_its_own_and_half_its_file_s():
    answers = {"title": [hit("a", 1, 0.6), hit("a", 5, 0.3)], "text": [hit("b", 1, 0.4), hit("a", 5, 0.2)]}
    found = {one.chunk.id: one for one in pooled(answers, {})}
    assert WEIGHTS == {"title": 1.0, "text": 0.5, "named": 0.5}
    assert found["a:1"].score == pytest.approx((0.6 + 0.6 + 0.5 * 0.2) / 3)
    assert found["a:5"].score == pytest.approx((0.3 + 0.5 * 0.2 + 0.6 + 0.5 * 0.2) / 3)
    assert found["b:1"].score == pytest.approx((0.5 * 0.4 + 0.5 * 0.4) / 3)
    assert list(found) == ["a:1", "a:5", "b:1"]
    assert all(sum(one.why.values()) == pytest.approx(one.score) for one in found.values())


def test_what_is_named_counts_for_its_file():
    answers = {"title": [hit("a", 1, 0.6)], "text": [], "named": [hit("c", 1, 0.2)]}
    found = {one.chunk.id: one.score for one in pooled(answers, {"c": 0.5})}
    assert found == pytest.approx({"a:1": 1.2 / 4, "c:1": (0.5 * 0.2 + 0.5 * 0.5) / 4})


def test_all_certain_is_certain():
    certain = [hit("a", 1, 1.0)]
    (found,) = pooled({"title": certain, "text": certain}, {})
    assert found.score == pytest.approx(1)
