from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.search.query_words import QueryWords, query_words

TABLE = [
    ("where are retries", QueryWords("where are retries")),
    ("retries lang:py,go", QueryWords("retries", languages=("py", "go"))),
    ("-file:tests file:src/** retries", QueryWords("retries", paths=("!tests", "src/**"))),
    ('file:"a b/*.py" x', QueryWords("x", paths=("a b/*.py",))),
    ("repo:api-* -repo:old q", QueryWords("q", repositories=("api-*", "!old"))),
    ("kind:class,-x y", QueryWords("y", kinds=("class", "-x"))),
    ("sym:Task.retry", QueryWords("Task retry", symbols=("Task.retry",), by_meaning=False)),
    ('how is "not found" said', QueryWords('how is "not found" said', exact=("not found",))),
    ('"not found"', QueryWords('"not found"', exact=("not found",), by_meaning=False)),
    (r'"say \"hi\""', QueryWords(r'"say \"hi\""', exact=('say "hi"',), by_meaning=False)),
    (r"/def \w+_retry/", QueryWords("def _retry", patterns=(r"def \w+_retry",), by_meaning=False)),
    (r"/a\/b/ c", QueryWords("c", patterns=("a/b",))),
    ("/about/", QueryWords("about", patterns=("about",), by_meaning=False)),
    (r"/^\s+$/", QueryWords("", patterns=(r"^\s+$",), by_meaning=False)),
    ("kind:class", QueryWords("", kinds=("class",), by_meaning=False)),
]
PLAIN = [
    "what does file:// mean",
    "KeyError: 'lang'",
    "std::vector kind of",
    "lang: python",
    "a / b / c",
    "/usr/local/bin is missing",
    "where is /api/users/ handled",
    "/about and /about/ reach the same handler",
    'print("hello")',
    'File "x.py", line 3, in f',
    "profile:cpu",
    "a\nlang:py",
    f"{'long ' * 80}lang:py",
]


@pytest.mark.parametrize(("typed", "wanted"), TABLE)
def test_query_words_are_taken_out_of_a_query(typed: str, wanted: QueryWords):
    assert query_words(typed) == wanted


@pytest.mark.parametrize("typed", PLAIN)
def test_what_only_looks_like_a_query_word_stays(typed: str):
    assert query_words(typed) == QueryWords(typed)


@given(st.text(max_size=60))
def test_any_text_is_taken_apart(typed: str):
    words = query_words(typed)
    assert not words.is_plain or words.text == typed
