"""Say what a continuous-integration run has to fail for.

A floor is a figure that must be reached on every set. A loss against a baseline counts when it is significant: queries
are paired by what they ask, and chance is tested by randomisation, with Holm's correction over sets and systems. What
an earlier run left in the results is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.bench.comparisons import deciding
from assay.bench.results import (
    BaselineChanges,
    GateChange,
    MeasuredCell,
    MeasuredQuery,
    QuestionMove,
    Results,
    place_of,
    rank_of,
)
from assay.bench.results_file import load
from assay.bench.results_view import CHANCE
from assay.errors import InputError, counted, nearest
from assay.measure.compare import holm, randomisation
from assay.measure.line_spans import UNITS
from assay.measure.measures import parse
from assay.protocols import Say
from assay.report.document import probability
from assay.report.plain_text import value_text
from assay.runs.options import GateOptions

MAX_LISTED = 10
"""Questions of a kind that are listed, and annotations of a kind that GitHub shows."""
OF_A_CHANGE = 0.01
"""The chance below which a loss counts that a change of the files made: a gate of each change must be able to pass."""
_Asked = tuple[str, str, int]
"""Unit, text, and how many queries before it have that text."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least a measure may be; without a system or a unit, of the first ones."""

    measure: str
    least: float
    system: str = ""
    unit: str = ""

    def __str__(self) -> str:
        """Return it as it was asked for."""
        system, unit = f"{self.system}:" if self.system else "", f"{self.unit} " if self.unit else ""
        return f"{system}{unit}{self.measure}={self.least:g}"


def floor(text: str, names: Sequence[str] = ()) -> Floor:
    """Read `Hit@5=0.70`, `file Hit@5=0.9` or `assay:Hit@5=0.70`; `names` are the measures of other kinds."""
    head, _, number = text.strip().rpartition("=")
    system, _, measure = head.rpartition(":")
    unit, _, name = measure.rpartition(" ")
    try:
        least = float(number)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1 or not name or (unit and unit not in UNITS and not names):
        raise InputError(
            f"--fail-under takes MEASURE=NUMBER with a number from 0 to 1, such as Hit@5=0.70, not '{text}'"
        )
    if names:
        if measure not in names:
            raise InputError(f"--fail-under {text}: no measure '{measure}'; {nearest(measure, names)}")
        return Floor(measure, least, system)
    asked = parse(name)
    if asked.less_is_better:
        raise InputError(f"--fail-under {text}: of {asked} less is better; take a measure of which more is")
    return Floor(str(asked), least, system, unit)


def fallen(results: Results, floors: Sequence[Floor]) -> Iterator[str]:
    """Yield one line for each floor that a set falls below."""
    asked = _cells_of_last_run(results)
    failed = {name: told.failed for name, told in results.systems.items()}
    measured = {cell.system for cell in asked}
    systems = [name for name in results.systems if name in measured or failed[name]]
    for each in floors:
        system = each.system or systems[0]
        cells = [cell for cell in asked if cell.system == system]
        yield from (f"{name}: {system} answered nothing, {each} is wanted" for name in failed.get(system, ()))
        if not cells and not failed.get(system):
            raise InputError(f"--fail-under {each}: no system '{system}' was asked; {nearest(system, systems)}")
        for cell in cells:
            figures = cell.figures.get(each.unit or cell.unit, {})
            if each.measure not in figures:
                raise InputError(f"--fail-under {each}: not measured; add it with --measure '{each.measure}'")
            mean = figures[each.measure].mean
            if mean < each.least:
                yield f"{cell.set}: {system} has {each.measure} {mean:.3f}, below {each.least:g}"


def unmeasured(results: Results) -> Iterator[str]:
    """Yield what a gate cannot vouch for: a set that could not be used, a system that answered nothing of one."""
    for name in results.unusable:
        yield f"{name} was not measured, so its gates do not hold"
    for name, of in results.sets.items():
        yield from (f"a right place of {name} is gone: {line}" for line in of.gone)
    for system, told in results.systems.items():
        for name in told.failed:
            yield f"{system} answered nothing of {name}, so its gates do not hold"


