"""`assay judge export`: what is written in each layout is read, measured and described as it was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.truth.truth_formats import read
from json_lines import read_lines, write_lines

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
    rows = []
    for number, query in enumerate(QUERIES):
        right = "sort/it" if query.startswith("sort") else "3"
        for name, code in CODES.items():
            grade = None if (number, name) == (0, "2") else int(name == right)
            told = {"kind": "verdict", "pair": f"{number} {name}", "query_id": f"q{number}", "code_id": name}
            told |= {"grade": grade, "problem": "" if grade is not None else "chat", "reason": "seen"}
            rows.append(told | {"path": "signals", "judge": "signals", "query": query, "code": code, "language": ""})
    return write_lines(tmp_path / "records.jsonl", rows)


def test_an_export_reads_back_is_measured_and_has_a_card(assay, records: Path, tmp_path: Path):
    ran = assay("judge", "export", records, "--to", "out", "--license", "MIT")
    assert ran.status == 0, ran.err
    assert "| 59 | 3 | " in ran.out
    part = read(tmp_path / "out/test.jsonl").truth
    assert (len(part.queries), len([each for each in part.judgments if each.grade])) == (2, 2)
    truth = read(tmp_path / "out/all.jsonl").truth
    verdicts = [line for line in read_lines(records) if line["grade"] is not None]
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


def test_labels_of_others_are_exported_and_drawn_and_bad_rows_are_reported(assay, records: Path, tmp_path: Path):
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


def test_the_hub_s_library_loads_both_layouts(assay, records: Path, tmp_path: Path):
    pytest.importorskip("pyarrow", reason="the bench extra is not installed")
    datasets = pytest.importorskip("datasets", reason="the train extra is not installed")

    def loaded(folder: str, *part: str) -> dict:
        return datasets.load_dataset(str(tmp_path / folder), *part, cache_dir=str(tmp_path / "cache"))

    ran = assay("judge", "export", records, "--to", "made", "--format", "parquet")
    assert ran.status == 0, ran.err
    assert "Of the codes that answer a query, 100.0% answer two or more." in ran.out
    labels = loaded("made")
    assert {split: len(rows) for split, rows in labels.items()} == {"train": 47, "validation": 6, "test": 6}
    assert {*labels["test"][0]} == {"query-id", "corpus-id", "score"}
    assert {each["_id"]: each["text"] for each in loaded("made", "corpus")["corpus"]} == CODES
    assert len(loaded("made", "pairs")["pairs"]) == 59
    found = read(tmp_path / "made")
    assert (len(found.truth.queries), len(found.truth.documents), found.problems) == (20, 3, ())
    assert assay("judge", "export", records, "--to", "out").status == 0
    Path("out/mine.txt").write_text("mine")
    assert assay("judge", "export", records, "--to", "out").status == 0
    assert Path("out/mine.txt").read_text() == "mine"
    pairs = loaded("out")["pairs"]
    assert (len(pairs), set(pairs.column_names) >= {"query", "code", "label", "split"}) == (59, True)


def test_codes_named_as_lines_statistics_and_more_codes_are_written(assay, records: Path):
    records.write_text(
        records.read_text().replace('"sort/it"', '"a.py:1-2"').replace('"code_id": "3"', '"code_id": "a.py#1-2"')
    )
    write_lines("more.jsonl", [{"id": "never", "code": "def never(): ..."}])
    ran = assay("judge", "export", records, "--to", "out", "--corpus", "more.jsonl")
    assert ran.status == 0, ran.err
    found = read(Path("out/all.jsonl"))
    assert (len(found.truth.documents), len(found.truth.queries), found.problems) == (4, 20, ())
    told = json.loads(Path("out/statistics.json").read_text())
    assert (told["pairs"], told["codes"], told["undecided"]) == (59, 4, 1)
    pairs = read_lines("out/pairs.jsonl")
    assert "a.py:1-2" in {pair["code_id"] for pair in pairs}
    assert {pair["split"] for pair in pairs} == {"train", "valid", "test"}
    assert {(pair["judge"], pair["reason"]) for pair in pairs} == {("signals", "seen")}
    Path("empty.jsonl").touch()
    for file, said in (("gone.jsonl", "no such file"), ("empty.jsonl", "no label in")):
        ran = assay("judge", "export", file, "--to", "none")
        assert (ran.status, said in ran.err, Path("none").exists()) == (2, True, False)
