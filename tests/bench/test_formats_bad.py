"""Bad rows of ground truth are told with their line and the rest counts; a format drops nothing without saying so."""

# ruff: noqa: E501  (a table of pieces)

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import AssayError, InputError, StorageError
from assay.truth import truth_formats
from assay.truth.ground_truth import Truth
from assay.values import Chunk, Judgment, Query

NO_PLACE, NO_RANGE = "wanted path:start-end:grade", "lines count from 1, and a range ends where it starts or later"
NO_GRADE, ABSOLUTE = "wanted a whole number from 1", "is absolute, wanted a path relative to the repository"
BAD_ROWS = {
    b"q,a.py:2": f"2: 'a.py:2': {NO_PLACE}",
    b"q,a.py:9-3:2": f"2: 'a.py:9-3:2': {NO_RANGE}",
    b"q,a.py:1-2:-1": f"2: 'a.py:1-2:-1': grade '-1', {NO_GRADE}",
    b"q,a.py:1-2:best": f"2: 'a.py:1-2:best': grade 'best', {NO_GRADE}",
    b"q,/etc/passwd:1-2:2": f"2: '/etc/passwd:1-2:2': '/etc/passwd' {ABSOLUTE}",
    b"q,C:\\a.py:1-2:2": f"2: 'C:\\a.py:1-2:2': 'C:\\a.py' {ABSOLUTE}",
    b"q,a/../../b.py:1-2:2": "2: 'a/../../b.py:1-2:2': 'a/../../b.py' leads out of the repository",
    b" ,a.py:1-2:2": "2: the query is empty",
    b"good,b.py:1-2:2\ngood,a.py:1-2:2": "3: the query of row 2 again: that one counts",
    b"q,a.py:1-2:2,more": "2: a value without a column: 'more'",
    b'"q"x,a.py:1-2:2': "2: not a row of CSV: ',' expected after '\"'",
    b"q\xff,a.py:1-2:2": "2: not UTF-8: byte 0xff at column 2",
    b"q\0,a.py:1-2:2": "2: a NUL byte",
    b"x" * 200_000 + b",a.py:1-2:2": "2: not a row of CSV: field larger than field limit (131072)",
    b"q,a.py:1-" + b"9" * 5000 + b":1": "2: 'a.py:1-9",
    b"q," + b"a/" * 3000 + b"b.py:1-2:1": "2: 'a/a/",
}


def test_a_bad_row_of_csv_is_told_and_the_rest_counts(tmp_path: Path):
    for rows, said in BAD_ROWS.items():
        (tmp_path / "a.csv").write_bytes(b"query,result1\n" + rows + b"\nlast,a.py:1-2:2\n")
        reading = truth_formats.read(tmp_path / "a.csv")
        assert str(reading.problems[0]).startswith(f"a.csv:{said}")
        assert (reading.truth.queries[-1].text, reading.truth.judgments[-1].target) == ("last", "a.py:1-2")


def test_one_bad_answer_leaves_the_others_and_none_left_leaves_the_query_out(tmp_path: Path):
    (tmp_path / "a.csv").write_text("query,result1,result2,result3\nq,a.py:1-2:2,b.py:5:x,a.py:1-2:1\nr,x,y,\ns,,,\n")
    reading = truth_formats.read(tmp_path / "a.csv")
    assert [(query.id, query.text) for query in reading.truth.queries] == [("1", "q"), ("3", "s")]
    assert [each.target for each in reading.truth.judgments] == ["a.py:1-2"]
    assert [problem.where for problem in reading.problems] == ["a.csv:2", "a.csv:2", "a.csv:3", "a.csv:3", "a.csv:3"]
    assert reading.problems[-1].what == "no answer of the query can be used: it is left out"
    text = 'query,result1\n"two\nlines",a.py:1-2:2\n\n"open,a.py:1-2:2\nq,a.py:1-2:x\nr,a.py:1-2:2\n'
    (tmp_path / "a.csv").write_text(text)
    reading = truth_formats.read(tmp_path / "a.csv")
    assert [query.text for query in reading.truth.queries] == ["two\nlines", "r"]
    assert [problem.where for problem in reading.problems] == ["a.csv:5", "a.csv:6", "a.csv:6"]
    assert reading.rows == (2, 7), "rows are physical lines"


