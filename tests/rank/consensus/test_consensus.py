"""The default ranker."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.faults import Fault
from assay.protocols import Ranker
from assay.rank.consensus.consensus_ranker import ConsensusRanker
from assay.types import Program, Ranked, Task

TASK = Task("t", 'def add(a, b):\n    """Return the sum of two numbers.\n    >>> add(1, 2)\n    3\n    """\n', "add")
SOURCES = [
    "def add(a, b):\n    return a + b\n",
    "def add(x, y):\n    return x + y\n",
    "def add(a, b):\n    total = a + b\n    return total\n",
    "def add(a, b):\n    return sum([a, b])\n",
    "def add(a, b):\n    return a - b\n",
    "def add(a, b):\n    return str(a) + str(b)\n",
    "def add(a, b):\n    return a + c\n",
    "def add(a, b):\n    pass\n",
    "def add(a, b:\n",
]
RANKER = ConsensusRanker()


def ranked(sources: list[str], task: Task = TASK) -> list[Ranked]:
    return RANKER.rank(task, [Program(task.id, source, str(at)) for at, source in enumerate(sources)])


def scores(sources: list[str], task: Task = TASK) -> dict[str, float]:
    return {each.program.source: each.score for each in ranked(sources, task)}


def test_it_is_a_ranker():
    assert isinstance(RANKER, Ranker)
    assert RANKER.name == "consensus"


def test_the_common_answer_leads_and_what_fails_comes_last():
    found = scores(SOURCES)
    order = sorted(SOURCES, key=lambda source: -found[source])
    assert order[0] in SOURCES[:3]
    assert set(order[-4:]) == set(SOURCES[5:])


def test_faults_and_lines_are_told():
    found = ranked(SOURCES)
    assert [each.fault for each in found[6:]] == [Fault.NAME_ERROR, Fault.NONE_ERROR, Fault.SYNTAX_ERROR]
    assert [found[6].line, found[8].line] == [2, 1]
    assert all(each.fault in set(Fault) for each in found)


def test_the_parts_add_up_to_the_score():
    for each in ranked(SOURCES):
        assert sum(each.why.values()) == pytest.approx(each.score)
        assert set(each.why) == {"gate", "central", "base", "form", "task", "peers", "unlike"}


def test_what_comes_second_is_another_answer():
    found = scores(SOURCES[:5])
    order = sorted(SOURCES[:5], key=lambda source: -found[source])
    assert order[1] not in SOURCES[:2] or order[0] not in SOURCES[:2]


@settings(deadline=None, max_examples=25)
@given(st.permutations(range(len(SOURCES))))
def test_the_order_of_the_programs_is_nothing(order: list[int]):
    found = ranked([SOURCES[at] for at in order])
    assert [each.program.source for each in found] == [SOURCES[at] for at in order]
    assert {each.program.source: each.score for each in found} == scores(SOURCES)


def test_copies_are_samples():
    listed = [
        Program("t", source) for source, n in zip(SOURCES, (3, 1, 2, 1, 4, 1, 1, 1, 1), strict=True) for _ in range(n)
    ]
    counted = [Program("t", source, n=n) for source, n in zip(SOURCES, (3, 1, 2, 1, 4, 1, 1, 1, 1), strict=True)]
    one, other = ({each.program.source: each.score for each in RANKER.rank(TASK, each)} for each in (listed, counted))
    assert one == other


def test_one_candidate_is_scored_by_what_it_is():
    good, bad = ranked(SOURCES[:1])[0], ranked(SOURCES[6:7])[0]
    assert good.score > bad.score


@pytest.mark.parametrize("prompt", ["", "Add two numbers.", TASK.prompt, "\0\ud800 >>> add(", "def add(a, b" * 2000])
@pytest.mark.parametrize("entry", ["", "add"])
def test_any_text_will_do(prompt: str, entry: str):
    found = scores(SOURCES, Task("t", prompt, entry))
    assert min(found[source] for source in SOURCES[:3]) > max(found[source] for source in (SOURCES[6], SOURCES[8]))


@pytest.mark.parametrize(
    "sources",
    [
        [],
        [""],
        ["def f(:"] * 5,
        ["int main() { return 0; }", "int main() { return 1; }", "fn main() {}"],
        ["\0", "\ud800", "(" * 50_000, "x" * 10_000_000, "-" * 30_000 + "1"],
    ],
)
def test_bad_input_has_an_answer(sources: list[str]):
    found = ranked(sources)
    assert [each.program.source for each in found] == sources
    assert all(each.score == each.score for each in found)


def test_of_another_language_too_the_common_comes_first():
    found = scores(
        ["int f(int a) { return a + 1; }", "int f(int b) { return b + 1; }", "puts 'hello world'"], Task("t", "")
    )
    assert max(found, key=lambda source: found[source]).startswith("int")


def test_thousands_of_candidates_fit():
    lots = random.Random(0)
    sources = [f"def add(a, b):\n    return a + b * {lots.random()}\n" for _ in range(3_000)]
    assert len(ranked([*sources, *SOURCES])) == 3_000 + len(SOURCES)


def test_nothing_heavy_is_loaded():
    made = "from assay.rank.consensus.consensus_ranker import ConsensusRanker; ConsensusRanker()"
    code = f"{made}; import sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "sklearn", "lightgbm", "scipy", "pyarrow", "transformers"} & set(loaded)


def test_weights_that_cannot_be_read_are_told(tmp_path: Path):
    for text in ("no JSON", "{}", json.dumps({"features": ["unheard of"], "faults": {}})):
        (tmp_path / "weights.json").write_text(text)
        with pytest.raises(InputError):
            ConsensusRanker(str(tmp_path / "weights.json"))
    with pytest.raises(InputError, match="cannot read"):
        ConsensusRanker(str(tmp_path / "none.json"))


def test_one_candidate_without_a_finding_is_scored_and_not_blamed():
    (plain,) = ConsensusRanker().rank(Task("t", ""), [Program("t", "def add(a, b):\n    return a + b\n")])
    assert plain.fault in {None, Fault.CORRECT}
    (broken,) = ConsensusRanker().rank(Task("t", ""), [Program("t", "def add(a, b):\n    return a + c\n")])
    assert (broken.fault, broken.line) == (Fault.NAME_ERROR, 2)
    assert plain.score > broken.score
