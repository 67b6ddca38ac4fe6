"""Pairs worth judging: chosen by encoders, filtered, and read from files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.encode.vectors import HashedEncoder
from assay.errors import InputError
from assay.judge.candidates import Sources, candidates, depths, filter_testable, kind_of
from assay.judge.pairs import MAX_TEXT_CHARS, Pair, laid_out, not_python, notes, read, read_sample
from assay.protocols import Role, Vectors
from assay.runs.options import SampleDraw
from assay.search.retrievers import exhaustive
from assay.values import Chunk, Judgment, Problem, Query

WORDS = "read write open close file mail user route path sort list cache retry wait parse date time name".split()


class Angles:
    """An encoder that somebody drew: each text to its vector."""

    dimension = 2

    def __init__(self, name: str, vectors: dict[str, tuple[float, float]]) -> None:
        self.name, self._vectors = name, vectors

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)


@pytest.fixture
def sources() -> Sources:
    chance = np.random.default_rng(3)
    queries = [Query(f"q{n}", " ".join(chance.choice(WORDS, 3))) for n in range(23)]
    codes = [Chunk(f"c{n}", " ".join(chance.choice(WORDS, 8)) + f" é{n}", "python") for n in range(60)]
    encoders = {"a": HashedEncoder("64"), "b": HashedEncoder("16")}
    return Sources(queries, codes, encoders, 5, exhaustive, block=4)


def rows(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_the_mean_of_cosines_decides(tmp_path: Path):
    texts = {"near one": (0.0, 1.0), "near both": (0.6, 0.8), "far": (-1.0, 0.0)}
    one = Angles("one", {"q": (1.0, 0.0), "near one": (1.0, 0.0), "near both": (0.8, 0.6), "far": (-1.0, 0.0)})
    two = Angles("two", {"q": (1.0, 0.0), **texts})
    codes = [Chunk(name, name) for name in texts]
    out = tmp_path / "out.jsonl"
    found = candidates(Sources([Query("1", "q")], codes, {"one": one, "two": two}, 2, exhaustive), out)
    told = [(row["code_id"], row["rank"], row["score"], row["scores"]) for row in rows(out)]
    assert told == [("near both", 1, 0.7, {"one": 0.8, "two": 0.6}), ("near one", 2, 0.5, {"one": 1.0, "two": 0.0})]
    assert found.overlap == {"one": 1.0, "two": 1.0}


def test_overlap_is_the_fraction_of_an_encoders_own_candidates_whatever_the_blocks(tmp_path: Path, sources: Sources):
    whole, seen = tmp_path / "whole.jsonl", set()
    candidates(sources, whole, lambda *_: seen.update(file.name[:7] for file in tmp_path.iterdir()))
    assert seen == {".whole."}  # what stands there while it works
    for block in (1, 23):
        candidates(replace(sources, block=block), tmp_path / f"{block}.jsonl")
        assert (tmp_path / f"{block}.jsonl").read_bytes() == whole.read_bytes()
    with pytest.raises(InputError, match="no query"):
        candidates(replace(sources, queries=[]), whole)
    assert {file.name for file in tmp_path.iterdir()} == {"whole.jsonl", "1.jsonl", "23.jsonl"}
    out = tmp_path / "out.jsonl"
    found = candidates(sources, out)
    chosen = {(row["query_id"], row["code_id"]) for row in rows(out)}
    for name, encoder in sources.encoders.items():
        alone = tmp_path / f"{name}.jsonl"
        candidates(replace(sources, encoders={name: encoder}), alone)
        own = {(row["query_id"], row["code_id"]) for row in rows(alone)}
        assert found.overlap[name] == pytest.approx(len(own & chosen) / len(own))
    assert 0 < min(found.overlap.values()) < 1
    assert found.pairs == 23 * 5
    codes = {code.id: code for code in sources.codes}
    pairs = list(read(out))
    assert len(pairs) == 23 * 5
    assert all(pair.code.text == codes[pair.code.id].text for pair in pairs if isinstance(pair, Pair))
    few = replace(sources, codes=sources.codes[:3])
    assert candidates(few, tmp_path / "few.jsonl").pairs == 23 * 3


def test_depths_count_what_is_right_and_functions_with_input_that_return_a_value_can_be_tested():
    found = [{"query_id": q, "code_id": c, "rank": rank} for q in "xy" for rank, c in enumerate("abc", 1)]
    said = (("x", "a", 1), ("x", "b", 0), ("y", "c", 0, "one"), ("y", "c", 2, "two"), ("y", "d", 1), ("y", "gone", 1))
    labels = [Judgment(*each) for each in (*said, ("z", "a", 1))]
    told = depths(found, labels, {"a", "b", "c", "d"})
    assert (told.right, told.judged, told.pairs) == ((1, 0, 1), (1, 1, 1), (2, 2, 2))
    assert (told.known, told.gone) == (3, 1)
    assert told.rates == [0.5, 0.0, 0.5]
    assert told.recall_by_depth == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert {code: kind_of(Chunk("1", code, "python")) for code in KINDS} == KINDS
    assert kind_of(Chunk("1", "def add(a):\n    return a", "ruby")) == "no Python 3"
    kept, kinds = filter_testable([Chunk(str(number), code) for number, code in enumerate(KINDS)])
    assert sum(kinds.values()) == len(KINDS)
    assert kinds["testable"] == len(kept) == 11
    assert [code.id for code in kept] == sorted((code.id for code in kept), key=int)


KINDS = {
    "def add(a, b):\n    return a + b": "testable",
    "async def get(url):\n    return await ask(url)": "testable",
    "class Box:\n    def put(self, what):\n        return what": "testable",
    "def f(*names):\n    return names": "testable",
    "def f(*, name):\n    return name": "testable",
    "if True:\n    def f(a):\n        return 1": "testable",
    "    def add(a, b):\n        return a + b": "testable",
    "def f():\n    return 1": "no parameter",
    "def area(self):\n    return self.a": "testable",
    "def made(cls, /):\n    return cls()": "testable",
    "def other(this):\n    return this.a": "testable",
    "def show(a):\n    print(a)": "no value returned",
    "def show(a):\n    return": "no value returned",
    "def show(a):\n    return None": "no value returned",
    "def outer(a):\n    def inner(b):\n        return b\n    inner(a)": "no value returned",
    "def outer(a):\n    key = lambda b: b\n    class C:\n        x = 1": "no value returned",
    "def f():\n    def inner(b):\n        return b": "no parameter",
    "def a():\n    return 1\ndef b(x):\n    return x": "testable",
    "x = 1": "no function",
    "": "no function",
    "def f(a):\n    print a\n    return a": "no Python 3",
    "x" * 100 + "(" * 5000: "no Python 3",
}


GOOD = {"query_id": "q", "query": "add", "code_id": "c", "code": "def f(a):\n    return a\n"}


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_our_own_lines_ids_with_texts_in_files_beside_and_lists_of_cosqa_are_read(tmp_path: Path):
    (pair,) = read(written(tmp_path / "p.jsonl", GOOD))
    assert (pair.query.id, pair.query.text, pair.code.id, pair.code.text) == tuple(GOOD.values())
    queries = written(tmp_path / "q.jsonl", {"_id": "1", "text": "add"})
    corpus = written(tmp_path / "c.jsonl", {"id": "2", "code": "x = 1", "language": "ruby"})
    for names in (("query_id", "code_id"), ("query-id", "corpus-id"), ("query_id", "target")):
        ids = [dict(zip(names, each, strict=True)) for each in ("12", "19")]
        pair, unknown = read(written(tmp_path / "p.jsonl", *ids), queries=queries, corpus=corpus)
        assert (pair.query.text, pair.code.text, pair.code.language) == ("add", "x = 1", "ruby")
        assert str(unknown) == "p.jsonl:2: unknown code id '9': no text beside it, and none in the corpus"
    with pytest.raises(InputError, match="no such file"):
        list(read(tmp_path / "none"))
    file = tmp_path / "cosqa.json"
    file.write_text(
        json.dumps([{"idx": "dev-0", "doc": "add", "code": "x", "label": 1}, {"idx": "dev-1"}, 7], indent=1)
    )
    pair, *problems = read(file)
    assert (pair.query.id, pair.code.id, pair.query.text) == ("dev-0", "dev-0", "add")
    assert [problem.where for problem in problems] == ["cosqa.json:8", "cosqa.json:11"]


def test_what_cannot_be_judged_is_named_and_the_rest_comes(tmp_path: Path):
    bad = [
        ({**GOOD, "code": " \n"}, "is empty"),
        (
            {**GOOD, "code": "x" * (MAX_TEXT_CHARS + 1)},
            f"{MAX_TEXT_CHARS + 1:,} characters; at most {MAX_TEXT_CHARS:,}",
        ),
        ({**GOOD, "query": ""}, "is empty"),
        ({**GOOD, "code": 7}, "wanted text"),
        ({"code_id": "c"}, "wanted query_id and code_id"),
        ({"query_id": "x", "code_id": "c", "code": "x"}, "unknown query id 'x'"),
        ({**GOOD, "code_id": "a\tb"}, "no id may"),
        ("{", "not JSON"),
        ("7", "wanted a JSON object"),
        (GOOD, "was there before"),
    ]
    file = written(
        tmp_path / "p.jsonl", GOOD, *(row for row, _ in bad), {**GOOD, "code_id": "last", "code": "x" * MAX_TEXT_CHARS}
    )
    first, *problems, last = read(file)
    assert isinstance(first, Pair)
    assert isinstance(last, Pair)
    assert [problem.where for problem in problems] == [f"p.jsonl:{number}" for number in range(2, 2 + len(bad))]
    for problem, (_, why) in zip(problems, bad, strict=True):
        assert why in problem.what


def test_code_that_cannot_be_run_and_queries_in_other_letters_are_said():
    for code, language, why in (
        ("def f(): return 1", "", ""),
        ("    def f():\n        return 1", "python", ""),
        ("print 'old'", "", "not Python 3"),
        ("function f() {}", "javascript", "javascript, not Python"),
        ("x" + "(" * 500, "", "not Python 3"),
    ):
        told = not_python(Chunk("c", code, language))
        assert (why in told) if why else not told
    assert laid_out("  x = 1\n").endswith("  x = 1\n")  # indented as a whole
    assert laid_out("x = 1") == "x = 1"
    told = notes(Pair(Query("q", "リストをソートする"), Chunk("c", "x = 1")))
    assert [type(each) for each in told] == [Problem]
    assert "Latin" in told[0].what
    assert not notes(Pair(Query("q", "wie sortiere ich"), Chunk("c", "x = 1")))


def test_rows_that_are_no_pairs_are_told_and_not_drawn_and_a_missing_field_is_named(tmp_path: Path):
    rows = [
        {
            "query_id": f"q{at // 5}",
            "query": f"ask {at // 5}",
            "code_id": f"c{at}",
            "code": "" if at % 2 else f"x = {at}",
        }
        for at in range(200)
    ]
    file = written(tmp_path / "pairs.jsonl", *rows)
    found = read_sample(file, SampleDraw(size=90, by="pair"))
    each = list(found.pairs)
    assert (len(each), found.total) == (190, 190)
    assert sum(isinstance(one, Problem) for one in each) == 100
    said = r"--sample-by kind: .* has no such field; wanted query, pair or one of code, "
    with pytest.raises(InputError, match=said):
        read_sample(file, SampleDraw(size=3, by="kind"))