def test_columns_that_look_wrong_are_told_and_others_are_tags(tmp_path: Path):
    header = "query,knd,result1,reslt2,author,author,,results\n"
    (tmp_path / "a.csv").write_text(header + "q,hard,a.py:1-2:2,b.py:1-2:2,me,you,,c.py:1-2:1\n")
    reading = truth_formats.read(tmp_path / "a.csv")
    assert [str(problem) for problem in reading.problems] == [
        "a.csv:1: unknown column 'knd'; did you mean 'kind'? It is left out",
        "a.csv:1: unknown column 'reslt2'; did you mean 'result2'? It is left out",
        "a.csv:1: column 'author' is there twice: the first counts",
        "a.csv:1: unknown column 'results'; did you mean 'result1'? It is left out",
    ]
    assert reading.truth.queries[0].tags == {"author": "me"}
    names = ",".join(f"resul{n}" for n in range(12_500))  # guesses cost: only the first columns have theirs
    (tmp_path / "a.csv").write_text(f"query,result1,{names}\nq,a.py:1-1:1\n")
    reading = truth_formats.read(tmp_path / "a.csv")
    assert (len(reading.truth.queries), len(reading.problems)) == (1, 98)


def record(kind: str, /, **fields: object) -> dict[str, object]:
    return {"type": kind, **fields}


def judgment(target: str = "b.py", **fields: object) -> dict[str, object]:
    return {"type": "judgment", "query_id": "1", "target": target, "grade": 1, **fields}


def records(*more: object) -> str:
    good = [record("query", id="1", text="good"), judgment("a.py:1-2")]
    return "\n".join(each if isinstance(each, str) else json.dumps(each) for each in (*good, *more))


BAD_RECORDS = [
    ("{nope", "not JSON: Expecting property name enclosed in double quotes"),
    ("[" * 100_000, "not JSON: "),
    ("7", "wanted a JSON object, found int '7'"),
    (record("qery"), "unknown type 'qery'; known: truth, query, judgment, document"),
    ({"type": ["query"]}, "unknown type"),
    (record("query", id="2"), "it has no 'text'"),
    (record("query", id="2", text="x", tags={"a": 1}), "tags.a is '1', wanted text"),
    (record("query", id="2", text="x", mode="fast"), "mode is 'fast', wanted one of "),
    (record("query", id="2", text="x", tag={}), "unknown field 'tag'; did you mean 'tags'?"),
    (record("query", id="1", text="x"), "query '1' is there twice: the first counts"),
    (record("query", id="2", text=" "), "the query is empty"),
    (judgment(grade=-1), "grade is '-1', wanted a whole number from 0"),
    (judgment(grade=10**400), "grade is '1000"),
    (judgment(grade=1001), "grade 1001 is beyond any scale"),
    (judgment(query_id="9"), "there is no query '9'"),
    (judgment("b.py:9-3"), "invalid line range 'b.py:9-3'; "),
    (judgment("b.py:9-"), "'b.py:9-' is a broken range of lines"),
    (judgment("b.py::"), "'b.py::' names no symbol after '::'"),
    (judgment("/b.py"), "'/b.py' is absolute"),
    (judgment("../b.py::f"), "'../b.py' leads out of the repository"),
    (judgment("b\0.py"), "'b\\x00.py' is not a path"),
    (record("truth", format=2), "format 2, this reads 1"),
    (record("truth", hidden="a.py"), "hidden is not a list"),
]


def test_a_bad_record_hidden_line_or_document_is_told_and_the_rest_counts(tmp_path: Path):
    for bad, said in BAD_RECORDS:
        (tmp_path / "a.jsonl").write_text(records(bad, judgment("last.py")))
        reading = truth_formats.read(tmp_path / "a.jsonl")
        assert len(reading.problems) == 1
        assert str(reading.problems[0]).startswith(f"a.jsonl:3: {said}")
        assert reading.truth.judgments[-1].target == "last.py"
    head = record("truth", hidden=["../a.py:1-2", "/etc/passwd", "b.py:2-1", "c.py::f", "a.py:1-2"])
    (tmp_path / "a.jsonl").write_text(records(head))
    reading = truth_formats.read(tmp_path / "a.jsonl")
    assert (len(reading.problems), reading.truth.hidden) == (3, ("c.py::f", "a.py:1-2"))
    documents = [record("document", id=name, text="x", path=name) for name in ("d:7", "a::b", "", "d", "d")]
    (tmp_path / "a.jsonl").write_text(records(*documents, judgment("d"), judgment("e")))
    reading = truth_formats.read(tmp_path / "a.jsonl")
    assert [problem.where for problem in reading.problems] == [f"a.jsonl:{row}" for row in (5, 7, 2, 9)]
    assert [each.target for each in reading.truth.judgments] == ["d"]


