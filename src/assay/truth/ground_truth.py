"""Define ground truth: queries, judgments, and the entries that answers are compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.errors import InputError, counted
from assay.measure.line_spans import Entry, Span, Unit, span_of
from assay.values import Chunk, Judgment, Problem, Query


@dataclass(frozen=True, slots=True)
class Truth:
    """Queries with their judgments, and the corpus that they refer to."""

    name: str
    queries: tuple[Query, ...]
    judgments: tuple[Judgment, ...]
    documents: tuple[Chunk, ...] = ()
    """The corpus when the ground truth brings it along, each with its id as path; else it is a checkout."""
    repository: str = ""
    """Where the checkout comes from: `owner/name`, a URL or a folder."""
    commit: str = ""
    """What the judgments speak of; empty when nobody said."""
    hidden: tuple[str, ...] = ()
    """Targets whose lines are blanked in the corpus before it is indexed: they hold the questions."""
    hidden_docs: tuple[str, ...] = ()
    """Symbols whose documentation is blanked likewise, wherever it stands."""


@dataclass(frozen=True, slots=True)
class TruthFile:
    """The ground truth of a file, with its rows and problems."""

    truth: Truth
    problems: tuple[Problem, ...] = ()
    rows: tuple[int, ...] = ()
    """The line of each judgment in the file that was read, in their order; empty where they have none."""
    file: str = ""
    """The name of that file."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Symbols that were found in another file than the one that is written, and that file."""
    as_published: bool = False
    """Paths are matched and results are counted as the script does with which figures of this format are published."""

    def where(self, at: int) -> str:
        """Return the place of a judgment: file and row, or else its query."""
        return f"{self.file}:{self.rows[at]}" if self.rows else f"query {self.truth.judgments[at].query_id}"


@dataclass(frozen=True, slots=True)
class Qrels:
    """The right entries of the queries of one set, to compare with answers."""

    queries: tuple[Query, ...]
    entries: Mapping[str, Sequence[Entry]]
    units: tuple[Unit, ...]
    """The first is the one that a table shows when it shows one."""
    problems: tuple[Problem, ...] = ()
    """Judgments that are no use."""


def disagreement(truth: Truth) -> str:
    """Describe in a line the disagreements of judges and how they count; empty without any."""
    said: dict[tuple[str, str], dict[bool, str]] = {}
    for each in truth.judgments:
        said.setdefault((each.query_id, each.target), {}).setdefault(each.grade > 0, each.judge)
    apart = [(target, judges) for (_, target), judges in said.items() if len(set(judges.values())) > 1]
    if not apart:
        return ""
    target, judges = apart[0]
    first = f"{target} is right for {judges[True] or 'somebody'}, not for {judges[False] or 'somebody'}"
    return f"{counted(len(apart), 'answer')} on which judges disagree count as right: {first}; see assay truth audit"


def qrels_of(truth: Truth, where: Callable[[int], str] | None = None) -> Qrels:
    """Return the entries of each query; of several judges the highest grade counts. Symbols must be resolved.

    `where` says where each judgment stands, for messages.
    """
    grades: dict[str, dict[Span, int]] = {query.id: {} for query in truth.queries}
    problems = []
    documents = {document.id for document in truth.documents}
    for at, judgment in enumerate(truth.judgments):
        place = where(at) if where else f"query {judgment.query_id}"
        if judgment.query_id not in grades:
            problems.append(Problem(place, f"'{judgment.target}' is judged for a query that is not in the file"))
            continue
        found = grades[judgment.query_id]
        try:
            span = Span(judgment.target) if judgment.target in documents else span_of(judgment.target)
        except InputError as error:
            problems.append(Problem(place, str(error)))
            continue
        found[span] = max(judgment.grade, found.get(span, 0))
    entries = {key: [Entry(span, grade) for span, grade in found.items()] for key, found in grades.items()}
    has_lines = any(entry.span.start for found in entries.values() for entry in found)
    levels: tuple[Unit, ...] = ("line", "function", "file", "line published") if has_lines else ("file",)
    return Qrels(truth.queries, entries, levels, tuple(problems))
