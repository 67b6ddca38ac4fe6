"""What a plan may be called, and what is told of places that are not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.bench import experiment
from assay.bench.plan import BenchPlan, SetSpec, SystemSpec
from assay.bench.prepare import prepare
from assay.errors import InputError
from assay.measure.measures import parse

CSV = """query,result1,result2
deliver a message again,mail/send.py:6-12:2,mail/gone.py:1-3:1
is a mailbox valid,mail/address.py:11-13:2,mail/address.py:900-950:1
"""


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    file = tmp_path / "queries.csv"
    file.write_text(CSV)
    return file


def measured(truth: Path, project: Path, *names: str, of: tuple[str, ...] = ("q",)):
    said: list[str] = []
    plan = BenchPlan(
        tuple(SetSpec(name, truth, project) for name in of),
        tuple(SystemSpec(name, "bm25") for name in names),
        (parse("MRR"),),
    )
    return experiment.run(plan, experiment.Setting(truth.parent / "out", said.append)), said


@pytest.mark.parametrize("names", [("rg", "rg"), ("Assay", "assay")])
def test_systems_that_share_a_name_would_share_their_answers(truth: Path, project: Path, names: tuple[str, ...]):
    with pytest.raises(InputError, match="two systems are called"):
        measured(truth, project, *names)


@pytest.mark.parametrize("names", [("a", "A"), ("../up",), ("a/b",), ("..",)])
def test_sets_whose_answers_would_lie_elsewhere_are_refused(truth: Path, project: Path, names: tuple[str, ...]):
    with pytest.raises(InputError, match=r"two sets are called|a set cannot be called"):
        measured(truth, project, "x", of=names)


def test_a_set_of_several_states_of_the_code_says_how_to_split_it(truth: Path, project: Path):
    instances = truth.with_name("instances.jsonl")
    about = {"repo": "o/r", "problem_statement": "it fails", "patch": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"}
    rows = [{"instance_id": commit, "base_commit": commit, **about} for commit in ("c1", "c2")]
    instances.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"speaks of 2 commits.*assay truth convert --split"):
        prepare(SetSpec("x", instances, project), truth.parent / "out", print)


def test_places_that_the_corpus_does_not_have_are_told(truth: Path, project: Path):
    held, said = measured(truth, project, "x")
    assert [each for each in held.sets["q"].problems if "not found" in each] == [
        "queries.csv:2: mail/gone.py:1-3: no such file in the corpus, so that it counts as not found",
        "queries.csv:3: mail/address.py:900-950: the file ends at line 14; it counts as not found",
    ]
    assert any("mail/gone.py" in each for each in said)
    assert held.asked == (("q", "x"),)
    assert len(held.sets["q"].queries) == 2