def test_a_bad_line_of_qrels_is_told_and_the_rest_counts(tmp_path: Path):
    for line, said in (
        ("1 0 b.py", "3 fields, wanted 4"),
        ("1 0 b.py 1e3", "grade '1e3', wanted a whole number"),
        ("1 0 b.py 0.5", "grade '0.5', wanted a whole number"),
        ("1 0 /b.py 1", f"'/b.py' {ABSOLUTE}"),
        ("1 0 a.py 1", "'a.py' is judged twice for query '1': the first counts"),
        ("2 0 a.py 1", "query '2' is not in a.topics.tsv: its id stands for its text"),
        (f"1 0 a.py:{'9' * 5000} 1", "'a.py:9"),
    ):
        (tmp_path / "a.qrels").write_text(f"1 0 a.py 1\n{line}\n1 Q0 last.py 3\n")
        (tmp_path / "a.topics.tsv").write_text("1\task\n")
        reading = truth_formats.read(tmp_path / "a.qrels")
        assert len(reading.problems) == 1
        assert str(reading.problems[0]).startswith(f"a.qrels:2: {said}")
        assert reading.truth.judgments[-1].target == "last.py"
    (tmp_path / "b.qrels").write_text("1 0 a.py 1\n2 0 a.py 1\n")
    reading = truth_formats.read(tmp_path / "b.qrels")
    assert [query.text for query in reading.truth.queries] == ["1", "2"]
    assert len(reading.problems) == 1
    assert "give b.topics.tsv" in str(reading.problems[0])


def test_a_folder_of_texts_with_bad_rows_and_a_list_that_breaks_off_keep_the_rest(tmp_path: Path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"_id": "d2", "text": 3}\nnope\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "x"}\n{"_id": "q2"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td9\t1\nq9\td1\t1\nq1\td1\t2\nq1\td1\nq1\td1\tx\n"
    )
    reading = truth_formats.read(tmp_path)
    assert [problem.where for problem in reading.problems] == [
        "corpus.jsonl:2", "corpus.jsonl:3", "queries.jsonl:2",
        "test.tsv:3", "test.tsv:4", "test.tsv:5", "test.tsv:6", "test.tsv:7",
    ]  # fmt: skip
    assert len(reading.truth.judgments) == 1
    good = '{"idx": "a", "doc": "ask", "code": "x", "label": 1}'
    (tmp_path / "dev.json").write_text(f'[\n{good},\n{{"idx": "b", "doc": 5, "code": "x"}},\n7,\n{{"idx": "c", "d')
    reading = truth_formats.read(tmp_path / "dev.json")
    assert len(reading.truth.judgments) == 1
    assert [problem.where for problem in reading.problems] == ["dev.json:3", "dev.json:4", "dev.json:5"]


