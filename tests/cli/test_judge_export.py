"""`assay judge export`: what is written in each layout is read, measured and described as it was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.truth.truth_formats import read

CODES = {
    "sort/it": "def order(numbers):\n    return sorted(numbers)",
    "2": "def lines(file):\n    return list(file)",
    "3": "def show(date):\n    print(date)",
}
QUERIES = [f"{what} number {number}" for number in range(10) for what in ("sort", "show")]


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what a campaign wrote: every query with every code, one pair of it undecided."""
    monkeypatch.chdir(tmp_path)
    lines = []
    for number, query in enumerate(QUERIES):
        right = "sort/it" if query.startswith("sort") else "3"
        for name, code in CODES.items():
            grade = None if (number, name) == (0, "2") else int(name == right)
            lines.append(
                {
                    "kind": "verdict",
                    "pair": f"{number} {name}",
                    "query_id": f"q{number}",
                    "code_id": name,
                    "grade": grade,
                    "reason": "seen",
                    "path": "signals",
                    "problem": "" if grade is not None else "chat",
                    "judge": "signals",
                    "query": query,
                    "code": code,
                    "language": "",
                }
            )
    file = tmp_path / "records.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_what_is_exported_comes_back_as_it_was_is_measured_and_is_described(assay, records: Path, tmp_path: Path):
    ran = assay("judge", "export", records, "--to", "out", "--license", "MIT")
    assert ran.status == 0, ran.err
    assert "| 59 | 3 | " in ran.out
    part = read(tmp_path / "out/test.jsonl").truth
    assert (len(part.queries), len([each for each in part.judgments if each.grade])) == (2, 2)
    truth = read(tmp_path / "out/all.jsonl").truth
    verdicts = [line for line in map(json.loads, records.read_text().splitlines()) if line["grade"] is not None]
    wanted = {(line["query_id"], line["code_id"]): line["grade"] for line in verdicts}
    assert {(each.query_id, each.target): each.grade for each in truth.judgments} == wanted
    assert {each.judge for each in truth.judgments} == {"signals"}
    splits = [query.tags["split"] for query in truth.queries]
    assert sorted(map(splits.count, ("train", "valid", "test"))) == [2, 2, 16]
    _, head, body = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    told = pytest.importorskip("yaml").safe_load(head)
    assert (told["pretty_name"], told["license"], told["size_categories"]) == ("out", "MIT", ["n<1K"])
    assert [each["path"] for config in told["configs"] for each in config["data_files"]] == ["pairs.jsonl"]
    assert body.startswith("\n# out\n")
    assert "| # of pairs | # of code |" in body
    measured = assay("bench", "out/test.jsonl", "--system", "bm25", "--out", "results")
    assert measured.status == 0, measured.err
    held = json.loads((tmp_path / "results" / "results.json").read_text())
    assert held["cells"][0]["figures"]["file"]["Hit@5"][0] == 1.0  # "sort" and "show" stand in the right codes alone
    assert held["cells"][0]["unjudged"] == 0.0
    assert assay("truth", "convert", "out/all.jsonl", "beir", "--to", "beir", "--lossy").status == 0
    assert {query.tags["split"] for query in read(tmp_path / "beir").truth.queries} == {"train", "valid", "test"}


