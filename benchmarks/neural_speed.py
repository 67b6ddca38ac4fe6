"""How many programs a second rankers score, task by task and with several tasks at once, in processor time.

    python benchmarks/neural_speed.py DATA neural:FOLDER 'neural:FOLDER?dtype=bf16' --tasks 60 --pool 5

DATA is a dataset that `assay rank data` wrote; each ranker scores the same programs, once before the clock starts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from assay.protocols import Pool
from assay.rank.dataset.formats import read
from assay.rank.dataset.rows import by_task
from assay.rank.rankers import ranked_pools, ranker_of
from assay.types import Ranked, Task


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("data", type=Path)
    words.add_argument("specs", nargs="+")
    words.add_argument("--tasks", type=int, default=60)
    words.add_argument("--pool", type=int, default=5, help="programs of a task")
    given = words.parse_args()
    pools = pools_of(given.data, given.tasks, given.pool)
    count = sum(len(programs) for _, programs in pools)
    print(f"{len(pools):,} tasks, {count:,} programs; programs a second of processor time")
    print(f"{'ranker':<40} {'task by task':>13} {'together':>9} {'furthest apart':>15}")
    for spec in given.specs:
        ranker = ranker_of(spec)
        list(ranked_pools(ranker, pools[:4]))
        alone, one = timed(lambda ranker=ranker: [ranker.rank(task, programs) for task, programs in pools])
        together, other = timed(lambda ranker=ranker: list(ranked_pools(ranker, pools)))
        apart = max(abs(a.score - b.score) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))
        print(f"{spec[-40:]:<40} {count / alone:>13.1f} {count / together:>9.1f} {apart:>15.1e}")


def pools_of(data: Path, tasks: int, size: int) -> list[Pool]:
    """Return the first programs of the first tasks."""
    groups = islice(by_task(read(data).examples).items(), tasks)
    return [(Task(name, rows[0].prompt), [row.program for row in rows[:size]]) for name, rows in groups]


def timed(work: Callable[[], list[list[Ranked]]]) -> tuple[float, list[list[Ranked]]]:
    """Return the seconds of processor time that some work takes, and what comes of it."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


if __name__ == "__main__":
    main()