def test_instances_and_annotations_that_cannot_be_used(tmp_path: Path):
    good = {"instance_id": "a", "repo": "o/a", "base_commit": "c", "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}
    asked = {**good, "problem_statement": "p"}
    rows = [
        asked,
        good | {"instance_id": "b"},
        asked | {"instance_id": "c", "patch": "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n"},
        asked | {"instance_id": "d", "edit_functions": "no list"},
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reading = truth_formats.read(tmp_path / "a.jsonl")
    assert [query.id for query in reading.truth.queries] == ["a", "d"]
    assert [str(problem) for problem in reading.problems] == [
        "a.jsonl:2: an instance without a text 'problem_statement'",
        "a.jsonl:3: instance 'c' changes no file that was there before: it is left out",
        "a.jsonl:4: edit_functions, wanted a list of 'path:Class.name'",
    ]
    url = "https://github.com/o/n/blob/c/a.go"
    rows = [f"Go,q,{url}#L1-L2,1,", "Go,q,x,1,", f"Go,q,{url}#L9-L2,1,", f"Go,q,{url}#L1,-1,", f"Go,,{url}#L1,1,"]
    (tmp_path / "a.csv").write_text("\n".join(["Language,Query,GitHubUrl,Relevance,Notes", *rows]))
    reading = truth_formats.read(tmp_path / "a.csv")
    assert [problem.where for problem in reading.problems] == ["a.csv:3", "a.csv:4", "a.csv:5", "a.csv:6"]
    assert len(reading.truth.judgments) == 1


def test_a_parquet_file_of_few_bytes_and_endless_text_is_refused(tmp_path: Path):
    arrow, parquet = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    many = arrow.DictionaryArray.from_arrays(arrow.array([0] * 3000, arrow.int32()), arrow.array(["x" * 3_000_000]))
    rows = arrow.table({"_id": [f"d{n}" for n in range(3000)], "text": many})
    parquet.write_table(rows, tmp_path / "corpus.parquet", compression="zstd")
    parquet.write_table(arrow.table({"_id": ["1"], "text": ["send"]}), tmp_path / "queries.parquet")
    pairs = {"query-id": ["1"], "corpus-id": ["d1"], "score": [1]}
    parquet.write_table(arrow.table(pairs), tmp_path / "test.parquet")
    assert (tmp_path / "corpus.parquet").stat().st_size < 100_000
    with pytest.raises(InputError, match="more than 8 GB of text"):
        truth_formats.read(tmp_path)


def test_nothing_usable_is_an_error(tmp_path: Path):
    unusable = "has no usable query"
    for name, content, said in (
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\xef\xbb\xbf \n", "is empty"),
        ("a.csv", b"query,result1\n", unusable),
        ("a.csv", b"query,result1\n,\nq,x\n", f"{unusable}: a.csv:3: 'x': wanted path:start-end:grade (and 1"),
        ("a.csv", b"query,kind\nq,hard\n", "a.csv:1: no column 'result1'; found: query, kind"),
        ("a.csv", "query,result1\nq,a.py:1-2:2".encode("utf-16"), "a.csv is UTF-16, wanted UTF-8"),
        ("a.jsonl", b'{"type": "query"\n', "cannot tell the format of '{path}' (a.jsonl:1: not JSON: "),
        ("a.txt", b"1 Q0 a.py 1 0.5 tag\n", "looks like a TREC run, which holds answers, not ground truth"),
        ("a.json", b'{"query": 1}', "cannot tell the format"),
        ("a.qrels", b"\x00\x01\x02", "cannot tell the format"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError) as raised:
            truth_formats.read(tmp_path / name)
        assert said.format(path=tmp_path / name) in str(raised.value)


PIECES = [
    b"query", b"kind", b"result1", b",", b",", b"\n", b"\n", b"\r\n", b'"', b"a.py:1-2:2", b"a.py", b":", b"-", b"1", b"2",
    b"\t", b" ", b"q", b"Q0", b"0", b"\xff", b"\0", b"{", b"}", b"[", b"]", b'"type": "query"', b'"id": "1"', b'"text": ', b"null",
    b'"idx": "1"', b'"doc": "x"', b'"code": {}', b'"label": []', b'"instance_id": "x"', b'"repo": 1', b'"patch": "@@ -1 +1 @@"',
    b"Language,Query,GitHubUrl,Relevance,Notes", b"https://github.com/o/n/blob/c/a#L1-L2", b"::", b"../", b"\xe2\x80\xa8",
]  # fmt: skip


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=30), form=st.sampled_from(sorted(truth_formats.FORMATS)))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_file_brings_a_reader_down(tmp_path: Path, pieces: list[bytes], form: str):
    file = tmp_path / "a.json"
    file.write_bytes(b"".join(pieces))
    for chosen in (form, ""):
        with suppress(AssayError):
            reading = truth_formats.read(file, chosen)
            known = {query.id for query in reading.truth.queries}
            assert {each.query_id for each in reading.truth.judgments} <= known


SAID = (("a.py:1-2", 2, "me", "because"), ("a.py:1-2", 1), ("b.py", 1), ("c d.py:1-2", 0), ("e.py::f", 1))
PLACES = Truth(
    "set",
    (Query("a", "ask\nmore", mode="code", tags={"kind": "hard", "qery": "x"}), Query("b", "idle")),
    tuple(Judgment("a", *each) for each in SAID),
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
