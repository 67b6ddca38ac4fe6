"""Trees from plain numbers."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import InputError
from assay.rank.consensus.trees import flat, trees

NESTED = [
    {
        "split_feature": 1, "threshold": 0.5, "internal_value": 1.0,
        "left_child": {"leaf_value": -1.0},
        "right_child": {
            "split_feature": 0, "threshold": 2.0, "internal_value": 2.0,
            "left_child": {"leaf_value": 1.5}, "right_child": {"leaf_value": 4.0},
        },
    },
    {"leaf_value": 0.25},
]  # fmt: skip
ROWS = np.array([[0.0, 0.5], [2.0, 1.0], [3.0, 1.0]])


def test_rows_go_down_to_their_leaves():
    assert trees(flat(NESTED)).sums(ROWS).tolist() == [-0.75, 1.75, 4.25]


def test_parts_add_up_to_the_sum():
    grown = trees(flat(NESTED))
    parts = grown.parts(ROWS, ["a", "b"])
    assert parts["b"].tolist() == [-2.0, 1.0, 1.0]
    assert parts["a"].tolist() == [0.0, -0.5, 2.0]
    np.testing.assert_allclose(sum(parts.values()), grown.sums(ROWS))


def test_no_trees_say_nothing():
    assert trees(flat([])).sums(ROWS).tolist() == [0.0, 0.0, 0.0]


def test_a_library_grows_the_same():
    lightgbm = pytest.importorskip("lightgbm")
    lots = np.random.default_rng(0)
    rows = lots.normal(size=(400, 5)).round(3)
    data = lightgbm.Dataset(rows, (rows[:, 0] * rows[:, 1] > 0).astype(int))
    shape = {"objective": "binary", "verbose": -1, "num_threads": 1, "boost_from_average": False}
    booster = lightgbm.train(shape, data, 20)
    own = trees(flat([tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]))
    np.testing.assert_allclose(own.sums(rows), booster.predict(rows, raw_score=True), atol=2e-3)


@pytest.mark.parametrize("record", [{}, {**flat(NESTED), "roots": None}])
def test_a_damaged_file_is_told(record: dict[str, object]):
    with pytest.raises(InputError):
        trees(record)
