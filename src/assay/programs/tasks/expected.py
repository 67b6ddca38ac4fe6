"""Turn inputs into tests by running the reference in the sandbox once.

References of EvalPlus take minutes for all tasks of a file, and their answers are the same each time. What took too
long is kept too: so a second run has the same tests as the first, however busy the machine is.

An input that the contract forbids, on which the reference fails, that takes too long or whose value is no plain data
makes no test: it is told, and the others count. What a reference answered may be kept (`_keep_end`).
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cage.job import Ended, Job
from assay.cage.limits import Limits
from assay.programs.kept_results import KeptResults
from assay.programs.tasks import answering
from assay.programs.tasks.task_file import Inputs, TaskFile, evalplus_test
from assay.programs.verdict import job_of
from assay.values import Call, Problem, Program, Task, Test

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Progress


_TEXTS = ("stdout", "reports")


def _parts_of(job: Job) -> tuple[bytes, ...]:
    """Return the key of a job: all that its result depends on."""
    return json.dumps(asdict(job.limits) if job.limits else None).encode(), job.candidate, job.judge or b""


def _kept_end(results: KeptResults, job: Job) -> Ended | None:
    """Return the stored result of this job; None without one."""
    found = results.get(*_parts_of(job))
    with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
        texts = {name: found[name].encode() for name in _TEXTS}
        return Ended(job.id, **texts, cpu_s=float(found["cpu_s"]), ended=found["ended"])
    return None


def _keep_end(results: KeptResults, job: Job, ended: Ended) -> None:
    texts = {name: getattr(ended, name).decode("utf-8", "replace") for name in _TEXTS}
    results.put({**texts, "cpu_s": ended.cpu_s, "ended": ended.ended}, *_parts_of(job))


_LIMITS = Limits(cpu_s=60, wall_s=180, memory_mb=2048, file_mb=64, output_kb=32_768)
"""For all inputs of one task: references of EvalPlus take up to half a minute."""
_LASTING = ("exit", "cpu")
"""Ends that say something about a reference, and not about the machine of the day."""
_MAX_TASK_CHARS = 1 << 22
_SLACK = 4
"""How many times as long as the reference a program may take, as EvalPlus has it."""


def with_expected_outputs(
    reading: TaskFile, runner: ProgramRunner, report: Progress | None = None, *, cache: Path | None = None
) -> TaskFile:
    """Return the tasks with a test for each input that the reference answers; `cache` is a folder for its answers."""
    waiting = [task for task in reading.tasks if task.id in reading.inputs]
    if not waiting:
        return reading
    made: dict[str, Task] = {}
    problems = list(reading.problems)
    jobs = (_job(task, reading.inputs[task.id]) for task in waiting)
    for task, ended in zip(waiting, _ended(jobs, runner, cache), strict=True):
        tests, why = _tests(task, reading.inputs[task.id], ended)
        made[task.id] = replace(task, tests=tests, timeout_s=_timeout(ended))
        problems += [Problem(task.id, f"{n:,} inputs cannot be used as tests: {what}") for what, n in why.items()]
        if report:
            report("expected values", len(made), len(waiting))
    tasks = tuple(made.get(task.id, task) for task in reading.tasks)
    return TaskFile(tasks, tuple(problems), reading.form)


def _ended(jobs: Iterable[Job], runner: ProgramRunner, cache: Path | None) -> Iterator[Ended]:
    """Yield the result of each job in order, from the cache or by running it."""
    results = KeptResults(cache)
    known = [(job, _kept_end(results, job)) for job in jobs]
    ran = runner.run(job for job, before in known if before is None)
    for job, before in known:
        ended = before or next(ran)
        if before is None and ended.ended in _LASTING:
            _keep_end(results, job, ended)
        yield ended


def _job(task: Task, inputs: Inputs) -> Job:
    about = {"reference": task.reference, "entry_point": task.entry_point, "contract": inputs.contract}
    call = Call((json.dumps({**about, "inputs": inputs.args}),), None)
    answers = Task(task.id, "", entry_point=answering.main.__name__, tests=(call,))
    source = Path(answering.__file__).read_text(encoding="utf-8")
    return job_of(answers, Program(task.id, source), limits=_LIMITS)


def _tests(task: Task, inputs: Inputs, ended: Ended) -> tuple[tuple[Test, ...], Mapping[str, int]]:
    """Return the tests of a task, and the count of unusable inputs by reason."""
    lines = ended.stdout.decode("utf-8", "replace").split("\n")[:-1]
    why, size, tests = Counter[str](), 0, list[Test]()
    for line in lines:
        if not line.startswith("("):
            why[line[:80]] += 1
        elif size + len(line) > _MAX_TASK_CHARS:
            why[answering.TOO_LONG] += 1
        else:
            size += len(line)
            args, value = ast.literal_eval(line)
            tests.append(evalplus_test(task.entry_point, args, value, inputs.atol))
    if len(inputs.args) > len(lines):
        why[_broken(ended)] += len(inputs.args) - len(lines)
    return tuple(tests), why


def _broken(ended: Ended) -> str:
    """Say why there are fewer answers than inputs."""
    if ended.ended in {"cpu", "wall"}:
        return f"the reference takes longer than {_LIMITS.cpu_s:.0f} s for all inputs"
    told = ended.detail or ended.reports.decode("utf-8", "replace").strip()
    return f"running the reference ended by {ended.ended}" + (f" ({told[:120]})" if told else "")


def _timeout(ended: Ended) -> float:
    """Return the processor time for all tests of a task; 0 if the default limits are enough."""
    wanted = _SLACK * ended.cpu_s
    return round(wanted, 1) if wanted > Limits().cpu_s else 0.0
