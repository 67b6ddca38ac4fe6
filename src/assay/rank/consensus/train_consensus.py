"""Labelled programs in, the weights of the ranker `consensus` out, by one command.

    python -m assay.rank.consensus.train_consensus OUT DATASET… --tasks FILE

DATASET is what `assay rank data` writes; tasks of the split `test` are left out. LightGBM grows the trees, and what is
written are plain numbers. Style (comments, length of lines, the end of a file) is not looked at: it tells models
apart, not right from wrong; and what can only speak for or against a program may do so in one direction alone. The
three weights beside the trees were chosen on MBPP and APPS, by task.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import lightgbm
import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault
from assay.programs.tasks import task_file
from assay.rank.consensus.feature_directions import AGAINST, FOR, STYLE
from assay.rank.consensus.pool_facts import FEATURES
from assay.rank.consensus.training_pools import Lesson, lessons
from assay.rank.consensus.trees import flat
from assay.rank.dataset import dataset_formats
from assay.types import Task

COLUMNS: Final = tuple(name for name in FEATURES if name not in STYLE)
WEIGHTS: Final = {"gate": 20.0, "central": 6.0, "unlike": 4.0}
_FEWEST: Final = 0.005
"""The share of programs that fail in a way that is learned."""
_BOOSTERS: Final = 4
"""Models whose mean is taken: one alone moves with its seed by two points of pass@1."""
_BROKE: Final = 3.0
"""How much more a program counts that breaks though nothing is found in it: such must not come first."""
_SHAPE: Final = {
    "learning_rate": 0.05, "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1, "lambda_l2": 5,
    "min_data_in_leaf": 100, "num_leaves": 16, "seed": 1, "deterministic": True, "num_threads": 2, "verbose": -1,
}  # fmt: skip


def learn(pools: Sequence[Lesson], *, rounds: int = 45, fault_rounds: int = 8) -> dict[str, Any]:
    """Return the record of a model that these pools teach."""
    if not pools:
        raise InputError("no pools to learn from: the data sets hold no program outside the split 'test'")
    rows = np.concatenate([pool.rows for pool in pools])[:, [FEATURES.index(name) for name in COLUMNS]]
    faults = [fault for pool in pools for fault in pool.faults]
    weights = np.concatenate([pool.weights for pool in pools])
    weights *= len(weights) / weights.sum()
    broke = np.array([fault.is_execution for fault in faults]) & (rows[:, COLUMNS.index("finding")] == 0)
    start = np.concatenate([pool.start for pool in pools])
    right = np.array([fault is Fault.CORRECT for fault in faults], np.int64)
    return {
        "features": list(COLUMNS),
        **WEIGHTS,
        "right": flat(_grown(rows, right, np.where(broke, _BROKE, 1.0) * weights, rounds, start), share=1 / _BOOSTERS),
        "faults": _fault_trees(rows, faults, weights, fault_rounds),
    }


def _grown(
    rows: NDArray[np.float64],
    right: NDArray[np.int64],
    weights: NDArray[np.float64],
    rounds: int,
    start: NDArray[np.float64],
) -> list[Mapping[str, Any]]:
    """Return trees for right or wrong; what they start from is not in them."""
    ways = [(name in FOR) - (name in AGAINST) for name in COLUMNS]
    data = lightgbm.Dataset(rows, right, weight=weights, init_score=start)
    shape = {**_SHAPE, "objective": "binary", "monotone_constraints": ways, "learning_rate": 0.1, "num_leaves": 12}
    boosters = [lightgbm.train({**shape, "seed": seed}, data, rounds) for seed in range(_BOOSTERS)]
    return [tree["tree_structure"] for booster in boosters for tree in booster.dump_model()["tree_info"]]


def _fault_trees(
    rows: NDArray[np.float64], faults: Sequence[Fault], weights: NDArray[np.float64], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Return trees for each way to fare that is not rare; rare ones are left to what is found.

    `INTENT_OTHER` is no way: it is also what stands for wrong where nobody said how.
    """
    count = Counter(faults)
    least = max(_FEWEST * len(faults), 1)
    names = [fault for fault in Fault if count[fault] >= least and fault is not Fault.INTENT_OTHER]
    if len(names) < 2:
        return {str(names[0]): flat([])}
    used = np.array([fault in names for fault in faults])
    label = np.array([names.index(fault) if fault in names else 0 for fault in faults])
    shape = {**_SHAPE, "objective": "multiclass", "num_class": len(names), "num_leaves": 6, "learning_rate": 0.25}
    booster = lightgbm.train(shape, lightgbm.Dataset(rows[used], label[used], weight=weights[used]), rounds)
    grown = [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]
    return {str(name): flat(grown[at :: len(names)]) for at, name in enumerate(names)}


def pools_of(datasets: Iterable[Path], tasks: Iterable[Path], *, seed: int = 0) -> list[Lesson]:
    """Return the pools of the programs in these files; their tasks tell prompts in more ways than the data set does."""
    known: dict[str, Task] = {task.id: task for path in tasks for task in task_file.read_tasks(path).tasks}
    found: list[Lesson] = []
    for path in datasets:
        examples = [each for each in dataset_formats.read(path).examples if each.split != "test"]
        found += lessons(known, examples, seed=seed)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Grow the weights that the arguments ask for, and write them."""
    parser = ArgumentParser(
        prog="python -m assay.rank.consensus.train_consensus", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("out", type=Path, help="file to write, JSON")
    parser.add_argument("datasets", type=Path, nargs="+", help="what `assay rank data` wrote")
    parser.add_argument("--tasks", type=Path, action="append", default=[], help="tasks of the data sets. Repeatable")
    parser.add_argument("--seed", type=int, default=0, help="of the pools that are drawn")
    given = parser.parse_args(arguments)
    record = learn(pools_of(given.datasets, given.tasks, seed=given.seed))
    given.out.write_text(json.dumps(record, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
