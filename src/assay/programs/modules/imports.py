"""Find the modules that programs import, their distributions, and those that a sandbox lacks.

A name that is neither in the table nor on the list has no distribution, whatever PyPI says: models invent names, and
others register what models invent. Known and allowed are two things: torch is known, and too large to be allowed.

Imports are found by pattern, not by parsing: programs are hostile text, and a match in a text that is no import costs
at most the install of something that is allowed.

It decides about outcomes as the tests do, so it belongs to the settings of a run. The sandbox itself is asked, since
its Python may be another one. The names of folders are read, which takes 3 ms where `importlib.metadata` takes 100.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cage.limits import Limits
from assay.errors import InputError
from assay.faults import Fault
from assay.io.rows import text_of
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import job_of, outcome_of
from assay.values import Call, Program, Pytest, Script, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner


_DATA = resources.files("assay.programs.modules") / "data"
_LINE = re.compile(r"(?:([A-Za-z_]\w*)\s*=\s*)?([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Distributions:
    """The known distributions of modules, and the ones that may be installed."""

    allowed: frozenset[str]
    of_module: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a user's file says about import names."""

    def distribution_of(self, module: str) -> str:
        """Return the distribution of a module; empty if it is unknown."""
        named = self.of_module.get(module) or _otherwise_named().get(module)
        if named:
            return named
        same = plain(module)
        return same if same in self.allowed else ""

    def allows(self, distribution: str) -> bool:
        """Say whether a distribution may be installed."""
        return plain(distribution) in self.allowed


def plain(name: str) -> str:
    """Return the normalized name of a distribution, as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_distributions(more: Path | None = None) -> Distributions:
    """Return the shipped list with the additions of a file: lines `NAME`, or `MODULE = NAME` if they differ."""
    allowed = set(_data("distributions.txt"))
    of_module: dict[str, str] = {}
    for number, line in enumerate(text_of(more).splitlines() if more else [], 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise InputError(
                f"{more}:{number}: '{text[:60]}' is not a name; write DISTRIBUTION or MODULE = DISTRIBUTION"
            )
        module, name = match.groups()
        allowed.add(plain(name))
        if module:
            of_module[module] = plain(name)
    return Distributions(frozenset(allowed), of_module)


@cache
def _otherwise_named() -> Mapping[str, str]:
    return dict(pair.split("=") for pair in _data("modules.txt"))


def _data(name: str) -> list[str]:
    lines = (_DATA / name).read_text(encoding="utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


_STATEMENT = re.compile(
    r"(?:^|[;:\n])[ \t]*(?:import[ \t]+(\w[\w., \t]*)|from[ \t]+(\w[\w.]*)[ \t]+import\b)", re.ASCII
)
_CALL = re.compile(r"""\b(?:__import__|import_module)\(\s*["'](\w+)""", re.ASCII)
_OWN = frozenset({"solution"}) | sys.stdlib_module_names
"""What is there without any distribution; tests know the program as `solution`."""
_MAX_NAMES = 10_000
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
    """The imported modules that are missing."""

    missing: dict[str, str]
    """Modules of known distributions, with what brings each."""
    unknown: tuple[str, ...] = ()
    """Modules that programs import and nobody knows."""
    common: tuple[str, ...] = ()
    """Those of `missing` that many programs import."""


def imported(text: str) -> set[str]:
    """Return the top-level names of a text's imports, without the standard library."""
    found = set(_CALL.findall(text))
    for names, module in _STATEMENT.findall(text):
        for name in names.split(",") if names else [module]:
            found.update(word.partition(".")[0] for word in name.split()[:1])
    return {name for name in found if name.isidentifier()} - _OWN


def needs(reading: TaskFile, programs: Sequence[Program], runner: ProgramRunner, distributions: Distributions) -> Needs:
    """Ask a sandbox which modules that programs and their tests import are missing."""
    by_programs = Counter(name for program in programs for name in imported(program.source))
    by_tests = {name for text in _texts(reading) for name in imported(text)}
    of_tests = {name for name in by_tests if distributions.distribution_of(name)}
    asked = sorted({name for name, _ in by_programs.most_common(_MAX_NAMES)} | of_tests)
    lacking = strings_from(_ABSENT, "absent", (json.dumps(asked),), runner) if asked else []
    missing = {name: brings for name in lacking if (brings := distributions.distribution_of(name))}
    many = _COMMON * len(programs)
    common = tuple(name for name in missing if by_programs[name] > many)
    return Needs(missing, tuple(name for name in lacking if name not in missing), common)


def forkable(names: Iterable[str], runner: ProgramRunner) -> tuple[str, ...]:
    """Return the modules that load without starting a thread, which a sandbox may preload."""
    asked = [Task(name, "", "forkable", tests=(Call((name,), True),)) for name in names]
    programs = [Program(task.id, _FORKABLE, task.id) for task in asked]
    jobs = (job_of(task, program, limits=_LIMITS) for task, program in zip(asked, programs, strict=True))
    ends = zip(asked, programs, runner.run(jobs), strict=True)
    return tuple(task.id for task, program, end in ends if outcome_of(task, program, end).fault is Fault.CORRECT)


def strings_from(source: str, entry: str, args: tuple[str, ...], runner: ProgramRunner) -> list[str]:
    """Run one of our programs in a sandbox, and return the JSON list of texts that it prints."""
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
    """Yield the code in tasks."""
    for task in reading.tasks:
        yield from (task.setup, task.reference)
        yield from (test.source for test in task.tests if isinstance(test, Script | Pytest))
    for inputs in reading.inputs.values():
        yield inputs.contract


_LISTING = """
def listing():
    import json, os, platform, sys
    found = [f'{platform.python_implementation()}-{platform.python_version()}']
    for folder in sys.path:
        try: names = os.listdir(folder)
        except OSError: continue
        found += [name[:-10] for name in names if name.endswith('.dist-info')]
        found += [name[:-9] for name in names if name.endswith('.egg-info')]
    print(json.dumps(found))
"""


def importable(runner: ProgramRunner) -> tuple[str, ...]:
    """Return the Python version and the distributions of a sandbox, sorted; of one name the first on the path."""
    found: dict[str, str] = {}
    for text in strings_from(_LISTING, "listing", (), runner):
        name, _, version = text.partition("-")
        found.setdefault(plain(name), version.partition("-")[0])
    return tuple(sorted(f"{name}=={version}" for name, version in found.items()))
