"""A program among the others."""

from __future__ import annotations

import numpy as np

from assay.rank.consensus.facts import facts
from assay.rank.consensus.paths import bags
from assay.rank.consensus.pool_features import NAMES, among, passing
from assay.rank.consensus.similar import MOST
from assay.rank.consensus.task_wants import TaskWants

ADD = "def f(a, b):\n    return a + b\n"
SUM = "def f(a, b):\n    return sum([a, b])\n"
LOOP = "def f(a, b):\n    for i in range(b):\n        a = a * i\n    return a\n"
BAD = "def f(a, b):\n    return c + b\n"


def table(sources: list[str], n: list[int] | None = None) -> dict[str, np.ndarray]:
    seen = [facts(source, TaskWants("f")) for source in sources]
    rows = among(seen, n or [1] * len(sources), bags([each.canon for each in seen]))
    return dict(zip(NAMES, rows.T, strict=True))


def test_what_most_say_is_central():
    found = table([ADD, ADD.replace("a", "x"), SUM, LOOP])
    assert found["central_all"].argmax() in {0, 1}
    assert found["central_all"].argmin() == 3
    assert found["mass"].round(3).tolist() == [0.333, 0.333, 0.0, 0.0]


def test_what_fails_the_gate_is_nobodys_witness():
    found = table([ADD, SUM, BAD], [1, 1, 98])
    alone = table([ADD, SUM])
    np.testing.assert_allclose(found["central_all"][:2], alone["central_all"])
    assert found["passing"][0] == 0.02


def test_a_copy_counts_and_the_program_itself_does_not():
    once, twice = table([ADD, LOOP], [1, 1]), table([ADD, LOOP], [3, 1])
    assert once["central_all"][0] == once["central_all"][1]
    assert twice["central_all"][0] > twice["central_all"][1]


def test_one_alone_has_no_peers():
    found = table([ADD])
    assert found["central_all"].tolist() == [-1.0]
    assert all(np.isfinite(values).all() for values in found.values())


def test_where_none_passes_all_are_compared():
    found = table([BAD, BAD.replace("b", "d"), "def f(:"])
    assert found["central_all"][0] > found["central_all"][2]
    assert not passing([facts(BAD, TaskWants("f"))]).any()


def test_a_large_pool_is_compared_with_a_part_of_it():
    sources = [f"def f(a, b):\n    return a + b * {number}\n" for number in range(MOST + 50)]
    assert np.isfinite(table(sources)["central_all"]).all()
