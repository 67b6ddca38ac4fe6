from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.train.pair_files import leave_out, read_pairs
from assay.train.pairs import TrainingPair

COSQA = [
    {"idx": "cosqa-1", "doc": "send mail", "code": "def send(): ...", "label": 1},
    {"idx": "cosqa-2", "doc": "read mail", "code": "def send(): ...", "label": 0},
]


def verdict(code: str, grade: int | None, text: str = "def send(): ...") -> dict[str, Any]:
    """Return a line of `assay judge run`."""
    ids = {"query_id": "1", "code_id": code, "query": "send mail", "code": text, "language": "python"}
    return {"kind": "verdict", "pair": code, **ids, "grade": grade, "judge": "j", "reason": ""}


def write_lines(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_cosqas_list_and_json_lines_hold_the_same(tmp_path: Path) -> None:
    listed, lines = tmp_path / "cosqa.json", write_lines(tmp_path / "cosqa.jsonl", COSQA)
    listed.write_text(json.dumps(COSQA))
    texts = (("send mail", 1), ("read mail", 0))
    wanted = [TrainingPair(text, "def send(): ...", "cosqa", "given", grade) for text, grade in texts]
    assert read_pairs([listed]).pairs == read_pairs([lines]).pairs == wanted


def test_of_records_the_last_verdict_counts_and_undecided_ones_are_left_out(tmp_path: Path) -> None:
    reply = {"kind": "reply", "pair": "a", "cached": False, "cost": 0.0, "tokens_in": 1, "tokens_out": 1}
    rows = [reply, verdict("a", 1), verdict("b", None), verdict("c", 0, "def c(): ..."), verdict("a", 0)]
    found = read_pairs([write_lines(tmp_path / "records.jsonl", rows)])
    pairs = [(pair.code, pair.grade, pair.source) for pair in found.pairs]
    assert pairs == [("def c(): ...", 0, "records"), ("def send(): ...", 0, "records")]
    assert (found.undecided, found.problems) == (1, [])


def test_ground_truth_with_its_corpus_is_read(tmp_path: Path) -> None:
    write_lines(tmp_path / "corpus.jsonl", [{"_id": "d1", "text": "def send(): ..."}])
    write_lines(tmp_path / "queries.jsonl", [{"_id": "q1", "text": "send mail"}])
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0\n")
    (pair,) = read_pairs([tmp_path]).pairs
    assert (pair.query, pair.code, pair.grade) == ("send mail", "def send(): ...", 0)


def test_what_cannot_be_used_is_named_by_file_and_row_and_the_rest_counts(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"query": "q", "code": "c"}\n{"query": "q"}\n{\n[1]\n{"query": "q", "code": "d", "label": "no"}\n')
    found = read_pairs([file])
    assert [pair.code for pair in found.pairs] == ["c"]
    assert [problem.where for problem in found.problems] == [f"mine.jsonl:{line}" for line in (2, 3, 4, 5)]
    assert str(found.problems[0]) == "mine.jsonl:2: no field 'code'"


def test_a_file_without_pairs_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    with pytest.raises(InputError, match=r"no such file: '.*mine\.jsonl'"):
        read_pairs([file])
    for text in ('{"query": "q"}\n', "{"):
        file.write_text(text)
        with pytest.raises(InputError, match=r"'.*mine\.jsonl' holds no pair that can be learned from"):
            read_pairs([file])


def test_what_a_test_set_judges_can_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"query": "Mail, send", "code": "def  send(): ...", "label": 0}\n')
    pairs = [TrainingPair(query, code, "s", "given") for query, code in (("send mail", "x"), ("y", "def send():\n..."))]
    kept = TrainingPair("send a mail", "def sends(): ...", "s", "given")
    assert leave_out([*pairs, kept], [tmp_path / "test.jsonl"]) == [kept]
    assert leave_out([*pairs, kept], []) == [*pairs, kept]


def test_what_is_left_out_does_not_depend_on_labels(tmp_path: Path) -> None:
    rows = [verdict("a", None), {"kind": "verdict", **verdict("b", 1, "def b(): ..."), "query": "other"}]
    pairs = [TrainingPair("send mail", "x", "s", "given"), TrainingPair("y", "def b(): ...", "s", "given")]
    assert leave_out(pairs, [write_lines(tmp_path / "records.jsonl", rows)]) == []
    rows = [{"query": "send mail", "label": "none"}, {"code": "def b(): ..."}, {"doc": "q", "code": "c", "label": None}]
    assert leave_out(pairs, [write_lines(tmp_path / "rows.jsonl", rows)]) == []


def test_what_is_left_out_has_to_be_read_whole(tmp_path: Path) -> None:
    for line in ("{", '{"query": ""}', '{"query": "q", "code": 3}'):
        (tmp_path / "test.jsonl").write_text(f'{{"query": "q", "code": "c", "label": 1}}\n{line}\n')
        with pytest.raises(InputError, match=r"test\.jsonl:2: .*: what is left out has to be read whole"):
            leave_out([TrainingPair("a", "b", "s", "given")], [tmp_path / "test.jsonl"])
