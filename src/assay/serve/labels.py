"""Store labels as ground truth, each by the name of the unit of its lines.

A name outlives lines that are added above it. It means what the bench takes it to mean (`target_places`): all that is
declared under it, in prose a section by its heading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path

from assay.corpus.addresses import is_url
from assay.corpus.blocks import lines_of
from assay.corpus.encodings import decoded
from assay.corpus.left_out_names import OWN_TRUTH
from assay.corpus.walked_files import as_utf8, from_utf8
from assay.errors import InputError
from assay.io import rows
from assay.io.digest import hex_digest
from assay.io.files import alone
from assay.measure.line_spans import Span, span_of
from assay.operations.hits import answer_type
from assay.operations.roots import NotServed
from assay.serve.session import Session
from assay.truth.formats import jsonl_truth
from assay.truth.formats.shared import Glimpse, fault_of_target
from assay.truth.ground_truth import Truth
from assay.truth.target_places import declared, lines_of_symbol
from assay.values import Judgment, NamedSpan, Query

_MAX_FILE_BYTES = 1_000_000
"""Bytes of a file that may be a target; larger files are not searched."""
_FILE_CACHE_SIZE = 512
"""Files whose names are cached."""


class Targets:
    """The meaning of targets in the files of one root, each read once."""

    def __init__(self, look: Callable[[str], Path]) -> None:
        """Keep a function that opens a path of the root, or raises if it may not be a target."""
        self._look = look
        self._files: dict[str, Path | InputError] = {}
        self._length = cache(lambda path: len(lines_of(_text(self._open_target(path)))))

    def span(self, target: str) -> Span:
        """Return the lines of a target (a whole file if it has none), or raise InputError."""
        if fault := fault_of_target(target):
            raise InputError(fault)
        path, colons, symbol = target.partition("::")
        if colons:
            found = lines_of_symbol(path, symbol, self._declared(path))
            if found is None:
                raise InputError(f"'{path}' declares no '{symbol}'")
            return found
        span = span_of(target)
        size = self._length(span.path)
        if span.end > size:
            raise InputError(f"'{span.path}' ends at line {size:,}, before '{target}'")
        return span

    def lines(self, target: str) -> str:
        """Return a target as lines, `path:start-end`, or a whole file as its path; empty if it is gone."""
        try:
            return str(self.span(target))
        except (InputError, OSError):
            return ""

    def lasting(self, span: Span) -> str:
        """Return a target that survives edits elsewhere in its file, if lines are one named unit; else the lines."""
        if not span.start or "::" in span.path:
            return str(span)
        names = {name for first, last, name in self._declared(span.path) if span.start <= first and last <= span.end}
        targets = (f"{span.path}::{name}" for name in names)
        fitting = [each for each in targets if not fault_of_target(each) and self.lines(each) == str(span)]
        return fitting[0] if len(fitting) == 1 else str(span)

    def _declared(self, path: str) -> tuple[NamedSpan, ...]:
        file = self._open_target(path)
        stat = file.stat()
        return _declared(file, path, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))

    def _open_target(self, path: str) -> Path:
        if path not in self._files:
            try:
                self._files[path] = self._look(path)
            except InputError as error:
                self._files[path] = error
        found = self._files[path]
        if isinstance(found, InputError):
            raise found
        return found


@lru_cache(_FILE_CACHE_SIZE)
def _declared(file: Path, path: str, _stat: tuple[int, ...]) -> tuple[NamedSpan, ...]:
    """Return all names that a file declares; of prose, its sections."""
    return tuple(declared(path, _text(file)))


def _text(file: Path) -> str:
    if file.stat().st_size > _MAX_FILE_BYTES:
        raise InputError(f"'{file.name}' is too large to be searched")
    text = decoded(file.read_bytes())
    if text is None:
        raise InputError(f"'{file.name}' is binary")
    return text


_NAMED = "page-"
"""The prefix of the ids of queries that were first labeled here."""
_DIGEST_BYTES = 6


class DamagedTruth(InputError):
    """The ground truth is corrupt, and is not changed."""


@answer_type
class Mark:
    """The label of one answer to one question."""

    target: str
    """As stored, relative to the root: `path::Symbol.name` if lines are one named unit, or `path:start-end`."""
    lines: str
    """Its present lines as `path:start-end`, or a whole file's path; empty if it is gone."""
    grade: int
    """0 is wrong; the higher, the better."""
    judge: str


@dataclass(frozen=True, slots=True)
class LabeledQuestion:
    """A question with all labels of its answers."""

    id: str
    text: str
    judgments: list[Mark]


@dataclass(frozen=True, slots=True)
class RootLabels:
    """The ground truth of a root."""

    file: str
    """Its name."""
    queries: list[LabeledQuestion]


