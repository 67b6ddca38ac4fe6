"""A repository in, a labelled data set of candidates for holes in it out: samples and outcomes for `rank eval`.

A hole is a function that tests run; its candidates are labelled by these tests, all in the sandbox. Each label is on
disk before the next one, under a key of all that decides it, so a run that was cut off runs nothing twice.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.errors import InputError
from assay.faults import Fault
from assay.io.files import write_rows
from assay.programs.outcome_file import OutcomeRow
from assay.protocols import Encoder
from assay.rank.holes.hole_candidates import HoleCandidate, HoleCandidateCounts, candidates_of
from assay.rank.holes.hole_runs import FilledHole, RepositoryTests, outcomes, probe, setting_of
from assay.rank.holes.repository_functions import RepositoryFunction, context_of, filled, functions_in
from assay.runs.record import Batches, hash_of, read_lines, sole_writer
from assay.types import Outcome, Problem

if TYPE_CHECKING:
    from assay.cage.cage_pool import CagePool
    from assay.protocols import Progress

RUNS: Final = "runs.jsonl"
SAMPLES: Final = "samples.jsonl"
OUTCOMES: Final = "outcomes.jsonl"
_LEAST_STATEMENTS: Final = 2
_MOST_CHARACTERS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class HoleOptions:
    """Which holes are made."""

    holes: int = 20
    counts: HoleCandidateCounts = field(default_factory=HoleCandidateCounts)
    tests: int = 30
    """Tests that decide about a hole, at most."""
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Hole:
    """A function that is taken out, and what might stand in its place."""

    function: RepositoryFunction
    text: str
    """Of its file."""
    tests: tuple[str, ...]
    candidates: tuple[HoleCandidate, ...]

    def filled(self) -> Iterator[FilledHole]:
        """Yield the file with each candidate in it."""
        for each in self.candidates:
            yield FilledHole(self.function.file, filled(self.text, self.function, each.code), self.tests)


@dataclass(frozen=True, slots=True)
class HoleDataset:
    """What was made."""

    holes: int
    candidates: int
    right: int
    origins: dict[str, tuple[int, int]]
    """By where candidates come from, how many there are and how many of them are right."""
    problems: tuple[Problem, ...]


def make_holes(  # noqa: PLR0913  each is one thing
    repository: Path,
    out: Path,
    runner: CagePool,
    encoder: Encoder,
    options: HoleOptions,
    *,
    checkout: Path,
    report: Progress | None = None,
) -> HoleDataset:
    """Write the samples and outcomes of the holes of a repository; `checkout` is a folder that programs may read."""
    holes = find_holes(repository, checkout, runner, encoder, options)
    with sole_writer(out / RUNS):
        setting = setting_of(repository, runner)
        faults = _labels(checkout, holes, out / RUNS, runner, setting, report)
    samples, rows, problems, kept = list[dict[str, Any]](), list[dict[str, Any]](), list[Problem](), 0
    for hole in holes:
        told = [faults[key_of(each, setting)] for each in hole.filled()]
        if told[0] is not Fault.CORRECT:
            problems.append(Problem(hole.function.id, f"left out: with its own code its tests say '{told[0]}'"))
            continue
        kept += 1
        samples += _samples(hole)
        rows += _outcomes(hole, told)
    if not rows:
        first = f": {problems[0]}" if problems else ""
        raise InputError(f"no hole of '{repository}' can be decided by tests{first}")
    write_rows(out / SAMPLES, samples)
    write_rows(out / OUTCOMES, rows)
    return _summary(samples, rows, kept, problems)


def find_holes(
    repository: Path, checkout: Path, runner: CagePool, encoder: Encoder, options: HoleOptions
) -> list[Hole]:
    """Return the holes that are drawn of all functions that tests run, with their candidates."""
    tests = probe(checkout, runner)
    texts = {file: _text(checkout / file) for file in _files(checkout, tests)}
    functions = [each for file, text in texts.items() for each in functions_in(file, text)]
    able = [each for each in functions if (each.file, each.first) in tests.of_function and _is_worth(each)]
    if not able:
        raise InputError(f"no function of '{repository}' with two statements or more is run by a test that passes")
    lots = random.Random(options.seed)  # noqa: S311  no secret hangs on it
    drawn = sorted(lots.sample(able, min(options.holes, len(able))), key=lambda each: each.id)
    return [
        Hole(
            each,
            texts[each.file],
            _some(tests.of_function[each.file, each.first], options),
            tuple(candidates_of(repository, each, functions, encoder, options.counts, options.seed)),
        )
        for each in drawn
    ]


def key_of(hole: FilledHole, setting: str) -> str:
    """Return the hash of all that decides about a candidate; `setting` is what decides about all of them."""
    return hash_of(json.dumps([setting, hole.file, hole.text, hole.tests]))


def _files(checkout: Path, tests: RepositoryTests) -> list[str]:
    """Return the files with functions that tests run, those of the tests themselves left out."""
    own = {test.partition("::")[0] for test in tests.passed}
    files = {file for file, _ in tests.of_function if file not in own and not Path(file).name.startswith("conftest")}
    return sorted(file for file in files if (checkout / file).is_file())


def _text(file: Path) -> str:
    text = file.read_bytes().decode("utf-8", "replace")
    return text if len(text) <= _MOST_CHARACTERS else ""


def _is_worth(function: RepositoryFunction) -> bool:
    return function.statements >= _LEAST_STATEMENTS and not function.entry_point.startswith("__")


def _some(tests: Sequence[str], options: HoleOptions) -> tuple[str, ...]:
    """Return as many tests as may decide, the same for the same seed."""
    lots = random.Random(options.seed)  # noqa: S311  no secret hangs on it
    return tuple(sorted(lots.sample(tests, min(options.tests, len(tests)))))


def _labels(  # noqa: PLR0913, PLR0917  each is one thing
    checkout: Path, holes: Sequence[Hole], file: Path, runner: CagePool, setting: str, report: Progress | None
) -> dict[str, Fault | None]:
    """Return how each candidate fares, running those whose label is not on disk."""
    known = {record["key"]: Fault(record["fault"]) for record in read_lines(file)}
    faults: dict[str, Fault | None] = dict(known)
    wanted = {key_of(each, setting): each for hole in holes for each in hole.filled()}
    rest = [each for key, each in wanted.items() if key not in known]
    with Batches(file) as lines:
        for done, (each, fault) in enumerate(zip(rest, outcomes(checkout, rest, runner), strict=True), 1):
            faults[key_of(each, setting)] = fault
            if fault is not None:
                lines.add({"key": key_of(each, setting), "fault": str(fault)})
            if report:
                report("candidates", done, len(rest))
    return faults


def _samples(hole: Hole) -> Iterator[dict[str, Any]]:
    """Yield the candidates of a hole as samples, with the import of what they use of its module."""
    function = hole.function
    codes = [each.code for each in hole.candidates]
    context = context_of(hole.text, _module(function.file), codes, function.entry_point)
    for number, each in enumerate(hole.candidates):
        yield {
            "task_id": function.id,
            "id": f"{function.id}#{number}",
            "code": context + each.code,
            "prompt": function.prompt,
            "entry_point": function.entry_point,
            "config": each.origin,
        }


def _outcomes(hole: Hole, told: Sequence[Fault | None]) -> Iterator[dict[str, Any]]:
    for number, fault in enumerate(told):
        name = hole.function.id
        yield OutcomeRow(Outcome(name, f"{name}#{number}", fault, tests_run=len(hole.tests), shared=True), 1).record()


def _module(file: str) -> str:
    parts = Path(file).with_suffix("").parts
    return ".".join(part for part in parts[parts[0] == "src" :] if part != "__init__")


def _summary(
    samples: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], holes: int, problems: Sequence[Problem]
) -> HoleDataset:
    origins: dict[str, tuple[int, int]] = {}
    for sample, row in zip(samples, rows, strict=True):
        count, right = origins.get(sample["config"], (0, 0))
        origins[sample["config"]] = count + 1, right + (row["fault"] == Fault.CORRECT)
    return HoleDataset(holes, len(rows), sum(right for _, right in origins.values()), origins, tuple(problems))
