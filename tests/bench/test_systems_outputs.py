from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.bench.systems.tool_answers import Keys, PrintedResult, ordered, parse, reach
from assay.errors import AssayError, InputError


def test_lines_of_a_grep_and_of_a_search():
    text = "src/a.py:12:    return x\nsrc/b.py:3-9\n--\n1. src/c.py:4-5 (0.8)\n- d.py:7:2: found\n"
    assert parse(text) == [
        PrintedResult("src/a.py", 12, 12),
        PrintedResult("src/b.py", 3, 9),
        PrintedResult("src/c.py", 4, 5),
        PrintedResult("d.py", 7, 7),
    ]


def test_json_by_the_usual_keys():
    flat = {"query": "x", "results": [{"file_path": "a.py", "start_line": 3, "end_line": 5, "score": 0.5}]}
    assert parse(json.dumps(flat)) == parse(json.dumps(flat["results"])) == [PrintedResult("a.py", 3, 5, 0.5)]
    nested = {"data": {"hits": [{"score": "2", "chunk": {"path": "b.py", "startLine": 1, "endLine": 4}}]}}
    assert parse(json.dumps(nested)) == [PrintedResult("b.py", 1, 4, 2.0)]
    assert parse('{"file": "c.py", "line": 7}') == [PrintedResult("c.py", 7, 7)]
    text = '{"path": "a.py", "line": 1}\n{"path": "b.py", "line": 2}\n'
    assert parse(text) == parse(text, "jsonl") == [PrintedResult("a.py", 1, 1), PrintedResult("b.py", 2, 2)]
    for empty in ('{"results": []}', "[]", '{"query": "x", "answer": {"hits": []}}'):
        assert parse(empty) == []


def test_json_by_named_keys():
    text = json.dumps({"groups": [{"hits": [{"at": {"uri": "a.py"}, "lines": [3, 8]}]}, {"hits": []}]})
    where = Keys("groups.*.hits", "at.uri", "lines.0", "lines.1")
    assert parse(text, "json", where) == [PrintedResult("a.py", 3, 8)]
    ripgrep = '{"type":"begin"}\n{"type":"match","data":{"path":{"text":"a.py"},"line_number":3}}\n'
    where = Keys(path="data.path.text", start="data.line_number")
    assert parse(ripgrep, "jsonl", where) == [PrintedResult("a.py", 3, 3)]
    no_lines = json.dumps({"results": [{"doc": "a.txt", "score": 1}]})
    assert parse(no_lines, "json", Keys(path="doc")) == [PrintedResult("a.txt", 0, 0, 1.0)]
    assert parse('{"hits": []}', "json", Keys("hits")) == []
    assert parse('{"groups": []}', "json", Keys("groups.*.hits")) == []


def test_garbage_is_an_error_and_not_nothing():
    for text, said in (
        ("Segmentation fault", "no line of the output"),
        ('{"error": "no index"}', "no index"),
        ('{"status": "ok"}', "names a file"),
        ('{"results": [{"name": "f"}]}', "names a file"),
        ('{"results": [{"doc": "a.txt", "score": 1}]}', "names a file"),
        ('{"results": [', "not JSON"),
        ('[{"path": "a.py"}]', "names a file"),
        ("[" * 100_000, "not JSON"),
    ):
        with pytest.raises(AssayError, match=said):
            parse(text)
    with pytest.raises(AssayError, match="no 'hits'"):
        parse('{"results": []}', "json", Keys("hits"))
    with pytest.raises(InputError, match="did you mean 'json'"):
        parse("x", "jsn")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda s: st.lists(s) | st.dictionaries(st.text(max_size=5), s),
    max_leaves=12,
)


@given(ANY, st.text(max_size=200))
@settings(max_examples=30)
def test_nothing_that_is_printed_breaks_the_reader(value: object, text: str):
    with suppress(AssayError):
        assert all(isinstance(one, PrintedResult) for one in parse(json.dumps(value), "json"))
    with suppress(AssayError):
        assert all(one.path and one.end >= 0 for one in parse(text))


def test_reach_takes_keys_positions_and_all():
    value = {"a": [{"b": 1}, {"b": 2}, {}], "c": {"x": 3, "y": 4}}
    assert (list(reach(value, "a.*.b")), list(reach(value, "a.1.b"))) == ([1, 2], [2])
    assert (list(reach(value, "c.*")), list(reach(value, "a.7"))) == ([3, 4], [])


def test_near_matches_become_one_range_and_the_fullest_comes_first():
    places = (("b.py", 40), ("a.py", 1), ("a.py", 9), ("a.py", 12))
    found = [PrintedResult(path, line, line) for path, line in places]
    assert ordered(found, 5, "count") == [
        PrintedResult("a.py", 9, 12, 2.0),
        PrintedResult("b.py", 40, 40, 1.0),
        PrintedResult("a.py", 1, 1, 1.0),
    ]
    assert [one.start for one in ordered(found, 0, "printed")] == [40, 1, 9, 12]
    assert [(one.path, one.start) for one in ordered(found, 10, "printed")] == [("b.py", 40), ("a.py", 1)]
    found = [PrintedResult("a.py", 1, 2, 0.1), PrintedResult("b.py", 1, 2, 0.9)]
    assert [one.path for one in ordered(found, 0, "score")] == ["b.py", "a.py"]
    assert len(ordered([PrintedResult("a.py", 1, 1)] * 2, 0, "printed")) == 2
