"""What an experiment measured: sets, systems, and a cell of figures for each system on each set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from assay.errors import InputError
from assay.io.fields import REST
from assay.measure.compare import Comparison
from assay.measure.line_spans import Span, span_of
from assay.report.document import Mean


def rank_of(answers: Sequence[str], right: Sequence[str]) -> int:
    """Return where the first answer stands that shares a line with a right one, 0 for nowhere."""
    spans = [place_of(target) for target in right]
    return next((at for at, hit in enumerate(answers, 1) if any(place_of(hit).overlaps(span) for span in spans)), 0)


@lru_cache(maxsize=65_536)
def place_of(target: str) -> Span:
    """Return the lines of an answer, or the document; each is read once."""
    with suppress(InputError):
        return span_of(target)
    return Span(target)


class Target(NamedTuple):
    """What is right for a query, and how much so."""

    place: str
    grade: int


Figures = Mapping[str, Mapping[str, Mean]]  # by unit and measure


@dataclass(frozen=True, slots=True)
class RunManifest:
    """How results came about."""

    measures: tuple[str, ...]
    k: int
    seed: int
    versions: Mapping[str, str]
    when: str
    command: str = ""
    kind: str = "retrieval"
    """What kind of systems were measured: retrieval or ranking."""
    details: Mapping[str, Any] = field(default_factory=dict, metadata=REST)
    """Settings, hardware and what else a run notes, as JSON has it."""

    @property
    def item(self) -> str:
        """Return what one value of a measure is about."""
        return "task" if self.kind == "ranking" else "query"


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """A question with what is right."""

    id: str
    text: str
    tags: Mapping[str, str]
    expected: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class UnseenCounts:
    """How a judge labelled what nobody had."""

    judge: str
    depth: int
    asked: int
    right: int
    wrong: int
    undecided: int
    stopped: str


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """A set of queries."""

    role: str
    truth: str
    commit: str
    queries: tuple[MeasuredQuery, ...]
    problems: tuple[str, ...]
    """Rows of the ground truth that could not be used."""
    gone: tuple[str, ...] = ()
    """Those of them whose places the corpus does not have."""
    qrels: str = ""
    asked: str = ""
    corpus: str = ""
    """Hashes: of the judgments, of what was asked for, of the files."""
    unseen: UnseenCounts | None = None
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What others published of their systems, by measure and system."""
    behind: int | None = None
    """Of a set that is about one commit, how many commits of the checkout came after it."""
    follows: bool = False
    """Whether it is about the files as they are, whatever became of them."""


@dataclass(frozen=True, slots=True)
class MeasuredSystem:
    """A system under test."""

    spec: str
    base: str
    chosen_on: str
    failed: Mapping[str, str]
    """By set of which it answered nothing: why."""
    name: str = ""
    needs: str = ""
    how: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    """The least score of a result that counts."""


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """The queries that have one value of a tag."""

    queries: int
    figures: Figures = field(metadata=REST)


@dataclass(frozen=True, slots=True)
class Timings:
    """Speed and size; None where it was not measured."""

    index_s: float | None
    cold_ms: float | None
    warm_p50_ms: float | None
    warm_p95_ms: float | None
    peak_mb: float | None
    index_bytes: float | None


@dataclass(frozen=True, slots=True)
class JudgedFigures:
    """The figures that labels of a judge make beside those of people."""

    figures: Figures
    unjudged: float


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """One system on one set."""

    set: str
    system: str
    figures: Figures
    groups: Mapping[str, Mapping[str, GroupFigures]]
    """By tag and its value."""
    values: Mapping[str, Mapping[str, tuple[float, ...]]]
    """By unit and measure, one a query."""
    answers: tuple[tuple[str, ...], ...]
    seconds: tuple[float | None, ...]
    errors: Mapping[str, str]
    """By query id."""
    unjudged: float
    """The fraction of its first ten results that nobody judged."""
    timings: Timings
    judged: JudgedFigures | None = None
    key: str = ""
    """A hash of all that it is computed from: while that is the same, it is not computed again."""

    @property
    def unit(self) -> str:
        """Return the unit that stands for the cell where one figure is shown."""
        return next(iter(self.values))


def plain_cell(  # noqa: PLR0913, PLR0917  what a cell is
    of: str,
    system: str,
    unit: str,
    items: int,
    figures: Mapping[str, Mean],
    values: Mapping[str, tuple[float, ...]],
    warm_ms: float | None = None,
) -> MeasuredCell:
    """Return a cell of one unit whose items have no answers, groups or errors."""
    return MeasuredCell(
        set=of,
        system=system,
        figures={unit: figures},
        groups={},
        values={unit: values},
        answers=((),) * items,
        seconds=(None,) * items,
        errors={},
        unjudged=0.0,
        timings=Timings(None, None, warm_ms, None, None, None),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SetComparison(Comparison):
    """Two systems on one set, or on all sets of a role."""

    set: str
    unit: str
    measure: str


@dataclass(frozen=True, slots=True)
class QuestionMove:
    """A question whose value changed; ranks are of the first right answer, 0 for none among the first ten."""

    id: str
    text: str
    before: float
    now: float
    old_rank: int
    new_rank: int
    answer: str
    """What stands first now, or why nothing does."""
    right: str


@dataclass(frozen=True, slots=True)
class GateChange:
    """One system on one set, beside what it was."""

    set: str
    system: str
    measure: str
    before: float
    now: float
    queries: int
    p: float
    """Of the randomisation test, adjusted by Holm over all changes looked at."""
    worse: bool
    """Whether it lost more than chance explains."""
    item: str = "query"
    rejudged: int = 0
    """Queries whose right answers changed."""
    fell: tuple[QuestionMove, ...] = ()
    rose: tuple[QuestionMove, ...] = ()


@dataclass(frozen=True, slots=True)
class BaselineChanges:
    """What changed since earlier results."""

    file: str
    when: str
    version: str
    commits: Mapping[str, str]
    changes: tuple[GateChange, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """All that was found; docs/measuring.md explains it."""

    format: int
    manifest: RunManifest
    sets: Mapping[str, MeasuredSet]
    unusable: Mapping[str, str]
    systems: Mapping[str, MeasuredSystem]
    cells: tuple[MeasuredCell, ...]
    comparisons: tuple[SetComparison, ...]
    asked: tuple[tuple[str, ...], ...] | None = None
    """Set and system of the cells of the last run; None is all."""
    against: BaselineChanges | None = None