def never_right(results: Results) -> Iterator[str]:
    """Yield one line for each system of the last run that answered and was never right."""
    for cell in _cells_of_last_run(results):
        asked = results.sets[cell.set].queries
        right = [[target.place for target in query.expected if target.grade > 0] for query in asked]
        shown = [answers for answers in cell.answers if answers]
        if shown and not any(map(rank_of, cell.answers, right)):
            wanted = next((places[0] for places in right if places), "nothing")
            yield (
                f"{cell.system} on {cell.set}: {counted(len(shown), 'query')} answered, never right; it names places "
                f"as '{shown[0][0]}', right is '{wanted}'"
            )


def blind(results: Results) -> Iterator[str]:
    """Yield one line where no set follows the files: no change of them can fail a gate."""
    pinned = {of.commit: of.behind for of in results.sets.values() if of.behind is not None}
    if pinned and len(pinned) == len({of.commit for of in results.sets.values()}):
        commit, behind = max(pinned.items(), key=lambda each: each[1])
        yield (
            f"every question is about {commit[:12]}, {counted(behind, 'commit')} behind HEAD: no change since can fail "
            "this gate; assay truth mine --follow asks questions that follow the files"
        )


@dataclass(frozen=True, slots=True)
class Gates:
    """What a run has to reach."""

    floors: tuple[Floor, ...] = ()
    baseline: Results | None = None
    fail_if_worse: bool = False
    """Whether a significant loss against the baseline is a failure."""
    file: str = ""
    """Where the baseline was read, or the commit that it is."""
    commit: str = ""
    """The commit that is to be measured as the baseline."""

    def check(self, cells: Sequence[tuple[str, str]], k: int) -> None:
        """Refuse a baseline that has nothing to do with these sets and systems, before they are measured."""
        if self.baseline is not None:
            _check_depth(self.baseline, k)
            if not {(cell.set, cell.system) for cell in self.baseline.cells} & {*cells}:
                raise _incomparable(self.baseline, _names(cells))

    def compared(self, results: Results) -> Results:
        """Return results with what changed since the baseline, if there is one."""
        if self.baseline is None:
            return results
        before = self.baseline
        _check_version(results, before)
        commits = {name: of.commit for name, of in before.sets.items() if of.commit and name in results.sets}
        version, found = before.manifest.versions.get("assay", ""), tuple(changes(results, before))
        return replace(results, against=BaselineChanges(self.file, before.manifest.when, version, commits, found))


def _check_version(results: Results, before: Results) -> None:
    """Refuse a baseline of another version for questions that follow the files: what changed would be of either."""
    now, then = (each.manifest.versions.get("assay", "") for each in (results, before))
    following = [name for name, of in results.sets.items() if of.follows]
    if now != then and following:
        raise InputError(
            f"the baseline of {following[0]} was measured by Assay {then}, this is {now}: measure it again, "
            "or give a commit as --baseline"
        )


def gates_of(options: GateOptions, names: Sequence[str] = ()) -> Gates:
    """Read what was asked for on the command line, before anything is measured."""
    floors = tuple(floor(each, names) for each in options.floors)
    asked = options.baseline
    if options.fail_if_worse and not asked:
        raise InputError("--fail-if-worse needs --baseline: the results.json of an earlier run, or a commit")
    if Path(asked).suffix == ".json" and not Path(asked).is_file():
        raise InputError(f"--baseline {asked}: no such file; give the results.json of an earlier run, or a commit")
    is_file = bool(names) or Path(asked).suffix == ".json" or Path(asked).exists()
    baseline = load(Path(asked)) if asked and is_file else None
    return Gates(floors, baseline, options.fail_if_worse, asked, "" if is_file else asked)


