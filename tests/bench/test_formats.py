"""What each format holds comes back as it was, and files of others are read as they mean it."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.judge.pairs import Pair
from assay.judge.pairs import read as read_pairs
from assay.measure.line_spans import Span
from assay.train.pair_files import pair_of
from assay.truth import truth_formats
from assay.truth.formats import csn_corpus, trec
from assay.truth.formats.csn_corpus import at_least, joined
from assay.truth.formats.swebench import by_checkout
from assay.truth.ground_truth import Truth
from assay.truth.truth_formats import UnknownFormat, form_of, read, read_part, write
from assay.values import Chunk, Judgment, Query

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1).filter(str.strip)
LINE = TEXT.filter(lambda text: not set(text) & set("\r\n"))
NAME = st.text("abcXYZ019_-é", min_size=1, max_size=8)
PATH = st.lists(NAME, min_size=1, max_size=3).map("/".join)
LINES = st.tuples(st.integers(1, 999), st.integers(0, 99)).map(lambda pair: f":{pair[0]}-{sum(pair)}")
RANGE = st.tuples(PATH, LINES).map("".join)
TARGET = st.one_of(RANGE, PATH, st.tuples(PATH, NAME).map("::".join))
TAGS = st.dictionaries(st.sampled_from(("kind", "language", "date", "author")), TEXT, max_size=3)
ANY_GRADE = st.integers(0, 3)
ANY_LANGUAGE = st.sampled_from(("", "python"))
NOTHING = st.just("")
COMMIT = st.sampled_from(("", "0123abc"))
ROUND = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def checkouts(draw, *, text=TEXT, target=TARGET, tags=TAGS, lowest=0, judges=NOTHING):
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    queries = tuple(Query(name, draw(text), tags=draw(tags)) for name in names)
    pairs = draw(st.lists(st.tuples(st.sampled_from(names), target), max_size=6, unique=True))
    judgments = tuple(Judgment(*pair, draw(st.integers(lowest, 3)), draw(judges), draw(judges)) for pair in pairs)
    hidden = tuple(draw(st.lists(RANGE, max_size=2)))
    return Truth("set", queries, judgments, (), draw(st.sampled_from(("", "a/b"))), draw(COMMIT), hidden)


@st.composite
def collections(draw, *, grades=ANY_GRADE, tags=TAGS, language=ANY_LANGUAGE):
    """Texts with queries, each of which is judged."""
    codes = draw(st.lists(TEXT, min_size=1, max_size=4, unique=True))
    documents = tuple(Chunk(f"d{at}", code, draw(language), path=f"d{at}") for at, code in enumerate(codes))
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    queries = tuple(Query(name, draw(TEXT), tags=draw(tags)) for name in names)
    targets = st.lists(st.sampled_from(documents), min_size=1, unique_by=lambda document: document.id)
    judgments = tuple(Judgment(name, each.id, draw(grades)) for name in names for each in draw(targets))
    return Truth("set", queries, judgments, documents)


def there_and_back(truth: Truth, path: Path, form: str = "") -> Truth:
    assert truth_formats.write(truth, path, form) == []
    assert truth_formats.form_of(path) == (form or truth_formats.form_to(path, truth))
    reading = truth_formats.read(path)
    assert reading.problems == ()
    return reading.truth


def judgments(*judged: tuple) -> tuple[Judgment, ...]:
    return tuple(Judgment(*each) for each in judged)


def by_query(truth: Truth) -> Truth:
    """Bring judgments in the order of the queries, as a file of one row a query has them."""
    order = [query.id for query in truth.queries]
    judgments = sorted(truth.judgments, key=lambda each: order.index(each.query_id))
    return replace(truth, judgments=tuple(judgments))


@given(truth=st.one_of(checkouts(judges=TEXT), collections()), filters=st.lists(NAME, max_size=2).map(tuple))
@ROUND
def test_jsonl_holds_everything(tmp_path: Path, truth: Truth, filters):
    queries = (replace(truth.queries[0], mode="code", paths=filters, kinds=filters), *truth.queries[1:])
    documents = tuple(replace(each, doc="x\n", start_line=3, kind="class") for each in truth.documents)
    whole = replace(truth, name="another", queries=queries, documents=documents)
    assert there_and_back(whole, tmp_path / "set.jsonl") == whole


@given(truth=checkouts(target=RANGE, lowest=1))
@ROUND
def test_octocode_holds_lines_with_grades_and_tags(tmp_path: Path, truth: Truth):
    assert there_and_back(truth, tmp_path / "set.csv") == by_query(truth)


@given(truth=checkouts(text=LINE, tags=st.just({})).filter(lambda truth: truth.judgments))
@ROUND
def test_trec_holds_targets_of_any_kind(tmp_path: Path, truth: Truth):
    assert there_and_back(truth, tmp_path / "set.qrels") == truth


@given(truth=collections())
@ROUND
def test_beir_holds_texts(tmp_path_factory: pytest.TempPathFactory, truth: Truth):
    assert there_and_back(truth, tmp_path_factory.mktemp("beir") / "set") == truth


@given(truth=collections(grades=st.integers(0, 1), tags=st.just({}), language=st.just("python")))
@ROUND
def test_cosqa_plus_holds_labelled_pairs(tmp_path_factory: pytest.TempPathFactory, truth: Truth):
    assert there_and_back(truth, tmp_path_factory.mktemp("cosqa") / "set", "cosqaplus") == truth


@given(run=st.dictionaries(NAME, st.lists(st.one_of(PATH, RANGE), min_size=1, max_size=5, unique=True), min_size=1))
@ROUND
def test_a_run_keeps_its_order(tmp_path: Path, run):
    spans = {query: [trec.place_of(target) for target in targets] for query, targets in run.items()}
    rows = (
        f"{query} Q0 {span} {rank} {-rank} x\n" for query, found in spans.items() for rank, span in enumerate(found)
    )
    (tmp_path / "a.run").write_text("".join(rows), "utf-8")
    problems = []
    assert trec.read_run(tmp_path / "a.run", problems, 9) == spans
    assert problems == []


def test_a_run_is_ordered_as_trec_eval_does_or_by_its_ranks_and_no_deeper_than_wanted(tmp_path: Path):
    file, problems = tmp_path / "a.run", []
    one = "q Q0 low.py 1 0.5 x\nq Q0 b.py:3 3 2 x\nq Q0 a.py:1-2 2 2.0 x\nq Q0 top.py 4 1e3 x\n"
    file.write_text(f"{one}r Q0 low.py 1 1 x\n")
    ranked = [Span("top.py"), Span("b.py", 3, 3), Span("a.py", 1, 2), Span("low.py")]
    assert trec.read_run(file, problems, 9) == {"q": ranked, "r": [Span("low.py")]}
    assert ["equal scores of 1 query are ordered by id" in str(problem) for problem in problems] == [True]
    by_rank = trec.read_run(file, problems, 9, by_rank=True)
    assert by_rank["q"] == [ranked[0], ranked[2], ranked[1], ranked[3]]
    assert trec.read_run(file, problems, 1)["q"] == ranked[:1]
    problems.clear()
    file.write_text(
        "q Q0 a.py 1 x s\nq Q0 b.py 1 nan s\nq Q0 c.py:5-1 1 2 s\nq Q0 d.py 1 2\nq Q0 e.py 2 1 s\nq Q0 e.py 2 0 s\n"
    )
    assert trec.read_run(file, problems, 9) == {"q": [Span("e.py")]}
    assert [problem.where for problem in problems] == [f"a.run:{row}" for row in (1, 2, 3, 4, 6)]


def test_octocode_as_others_write_it(tmp_path: Path):
    file = tmp_path / "code.csv"
    file.write_bytes(
        b"\xef\xbb\xbfquery,kind,result1,result2\r\n"
        b'"where, then",hard,src/a.rs:10-50:2,src/b.rs:7:1\r\n\r\nshort row,,"odd:name.rs:1-2:1"\r\n'
    )
    (tmp_path / "code.meta.json").write_text('{"repo": "a/b", "commit": "c0ffee", "files": 3}')
    reading = truth_formats.read(file)
    assert (reading.problems, reading.rows) == ((), (2, 2, 4))
    queries = (Query("1", "where, then", tags={"kind": "hard"}), Query("2", "short row"))
    judged = (("1", "src/a.rs:10-50", 2), ("1", "src/b.rs:7-7", 1), ("2", "odd:name.rs:1-2", 1))
    assert reading.truth == Truth("code", queries, judgments(*judged), (), "a/b", "c0ffee")
    truth_formats.write(Truth("a", (Query("1", "one"), Query("2", "two")), (Judgment("1", "a.py:3", 2),)), file)
    assert file.read_text() == "query,result1\none,a.py:3-3:2\ntwo,\n"  # no column of ids where there are none


def test_semble_as_others_write_it(tmp_path: Path):
    about = [{"name": "other"}, {"name": "shop", "url": "https://host/o/shop.git", "revision": "c0ffee"}]
    (tmp_path / "repos.json").write_text(json.dumps(about))
    (tmp_path / "questions").mkdir()
    file = tmp_path / "questions" / "shop.json"
    lines = {"path": "src/cart.py", "start_line": 3, "end_line": 9}
    asked = [
        {"query": "add to cart", "relevant": [lines], "secondary": ["src/app.py"], "category": "semantic"},
        {"query": "Cart", "relevant": ["src/cart.py", "src/cart.py"], "seed": {}},
        {"query": "up", "relevant": ["../up.py"]},
        {"query": "down", "relevant": ["a.py"], "secondary": "b.py"},
    ]
    file.write_text(json.dumps(asked))
    reading = truth_formats.read(file)
    assert list(map(str, reading.problems)) == [
        "shop.json:1: '../up.py' leads out of the repository: the question is left out"
    ]
    queries = (Query("1", "add to cart", tags={"kind": "semantic"}), Query("2", "Cart"), Query("4", "down"))
    cart = (("1", "src/cart.py:3-9", 2), ("1", "src/app.py", 1), ("2", "src/cart.py", 2))
    judged = judgments(*cart, ("4", "a.py", 2), ("4", "b.py", 1))
    assert reading.truth == Truth("shop", queries, judged, (), "https://host/o/shop.git", "c0ffee")


def test_beir_with_several_splits(tmp_path: Path):
    folder = tmp_path / "set"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": "d1", "title": "T", "text": "body"}, {"_id": "d2", "title": "", "text": "x"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    queries = [{"_id": name, "text": f"ask {name}"} for name in ("q1", "q2", "idle")]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\r\nq2\td2\t2\r\n")
    truth = truth_formats.read(folder).truth
    assert [(query.id, query.tags["split"]) for query in truth.queries] == [("q1", "train"), ("q2", "test")]
    assert truth.documents[0] == Chunk("d1", "T\nbody", path="d1", symbol="T")
    assert there_and_back(truth, tmp_path / "again") == replace(truth, name="again")
    one = truth_formats.read(folder / "qrels" / "test.tsv").truth
    assert (one.name, one.judgments, len(one.documents)) == ("set-test", (Judgment("q2", "d2", 2),), 2)


def test_coir_in_parquet(tmp_path: Path):
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    for name, rows in {
        "corpus": [{"_id": "d1", "text": "def f(): ...", "title": "", "language": "PYTHON"}],
        "queries": [{"_id": "q1", "text": "make f", "language": ""}, {"_id": "q2", "text": "make g", "language": ""}],
        "valid": [{"query-id": "q2", "corpus-id": "d1", "score": 1}],
        "train": [{"query-id": "q1", "corpus-id": "d1", "score": 0}],
    }.items():
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / f"{name}-00000-of-00001.parquet")
    truth = truth_formats.read(tmp_path).truth
    assert truth.documents == (Chunk("d1", "def f(): ...", "python", path="d1"),)
    assert truth.judgments == (Judgment("q1", "d1", 0), Judgment("q2", "d1", 1))
    assert [query.id for query in truth_formats.read(tmp_path / "valid-00000-of-00001.parquet").truth.queries] == ["q2"]


def test_cosqa_pairs_without_a_corpus_beside_them(tmp_path: Path):
    def codes_and_judgments(*rows: tuple[str, str, str, int]):
        pairs = [dict(zip(("idx", "doc", "code", "label"), row, strict=True)) for row in rows]
        (tmp_path / "dev.json").write_text(json.dumps(pairs))
        reading = truth_formats.read(tmp_path / "dev.json")
        assert reading.problems == ()
        return [(each.id, each.text) for each in reading.truth.documents], reading.truth.judgments

    codes, judged = codes_and_judgments(("a", "ask a", "x = 1", 1), ("b", "ask b", "x = 1", 0), ("b", "ask b", "y", 1))
    assert codes == [("a", "x = 1"), ("b", "y")]
    assert judged == (Judgment("a", "a", 1), Judgment("b", "a", 0), Judgment("b", "b", 1))
    codes, judged = codes_and_judgments(("a", "ask", "x = 1", 1), ("a", "ask", "y = 2", 1))
    assert codes == [("a", "x = 1"), ("a#1", "y = 2")]  # they would share an id
    assert [each.target for each in judged] == ["a", "a#1"]


@pytest.mark.parametrize(
    ("row", "query"),
    [
        ({"question_id": 7, "intent": "sort", "rewritten_intent": "sort `x`", "snippet": "x.sort()"}, "sort `x`"),
        ({"question_id": 7, "intent": "sort it", "rewritten_intent": None, "snippet": "x.sort()"}, "sort it"),
        ({"id": 3, "question": "how to sort", "snippet": "x.sort()"}, "how to sort"),
        ({"query": "sort", "code": "x.sort()", "language": "ruby"}, "sort"),
    ],
    ids=["CoNaLa", "CoNaLa without a rewritten intent", "StaQC", "plain"],
)
def test_rows_of_a_query_and_a_code_are_read_by_the_names_of_their_data_sets(tmp_path: Path, row: dict, query: str):
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps(row | {next(iter(row)): "other words"}) + "\n")
    truth = read(file).truth
    assert (truth.queries[0].text, [each.text for each in truth.documents]) == (query, ["x.sort()"])
    assert all(each.grade == 1 for each in truth.judgments)
    assert next(each.query.text for each in read_pairs(file) if isinstance(each, Pair)) == query
    assert pair_of(row, "mine").query == query


def test_candidates_that_nobody_judged_are_no_ground_truth(tmp_path: Path):
    file = tmp_path / "candidates.jsonl"
    row = {"query_id": "q", "query": "sort", "code_id": "c", "code": "x.sort()"}
    file.write_text(json.dumps(row) + "\n")
    with pytest.raises(UnknownFormat):
        read(file)
    file.write_text(json.dumps(row | {"label": 0}) + "\n" + json.dumps(row | {"code_id": "d", "code": "y", "label": 2}))
    truth = read(file).truth
    assert [(each.query_id, each.target, each.grade) for each in truth.judgments] == [("q", "c", 0), ("q", "d", 2)]


def test_cosqa_plus_by_the_names_of_its_releases(tmp_path: Path):
    pair = {"pair-idx": 1, "query-idx": 7, "query": "ask", "code-idx": "c", "code": "x"}
    for name, rows in {
        "test_agent_query": [{"query-idx": 7, "query": "ask"}],
        "test_agent_codebase": [{"code-idx": "c", "code": "x"}, {"code-idx": "d", "code": "y"}],
        "test_agent_codebase_processed": [],
        "test_agent_pairs": [pair | {"label": "1"}, pair | {"code-idx": "d", "label": 0}],
        "test_agent_pairs_true": [pair | {"label": 1}, pair | {"code-idx": "d", "label": 1}],
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(rows))
    reading = truth_formats.read(tmp_path)
    assert reading.truth.judgments == (Judgment("7", "c", 1), Judgment("7", "d", 0))
    assert [str(problem) for problem in reading.problems] == [
        "test_agent_pairs_true.json:1: 'd' is judged twice for query '7': the first counts"
    ]


PATCH = (Path(__file__).parent / "swebench.patch").read_text("utf-8")


def test_swebench_instances_name_the_lines_that_their_patches_change(tmp_path: Path):
    lines = ["src/a.py:11-11", "src/a.py:40-41", "old name.py", "gone.py:1-2", "café.py:3-3"]
    about = {"base_commit": "c1", "patch": PATCH, "problem_statement": "it fails"}
    more = {"edit_functions": ["src/a.py:A.f"], "created_at": "2024-01-01"}
    rows = [{**about, "instance_id": "a-1", "repo": "o/a"}, {**about, **more, "instance_id": "b-1", "repo": "o/b"}]
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, rows)))
    reading = truth_formats.read(tmp_path / "test.jsonl")
    assert reading.rows == (1,) * 5 + (2,) * 6
    truth = reading.truth
    assert truth.repository == ""
    assert truth.queries[0].tags == {"instance_id": "a-1", "repository": "o/a", "commit": "c1"}
    assert [each.target for each in truth.judgments] == [*lines, *lines, "src/a.py::A.f"]
    assert truth.judgments[-1] == Judgment("b-1", "src/a.py::A.f", 1, "edit_functions")
    first, second = by_checkout(truth)
    assert (first.name, first.repository, first.commit, len(first.judgments)) == ("o__a-c1", "o/a", "c1", 5)
    assert [query.id for query in second.queries] == ["b-1"]
    assert by_checkout(replace(truth, commit="0123")) == [replace(truth, commit="0123")]
    pa, pq = (pytest.importorskip(name) for name in ("pyarrow", "pyarrow.parquet"))
    pq.write_table(pa.Table.from_pylist(rows[1:]), tmp_path / "test-0-of-1.parquet")
    truth = truth_formats.read(tmp_path / "test-0-of-1.parquet").truth
    assert (truth.repository, truth.commit, len(truth.judgments)) == ("o/b", "c1", 6)


def test_csn_as_it_is_published(tmp_path: Path):
    url = "https://github.com/o/n/blob/c1/src/a%20b.go"
    (tmp_path / "annotationStore.csv").write_text(
        f"Language,Query,GitHubUrl,Relevance,Notes\nGo,ask,{url}#L7-L9,3,\nGo,ask,{url}#L7-L9,0,no\nPHP,ask,{url}#L7,1,\n"
    )
    truth = truth_formats.read(tmp_path / "annotationStore.csv").truth
    assert [(query.id, query.tags["language"]) for query in truth.queries] == [("1", "Go"), ("2", "PHP")]
    lines = "o/n/blob/c1/src/a b.go:7-"
    assert truth.judgments == judgments(
        ("1", f"{lines}9", 3, "1"), ("1", f"{lines}9", 0, "2", "no"), ("2", f"{lines}7", 1, "1")
    )


SHA = "a" * 40


def url(name: str, path: str = "src/a.py", lines: str = "L1-L3") -> str:
    return f"https://github.com/{name}/blob/{SHA}/{path}#{lines}"


def csn_row(address: str, code: str) -> dict[str, object]:
    """Return a csn_row as the files have it."""
    where = {"repo": "owner/name", "path": "src/a.py", "func_name": "f", "sha": SHA, "url": address}
    words = {"code_tokens": code.split(), "docstring": "Say it.", "docstring_tokens": ["Say", "it", "."]}
    return {**where, **words, "original_string": code, "code": code, "language": "python", "partition": "train"}


ROWS = [csn_row(url(f"owner/n{number}"), f"def f{number}(x):\n    return x + {number}\n") for number in range(6)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Return a folder with a folder for each split, as CodeSearchNet unpacks."""
    for split, rows in (("train", ROWS[:4]), ("test", ROWS[4:])):
        (tmp_path / "jsonl" / split).mkdir(parents=True)
        lines = "".join(json.dumps({**each, "partition": split}) + "\n" for each in rows)
        with gzip.open(tmp_path / "jsonl" / split / f"python_{split}_0.jsonl.gz", "wt") as file:
            file.write(lines)
    return tmp_path / "jsonl"


