from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay.bench import results_file
from assay.bench.answer_runs import SystemAnswer
from assay.bench.bench_report import caveats, overview_of, report_of
from assay.bench.experiment import Setting, run
from assay.bench.matrix import BenchPlan, SetSpec, SystemSpec, measures_of
from assay.bench.query_sets import Pairs, Prepared, Unseen, UnseenLabels, judge_unseen, prepare
from assay.bench.system import SystemCorpus
from assay.errors import InputError
from assay.measure.line_spans import Span
from assay.report.document import as_json_text
from assay.report.plain_text import as_markdown
from assay.values import Judgment

TRUTH = """query,result1
deliver a message,mail/send.py:1-3:1
say whether an address is valid,mail/address.py:2-3:1
"""


class Careful:
    """A judge that has an opinion on some places, and remembers what it was asked."""

    def __init__(self, opinions: Mapping[str, int], stopped: str = "") -> None:
        self.opinions, self.stopped = opinions, stopped
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, pairs: Pairs, file: Path, watch: object) -> UnseenLabels:
        assert watch is None
        file.write_text("kept\n")
        self.asked += [(query.text, code.id, code.language) for query, code in pairs]
        known = [(query.id, code.id) for query, code in pairs if code.id in self.opinions]
        return UnseenLabels([Judgment(q, c, self.opinions[c], "model x", "why") for q, c in known], self.stopped)


@pytest.fixture
def ready(postbox: SystemCorpus, tmp_path: Path) -> Prepared:
    (tmp_path / "set.csv").write_text(TRUTH)
    return prepare(SetSpec("set", tmp_path / "set.csv", postbox.root), tmp_path / "out", print)


def answers(*found: tuple[str, int, int]) -> dict[str, SystemAnswer]:
    spans = tuple(Span(*place) for place in found)
    return {name: SystemAnswer(name, spans, tuple(1.0 for _ in spans), 0.1) for name in ("1", "2")}


def test_only_what_nobody_judged_is_judged_and_once(ready: Prepared, tmp_path: Path):
    judge = Careful({"README.md": 0})
    one = answers(("mail/send.py", 1, 3), ("README.md", 0, 0))
    two = answers(("README.md", 0, 0), ("mail/address.py", 1, 3))
    told = judge_unseen(ready, {"one": one, "two": two}, Unseen("j", judge), tmp_path).counts
    assert sorted(judge.asked) == [
        ("deliver a message", "README.md", "markdown"),
        ("deliver a message", "mail/address.py:1-3", "python"),
        ("say whether an address is valid", "README.md", "markdown"),
        ("say whether an address is valid", "mail/send.py:1-3", "python"),
    ]
    assert (told.asked, told.right, told.wrong, told.undecided) == (4, 0, 2, 2)


def test_results_beyond_the_depth_and_those_that_were_judged_are_not_judged(ready: Prepared, tmp_path: Path):
    judge = Careful({})
    found = answers(("mail/send.py", 1, 3), ("README.md", 0, 0))
    judge_unseen(ready, {"one": found}, Unseen("j", judge, depth=1), tmp_path)
    assert [target for _, target, _ in judge.asked] == ["mail/send.py:1-3"]
    judge = Careful({})
    judged = judge_unseen(ready, {"one": {"1": found["1"]}}, Unseen("j", judge, depth=1), tmp_path)
    assert (judge.asked, judged.counts.asked) == ([], 0)


def test_labels_join_those_of_people_for_the_second_figures_alone(ready: Prepared, tmp_path: Path):
    judge = Careful({"README.md": 1})
    judged = judge_unseen(ready, {"one": answers(("README.md", 0, 0))}, Unseen("all:m", judge), tmp_path)
    added = [entry for entry in judged.expected.entries["1"] if entry.span == Span("README.md")]
    assert [entry.grade for entry in added] == [1]
    assert not [entry for entry in ready.expected.entries["1"] if entry.span == Span("README.md")]
    labels = tmp_path / "unseen" / "set" / "all_m.labels.jsonl"
    assert '"judge": "all:m"' in labels.read_text(), "for people to check"


