"""Run samples against tasks, and write outcomes to a file that a later run continues.

A program that loops for ever costs what it is given, and most right ones take as long as the reference. A limit is
measured once a run and kept in its manifest, so that a run that goes on has the limits that it began with. Where there
is no reference that passes, the limit is the sandbox's.

A run that was killed leaves, once it is continued, the file that an uninterrupted one leaves. Undecided programs have
no fault and are counted as such. Rows that other programs decide are written undecided, and decided once all have run.

What is missing of the tests is what the references answer; tests that show nothing are left out. All that decides about
the outcomes goes into their manifest.

Tests that show nothing are found by four stubs: one raises, one returns None, one returns a fresh object with the
default `__eq__`, one is an empty program. Whatever function the tests ask for, the first three have it. A task that a
stub passes altogether keeps no test, so its programs stay undecided. A single test is left out when it holds whatever
is answered, and an input when nothing at all is expected for it. A test that holds for some stubs only is noted and
stays, for many are honest: `f([])` is None, and any object is as true as `f("()")`. Without those of MBPP that the None
stub passes, 30 of 189 programs for their tasks went from wrong to correct.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from assay.faults import Fault
from assay.programs.execute import Execution, executions
from assay.programs.tasks.task_file import TaskFile
from assay.programs.verdict import unusable
from assay.values import Problem, Program, Stdin, Task

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Progress
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path

from assay.cage.limits import Limits
from assay.errors import InputError
from assay.programs.execute import settled
from assay.programs.kept_results import KeptResults
from assay.programs.modules.install import EquippedRunner
from assay.programs.requests import ExecRequest
from assay.programs.runners import open_equipped_runner
from assay.programs.samples import Samples, read, references, say_edits
from assay.programs.tasks.expected import with_expected_outputs
from assay.programs.tasks.task_file import read_tasks
from assay.runs.record import (
    Batches,
    begin,
    digest,
    is_begun,
    read_lines,
    refuse,
    rewrite,
    sole_writer,
    start_fresh,
    stored_settings,
    version_changes,
)
from assay.values import Outcome

if TYPE_CHECKING:
    from assay.cage.cage import ProgramRunner
    from assay.protocols import Progress, Say

_HAS_EVERYTHING = """\
class _Stub:
    pass