ANNOTATIONS = f"""Language,Query,GitHubUrl,Relevance,Notes
Python,sort a list,{url("owner/n0")},3,yes
Python,sort a list,{url("owner/n0")},1,
Python,sort a list,{url("owner/n5")},2,
Python,open a file,{url("owner/n1", lines="L1-L3")},0,
Python,open a file,{url("owner/gone")},3,
Go,sort a list,{url("owner/n9", "b.go")},3,
"""


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    (tmp_path / "annotationStore.csv").write_text(ANNOTATIONS)
    return tmp_path / "annotationStore.csv"


def test_a_file_a_split_and_all_of_them(corpus: Path):
    assert form_of(corpus) == form_of(corpus / "test") == form_of(corpus / "test/python_test_0.jsonl.gz") == "csncorpus"
    assert len(read_part(corpus).truth.documents) == 6
    found = read_part(corpus / "test").truth.documents
    assert [(each.id, each.language) for each in found] == [
        (f"owner/n{number}/blob/{SHA}/src/a.py#L1-L3", "python") for number in (4, 5)
    ]
    assert found[0].text == "def f4(x):\n    return x + 4\n"
    plain = corpus / "plain.jsonl"
    plain.write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    assert len(read_part(plain).truth.documents) == 6


def test_unusable_rows_are_named_and_functions_are_neither_written_nor_questions(tmp_path: Path, corpus: Path):
    rows = [ROWS[0], {**ROWS[1], "url": "http://x"}, {**ROWS[2], "code": " "}, ROWS[0], {"url": 3}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows) + "{cut")
    told = [str(each) for each in read_part(tmp_path / "a.jsonl").problems]
    assert sorted(each.partition(":")[2][:1] for each in told) == list("23456")
    assert any(each.startswith("a.jsonl:2: url 'http://x', wanted https://github.com/OWNER") for each in told)
    assert any("a.jsonl:3: no code" in each for each in told)
    assert any("a.jsonl:4: document" in each and "the first counts" in each for each in told)
    stream = csn_corpus.functions(corpus, [])
    assert next(stream).text.startswith("def f4")
    assert len(list(stream)) == 5
    with pytest.raises(InputError, match="has no usable query"):
        read(corpus)
    with pytest.raises(InputError, match="read only; write jsonl"):
        write(read_part(corpus).truth, tmp_path / "x", "csncorpus")