@dataclass(frozen=True, slots=True)
class Labeller:
    """Stores labels; knows where, and in whose name."""

    session: Session
    judge: str
    truth: Path | None = None
    """A path instead of the root's own file."""

    def read(self, path: str) -> RootLabels:
        """Return the labels of the root of a path."""
        root = self._root(path)
        file = self._file(root)
        truth, targets = _read(file), self._targets(root)
        said: dict[str, list[Judgment]] = {query.id: [] for query in truth.queries}
        for each in truth.judgments:
            said[each.query_id].append(each)
        return RootLabels(as_utf8(file.name), [_question(query, said[query.id], targets) for query in truth.queries])

    def say(self, path: str, text: str, target: str, grade: int | None, symbol: str = "") -> LabeledQuestion:
        """Store a judgment in place of an earlier one of the same judge, or remove that; return its question.

        It is of the unit called `symbol`, where the target's file declares that, or else of the target's own.
        """
        root = self._root(path)
        file, targets = self._file(root), self._targets(root)
        named = f"{target.partition('::')[0].rpartition(':')[0] or target}::{symbol}"
        target = named if symbol and targets.lines(named) else target
        lasting = target if grade is None else _lasting(targets, target)
        same = partial(_is_same, targets, target)
        folder = file.resolve().parent
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder, is_folder=True):  # among all users of this machine
            before = _read(file)
            query = _query(before, text)
            after = _relabel(before, query, Judgment(query.id, lasting, grade or 0, self.judge), same, grade)
            if after != before:
                jsonl_truth.write(after, file)
        return _question(query, (each for each in after.judgments if each.query_id == query.id), targets)

    def _root(self, path: str) -> Path:
        if is_url(path):
            raise NotServed("labels are kept for folders that are served, not for clones")
        root = self.session.place(path).reader.root
        if root in self.session.source.current().mirrors:
            raise NotServed("labels are kept for folders that are served, not for mirrors, whose files are replaced")
        return root

    def _file(self, root: Path) -> Path:
        file = root / OWN_TRUTH
        if self.truth is None and file.is_symlink():  # which may lead out of what is served
            raise DamagedTruth(f"'{file.name}' is a symbolic link: name the file itself with --truth")
        return self.truth or file

    def _targets(self, root: Path) -> Targets:
        return Targets(partial(self._look, root))

    def _look(self, root: Path, path: str) -> Path:
        """Return a file that may be a target, or raise InputError."""
        file = from_utf8(root, path)
        place = self.session.place(str(file))
        if place.reader.root != root or as_utf8(place.inside) != path or not file.is_file():
            raise NotServed(f"'{path}' is not a file of '{root.name}'")
        return file


def _lasting(targets: Targets, target: str) -> str:
    """Return a target as it is stored, after checking that it exists."""
    if fault := fault_of_target(target):
        raise NotServed(fault)
    try:
        return targets.lasting(targets.span(target))
    except NotServed:
        raise
    except InputError as error:
        raise NotServed(str(error)) from error


def _is_same(targets: Targets, target: str, stored: str) -> bool:
    """Return whether two targets are equal, or mean the same lines now."""
    return stored == target or (bool(lines := targets.lines(target)) and lines == targets.lines(stored))


def _read(file: Path) -> Truth:
    """Read a ground truth; a missing file is an empty one."""
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return Truth(file.stem, (), ())
    mend = f"it was not changed; repair it (assay truth check {file.name}) or name another with --truth"
    try:
        is_truth = file.is_file() and jsonl_truth.fits(Glimpse(file, rows.sample(file, [])))
        reading = jsonl_truth.read(file) if is_truth else None
    except InputError as error:
        raise DamagedTruth(f"{error}: {mend}") from error
    if reading is None:
        raise DamagedTruth(f"'{file.name}' is not a ground truth in JSON lines: {mend}")
    if reading.problems:
        raise DamagedTruth(f"{reading.problems[0]}: {mend}")
    return reading.truth


def _query(truth: Truth, text: str) -> Query:
    """Return the question of a text: an existing one with the same words, or a new one."""
    if not _words(text):
        raise InputError("the query is empty")
    same = next((query for query in truth.queries if _words(query.text) == _words(text)), None)
    return same or Query(_id(text), " ".join(text.split()))


def _relabel(truth: Truth, query: Query, label: Judgment, same: Callable[[str], bool], grade: int | None) -> Truth:
    """Return the ground truth with a label added or removed; a question of ours without labels is removed."""
    others = tuple(
        each
        for each in truth.judgments
        if (each.query_id, each.judge) != (query.id, label.judge)
        or not (each.target == label.target or same(each.target))
    )
    judgments = others if grade is None else (*others, label)
    if any(each.query_id == query.id for each in judgments):
        queries = truth.queries if query in truth.queries else (*truth.queries, query)
    else:
        ours = query.id == _id(query.text) and len(others) < len(truth.judgments)
        queries = tuple(each for each in truth.queries if each != query or not ours)
    return replace(truth, queries=queries, judgments=judgments)


def _question(query: Query, judgments: Iterable[Judgment], targets: Targets) -> LabeledQuestion:
    marks = [Mark(each.target, targets.lines(each.target), each.grade, each.judge) for each in judgments]
    return LabeledQuestion(query.id, query.text, marks)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


def _id(text: str) -> str:
    return _NAMED + hex_digest(_words(text), _DIGEST_BYTES)
