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


TESTS = {
    "own": ("out/test.jsonl",),
    "beir": ("out/qrels/test.tsv",),
    "trec": ("out/test.qrels", "--corpus", "out/corpus"),
    "cosqa+": ("out/test",),
}


WHOLE = {"own": "out/all.jsonl", "beir": "out", "trec": "out/all.qrels", "cosqa+": "out/all"}


@pytest.mark.parametrize("layout", TESTS)
def test_what_is_exported_comes_back_as_it_was_and_is_described(assay, records: Path, tmp_path: Path, layout: str):
    ran = assay("judge", "export", records, "--to", "out", "--format", layout, "--license", "MIT")
    assert ran.status == 0, ran.err
    assert "| 59 | 3 | " in ran.out
    part = read(tmp_path / TESTS[layout][0]).truth
    assert len(part.queries) == 2
    assert len([each for each in part.judgments if each.grade]) == 2
    truth = read(tmp_path / WHOLE[layout]).truth
    verdicts = [line for line in map(json.loads, records.read_text().splitlines()) if line["grade"] is not None]
    names = {"sort/it": "sort_it~0.py", "2": "2.py", "3": "3.py"} if layout == "trec" else {}
    wanted = {(line["query_id"], names.get(line["code_id"], line["code_id"])): line["grade"] for line in verdicts}
    assert {(each.query_id, each.target): each.grade for each in truth.judgments} == wanted
    if layout == "trec":
        assert (tmp_path / "out" / "corpus" / "sort_it~0.py").read_text() == CODES["sort/it"]
    if layout == "own":
        assert {each.judge for each in truth.judgments} == {"signals"}
    if layout in ("own", "beir"):
        splits = [query.tags["split"] for query in truth.queries]
        assert sorted(map(splits.count, ("train", "valid", "test"))) == [2, 2, 16]
    _, head, body = (tmp_path / "out" / "README.md").read_text().split("---\n", 2)
    told = pytest.importorskip("yaml").safe_load(head)
    assert (told["pretty_name"], told["license"], told["size_categories"]) == ("out", "MIT", ["n<1K"])
    files = [tmp_path / "out" / each["path"] for config in told["configs"] for each in config["data_files"]]
    assert all(file.is_file() for file in files)
    assert len(files) == (3 if layout == "beir" else 1)
    assert body.startswith("\n# out\n")
    assert "| # of pairs | # of code |" in body


@pytest.mark.parametrize("layout", ["own", "trec"])
def test_what_is_exported_is_measured(assay, records: Path, tmp_path: Path, layout: str):
    assert assay("judge", "export", records, "--to", "out", "--format", layout).status == 0
    measured = assay("bench", *TESTS[layout], "--system", "bm25", "--out", "results")
    assert measured.status == 0, measured.err
    held = json.loads((tmp_path / "results" / "results.json").read_text())
    assert held["cells"][0]["figures"]["file"]["Hit@5"][0] == 1.0  # "sort" and "show" stand in the right codes alone
    assert held["cells"][0]["unjudged"] == 0.0


@pytest.mark.parametrize("layout", ["own", "beir", "cosqa+"])
def test_codes_called_by_their_lines_are_documents_all_the_same(assay, records: Path, tmp_path: Path, layout: str):
    renamed = records.read_text().replace('"sort/it"', '"a.py:1-2"').replace('"code_id": "3"', '"code_id": "a.py#1-2"')
    records.write_text(renamed)
    assert assay("judge", "export", records, "--to", "out", "--format", layout).status == 0
    found = read(tmp_path / WHOLE[layout])
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


@pytest.mark.parametrize("layout", TESTS)
def test_an_export_is_there_whole_or_not_at_all(assay, records: Path, tmp_path: Path, layout: str):
    rows = [json.loads(line) for line in records.read_text().splitlines()]
    for part in ("code", "query"):
        broken = [{**row, part: row[part] + "\ud800"} for row in rows]
        records.write_text("".join(json.dumps(row) + "\n" for row in broken))
        ran = assay("judge", "export", records, "--to", f"out/{part}", "--format", layout)
        if layout == "trec":
            assert ran.status == 2
            assert "a text holds bytes that are not UTF-8; write JSON lines" in ran.err
            assert f"{tmp_path}/out/{part}/" in ran.err
            assert not (tmp_path / "out" / part).exists()
        else:
            assert ran.status == 0, ran.err
            assert read(tmp_path / TESTS[layout][0].replace("out", f"out/{part}")).truth.queries
    assert {each.name for each in tmp_path.iterdir()} <= {"records.jsonl", "out"}


def test_what_is_there_stays_where_an_export_fails_and_is_replaced_where_it_does_not(assay, records: Path):
    export = ("judge", "export", records, "--to", "out", "--format", "trec")
    assert assay(*export).status == 0
    Path("out/mine.txt").write_text("mine")
    before = {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()}
    text = records.read_text()
    records.write_text(text.replace("sort number", "sort \\ud800 number"))
    assert assay(*export).status == 2
    assert {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()} == before
    records.write_text(text.replace("sort number", "order number"))
    assert assay(*export).status == 0
    assert "order number" in Path("out/all.topics.tsv").read_text()
    assert Path("out/mine.txt").read_text() == "mine"


def test_the_hub_s_library_loads_what_the_card_says(assay, records: Path, tmp_path: Path):
    datasets = pytest.importorskip("datasets")
    assert assay("judge", "export", records, "--to", "out", "--format", "beir").status == 0
    pairs = datasets.load_dataset(str(tmp_path / "out"), split="pairs", cache_dir=str(tmp_path / "cache"))
    assert len(pairs) == 59
    assert set(pairs.column_names) >= {"query", "code", "label", "split"}
    corpus = datasets.load_dataset(str(tmp_path / "out"), "corpus", split="corpus", cache_dir=str(tmp_path / "cache"))
    assert set(corpus["text"]) == set(CODES.values())
