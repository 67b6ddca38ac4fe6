"""`assay judge label`: people label on a page; what they say is kept and read."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from balloter import Balloter


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [
        {"query_id": f"q{at}", "query": f"how to {at}", "code_id": f"c{at}", "code": f"def f{at}(): ..."}
        for at in range(4)
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Person(Balloter):
    """The command, and somebody who labels on its page."""

    def __init__(self, folder: Path, name: str, *options: str) -> None:
        super().__init__(folder, "judge", "label", "pairs.jsonl", "--person", name, *options)

    def label(self, grades: dict[str, int | None]) -> None:
        """Label what is shown next as a dictionary by the code says, as far as it does."""
        while item := json.loads(self.ask("GET", "state"))["item"]:
            number = item["codes"][0]["code"][5]
            if number not in grades:
                return
            told = {"item": item["id"], "grade": grades[number], "reason": "so", "seconds": 2}
            assert b"error" not in self.ask("POST", "vote", told)

    def finish(self) -> tuple[int, str, str]:
        self.shown = json.loads(self.ask("POST", "finish", {}))
        return self.end()


def test_two_people_label_a_third_settles_and_what_reads_records_reads_labels(assay, home: Path):
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
    assert "2 pairs whose labels agree: skipped" in eve.said
    eve.label({"1": 0, "3": 1})
    eve.finish()
    told = json.loads(assay("judge", "label", "pairs.jsonl", "--summary", "--format", "json").out)
    assert (told["disputed"], told["twice"]) == (1, 4)
    kept = [json.loads(line) for line in (home / "labels.jsonl").read_text().splitlines()]
    assert {each["code_id"]: each["grade"] for each in kept} == {"c0": 1, "c1": 0, "c2": 0, "c3": None}
    for line, said in (
        ("judge agreement labels/ann.jsonl labels/ben.jsonl --gold labels.jsonl", "alpha of all  "),
        ("judge export labels.jsonl --to made", ""),
        ("truth convert made/all.jsonl labels.qrels --lossy", "written to"),
        ("candidates made/all.jsonl made/all.jsonl -k 2 --labels labels.jsonl", "pairs written to"),
    ):
        ran = assay(*line.split())
        assert (ran.status, said in ran.out) == (0, True), ran.err


def test_a_session_that_is_stopped_goes_on_and_tells_of_nothing_else(home: Path):
    ben = Person(home, "ben")
    ben.label({"0": 1, "1": 1, "2": 0, "3": 0})
    ben.finish()
    pairs = (home / "pairs.jsonl").read_text().splitlines(keepends=True)
    (home / "pairs.jsonl").write_text("".join(pairs[:2]))
    ann = Person(home, "ann")
    shown = json.loads(ann.ask("GET", "state"))["item"]["codes"][0]["code"][5]
    ann.label({shown: 1})
    ann.process.send_signal(signal.SIGINT)
    status, out, err = ann.end()
    assert (status, out, "ben" in err) == (0, "1 of 2 to label\n", False)
    ann = Person(home, "ann")
    assert "1 of 2 to label" in ann.said
    ann.label({"0": 1, "1": 0})
    status, out, err = ann.finish()
    assert status == 0, err
    assert {person["name"]: person["labels"] for person in ann.shown["people"]} == {"ann": 2, "ben": 2}
    assert "ben  2 labels" in out
    assert "q2" not in out
    assert len((home / "labels.jsonl").read_text().splitlines()) == 2


def test_only_pairs_with_tests_are_asked_about_where_tests_matter(assay, home: Path):
    from assay.judge.pairs import Pair, read

    one = next(each for each in read(home / "pairs.jsonl") if isinstance(each, Pair))
    program = {"reading": "so", "setup": "", "helpers": "", "cases": ["assert f0() is ..."]}
    step = {"kind": "reply", "pair": one.digest, "part": "tests", "value": program}
    (home / "records.jsonl").write_text(json.dumps(step) + "\n")
    ann = Person(home, "ann", "--tests", "records.jsonl", "--hide-tests")
    assert "3 pairs without tests: skipped" in ann.said
    state = json.loads(ann.ask("GET", "state"))
    assert (state["total"], state["item"]["tests"]) == (1, None)
    ann.label({"0": 1})
    ann.finish()
    ran = assay(*"judge label pairs.jsonl --out labels --person ben --tests records.jsonl".split())
    other = "ann.jsonl holds labels of another run: tests differ; give another --out"
    assert (ran.status, other in ran.err) == (2, True)


def test_no_file_of_somebody_else_is_replaced(assay, refuses, home: Path, monkeypatch: pytest.MonkeyPatch):
    before = (home / "pairs.jsonl").read_bytes()
    refuses([
        (
            "judge label pairs.jsonl --person ann --out pairs",
            "would replace pairs.jsonl, which is read here: give another --out",
        )
    ])  # fmt: skip
    assert (home / "pairs.jsonl").read_bytes() == before
    (home / "here").mkdir()
    monkeypatch.chdir(home / "here")
    ran = assay("judge", "label", "../pairs.jsonl", "--summary", "--out", ".")
    assert (ran.status, "no label in ." in ran.err) == (1, True)
    refuses([("judge label ../pairs.jsonl --summary --out /", "cannot hold labels")])


def test_what_cannot_be_labelled_is_told(assay, refuses, home: Path):
    (home / "empty.jsonl").write_text('{"query_id": "q"}\n')
    refuses([
        ("judge label pairs.jsonl", "--person NAME says who labels"),
        ("judge label pairs.jsonl --person ../x", "invalid name"),
        ("judge label pairs.jsonl --person eve --disputed", "there is nothing to settle yet"),
        ("judge label pairs.jsonl --person ann --tests pairs.jsonl", "holds no records of `assay judge run`"),
    ])  # fmt: skip
    ran = assay("judge", "label", "pairs.jsonl", "--summary")
    assert (ran.status, "no label in" in ran.err) == (1, True)
    ran = assay("judge", "label", "empty.jsonl", "--person", "ann")
    assert (ran.status, "holds no pair" in ran.err, "empty.jsonl:1" in ran.err) == (2, True, True)


class Chooser(Balloter):
    """The command, and somebody who chooses on its page."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder, "judge", "prefer", "A.jsonl", "B.jsonl", "--person", name)

    def choose(self, letter: str) -> None:
        """Choose the code of a set, which only a test can know."""
        item = json.loads(self.ask("GET", "state"))["item"]
        side = "left" if item["codes"][0]["code"].startswith(f"def {letter}") else "right"
        self.ask("POST", "vote", {"item": item["id"], "side": side, "seconds": 3})


