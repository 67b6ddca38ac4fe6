"""What programs and tests import, and what of it a sandbox has not: asked of the sandbox itself, by a job.

Imports are found by pattern, not by parsing: programs are hostile text, and a match in a text that is no import costs
at most the install of something that is allowed.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.programs.modules.distributions import Known
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import job_of, outcome_of
from assay.types import Call, Program, Pytest, Script, Task

if TYPE_CHECKING:
    from assay.cage.cage_pool import ProgramRunner

_STATEMENT = re.compile(
    r"(?:^|[;:\n])[ \t]*(?:import[ \t]+(\w[\w., \t]*)|from[ \t]+(\w[\w.]*)[ \t]+import\b)", re.ASCII
)
_CALL = re.compile(r"""\b(?:__import__|import_module)\(\s*["'](\w+)""", re.ASCII)
_OWN = frozenset({"solution"}) | sys.stdlib_module_names
"""What is there without any distribution; tests know the program as `solution`."""
_MOST_NAMES = 10_000
_LIMITS = Limits(cpu_s=60, wall_s=180, memory_mb=2048)
_COMMON = 0.05
"""Preloading makes every program start later by some milliseconds, and those that import earlier by hundreds."""

_ABSENT = """
def absent(text):
    import importlib.util, json
    def there(name):
        try: return importlib.util.find_spec(name) is not None
        except (ImportError, ValueError, AttributeError): return False
    print(json.dumps([name for name in json.loads(text) if not there(name)]))
"""
_FORKABLE = """
def forkable(name):
    import importlib, os, threading
    importlib.import_module(name)
    try: return len(os.listdir('/proc/self/task')) == 1
    except OSError: return threading.active_count() == 1
"""


@dataclass(frozen=True, slots=True)
class Needs:
    """What is imported and not there."""

    missing: dict[str, str]
    """Modules of known distributions, with what brings each."""
    unknown: tuple[str, ...] = ()
    """Modules that programs import and nobody knows."""
    common: tuple[str, ...] = ()
    """Those of `missing` that many programs import."""


def imported(text: str) -> set[str]:
    """Return the top-level names of what a text imports, those of the standard library left out."""
    found = set(_CALL.findall(text))
    for names, module in _STATEMENT.findall(text):
        for name in names.split(",") if names else [module]:
            found.update(word.partition(".")[0] for word in name.split()[:1])
    return {name for name in found if name.isidentifier()} - _OWN


def needs(reading: TaskFile, programs: Sequence[Program], runner: ProgramRunner, known: Known) -> Needs:
    """Ask a sandbox which of the modules that programs and their tests import it has not."""
    by_programs = Counter(name for program in programs for name in imported(program.source))
    by_tests = {name for text in _texts(reading) for name in imported(text)}
    of_tests = {name for name in by_tests if known.distribution_of(name)}
    asked = sorted({name for name, _ in by_programs.most_common(_MOST_NAMES)} | of_tests)
    lacking = _absent(asked, runner) if asked else []
    missing = {name: brings for name in lacking if (brings := known.distribution_of(name))}
    many = _COMMON * len(programs)
    common = tuple(name for name in missing if by_programs[name] > many)
    return Needs(missing, tuple(name for name in lacking if name not in missing), common)


def forkable(names: Iterable[str], runner: ProgramRunner) -> tuple[str, ...]:
    """Return those modules that load and start no thread: a sandbox may have them loaded before its first program."""
    asked = [Task(name, "", "forkable", tests=(Call((name,), True),)) for name in names]
    programs = [Program(task.id, _FORKABLE, task.id) for task in asked]
    jobs = (job_of(task, program, limits=_LIMITS) for task, program in zip(asked, programs, strict=True))
    ends = zip(asked, programs, runner.run(jobs), strict=True)
    return tuple(task.id for task, program, end in ends if outcome_of(task, program, end).fault is Fault.CORRECT)


def _absent(names: Sequence[str], runner: ProgramRunner) -> list[str]:
    return strings_from(_ABSENT, "absent", (json.dumps(names),), runner)


def strings_from(source: str, entry: str, args: tuple[str, ...], runner: ProgramRunner) -> list[str]:
    """Return the JSON list of texts that a program of ours prints in a sandbox."""
    task = Task(entry, "", entry, tests=(Call(args, None),))
    limits = Limits(cpu_s=60, wall_s=180, output_kb=1024)
    (ended,) = runner.run([job_of(task, Program(task.id, source, task.id), limits=limits)])
    try:
        found = json.loads(ended.stdout)
    except ValueError:
        why = ended.detail or ended.ended
        raise InputError(f"the sandbox does not say which modules it has ({why}); see `assay doctor`") from None
    return [str(name) for name in found]


def _texts(reading: TaskFile) -> Iterator[str]:
    """Yield the code that tasks bring."""
    for task in reading.tasks:
        yield from (task.setup, task.reference)
        yield from (test.source for test in task.tests if isinstance(test, Script | Pytest))
    for inputs in reading.inputs.values():
        yield inputs.contract