def _answer(*args, **keywords):
    {}
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _answer
"""

_SOURCES = {
    "raises": _HAS_EVERYTHING.format("raise NotImplementedError"),
    "none": _HAS_EVERYTHING.format("return None"),
    "object": _HAS_EVERYTHING.format("return _Stub()"),
    "empty": "",
}


_ANSWERING = ("raises", "none", "object")
"""Stubs that have what the tests ask for, first of all."""


@dataclass(frozen=True, slots=True)
class Vacuous:
    """A test that a stub passes."""

    task_id: str
    stub: str
    test: str
    """As the survey names it, `test 0: line 3: …`; empty where the stub passes the whole task."""


Found = Mapping[str, tuple[Vacuous, ...]]
"""By the id of a task, what holds for stubs in it."""


def drop_vacuous_tests(
    reading: TaskFile,
    runner: ProgramRunner,
    report: Progress | None = None,
    *,
    around: Callable[[str], str] = str,
    cache: Path | None = None,
) -> TaskFile:
    """Return the tasks without vacuous tests, with problems for dropped tests and notes on weak ones.

    `around` builds the source that runs a stub in place of a program; `cache` is a folder for the results of each task,
    so that an interrupted run does not try all of them again.
    """
    problems = list(reading.problems)
    notes = list(reading.notes)
    trials = KeptResults(cache, runner.name.encode(), *(around(source).encode() for source in _SOURCES.values()))
    looked_at = [_usable(task, problems, trials) for task in reading.tasks]
    found = survey([task for task in looked_at if task.tests], runner, report, around=around, trials=trials)
    dropped = _asking_nothing(looked_at, found, runner, around, trials)
    tasks = [
        _keep_telling_tests(task, found.get(task.id, ()), dropped.get(task.id, ()), problems, notes)
        for task in looked_at
    ]
    return replace(reading, tasks=tuple(tasks), problems=tuple(problems), notes=tuple(notes))


def stubs(task: Task, around: Callable[[str], str] = str) -> tuple[Program, ...]:
    """Return the stubs of a task: programs that do nothing."""
    return tuple(Program(task.id, around(source), id=f"{task.id}#stub-{name}") for name, source in _SOURCES.items())


def survey(
    tasks: Sequence[Task],
    runner: ProgramRunner,
    report: Progress | None = None,
    *,
    around: Callable[[str], str] = str,
    trials: KeptResults | None = None,
) -> Found:
    """Run the stubs of all tasks, and return the tests that hold for any of them."""
    trials = trials or KeptResults(None)
    known = {task.id: trials.get(_tests_of(task)) for task in tasks}
    waiting = [task for task in tasks if known[task.id] is None]
    shown = executions(waiting, [stub for task in waiting for stub in stubs(task, around)], runner, survey=True)
    found: dict[str, tuple[Vacuous, ...]] = {}
    for task in tasks:
        if known[task.id] is not None:
            found[task.id] = tuple(Vacuous(task.id, stub, test) for stub, test in known[task.id])
            continue
        ran = list(islice(shown, len(_SOURCES)))
        found[task.id] = tuple(_holding(task, ran))
        if not any(_is_of_the_day(one.outcome) for one in ran):
            trials.put([(each.stub, each.test) for each in found[task.id]], _tests_of(task))
        if report:
            report("tests against stubs", len(found), len(tasks))
    return found


def _is_of_the_day(outcome: Outcome) -> bool:
    """Say whether an outcome may differ on another day or a less busy machine."""
    return outcome.fault is Fault.TIMEOUT or (outcome.fault is None and outcome.suspected is None)


def _holding(task: Task, results: Iterable[Execution]) -> Iterator[Vacuous]:
    for name, one in zip(_SOURCES, results, strict=True):
        whole = ("",) if one.outcome.fault is Fault.CORRECT else ()
        yield from (Vacuous(task.id, name, test) for test in (*whole, *one.passed))


def is_vacuous(vacuous: Sequence[Vacuous]) -> bool:
    """Say whether a stub passes all tests of a task."""
    return any(not each.test for each in vacuous)


def by_test(vacuous: Iterable[Vacuous]) -> dict[str, tuple[str, ...]]:
    """Return the stubs that pass each single test."""
    stubs_of: dict[str, tuple[str, ...]] = {}
    for each in vacuous:
        if each.test:
            stubs_of[each.test] = (*stubs_of.get(each.test, ()), each.stub)
    return stubs_of


def number_of(test: str) -> int:
    """Return the position of a test in its task, from the survey's name of it or of an assert in it."""
    return int(test.partition(":")[0].rpartition(" ")[2])


def _usable(task: Task, problems: list[Problem], trials: KeptResults) -> Task:
    """Return a task without tests that are visibly vacuous, and without tests if they do not parse."""
    kept = tuple(test for test in task.tests if not isinstance(test, Stdin) or test.expected.strip())
    if len(kept) < len(task.tests):
        lost = len(task.tests) - len(kept)
        problems.append(Problem(task.id, f"{lost:,} of {len(task.tests):,} inputs expect nothing: left out"))
        task = replace(task, tests=kept)
    if kept and trials.get(_tests_of(task)) is None and (why := unusable(task)):
        problems.append(Problem(task.id, why))
        return replace(task, tests=())
    return task


def _asking_nothing(
    tasks: Sequence[Task],
    vacuous: Found,
    runner: ProgramRunner,
    around: Callable[[str], str],
    trials: KeptResults,
) -> Mapping[str, tuple[int, ...]]:
    """Return the positions of tests that hold for any answer, of tasks that have other tests."""
    asked = [
        (task, place)
        for task in tasks
        if len(task.tests) > 1 and not is_vacuous(vacuous.get(task.id, ()))
        for place in _suspects(vacuous.get(task.id, ()))
    ]
    alone = [replace(task, id=f"{task.id}#{place}", tests=(task.tests[place],)) for task, place in asked]
    known = [trials.get(_tests_of(task), _SINGLE_TEST) for task in alone]
    waiting = [task for task, holds in zip(alone, known, strict=True) if holds is None]
    shown = executions(waiting, [stub for task in waiting for stub in stubs(task, around)[: len(_ANSWERING)]], runner)
    dropped: dict[str, tuple[int, ...]] = {}
    for (task, place), one, before in zip(asked, alone, known, strict=True):
        answering = [each.outcome for each in islice(shown, len(_ANSWERING) if before is None else 0)]
        holds = before if answering == [] else all(outcome.fault is Fault.CORRECT for outcome in answering)
        if answering and not any(map(_is_of_the_day, answering)):
            trials.put(holds, _tests_of(one), _SINGLE_TEST)
        if holds:
            dropped[task.id] = (*dropped.get(task.id, ()), place)
    return dropped


