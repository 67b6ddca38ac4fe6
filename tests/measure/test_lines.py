"""Spans: what overlaps what, and targets that read as they print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.measure.line_spans import Span, span_of

PATHS = st.text("ab/.:_ é\n", min_size=1).filter(lambda path: "::" not in path)
SPANS = st.one_of(
    st.builds(Span, PATHS),
    st.builds(lambda path, start, more: Span(path, start, start + more), PATHS, st.integers(1, 99), st.integers(0, 99)),
)


@pytest.mark.parametrize(
    ("start", "end", "touches"), [(1, 9, False), (1, 10, True), (20, 20, True), (50, 99, True), (51, 99, False)]
)
def test_two_ranges_overlap_when_they_share_a_line(start, end, touches):
    entry = Span("a.py", 10, 50)
    assert Span("a.py", start, end).overlaps(entry) is touches
    assert entry.overlaps(Span("a.py", start, end)) is touches
    assert not Span("b.py", start, end).overlaps(entry)


@pytest.mark.parametrize("other", [Span("a.py"), Span("a.py", 1, 1), Span("a.py", 99, 100)])
def test_a_whole_file_overlaps_everything_in_it(other):
    assert Span("a.py").overlaps(other)
    assert other.overlaps(Span("a.py"))
    assert not Span("b.py").overlaps(other)


@pytest.mark.parametrize(
    ("target", "span"),
    [
        ("src/a.py:3-9", Span("src/a.py", 3, 9)),
        ("src/a.py:3", Span("src/a.py", 3, 3)),
        ("src/a.py", Span("src/a.py")),
        ("C:/a b.py:3-3", Span("C:/a b.py", 3, 3)),
        ("doc-12", Span("doc-12")),
        ("https://example.org/a#L1-L2", Span("https://example.org/a#L1-L2")),
        ("a.py:b-9", Span("a.py:b-9")),
    ],
)
def test_a_target_is_read(target, span):
    assert span_of(target) == span


@given(SPANS)
def test_a_target_reads_as_it_prints(span):
    assert span_of(str(span)) == span


@pytest.mark.parametrize(
    ("target", "says"),
    [("a.py:9-3", "no range"), ("a.py:0", "count from 1"), ("a.py:0-4", "count from 1"), ("a.py::Foo.bar", "checkout")],
)
def test_what_cannot_be_read_is_said(target, says):
    with pytest.raises(InputError, match=says):
        span_of(target)