def test_a_study_of_preferences_that_is_stopped_goes_on_and_is_summed_up(assay, home: Path):
    for name in "AB":
        rows = [
            {
                "query_id": f"q{at}",
                "query": f"how {at}",
                "code_id": f"{name}{at}",
                "code": f"def {name}{at}(): ...",
                "label": 1,
            }
            for at in range(3)
        ]
        rows.append({"query_id": "q9", "query": "same", "code_id": f"{name}9", "code": "pass", "label": 1})
        (home / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    first = Chooser(home, "ann")
    first.choose("A")
    first.process.send_signal(signal.SIGINT)
    status, out, err = first.end()
    assert (status, "3 of 3 to choose" in err, "1 with the same code in both" in err) == (0, True, True)
    assert "1 choice of 1 person on 1 of 3 queries" in out
    second = Chooser(home, "ann")
    assert "2 of 3 to choose" in second.said
    second.choose("A")
    second.choose("B")
    second.ask("POST", "finish", {})
    status, out, _ = second.end()
    assert status == 0
    assert "A, A.jsonl, wins 2; B, B.jsonl, wins 1; neither 0\nA wins 0.667 [0.21-0.94] of those that one set" in out
    told = json.loads(assay(*"judge prefer A.jsonl B.jsonl --summary --format json".split()).out)
    assert (told["a"], told["b"], told["asked"], told["alpha"]) == (2, 1, 3, None)
    none = assay(*"judge prefer A.jsonl B.jsonl --summary --out none".split())
    assert (none.status, "0 choices of 0 people on 0 of 3 queries" in none.out) == (1, True)
    assert "--person NAME says who chooses" in assay(*"judge prefer A.jsonl B.jsonl".split()).err