def test_annotations_find_their_functions_and_say_which_they_do_not(corpus: Path, annotations: Path):
    found = joined(read(annotations), corpus)
    truth = found.truth
    names = [f"owner/n{number}/blob/{SHA}/src/a.py#L1-L3" for number in (0, 5, 1)]
    assert [each.id for each in truth.documents] == names
    assert [(each.query_id, each.target, each.grade) for each in truth.judgments] == [
        ("1", names[0], 3),
        ("1", names[0], 1),
        ("1", names[1], 2),
        ("2", names[2], 0),
    ]
    assert [str(each) for each in found.problems] == [
        "annotationStore.csv: 1 judgment of go, of which the corpus has nothing",
        f"annotationStore.csv:6: owner/gone/blob/{SHA}/src/a.py:1-3: no such function in the corpus",
    ]
    exact = at_least(found, 3).truth
    assert [query.text for query in exact.queries] == ["sort a list"]
    assert (len(exact.documents), len(exact.judgments)) == (1, 2)
    with pytest.raises(InputError, match="no judgment of 4 or more"):
        at_least(found, 4)
    annotations.write_text(ANNOTATIONS.replace("owner/", "other/"))
    with pytest.raises(InputError, match="none of 5 judged functions"):
        joined(read(annotations), corpus)


def test_convert_joins_annotations_with_their_corpus(assay, corpus: Path, annotations: Path, tmp_path: Path):
    ran = assay("truth", "convert", annotations, tmp_path / "csn.jsonl", "--corpus", corpus, "--match", "2")
    assert ran.status == 0, ran.err
    assert ran.out.startswith("1 query, 3 judgments, 2 documents (2 problems) written")