def test_labels_of_others_are_exported_and_drawn_and_what_cannot_be_used_is_said(assay, records: Path, tmp_path: Path):
    assert assay("judge", "export", records, "--to", "out").status == 0
    assert assay("truth", "convert", "out/all.jsonl", "theirs", "--to", "cosqaplus", "--lossy").status == 0
    (labels,) = (tmp_path / "theirs").glob("*pairs.json")
    rows = json.loads(labels.read_text())
    labels.write_text(json.dumps([*rows, {**rows[0], "query-idx": "nobody"}]))
    ran = assay("judge", "export", "theirs", "--to", "again")
    assert (ran.status, "| 59 | 3 | " in ran.out) == (0, True), ran.err
    assert 'annotations_creators: ["found"]' in (tmp_path / "again/README.md").read_text()
    assert "1 row of theirs left out; the first: " in ran.err
    for name in ("queries-by-matches", "codes-by-queries"):
        assert (tmp_path / "again" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert ">20<" in (tmp_path / "again/queries-by-matches.svg").read_text(), "20 queries have one match"
    (tmp_path / "labels.csv").write_text("query,path,start,end\nq,a.py,1,2\n")
    assert assay("judge", "export", "labels.csv", "--to", "none").status == 2


def test_parquet_is_loaded_by_the_hub_s_library_and_measured(assay, records: Path, tmp_path: Path):
    pytest.importorskip("pyarrow", reason="the bench extra is not installed")
    datasets = pytest.importorskip("datasets", reason="the train extra is not installed")
    ran = assay("judge", "export", records, "--to", "made", "--format", "parquet")
    assert ran.status == 0, ran.err
    assert "Of the codes that answer a query, 100.0% answer two or more." in ran.out
    labels = datasets.load_dataset(str(tmp_path / "made"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(rows) for split, rows in labels.items()} == {"train": 47, "validation": 6, "test": 6}
    assert {*labels["test"][0]} == {"query-id", "corpus-id", "score"}
    corpus = datasets.load_dataset(str(tmp_path / "made"), "corpus", cache_dir=str(tmp_path / "cache"))["corpus"]
    assert {each["_id"]: each["text"] for each in corpus} == CODES
    pairs = datasets.load_dataset(str(tmp_path / "made"), "pairs", cache_dir=str(tmp_path / "cache"))["pairs"]
    assert (len(pairs), pairs[0]["code"] in CODES.values()) == (59, True)
    found = read(tmp_path / "made")
    assert (len(found.truth.queries), len(found.truth.documents), found.problems) == (20, 3, ())
    assert assay("bench", "made", "--system", "bm25", "--out", "results").status == 0


def test_codes_called_by_their_lines_are_documents_all_the_same(assay, records: Path, tmp_path: Path):
    renamed = records.read_text().replace('"sort/it"', '"a.py:1-2"').replace('"code_id": "3"', '"code_id": "a.py#1-2"')
    records.write_text(renamed)
    assert assay("judge", "export", records, "--to", "out").status == 0
    found = read(tmp_path / "out/all.jsonl")
    assert not found.problems
    assert (len(found.truth.documents), len(found.truth.queries)) == (3, 20)
    labelled = [json.loads(line)["code_id"] for line in (tmp_path / "out" / "pairs.jsonl").read_text().splitlines()]
    assert "a.py:1-2" in labelled


def test_statistics_pairs_and_more_codes_are_written(assay, records: Path, tmp_path: Path):
    (tmp_path / "more.jsonl").write_text('{"id": "never", "code": "def never(): ..."}\n')
    ran = assay("judge", "export", records, "--to", "out", "--corpus", "more.jsonl")
    assert ran.status == 0, ran.err
    told = json.loads((tmp_path / "out" / "statistics.json").read_text())
    assert (told["pairs"], told["codes"], told["undecided"]) == (59, 4, 1)
    pairs = [json.loads(line) for line in (tmp_path / "out" / "pairs.jsonl").read_text().splitlines()]
    assert len(pairs) == 59
    assert {pair["split"] for pair in pairs} == {"train", "valid", "test"}
    assert all(pair["judge"] == "signals" and pair["reason"] == "seen" for pair in pairs)


def test_records_without_a_label_are_an_error(assay, tmp_path: Path):
    assert "no such file" in assay("judge", "export", tmp_path / "gone.jsonl", "--to", tmp_path / "out").err
    (tmp_path / "empty.jsonl").write_text("")
    ran = assay("judge", "export", tmp_path / "empty.jsonl", "--to", tmp_path / "out")
    assert (ran.status, "no label in" in ran.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_the_hub_s_library_loads_what_the_card_says(assay, records: Path, tmp_path: Path):
    datasets = pytest.importorskip("datasets")
    assert assay("judge", "export", records, "--to", "out").status == 0
    Path("out/mine.txt").write_text("mine")
    assert assay("judge", "export", records, "--to", "out").status == 0
    assert Path("out/mine.txt").read_text() == "mine"
    pairs = datasets.load_dataset(str(tmp_path / "out"), split="pairs", cache_dir=str(tmp_path / "cache"))
    assert len(pairs) == 59
    assert set(pairs.column_names) >= {"query", "code", "label", "split"}