@pytest.fixture
def plan(postbox: SystemCorpus, tmp_path: Path) -> BenchPlan:
    (tmp_path / "set.csv").write_text(TRUTH)
    lines = "".join(f"{query} Q0 README.md 1 2 r\n{query} Q0 mail/send.py:1-3 2 1 r\n" for query in (1, 2))
    (tmp_path / "saved.run").write_text(lines)
    sets = (SetSpec("set", tmp_path / "set.csv", postbox.root),)
    return BenchPlan(sets, (SystemSpec("saved", f"run:{tmp_path / 'saved.run'}"),), measures_of(("Hit@1", "MRR"), 20))


@pytest.mark.usefixtures("undrawn")
def test_figures_stand_beside_those_of_people(plan: BenchPlan, tmp_path: Path):
    said: list[str] = []
    plain = run(plan, Setting(tmp_path / "plain", said.append))
    judge = Careful({"README.md": 1}, stopped="the budget is spent")
    held = run(plan, Setting(tmp_path / "out", said.append, unseen=Unseen("all:m", judge)))
    (cell,), (other,) = held.cells, plain.cells
    assert (cell.figures, cell.values, cell.unjudged) == (other.figures, other.values, other.unjudged)
    assert (cell.figures["line"]["Hit@1"].mean, cell.judged.figures["line"]["Hit@1"].mean) == (0.0, 1.0)
    assert cell.judged.unjudged < cell.unjudged
    assert other.judged is None
    assert held.sets["set"].unseen.stopped == "the budget is spent"
    assert any("all:m stopped: the budget is spent" in line for line in said)
    text = as_markdown(overview_of(held))
    assert "With labels of all:m on what nobody judged of the first 10 of any system (3 pairs: 2 right" in text
    assert "1 undecided, stopped early" in text
    assert "With labels" not in as_markdown(overview_of(plain))
    assert "With labels of all:m on what nobody judged" in as_json_text(report_of(held))
    assert "With labels" not in as_json_text(report_of(plain))


@pytest.mark.usefixtures("undrawn")
def test_a_judge_of_words_is_warned_of_and_results_of_strangers_are_checked(plan: BenchPlan, tmp_path: Path):
    for judge, warned in (("signals", True), ("all:m", False)):
        held = run(plan, Setting(tmp_path / judge, print, unseen=Unseen(judge, Careful({}))))
        assert any("favour systems that rank by these" in line for line in caveats(held)) is warned
    plain = json.loads(results_file.as_text(held))
    assert results_file.read_results(plain, "it") == held
    for wrong, what in (
        ({"figures": {"line": {"MRR": [1, 1, 1]}}, "unjudged": "x"}, "unjudged"),
        ({"figures": {"line": {"MRR": [1]}}, "unjudged": 0}, r"wanted a list of mean, low, high"),
        ({"figures": {"line": {"MRR": [1, 1, 1]}}, "unjudged": 0}, "other units"),
        ({}, "judged has no"),
    ):
        cell = {**plain["cells"][0], "judged": wrong}
        with pytest.raises(InputError, match=what):
            results_file.read_results({**plain, "cells": [cell]}, "it")


def test_documents_are_judged_by_their_ids(tmp_path: Path):
    (tmp_path / "set.json").write_text(
        '[{"idx": "a", "doc": "sort numbers", "code": "def order(n): return sorted(n)", "label": 1},'
        ' {"idx": "b", "doc": "show a date", "code": "def show(d): print(d)", "label": 1}]'
    )
    ready = prepare(SetSpec("set", tmp_path / "set.json"), tmp_path / "out", print)
    judge = Careful({"b": 1})
    found = {"a": SystemAnswer("a", (Span(ready.corpus.documents[1].path),), (1.0,), 0.1)}
    judged = judge_unseen(ready, {"one": found}, Unseen("j", judge), tmp_path)
    assert judge.asked == [("sort numbers", "b", "python")]
    assert [str(entry.span) for entry in judged.expected.entries["a"]] == ["a", "b"]
