"""Every table of CoSQA+ by its command, on little data: a scripted model on loopback, real sandboxes, real pages."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from acting import GRADES, answer, pair, row, without_reading

from assay.cage.open_cage import open_sandbox
from assay.errors import InputError
from endpoint_server import Play, serving

pytest.importorskip("httpx", reason="the api extra is not installed")
pytest.importorskip("matplotlib", reason="the bench extra is not installed")

KINDS = ("match", "differs", "passes", "fails", "breaks")
COUNT = 10
JUDGED = ("--pairs", "pairs.jsonl", "--gold", "gold.jsonl")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with pairs, what is true of them, and what a person says."""
    try:
        open_sandbox(workers=1).close()
    except InputError as error:
        pytest.skip(str(error))
    pairs = [(KINDS[number % len(KINDS)], pair(KINDS[number % len(KINDS)], number)) for number in range(COUNT)]
    ids = [{"query_id": each.query.id, "code_id": each.code.id, "label": GRADES[kind]} for kind, each in pairs]
    texts = [
        {"idx": f"q{number}", "doc": made.query.text, "code": made.code.text, "label": GRADES[kind]}
        for number, (kind, made) in enumerate(pairs[: len(KINDS)])
    ]
    files = {"pairs.jsonl": [row(each) for _, each in pairs], "gold.jsonl": ids, "truth.json": [texts]}
    files["ann.jsonl"] = [{**each, "label": 1} for each in ids]
    for name, rows in files.items():
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TRUTH", "")
    return tmp_path


class Model:
    """The acting model behind HTTP, which counts what it is asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, question: dict) -> Play:
        text = "\n".join(message["content"] for message in question["messages"])
        self.asked[text] += 1
        return Play(without_reading(answer(text)))


@pytest.fixture
def ran(home: Path, assay: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what runs `assay judge tables` beside a model and gives what it prints."""
    assert home

    def call(*words: str | Path, base: str = "http://127.0.0.1:9", status: int = 0) -> str:
        monkeypatch.setenv("ASSAY_API_BASE", base)
        monkeypatch.setenv("ASSAY_API_KEY", "sk-test")
        done = assay("judge", "tables", *words)
        assert done.status == status, done.err
        return str(done.err if status else done.out)

    return call


def accuracies(out: str) -> dict[str, float]:
    """Return the accuracy of each annotator, of the table against the truth."""
    table = out.rpartition("\nagainst ")[2].split("\n\n")[0].splitlines()[2:]
    rows = [re.split(r"\s{2,}", line.strip()) for line in table]
    return {name: float(accuracy.split()[0]) for name, _, accuracy, *_ in rows}


@pytest.mark.nightly
def test_table_six_shares_the_replies_of_six_configurations_and_counts_each_as_if_alone(ran: Callable) -> None:
    model = Model()
    words = ("table6", *JUDGED, "--chat", "openai:m?usd_in=1&usd_out=2")
    with serving(model) as server:
        out = ran(*words, base=server.base)
        assert "10 had a verdict before" in ran(*words, base=server.base)
    assert max(model.asked.values()) == 1
    assert "PS + TPG + Simulated Executor + FA" in out
    found = accuracies(out)
    assert len(found) == 7  # and their majority
    assert found["PS + TPG + TE + BF + FA"] == 1.0
    took = out.partition("What a pair took")[2].split("\n\n")[0]
    assert "without the cache" in took


def test_table_four_puts_people_and_single_models_beside_the_agents(ran: Callable) -> None:
    words = ("--chat", "openai:m", "--single", "openai:n", "--people", "ann=ann.jsonl", "--workers", "4")
    with serving(Model()) as server:
        out = ran("table4", *JUDGED, *words, base=server.base)
    found = accuracies(out)
    assert (set(found), found["agents"]) == ({"agents", "openai:n", "ann", "majority"}, 1.0)
    assert found["ann"] == pytest.approx(sum(GRADES[kind] for kind in KINDS) / len(KINDS), abs=0.001)
    assert "alpha of all" in out


