"""Ways that will go: a smoke test of each, until it does."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.faults import Fault
from assay.rank.consensus.consensus_ranker import ConsensusRanker
from assay.rank.cosine_ranker import CosineRanker
from assay.rank.dataset import dataset_formats
from assay.rank.dataset.examples import Example
from assay.rank.prefix.finished_part import finished_part
from assay.rank.prefix.prefix_ranker import PrefixRanker
from assay.types import Program, Task


def test_weights_of_trees_are_learned_and_rank(tmp_path: Path):
    pytest.importorskip("lightgbm")
    from assay.rank.consensus.train_consensus import main

    kinds = (
        ("def f(a, b):\n    return a + b\n", Fault.CORRECT),
        ("def f(a, b):\n    return c\n", Fault.NAME_ERROR),
        ("def f(a, b:\n", Fault.SYNTAX_ERROR),
    )
    examples = [
        Example(f"t{task}", f"{task}-{at}", "Add.", source, fault, n=2 - bool(at), split="train")
        for task in range(60)
        for at, (source, fault) in enumerate(kinds)
    ]
    dataset_formats.write(tmp_path / "set.jsonl", examples)
    main([str(tmp_path / "weights.json"), str(tmp_path / "set.jsonl")])
    ranker = ConsensusRanker(str(tmp_path / "weights.json"))
    found = ranker.rank(Task("new", "Add."), [Program("new", source) for source, _ in kinds])
    assert max(found, key=lambda each: each.score).program.source == kinds[0][0]
    assert found[2].fault is Fault.SYNTAX_ERROR


SOURCE = """def solve(items, limit):
    total, seen = 0, []
    for place in range(len(items) - 1):
        item = items[place]
        if item not in seen and item <= limit:
            total += item * 2
            seen.append(item)
    return total > limit
"""


def test_cosine_prefers_what_is_near_the_text():
    programs = [Program("t", "def send_mail(server):\n    server.send()\n"), Program("t", "x = 1 / 0\n")]
    near, far = CosineRanker("hash:256").rank(Task("t", "send a mail to the server"), programs)
    assert near.score > far.score
    assert CosineRanker("hash:256").rank(Task("t", ""), []) == []


CUT = {
    "": "",
    "def f(x):": "",
    "def f(x):\n    return x": "def f(x):\n pass\n",
    "def f(x):\n    y = x\n    return y +": "def f(x):\n    y = x\n",
    "def f(x):\n    y = '''a\nb": "def f(x):\n pass\n",
    "try:\n\ta = 1\n\tb": "try:\n\ta = 1\nfinally:\n pass\n",
    "try:\n a = 1\nexcept E:\n b = 1\nc = (": "try:\n a = 1\nexcept E:\n b = 1\n",
    "if x:\n a = 1\nelse:\n b = (": "if x:\n a = 1\nelse:\n pass\n",
    "#" * 60_000 + "\n": "",
    "match x:\n": "match x:\n case _:\n  pass\n",
    "@a\n": "@a\ndef _(): pass\n",
    "x = 1\r\ny = 2\r\nz": "x = 1\r\ny = 2\r\n",
    "sign = '\u2028'\nother = (": "sign = '\u2028'\n",
}


@settings(max_examples=50)
@given(st.integers(0, len(SOURCE)))
def test_what_is_finished_of_a_program_is_python_wherever_it_is_cut(place: int):
    ast.parse(finished_part(SOURCE[:place]))
    assert {cut: finished_part(cut) for cut in CUT} == CUT
    assert finished_part(SOURCE) == SOURCE
    with pytest.raises(SyntaxError):
        ast.parse(finished_part("x = = 1\ny = 2\nz"))


def test_beginnings_are_ordered_by_what_they_show(assay, tmp_path: Path):
    common = "def f(x):\n    total = 0\n    for i in range(x):\n        tot"
    sources = (common, common + "al", "def f(x):\n    return x[0]\n    pri", "def f(x):\n    y = z\n    ")
    told = PrefixRanker().rank(Task("t", "Write f(x).", "f"), [Program("t", source) for source in sources])
    scores = [each.score for each in told]
    assert scores[0] == scores[1] > scores[2] > 1 > scores[3]
    assert (told[3].fault, told[3].line) == (Fault.NAME_ERROR, 2)
    codes = {"correct": "def f(x):\n    return x + 1\n", "NameError": "def f(x):\n    y = z\n    return y\n"}
    rows = [{"task_id": "t", "id": name, "prompt": "Add 1.", "code": code} for name, code in codes.items()]
    outcomes = [{"task_id": "t", "program_id": name, "n": 1, "fault": name, "line": -1} for name in codes]
    for name, lines in (("s.jsonl", rows), ("o.jsonl", outcomes)):
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    ran = assay("rank", "eval", tmp_path / "s.jsonl", tmp_path / "o.jsonl", "--seen", "0.5,1", "--k", "1")
    assert ran.status == 0, ran.err
    assert "prefix: half of the wrong ones from 0.75 of a program on" in ran.out
