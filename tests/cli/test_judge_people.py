"""`assay judge label`: people label on a page; what they say is kept and read."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from balloter import Balloter
from json_lines import read_lines, write_lines

FIELDS = ("query_id", "query", "code_id", "code")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = ((f"q{at}", f"how to {at}", f"c{at}", f"def f{at}(): ...") for at in range(4))
    write_lines(tmp_path / "pairs.jsonl", (dict(zip(FIELDS, row, strict=True)) for row in rows))
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


def test_two_people_label_a_third_settles_and_other_commands_read_labels(assay, home: Path):
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
    kept = read_lines("labels.jsonl")
    assert {each["code_id"]: each["grade"] for each in kept} == {"c0": 1, "c1": 0, "c2": 0, "c3": None}
    for line, said in (
        ("judge agreement labels/ann.jsonl labels/ben.jsonl --gold labels.jsonl", "alpha of all  "),
        ("judge export labels.jsonl --to made", ""),
        ("truth convert made/all.jsonl labels.qrels --lossy", "written to"),
        ("candidates made/all.jsonl made/all.jsonl -k 2 --labels labels.jsonl", "pairs written to"),
    ):
        ran = assay(*line.split())
        assert (ran.status, said in ran.out) == (0, True), ran.err


def test_an_interrupted_session_continues_and_shows_its_own_pairs_only(home: Path):
    ben = Person(home, "ben")
    ben.label({"0": 1, "1": 1, "2": 0, "3": 0})
    ben.finish()
    write_lines("pairs.jsonl", read_lines("pairs.jsonl")[:2])
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


def test_only_pairs_with_tests_are_shown_where_tests_are_given(assay, home: Path):
    from assay.judge.pairs import Pair, read

    one = next(each for each in read(home / "pairs.jsonl") if isinstance(each, Pair))
    program = {"reading": "so", "setup": "", "helpers": "", "cases": ["assert f0() is ..."]}
    step = {"kind": "reply", "pair": one.digest, "part": "tests", "value": program}
    write_lines("records.jsonl", [step])
    ann = Person(home, "ann", "--tests", "records.jsonl", "--hide-tests")
    assert "3 pairs without tests: skipped" in ann.said
    state = json.loads(ann.ask("GET", "state"))
    assert (state["total"], state["item"]["tests"]) == (1, None)
    ann.label({"0": 1})
    ann.finish()
    ran = assay(*"judge label pairs.jsonl --out labels --person ben --tests records.jsonl".split())
    other = "ann.jsonl holds labels of another run: tests differ; give another --out"
    assert (ran.status, other in ran.err) == (2, True)


def test_labels_that_cannot_be_given_or_kept_are_refused(assay, refuses, home: Path, monkeypatch: pytest.MonkeyPatch):
    before = (home / "pairs.jsonl").read_bytes()
    (home / "empty.jsonl").write_text('{"query_id": "q"}\n')
    replaced = "would replace pairs.jsonl, which is read here: give another --out"
    refuses([
        ("judge label pairs.jsonl", "--person NAME says who labels"),
        ("judge label pairs.jsonl --person ../x", "invalid name"),
        ("judge label pairs.jsonl --person eve --disputed", "there is nothing to settle yet"),
        ("judge label pairs.jsonl --person ann --tests pairs.jsonl", "holds no records of `assay judge run`"),
        ("judge label pairs.jsonl --person ann --out pairs", replaced),
        ("judge label pairs.jsonl --summary --out /", "cannot hold labels"),
        ("judge prefer pairs.jsonl pairs.jsonl", "--person NAME says who chooses"),
    ])  # fmt: skip
    assert (home / "pairs.jsonl").read_bytes() == before
    ran = assay("judge", "label", "empty.jsonl", "--person", "ann")
    assert (ran.status, "holds no pair" in ran.err, "empty.jsonl:1" in ran.err) == (2, True, True)
    (home / "here").mkdir()
    monkeypatch.chdir(home / "here")
    ran = assay("judge", "label", "../pairs.jsonl", "--summary", "--out", ".")
    assert (ran.status, "no label in ." in ran.err) == (1, True)


class Chooser(Balloter):
    """The command, and somebody who chooses on its page."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(folder, "judge", "prefer", "A.jsonl", "B.jsonl", "--person", name)

    def choose(self, letter: str) -> None:
        """Choose the code of a set, which only a test can know."""
        item = json.loads(self.ask("GET", "state"))["item"]
        side = "left" if item["codes"][0]["code"].startswith(f"def {letter}") else "right"
        self.ask("POST", "vote", {"item": item["id"], "side": side, "seconds": 3})


def test_an_interrupted_study_of_preferences_continues_and_is_summarized(assay, home: Path):
    for name in "AB":
        rows = [(f"q{at}", f"how {at}", f"{name}{at}", f"def {name}{at}(): ...") for at in range(3)]
        rows.append(("q9", "same", f"{name}9", "pass"))
        write_lines(f"{name}.jsonl", ({**dict(zip(FIELDS, row, strict=True)), "label": 1} for row in rows))
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
