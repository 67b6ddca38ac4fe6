"""What the driver spends on a program before it runs: programs task by task, and in mixed order.

python benchmarks/mixed_order.py HumanEval.jsonl.gz [--samples 20]
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path

from assay.programs.tasks.task_file import read_tasks
from assay.programs.verdict import job_of
from assay.types import Program, Task


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tasks", type=Path)
    arguments.add_argument("--samples", type=int, default=20, help="programs of each task")
    given = arguments.parse_args()
    for order in ("by task", "mixed"):
        work = [task for task in read_tasks(given.tasks, "").tasks for _ in range(given.samples)]
        if order == "mixed":
            random.Random(0).shuffle(work)  # noqa: S311  no secret hangs on it
        print(f"{order:<10}{milliseconds(work):6.3f} ms of processor time a program")


def milliseconds(work: Sequence[Task]) -> float:
    started = time.process_time()
    for task in work:
        job_of(task, Program(task.id, "def f(): pass"))
    return (time.process_time() - started) / len(work) * 1000


if __name__ == "__main__":
    main()