def failures(results: Results, gates: Gates, say: Say) -> list[str]:
    """Return one line for each gate that does not hold; these lines and what changed since the baseline are said."""
    failed = list(fallen(results, gates.floors))
    for change in results.against.changes if results.against else ():
        for line in lines_of(change):
            say(line)
        if change.worse and gates.fail_if_worse:
            failed.append(f"significantly worse than the baseline: {summary_of(change)}")
    if gates.floors or gates.fail_if_worse:
        failed += unmeasured(results)
        for line in blind(results):
            say(line)
    for line in failed:
        say(line)
    if failed and any(of.gone and of.follows for of in results.sets.values()):
        say("where that is meant, assay truth check --fix writes the questions without what is gone")
    return failed


def summary_of(change: GateChange) -> str:
    """Return one line about a change."""
    values = f"{change.set}: {change.system} {change.measure} {change.before:.3f} -> {change.now:.3f}"
    judged = f", {change.rejudged} of them judged otherwise than before" if change.rejudged else ""
    p = value_text(probability(change.p))
    return f"{values} over {counted(change.queries, change.item)} (p {p}{judged})"


def lines_of(change: GateChange) -> Iterator[str]:
    """Yield what changed, then the questions that fell and those that rose, the greatest moves first."""
    yield summary_of(change)
    for what, moves in (("fell", change.fell), ("rose", change.rose)):
        if moves:
            yield f"{counted(len(moves), change.item)} {what}, the greatest change first:"
            yield from (f"- {move_text(move, change.measure)}" for move in moves[:MAX_LISTED])
        if len(moves) > MAX_LISTED:
            yield f"- and {len(moves) - MAX_LISTED:,} more, in results.json"


def move_text(move: QuestionMove, measure: str) -> str:
    """Return one line about a question: its ranks, its values, what stands first now and what should."""
    text = " ".join(move.text.split())
    value = f"{measure} {move.before:.3f} -> {move.now:.3f}"
    if not move.answer:
        return f"{move.id}: {text}: {value}"
    ranks = f"rank {move.old_rank or 'none'} -> {move.new_rank or 'none'}"
    return f"{move.id}: {text}: {ranks}, {value}; first now: {move.answer}; expected: {move.right}"


def github_annotations(results: Results, failed: Sequence[str], corpora: Mapping[str, Path | None]) -> Iterator[str]:
    """Yield workflow commands of GitHub: an error for each failure, a warning where each expected place lies.

    GitHub shows ten of each kind. `corpora` are the folders that the places of a set lie in.
    """
    for line in failed[:MAX_LISTED]:
        yield f"::error title=Search quality::{_escaped(line)}"
    moves = [(change, move) for change in (results.against.changes if results.against else ()) for move in change.fell]
    moves.sort(key=lambda each: -abs(each[1].now - each[1].before))
    for change, move in moves[:MAX_LISTED]:
        span, folder = place_of(move.right), corpora.get(change.set) or Path()
        path = _escaped((folder / span.path).as_posix()).replace(":", "%3A").replace(",", "%2C")
        at = f"file={path},line={max(span.start, 1)}," if move.right else ""
        yield f"::warning {at}title=Search quality::{_escaped(move_text(move, change.measure))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _check_depth(baseline: Results, k: int) -> None:
    """Refuse a baseline that was measured to another depth."""
    if k != baseline.manifest.k:
        raise InputError(
            f"the baseline has {baseline.manifest.k} results of a query, this run {k}: measure both with the same -k"
        )