_SINGLE_TEST = b"alone"
"""What marks the trial of one test of a task by itself."""


def _tests_of(task: Task) -> bytes:
    """Return the key of a trial of a task: all that its result depends on."""
    return repr((task.entry_point, task.setup, task.tests, sorted(task.tags.items()), task.timeout_s)).encode()


def _suspects(vacuous: Iterable[Vacuous]) -> tuple[int, ...]:
    """Return the positions of tests of which every answering stub passes a part."""
    places: dict[str, set[int]] = {stub: set() for stub in _ANSWERING}
    for each in vacuous:
        if each.test and each.stub in places:
            places[each.stub].add(number_of(each.test))
    return tuple(sorted(set.intersection(*places.values())))


def _keep_telling_tests(
    task: Task, vacuous: tuple[Vacuous, ...], dropped: tuple[int, ...], problems: list[Problem], notes: list[Problem]
) -> Task:
    """Return a task with its telling tests, and report the others."""
    if is_vacuous(vacuous):
        kinds = ", ".join(each.stub for each in vacuous if not each.test)
        problems.append(Problem(task.id, f"a program that does nothing ({kinds}) passes its tests: left out"))
        return replace(task, tests=())
    for test, passing in by_test(vacuous).items():
        out = number_of(test) in dropped
        why = "holds whatever is answered: left out" if out else f"holds for a stub ({', '.join(passing)}), and counts"
        (problems if out else notes).append(Problem(task.id, f"{test} {why}"))
    if not dropped:
        return task  # whose tests are known by identity
    return replace(task, tests=tuple(test for place, test in enumerate(task.tests) if place not in dropped))


Timeouts = tuple[tuple[str, float], ...]
"""Ids of tasks, each with its seconds of processor time."""


def limit_of(
    took_s: float, least_s: float = 2.0, times: float = 10.0, most_s: float = 5.0, slack: float = 4.0
) -> float:
    """Return the limit for the time of a reference, in tenths of a second.

    A program may load what the reference does not need: so the least. A reference that takes long itself gives programs
    `slack` times that, beyond the most.
    """
    return round(max(min(max(times * took_s, least_s), most_s), slack * took_s), 1)


def measured(tasks: Iterable[Task], runner: ProgramRunner, limit: Callable[[float], float] = limit_of) -> Timeouts:
    """Run the references against the tests of their tasks, and return the derived limits; a task's own limit stays."""
    able = [task for task in tasks if task.tests and not task.timeout_s]
    ran = executions(able, references(able).programs, runner)
    passed = (each.outcome for each in ran if each.outcome.fault is Fault.CORRECT)
    return tuple((outcome.task_id, limit(outcome.cpu_s)) for outcome in passed)


def limited(tasks: Iterable[Task], timeouts: Timeouts) -> tuple[Task, ...]:
    """Return the tasks with these limits."""
    of = dict(timeouts)
    return tuple(replace(task, timeout_s=of[task.id]) if task.id in of else task for task in tasks)


_NAMES = tuple(field.name for field in fields(Outcome))


