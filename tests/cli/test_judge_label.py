from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from balloter import Balloter


@pytest.fixture
def home(tmp_path: Path) -> Path:
    rows = [
        {"query_id": f"q{at}", "query": f"how to {at}", "code_id": f"c{at}", "code": f"def f{at}(): ..."}
        for at in range(4)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


class Person(Balloter):
    """The command, and somebody who labels on its page."""

    def __init__(self, folder: Path, name: str, *options: str) -> None:
        super().__init__(folder, "judge", "label", "pairs.jsonl", "--person", name, *options)

    def label(self, grades: dict[str, int | None]) -> None:
        """Label what is shown next as a dictionary by the code says, as far as it does."""
        while item := json.loads(self.ask("GET", "state"))["item"]:
            number = item["code"][5]
            if number not in grades:
                return
            told = {"item": item["id"], "grade": grades[number], "reason": "so", "seconds": 2}
            assert b"error" not in self.ask("POST", "vote", told)

    def finish(self) -> tuple[int, str, str]:
        self.shown = json.loads(self.ask("POST", "finish", {}))
        return self.end()


def test_two_people_label_and_a_third_settles(assay, home: Path, monkeypatch):
    ann, ben = Person(home, "ann"), Person(home, "ben")
    ann.label({"0": 1, "1": 1, "2": 0, "3": 0})
    ben.label({"0": 1, "1": 0, "2": 0, "3": None})
    status, out, err = ann.finish()
    assert status == 0, err
    assert {person["name"]: person["labels"] for person in ann.shown["people"]} == {"ann": 4, "ben": 4}
    assert "2 pairs disputed: a third person settles them with --disputed --person NAME" in out
    assert "what is decided is in labels.jsonl" in err
    ben.finish()
    eve = Person(home, "eve", "--disputed")
    assert "2 of 2 to label" in eve.said
    assert "2 pairs that nobody disputes: not asked about" in eve.said
    eve.label({"1": 0, "3": 1})
    eve.finish()
    monkeypatch.chdir(home)
    told = json.loads(assay("judge", "label", "pairs.jsonl", "--summary", "--format", "json").out)
    assert (told["disputed"], told["twice"]) == (1, 4)
    kept = [json.loads(line) for line in (home / "labels.jsonl").read_text().splitlines()]
    assert {each["code_id"]: each["grade"] for each in kept} == {"c0": 1, "c1": 0, "c2": 0, "c3": None}


def test_who_finished_some_pairs_hears_of_these_alone(home: Path):
    ann = Person(home, "ann")
    ann.label({"0": 1, "1": 1, "2": 0, "3": 0})
    ann.finish()
    lines = (home / "pairs.jsonl").read_text().splitlines(keepends=True)
    (home / "pairs.jsonl").write_text("".join(lines[:2]))
    ben = Person(home, "ben")
    ben.label({"0": 1, "1": 0})
    status, out, err = ben.finish()
    assert status == 0, err
    assert {person["name"]: person["labels"] for person in ben.shown["people"]} == {"ann": 2, "ben": 2}
    assert "ann  2 labels" in out
    assert "q2" not in out
    assert len((home / "labels.jsonl").read_text().splitlines()) == 2


def test_labels_are_kept_where_gold_goes_while_somebody_labels(home: Path):
    gold = home / "gold.csv"
    gold.write_text("query_id,code_id,label\nq0,c0,1\n")
    ann = Person(home, "ann", "--gold", "gold.csv")
    ann.label({"0": 1, "1": 1, "2": 0, "3": 0})
    gold.unlink()
    status, _, err = ann.finish()
    assert status == 2, err
    assert "error" in ann.shown
    assert len((home / "labels.jsonl").read_text().splitlines()) == 4


def test_what_reads_records_reads_labels(assay, home: Path, monkeypatch):
    monkeypatch.chdir(home)
    for name in ("ann", "ben"):
        person = Person(home, name)
        person.label({"0": 1, "1": 1, "2": 0, "3": 0})
        person.finish()
    ran = assay("judge", "agreement", "labels/ann.jsonl", "labels/ben.jsonl", "--gold", "labels.jsonl")
    assert ran.status == 0, ran.err
    assert "alpha of all  1.000" in ran.out
    ran = assay("judge", "export", "labels.jsonl", "--to", "made")
    assert ran.status == 0, ran.err
    ran = assay("truth", "convert", "made/all.jsonl", "labels.qrels", "--lossy")
    assert ran.status == 0, ran.err
    ran = assay("candidates", "made/all.jsonl", "made/all.jsonl", "-k", "2", "--labels", "labels.jsonl")
    assert ran.status == 0, ran.err
    ran = assay("judge", "accounts", "labels/ann.jsonl", "--format", "json")
    assert json.loads(ran.out)["paths"]["person"]["median_s"] == 2.0
    ran = assay("judge", "replay", "labels/ann.jsonl")
    assert (ran.status, "holds labels of a person" in ran.err) == (2, True)


def test_a_killed_session_loses_nothing_and_tells_nothing_of_others(home: Path):
    ben = Person(home, "ben")
    ben.label({"0": 1, "1": 1, "2": 1, "3": 1})
    ben.finish()
    ann = Person(home, "ann")
    ann.label({"0": 0, "1": 0})
    done = json.loads(ann.ask("GET", "state"))["voted"]
    ann.process.kill()
    ann.end()
    ann = Person(home, "ann")
    assert f"{4 - done} of 4 to label" in ann.said
    ann.process.send_signal(signal.SIGINT)
    status, out, err = ann.end()
    assert (status, out) == (0, f"{4 - done} of 4 to label\n")
    assert "ben" not in err


def test_only_pairs_with_tests_are_asked_about_where_tests_matter(assay, home: Path):
    from assay.judge.pairs import Pair, read

    one = next(each for each in read(home / "pairs.jsonl") if isinstance(each, Pair))
    program = {"reading": "so", "setup": "", "helpers": "", "cases": ["assert f0() is ..."]}
    step = {"kind": "reply", "pair": one.digest, "part": "tests", "value": program}
    (home / "records.jsonl").write_text(json.dumps(step) + "\n")
    ann = Person(home, "ann", "--tests", "records.jsonl", "--hide-tests")
    assert "3 pairs without tests: not asked about" in ann.said
    state = json.loads(ann.ask("GET", "state"))
    assert (state["total"], state["item"]["tests"]) == (1, None)
    ann.label({"0": 1})
    ann.finish()
    options = ("--out", home / "labels", "--person", "ben")
    ran = assay("judge", "label", home / "pairs.jsonl", *options, "--tests", home / "records.jsonl")
    assert (ran.status, "ann.jsonl holds labels of another run: tests differ; give another --out" in ran.err) == (
        2,
        True,
    )


def test_no_file_of_somebody_else_is_replaced(assay, home: Path, monkeypatch):
    monkeypatch.chdir(home)
    before = (home / "pairs.jsonl").read_bytes()
    ran = assay("judge", "label", "pairs.jsonl", "--person", "ann", "--out", "pairs")
    assert (ran.status, "would replace pairs.jsonl, which is read here: give another --out" in ran.err) == (2, True)
    for text in (before.decode(), "not JSON\n", '{"judge": "people"}\nx', '{"mine": 1}'):
        (home / "labels.jsonl").write_text(text)
        for more in (("--person", "ann"), ("--summary",)):
            ran = assay("judge", "label", "pairs.jsonl", *more)
            assert (ran.status, "labels.jsonl is there and holds no labels of people" in ran.err) == (2, True)
        assert (home / "labels.jsonl").read_text() == text
    assert (home / "pairs.jsonl").read_bytes() == before
    (home / "here").mkdir()
    monkeypatch.chdir(home / "here")
    ran = assay("judge", "label", "../pairs.jsonl", "--summary", "--out", ".")
    assert (ran.status, "no label in ." in ran.err) == (1, True)
    ran = assay("judge", "label", "../pairs.jsonl", "--summary", "--out", "/")
    assert (ran.status, "cannot hold labels" in ran.err) == (2, True)


def test_what_cannot_be_labelled_is_told(assay, home: Path):
    pairs, out = home / "pairs.jsonl", ("--out", home / "labels")
    ran = assay("judge", "label", pairs, *out)
    assert (ran.status, "--person NAME says who labels" in ran.err) == (2, True)
    ran = assay("judge", "label", pairs, *out, "--person", "../x")
    assert (ran.status, "is no name for a file" in ran.err) == (2, True)
    ran = assay("judge", "label", pairs, *out, "--person", "eve", "--disputed")
    assert (ran.status, "there is nothing to settle yet" in ran.err) == (2, True)
    ran = assay("judge", "label", pairs, *out, "--summary")
    assert (ran.status, "no label in" in ran.err) == (1, True)
    ran = assay("judge", "label", pairs, *out, "--person", "ann", "--tests", pairs)
    assert (ran.status, "holds no records of `assay judge run`" in ran.err) == (2, True)
    (home / "empty.jsonl").write_text('{"query_id": "q"}\n')
    ran = assay("judge", "label", home / "empty.jsonl", *out, "--person", "ann")
    assert (ran.status, "holds no pair" in ran.err) == (2, True)
    assert "empty.jsonl:1" in ran.err