def changes(results: Results, baseline: Results) -> list[GateChange]:
    """Return how each cell compares with the baseline's of the same names, by the measure that decides."""
    about = results.manifest
    _check_depth(baseline, about.k)
    measure, seed = deciding(about.measures), about.seed
    earlier = {(cell.set, cell.system): cell for cell in baseline.cells}
    pairs = []
    for cell in _cells_of_last_run(results):
        old = earlier.get((cell.set, cell.system))
        now, was = _by_text(results, cell, measure), _by_text(baseline, old, measure) if old else {}
        if both := [(was[asked], now[asked]) for asked in now if asked in was]:
            pairs.append((cell, both))
    if not pairs:
        this = _names((cell.set, cell.system) for cell in _cells_of_last_run(results))
        raise _incomparable(baseline, this, f" by {measure}")
    columns = [tuple(np.array([each[side].value for each in both]) for side in (1, 0)) for _, both in pairs]
    chances = holm([randomisation(now, was, seed=seed) for now, was in columns])
    return [
        _change(cell, both, (measure, about.item, results.sets[cell.set].follows), float(p))
        for (cell, both), p in zip(pairs, chances, strict=True)
    ]


def _change(
    cell: MeasuredCell, both: Sequence[tuple[_Answered, _Answered]], about: tuple[str, str, bool], p: float
) -> GateChange:
    """Return what became of one cell, with its questions by whether they fell or rose.

    `about` is the measure, what is counted, and whether the questions follow the files.
    """
    measure, item, follows = about
    before, now = (sum(each[side].value for each in both) / len(both) for side in (0, 1))
    sign = -1 if measure.startswith(("lines@", "tokens@")) else 1
    gains = [sign * (new.value - old.value) for old, new in both]
    order = sorted(range(len(both)), key=lambda at: -abs(gains[at]))
    fell = tuple(_move(*both[at]) for at in order if gains[at] < 0)
    rose = tuple(_move(*both[at]) for at in order if gains[at] > 0)
    rejudged = sum(old.query.expected != new.query.expected for old, new in both)
    worse = sign * (now - before) < 0 and p < (OF_A_CHANGE if follows else CHANCE)
    counts = (len(both), p, worse, item, 0 if follows else rejudged)
    return GateChange(cell.set, cell.system, measure, before, now, *counts, fell, rose)


@dataclass(frozen=True, slots=True)
class _Answered:
    """A query with what a system answered."""

    query: MeasuredQuery
    value: float
    answers: tuple[str, ...]
    error: str

    @property
    def right(self) -> list[str]:
        """Return the right places."""
        return [target.place for target in self.query.expected if target.grade > 0]


def _move(old: _Answered, new: _Answered) -> QuestionMove:
    nothing = f"error: {new.error}" if new.error else "no result" if new.query.expected else ""
    ranks = (rank_of(old.answers, old.right), rank_of(new.answers, new.right))
    places = (next(iter(new.answers), nothing), next(iter(new.right), ""))
    return QuestionMove(new.query.id, new.query.text, old.value, new.value, *ranks, *places)


def _incomparable(baseline: Results, this: str, by: str = "") -> InputError:
    return InputError(
        f"nothing can be compared{by}: the baseline has {_names((cell.set, cell.system) for cell in baseline.cells)}, "
        f"this run {this}; measure a baseline with these questions and systems"
    )


def _names(cells: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{system} on {of}" for of, system in cells) or "nothing"


def _cells_of_last_run(results: Results) -> list[MeasuredCell]:
    """Return the cells of the last run, its first system first."""
    asked = None if results.asked is None else {*results.asked}
    return [cell for cell in results.cells if asked is None or (cell.set, cell.system) in asked]


def _by_text(results: Results, cell: MeasuredCell, measure: str) -> dict[_Asked, _Answered]:
    """Return what a cell answered by unit and text; equal texts are told apart by their order."""
    unit = cell.unit
    values = cell.values[unit].get(measure)
    if values is None:
        return {}
    seen: Counter[str] = Counter()
    found: dict[_Asked, _Answered] = {}
    for query, value, answers in zip(results.sets[cell.set].queries, values, cell.answers, strict=True):
        found[unit, query.text, seen[query.text]] = _Answered(query, value, answers, cell.errors.get(query.id, ""))
        seen[query.text] += 1
    return found
