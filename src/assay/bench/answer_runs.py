"""Save the answers of one system to one query set as they come, so that nothing is asked twice.

A file holds the answers of one question: which system, with which options, over which files, how many results, to
which queries; of a system of ours also by which version, and of one that is a file, what that holds. Its first line is
a key made of all that; answers under another key are moved aside, and come back when they are asked for. What failed
without a result is asked again; of several answers to a query the last one counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from assay import __version__
from assay.bench.results import Timings
from assay.errors import InputError, StorageError
from assay.io.digest import hex_digest
from assay.io.fields import read_value
from assay.measure.line_spans import Span
from assay.runs.record import Batches, append_lines, hash_of, read_lines, sole_writer
from assay.truth.formats import trec
from assay.values import Problem, Query

FORMAT = 1
_OTHERS = frozenset(("cmd", "http", "mcp", "run"))
"""Systems whose answers no version of Assay changes."""
_LAST_LINE = 10**9
_FLUSH_INTERVAL_S = 1.0
"""Answers that a crash of the machine may cost, in time: each write waits for the disk."""

Ranked = Mapping[str, Sequence[tuple[Span, float]]]
"""By query id, results best first with their scores."""


@dataclass(frozen=True, slots=True)
class SystemAnswer:
    """What one system said to one query."""

    query_id: str
    spans: tuple[Span, ...] = ()
    scores: tuple[float, ...] = ()
    seconds: float | None = None
    """Wall time in the system's own process; None where it did not answer."""
    error: str = ""
    """Why it failed, or what was wrong with an answer that has results."""
    cold: bool = False
    """It was the first one after a start."""

    def from_score(self, least: float | None) -> SystemAnswer:
        """Return it with the results that score at least so much."""
        if least is None:
            return self
        found = [(span, score) for span, score in zip(self.spans, self.scores, strict=True) if score >= least]
        return replace(self, spans=tuple(span for span, _ in found), scores=tuple(score for _, score in found))


@dataclass(frozen=True, slots=True)
class Preparation:
    """What it took to get a system ready, and to keep it so."""

    index_s: float | None = None
    index_bytes: int | None = None
    peak_mb: float = 0.0
    peak_of: str = "worker"
    """Whose memory that is: the worker's own, or that of its largest child, a command."""
    threads: int = 0
    """What numeric libraries were told to use, the same for all systems."""
    restarts: int = 0
    error: str = ""
    """Why it could not be asked at all."""
    problems: tuple[str, ...] = ()
    """What it could not use of what it was given."""


def key_of(  # noqa: PLR0913  all that decides an answer
    spec: str, options: Mapping[str, Any], corpus: str, k: int, queries: Iterable[Query], *, version: str = __version__
) -> str:
    """Return a hash of all that decides an answer; `corpus` is its digest. Where an index lies decides nothing."""
    kind, _, rest = spec.partition(":")
    telling = {name: value for name, value in options.items() if name != "location"}
    asked = [(q.id, q.text, q.mode, q.languages, q.paths, q.kinds) for q in queries]
    made = ["" if kind in _OTHERS else version, *_files_named(rest)]
    text = json.dumps([FORMAT, spec, made, telling, corpus, k, asked], sort_keys=True, default=str)
    return hash_of(text)


def _files_named(text: str) -> Iterator[str]:
    """Yield hashes of the files that a spec names: a script or a saved run that has changed answers otherwise."""
    words = [text, *text.split()]
    for word in dict.fromkeys([*words, *(word.rpartition(":")[0] for word in words)]):
        with suppress(OSError, ValueError):
            file = Path(word.strip("'\"")).expanduser()
            if file.is_file():
                yield hex_digest(file.read_bytes())


def is_run(file: Path, key: str) -> bool:
    """Say whether there are answers under a key, in a file or aside."""
    return next(read_lines(file), {}).get("key") == key or _aside(file, key).exists()


