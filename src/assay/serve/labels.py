"""What a reader marks as right or wrong, into the ground truth of its repository and out again.

One file a repository, in our own JSON lines, so that `assay bench FILE --corpus FOLDER` measures it. It is read,
changed and put in place at once, under a lock that lies in the user's cache; a file that cannot be read whole is not
written to, for what was not understood would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import ClassVar

import platformdirs

from assay.alone import alone
from assay.bench.formats import jsonl
from assay.bench.formats.gather import fault_of_target
from assay.bench.truth import Truth
from assay.corpus.blocks import lines_of
from assay.corpus.builtin import OWN_TRUTH
from assay.corpus.clone import is_url
from assay.corpus.files import opened, shown
from assay.corpus.reading import decoded
from assay.errors import InputError
from assay.measure.lines import Span, span_of
from assay.serve.session import NotServed, Session
from assay.types import Judgment, Query

_NAMED = "page-"
"""How the ids begin of queries that were first asked here."""
_DIGEST_BYTES = 6
_LARGEST_BYTES = 1_000_000
"""Of a file that may be a target; no larger one is searched."""


class DamagedTruth(InputError):
    """The ground truth cannot be read whole, and is left as it is."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What somebody says about one answer to one question."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True}

    target: str
    """As `path:start-end`, relative to the root."""
    grade: int
    """0 is wrong; the higher, the better."""
    judge: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question with all that was said about its answers."""

    id: str
    text: str
    judgments: list[Mark]


@dataclass(frozen=True, slots=True)
class Labels:
    """The ground truth of a root."""

    file: str
    queries: list[Labelled]


@dataclass(frozen=True, slots=True)
class Said:
    """One judgment as it comes in."""

    query: str
    target: str
    grade: int | None
    """None takes back what this judge said before."""


@dataclass(frozen=True, slots=True)
class Labeller:
    """Where labels go and who gives them."""

    session: Session
    judge: str
    truth: Path | None = None
    """Another place than the root's own file."""

    def read(self, path: str) -> Labels:
        """Return what was said about the root of a path."""
        file = self._file(self._root(path))
        truth = _read(file)
        return Labels(shown(str(file)), [_labelled(truth, query) for query in truth.queries])

    def say(self, path: str, said: Said) -> Labelled:
        """Take a judgment in, over an earlier one of the same judge, or take that back; return its question."""
        root = self._root(path)
        file = self._file(root)
        target = self._target(root, said.target) if said.grade is not None else said.target
        with _alone(file):
            before = _read(file)
            query = _query(before, said.query)
            after = _changed(before, query, replace(said, target=target), self.judge)
            if after != before:
                jsonl.write(after, file)
        return _labelled(after, query)

    def _root(self, path: str) -> Path:
        if is_url(path):
            raise NotServed("labels are kept for folders that are served, not for clones")
        return self.session.place(path).engine.root

    def _file(self, root: Path) -> Path:
        file = root / OWN_TRUTH
        if self.truth is None and file.is_symlink():  # which may lead out of what is served
            raise DamagedTruth(f"'{file.name}' is a symbolic link: name the file itself with --truth")
        return self.truth or file

    def _target(self, root: Path, target: str) -> str:
        """Return a target as it is written down, after a look whether it is there."""
        if fault := fault_of_target(target):
            raise NotServed(fault)
        span = span_of(target)
        file = opened(root, span.path)
        place = self.session.place(str(file))
        if place.engine.root != root or shown(place.inside) != span.path or not file.is_file():
            raise NotServed(f"'{span.path}' is no file of '{root.name}'")
        size = _length(file)
        if span.end > size:
            raise NotServed(f"'{span.path}' ends at line {size:,}, before '{target}'")
        return str(Span(span.path, span.start, span.end))


def _length(file: Path) -> int:
    if file.stat().st_size > _LARGEST_BYTES:
        raise InputError(f"'{file.name}' is larger than what is searched")
    text = decoded(file.read_bytes())
    if text is None:
        raise InputError(f"'{file.name}' is binary")
    return len(lines_of(text))


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Be the one who changes a file, among threads and processes of this user."""
    locks = platformdirs.user_cache_path("assay") / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    name = blake2b(str(file.resolve()).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    with alone(locks / f"{name}.lock"):
        yield


def _read(file: Path) -> Truth:
    """Return a ground truth; without a file an empty one."""
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return Truth(file.stem, (), ())
    mend = f"it is left as it is; mend it (assay truth check {file.name}) or name another with --truth"
    try:
        head = file.read_text("utf-8")[:1000] if file.is_file() else ""
        if not jsonl.fits(file, head):
            raise DamagedTruth(f"'{file.name}' is no ground truth in JSON lines: {mend}")
        reading = jsonl.read(file)
    except UnicodeDecodeError as error:
        raise DamagedTruth(f"'{file.name}' is no UTF-8 at byte {error.start}: {mend}") from error
    if reading.problems:
        raise DamagedTruth(f"{reading.problems[0]}: {mend}")
    return reading.truth


def _query(truth: Truth, text: str) -> Query:
    """Return the question of a text, the one that is there where one has the same words."""
    if not _words(text):
        raise InputError("the query is empty")
    same = next((query for query in truth.queries if _words(query.text) == _words(text)), None)
    return same or Query(_id(text), " ".join(text.split()))


def _changed(truth: Truth, query: Query, said: Said, judge: str) -> Truth:
    """Return the ground truth with what was said; a question that nobody says anything about any more goes."""
    others = tuple(
        each for each in truth.judgments if (each.query_id, each.target, each.judge) != (query.id, said.target, judge)
    )
    added = () if said.grade is None else (Judgment(query.id, said.target, said.grade, judge),)
    judgments = (*others, *added)
    if any(each.query_id == query.id for each in judgments):
        queries = truth.queries if query in truth.queries else (*truth.queries, query)
    else:
        ours = query.id == _id(query.text) and len(others) < len(truth.judgments)
        queries = tuple(each for each in truth.queries if each != query or not ours)
    return replace(truth, queries=queries, judgments=judgments)


def _labelled(truth: Truth, query: Query) -> Labelled:
    marks = [Mark(each.target, each.grade, each.judge) for each in truth.judgments if each.query_id == query.id]
    return Labelled(query.id, query.text, marks)


def _words(text: str) -> str:
    return " ".join(text.split()).casefold()


def _id(text: str) -> str:
    digest = blake2b(_words(text).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES)
    return _NAMED + digest.hexdigest()
