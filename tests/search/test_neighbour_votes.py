"""Tests and callers among the candidates of a question vote for what they test and call."""

from __future__ import annotations

import numpy as np

from assay.search.neighbour_votes import NEIGHBOUR_FEATURES, neighbour_votes
from assay.values import Chunk


def unit(path: str, name: str, text: str, kind: str = "function") -> Chunk:
    return Chunk(f"{path}:{name}", text, "python", path, 1, 3, symbol=name, kind=kind)


UNITS = [
    unit("shop/till.py", "close_till", "def close_till(): pass"),
    unit("shop/stock.py", "count_all", "def count_all(): pass"),
    unit("shop/day.py", "end_day", "def end_day(): close_till()"),
    unit("tests/test_stock.py", "test_counting", "def test_counting(): count_all()", "test"),
]


def votes(snapshot_of, strength: list[float], units=UNITS) -> dict[str, list[float]]:
    numbers = np.arange(len(units))
    is_test = np.array([one.kind == "test" for one in units])
    found = neighbour_votes(snapshot_of(units), numbers, np.array(strength), is_test, [one.path for one in units])
    return dict(zip(NEIGHBOUR_FEATURES, found.T.tolist(), strict=True))


def test_a_strong_caller_votes_for_what_it_calls_and_a_strong_test_for_its_unit_and_file(snapshot_of):
    found = votes(snapshot_of, [0.1, 0.1, 1.0, 0.8])
    assert np.flatnonzero(found["called"]).tolist() == [0]
    assert np.flatnonzero(found["tested"]).tolist() == [1]
    assert np.allclose(found["test_of_file"], [0, 0.8, 0, 0])
    weak = votes(snapshot_of, [0.1, 0.1, 0.2, 0.1])
    assert weak["called"][0] < found["called"][0]


def test_a_name_that_many_candidates_have_gets_no_vote(snapshot_of):
    many = [unit(f"shop/{number}.py", "close_till", "def close_till(): pass") for number in range(5)]
    assert not any(votes(snapshot_of, [0.1] * 5 + [1.0], [*many, UNITS[2]])["called"])