class RunFile:
    """A file of answers that is read once and then added to."""

    def __init__(self, file: Path, key: str, about: Mapping[str, Any]) -> None:
        self.answers: dict[str, SystemAnswer] = {}
        self.preparation: Preparation | None = None
        self._file = file
        with ExitStack() as stack:
            stack.enter_context(sole_writer(file))
            _swap_in(file, key)
            begun, *held = [*read_lines(file)] or [{}]
            for record in held:
                self._take(record)
            if not begun:
                append_lines(file, [{"format": FORMAT, "key": key, **about}])
            self._lines = stack.enter_context(Batches(file, seconds=_FLUSH_INTERVAL_S))
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def missing(self, queries: Iterable[Query]) -> list[Query]:
        """Return the queries that have no answer yet, or failed without one."""
        return [query for query in queries if _failed(self.answers.get(query.id))]

    def add(self, answer: SystemAnswer) -> None:
        """Keep an answer; it is on disk within a second or so."""
        self.answers[answer.query_id] = answer
        self._lines.add(_record(answer))

    def prepared(self, preparation: Preparation) -> None:
        """Keep what it took to get the system ready."""
        self.preparation = preparation
        self._lines.add({"prepared": asdict(preparation)})
        self._lines.flush()

    def _take(self, record: Mapping[str, Any]) -> None:
        if answer := _answer(record):
            self.answers[answer.query_id] = answer
            return
        try:
            self.preparation = read_value(Preparation, record.get("prepared"))
        except InputError:
            about = str(record)[:80]
            raise StorageError(f"{self._file} has an invalid answer: {about}; remove the file to ask again") from None


def _swap_in(file: Path, key: str) -> None:
    """Put the answers under a key where they are looked for; those under another lie aside until they are wanted."""
    begun = next(read_lines(file), None)
    if begun is not None and "key" not in begun:
        raise StorageError(f"{file} holds no answers of assay bench: move it away, or give another --out")
    if begun is not None and begun["key"] != key:
        file.replace(_aside(file, begun["key"]))
        begun = None
    if begun is None and _aside(file, key).exists():
        _aside(file, key).replace(file)


def _aside(file: Path, key: str) -> Path:
    return file.with_name(f"{file.stem}.{hash_of(key)[:12]}{file.suffix}")


def timings(answers: Sequence[SystemAnswer], preparation: Preparation, *, indexed: bool) -> Timings:
    """Return what results say about speed and size; the first answer after a start is cold, the others are warm."""
    timed = [(each.cold, 1000 * each.seconds) for each in answers if each.seconds is not None]
    cold = [milliseconds for is_cold, milliseconds in timed if is_cold]
    warm = [milliseconds for is_cold, milliseconds in timed if not is_cold]
    return Timings(
        index_s=preparation.index_s if indexed else None,
        cold_ms=cold[0] if cold else None,
        warm_p50_ms=float(np.percentile(warm, 50)) if warm else None,
        warm_p95_ms=float(np.percentile(warm, 95)) if warm else None,
        peak_mb=preparation.peak_mb,
        index_bytes=preparation.index_bytes,
    )


def read_any(
    file: Path, depth: int, *, of_documents: bool = False, by_rank: bool = False
) -> tuple[Ranked, list[Problem]]:
    """Read a TREC run or a file of answers, by what it looks like; rows that are no use become problems."""
    with file.open(encoding="utf-8", errors="replace") as opened:
        head = opened.readline()
    problems: list[Problem] = []
    if not head.startswith("{"):
        run = trec.read_run(file, problems, depth, of_documents=of_documents, by_rank=by_rank)
        found = {query: [(span, 1 / rank) for rank, span in enumerate(spans, 1)] for query, spans in run.items()}
        return found, problems
    held = read_lines(file)
    if "key" not in next(held, {}):
        raise InputError(f"{file} is not a run: wanted a TREC run, or a file of answers that assay bench wrote")
    answers = {}
    for row, record in enumerate(held, 2):
        if "prepared" in record:
            continue
        if answer := _answer(record):
            answers[answer.query_id] = list(zip(answer.spans, answer.scores, strict=True))
        else:
            problems.append(Problem(f"{file.name}:{row}", f"no answer: {str(record)[:80]}"))
    return answers, problems


def _failed(answer: SystemAnswer | None) -> bool:
    return answer is None or bool(answer.error and not answer.spans)


class _Found(NamedTuple):
    path: str
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class _Line:
    """An answer as a file holds it."""

    query: str
    seconds: float | None
    found: tuple[_Found, ...]
    error: str = ""
    cold: bool = False


def _record(answer: SystemAnswer) -> dict[str, Any]:
    found = [[s.path, s.start, s.end, score] for s, score in zip(answer.spans, answer.scores, strict=True)]
    more = {"error": answer.error, "cold": answer.cold}
    return {"query": answer.query_id, "seconds": answer.seconds, "found": found, **{k: v for k, v in more.items() if v}}


def _answer(record: Mapping[str, Any]) -> SystemAnswer | None:
    """Return what a record says, None where it is no answer: files come from strangers, too."""
    try:
        line = read_value(_Line, record)
    except InputError:
        return None
    if not all(each.start <= each.end <= _LAST_LINE for each in line.found):
        return None
    spans = tuple(Span(*each[:3]) for each in line.found)
    scores = tuple(each.score for each in line.found)
    return SystemAnswer(line.query, spans, scores, line.seconds, line.error, line.cold)