@dataclass(frozen=True, slots=True)
class ExecuteSettings:
    """Settings that determine the outcomes of a campaign, for the manifest."""

    tasks: str
    """A hash of the tasks as they were read, and so below."""
    samples: str
    form: str
    stop: str
    sandbox: str
    limits: Limits
    guarantees: tuple[str, ...] = ()
    installed: tuple[str, ...] = ()
    """Distributions that programs were given, each as `NAME==VERSION`."""
    importable: tuple[str, ...] = field(default=(), metadata={"changes": version_changes})
    """All that programs find there, and their Python, likewise."""
    timeouts: Timeouts = ()
    """Limits that follow from references, where they do."""
    every_test: bool = False
    """Whether tests go on after a wrong answer."""


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One line of the file: an outcome, and how often its program was sampled."""

    outcome: Outcome
    n: int
    edits: tuple[str, ...] = ()
    """What was done to the text to make it the program that ran."""

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self.outcome), "n": self.n, **({"edits": [*self.edits]} if self.edits else {})}


def load(file: Path) -> Iterator[OutcomeRow]:
    """Yield the rows of a file of outcomes."""
    for number, record in enumerate(read_lines(file), 1):
        try:
            fault = None if record["fault"] is None else Fault(record["fault"])
            kept = {name: record[name] for name in _NAMES if name in record}
            suspected = Fault(kept["suspected"]) if kept.get("suspected") else None
            outcome = Outcome(**{**kept, "fault": fault, "suspected": suspected})
            yield OutcomeRow(outcome, record["n"], tuple(record.get("edits", ())))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}:{number}: no outcome ({error!r}); give another --out") from error


def execute_to_file(  # noqa: PLR0913  # each is one thing
    tasks: Iterable[Task],
    programs: Sequence[Program],
    runner: ProgramRunner,
    out: Path,
    *,
    settings: ExecuteSettings,
    missing: Mapping[str, str] | None = None,
    seed: int = 0,
    report: Progress | None = None,
) -> list[OutcomeRow]:
    """Run the programs without an outcome on disk, and return all rows; `out` has the file and its manifest.

    `missing` says which modules the sandbox has not and what brings each: outcomes of programs that fail for
    want of one name it.
    """
    begin(out, settings, "outcomes", seed=seed, corpus=(settings.tasks, settings.samples))
    rows, missing = _resumed(out, programs), missing or {}
    known = {(each.task_id, each.source): row.outcome for each, row in zip(programs, rows, strict=False)}
    rest, tasks = programs[len(rows) :], tuple(tasks)
    ran = executions(
        tasks,
        rest,
        runner,
        limits=settings.limits,
        every_test=settings.every_test,
        distribution_of=lambda module: missing.get(module, ""),
        outcomes=known,
    )
    with Batches(out) as lines:
        for program, one in zip(rest, ran, strict=True):
            rows.append(OutcomeRow(_explained(one.outcome, missing), program.n, program.edits))
            lines.add(rows[-1].record())
            if report:
                report("programs", len(rows), len(programs))
    decided = settled(tasks, [row.outcome for row in rows], runner, limits=settings.limits)
    if decided != [row.outcome for row in rows]:
        rows = [replace(row, outcome=outcome) for row, outcome in zip(rows, decided, strict=True)]
        rewrite(out, (row.record() for row in rows))
    return rows


def _explained(outcome: Outcome, missing: Mapping[str, str]) -> Outcome:
    """Return an outcome with the distribution of a missing module in its detail."""
    if outcome.missing not in missing:
        return outcome
    brings = f"{missing[outcome.missing]} brings it, and --install installs what is allowed"
    return replace(outcome, detail=f"no module {outcome.missing}: {brings}")


def _resumed(out: Path, programs: Sequence[Program]) -> list[OutcomeRow]:
    """Return the rows on disk, which must be those of the first programs."""
    rows = list(load(out))
    same = all(
        (row.outcome.task_id, row.outcome.program_id, row.n) == (program.task_id, program.id, program.n)
        for row, program in zip(rows, programs, strict=False)
    )
    if not same or len(rows) > len(programs):
        refuse(out, "outcomes", ["programs"])
    return rows


def ready_tasks(reading: TaskFile, room: EquippedRunner, report: Progress | None = None) -> TaskFile:
    """Return tasks with expected outputs filled in, and without vacuous tests."""
    cache, importable = user_cache_path("assay") / "sandbox", digest(room.importable)
    expected = with_expected_outputs(reading, room.runner, report, cache=cache / "answers" / importable)
    return drop_vacuous_tests(expected, room.runner, report, cache=cache / "trials" / importable)


def with_limits(ready: TaskFile, room: EquippedRunner, out: Path) -> tuple[TaskFile, Timeouts]:
    """Return tasks with limits derived from their references, and these limits; a continued run keeps its own."""
    before = (stored_settings(out) or {}).get("timeouts") if is_begun(out) else None
    timeouts = tuple((str(task), float(limit)) for task, limit in before or ()) or measured(ready.tasks, room.runner)
    return replace(ready, tasks=limited(ready.tasks, timeouts)), timeouts


def run_samples(  # noqa: PLR0913, PLR0917  each is one thing
    reading: TaskFile,
    ready: TaskFile,
    samples: Samples,
    room: EquippedRunner,
    out: Path,
    limits: Limits,
    report: Progress | None = None,
    *,
    timeouts: Timeouts = (),
    every_test: bool = True,
) -> list[OutcomeRow]:
    """Run samples against prepared tasks; an interrupted run continues."""
    settings = ExecuteSettings(
        tasks=digest((*reading.tasks, *reading.inputs.items())),
        samples=digest(enumerate(samples.programs)),
        form=reading.form,
        stop=samples.stop,
        sandbox=room.runner.name,
        limits=limits,
        guarantees=room.runner.guarantees,
        installed=room.installed,
        importable=room.importable,
        timeouts=timeouts,
        every_test=every_test,
    )
    return execute_to_file(
        ready.tasks, samples.programs, room.runner, out, settings=settings, missing=room.missing, report=report
    )


@dataclass(frozen=True, slots=True)
class ExecReport:
    """The outcomes of a file of samples, with notes and problems."""

    rows: Sequence[OutcomeRow]
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    """Tests that hold for some program that does nothing."""
    unknown: int
    """Samples of tasks that are not there."""


def run_file(request: ExecRequest, say: Say, report: Progress | None = None) -> ExecReport:
    """Run the samples of a file, or the references, against the tests of their tasks, each in a sandbox."""
    reading = read_tasks(request.tasks, request.source)
    most = len(reading.tasks) if request.limit_tasks is None else request.limit_tasks
    beyond, reading = reading.tasks[most:], replace(reading, tasks=reading.tasks[:most])
    if request.compare == "official":
        reading = compared_officially(reading)
        say(f"answers are compared as in the harness of {reading.form}")
    if (request.samples is None) != request.reference:
        raise InputError("give either SAMPLES or --reference")
    samples, out, runner = _samples(request, reading, beyond), request.out, request.runner
    if request.fresh:
        start_fresh(out)
    with sole_writer(out), open_equipped_runner(runner, reading, samples, say) as room:
        say_edits(samples.programs, say)
        ready = ready_tasks(with_programs(reading, samples), room, report)
        timeouts: Timeouts = ()
        if runner.by_reference:
            ready, timeouts = with_limits(ready, room, out)
        every = not request.first_failure
        rows = run_samples(
            reading, ready, samples, room, out, runner.limits, report, timeouts=timeouts, every_test=every
        )
    return ExecReport(rows, (*room.problems, *ready.problems, *samples.problems), ready.notes, samples.unknown)


def compared_officially(reading: TaskFile) -> TaskFile:
    """Return tasks whose answers are compared like in their benchmark's own harness."""
    if reading.form not in {"apps", "livecodebench"}:
        raise InputError(
            f"--compare official is for APPS and LiveCodeBench; {reading.form} is compared as its harness does"
        )
    tasks = (replace(task, tags={**task.tags, "compare": reading.form}) for task in reading.tasks)
    return replace(reading, tasks=tuple(tasks))


def with_programs(reading: TaskFile, samples: Samples) -> TaskFile:
    """Return the tasks with samples."""
    sampled = {program.task_id for program in samples.programs}
    return replace(reading, tasks=tuple(task for task in reading.tasks if task.id in sampled))


def _samples(request: ExecRequest, reading: TaskFile, beyond: Sequence[Task]) -> Samples:
    """Return the programs to run, without samples of tasks beyond the requested first ones."""
    tasks = reading.tasks
    samples = read(request.samples, tasks, request.reading, beyond=beyond) if request.samples else references(tasks)
    if not samples.programs:
        first = f": {samples.problems[0]}" if samples.problems else ""
        raise InputError(f"there is no program to run{first}")
    return samples