def test_candidates_their_curve_statistics_and_methods(ran: Callable, home: Path) -> None:
    texts = ("--queries", "truth.json", "--corpus", "truth.json")
    encoders = ("--encoder", "hash", "--encoder", "hash:64", "--all-code")
    assert "hash:64" in ran("table1", *texts, *encoders, "-k", "2")
    with serving(Model()) as server:
        out = ran("figure4", *texts, *encoders, "-k", "3", "--sample", "2", "--chat", "openai:m", base=server.base)
    assert re.search(r"^ *3 .* 1\.000$", out, re.MULTILINE)
    assert (home / "cosqaplus" / "figure4.svg").read_text().count("<path") > 3
    out = ran("table2", "--labels", "cosqaplus/figure4.records.jsonl")
    assert "| # of pairs | # of code |" in out
    assert "Queries by matching codes: " in out
    assert "bow" in ran("table5", "--truth", "truth.json", "--only", "bow")


def test_a_list_and_a_dry_run_run_nothing_and_what_is_missing_is_named(ran: Callable, home: Path) -> None:
    assert "$255" in ran()
    assert ran("table6", *JUDGED, "--chat", "openai:m", "--dry-run").count("$ assay judge run") == 6
    assert not (home / "cosqaplus" / "all.jsonl").exists()
    sampled = ran("table6", *JUDGED, "--chat", "openai:m", "--dry-run", "--sample", "7", "--unclear", "0.3")
    assert (sampled.count("--sample 7 --sample-by pair"), sampled.count("--unclear 0.3")) == (6, 5)
    for words, said in (
        (("table6", *JUDGED, "--pairs", "none.jsonl", "--chat", "m"), "no such file: 'none.jsonl'"),
        (("table6", "--chat", "m"), "table6 needs --pairs and --gold"),
        (("table3",), "table3 needs --train and --test"),
        (("tabel6",), "did you mean 'table6'"),
        (("table3", "--train", "a.json", "--test", "B=b"), "'a.json' has no name; wanted NAME=WHAT"),
    ):
        assert said in ran(*words, status=2)


WORDS = "where are retries handled send mail letter box price".split()


def write_truth(folder: Path, queries: list[str]) -> Path:
    """Write a test set that has its code along."""
    (folder / "qrels").mkdir(parents=True)
    rows = list(enumerate(queries))
    for name, texts in (("queries", rows), ("corpus", [(at, f"def f{at}(): {text}") for at, text in rows])):
        lines = (json.dumps({"_id": f"{name[0]}{at}", "text": text}) + "\n" for at, text in texts)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    judged = "".join(f"q{at}\tc{at}\t1\n" for at, _ in rows)
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    return folder


@pytest.mark.nightly
def test_table_three_tunes_each_base_on_each_set_and_measures_it_on_each_other(
    assay: Callable, tiny_bert: Path, tmp_path: Path
) -> None:
    for library in ("accelerate", "datasets"):
        pytest.importorskip(library, reason="the train extra is not installed")
    queries = [" ".join(words) for words in combinations(WORDS, 3)]
    tests = [write_truth(tmp_path / "one", queries[:8]), write_truth(tmp_path / "two", queries[8:16])]
    pairs = (
        {"query": each, "code": f"def g(): {each} {at}", "label": int(at % 3 > 0)} for at, each in enumerate(queries)
    )
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    names = ("--base", f"tiny=hf:{tiny_bert}?pooling=mean", "--train", f"Mine={tmp_path / 'mine.jsonl'}")
    sets = ("--test", f"Set One={tests[0]}", "--test", f"Two={tests[1]}", "--out", tmp_path / "out")
    command = ("judge", "tables", "table3", *names, *sets)
    shown = assay(*command, "--dry-run").out
    assert [line.split()[2] for line in shown.splitlines()] == ["train", "bench"]
    assert not (tmp_path / "out/table3/tiny-mine").exists()
    ran = assay(*command, "--set", "epochs=1", "--set", "looks=1")
    assert ran.status == 0, ran.err
    assert "assay: 16 pairs of 84 left out: --leave-out judges their texts\n" in ran.err
    page = (tmp_path / "out/table3/table3.txt").read_text()
    lines = page.splitlines()
    assert [line for line in lines if line.startswith("Test set")] == ["Test set: Set One", "Test set: Two"]
    cells = [re.split(r"\s{2,}", line) for line in lines if line.startswith("tiny")]
    assert [cell[1] for cell in cells] == ["MRR", "nDCG@10"] * 2
    assert all(0 < float(number.split()[0]) <= 1 for cell in cells for number in cell[2:])
    assert page in ran.out
