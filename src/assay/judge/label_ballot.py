"""Pairs in, the labels of one person out: a file of records of its own in a folder that several people share.

A label is a verdict as any judge's, so that whatever reads records reads it. The file only grows: a changed mind is one
more verdict, and the last one of a pair counts. Nobody is shown what others said; whoever settles disputes is asked
about the pairs that others label in two ways, and not told how. Who finished cannot change a label any more, and only
then hears how far people agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Self

from assay.errors import InputError
from assay.judge.ballot_progress import now, progress, seconds_of
from assay.judge.campaign import line
from assay.judge.label_agreement import MAJORITY
from assay.judge.pair_verdict import Verdict
from assay.judge.pairs import Pair
from assay.judge.past_records import verdicts
from assay.runs.record import append_lines, begin, hash_of, read_lines, sole_writer

PERSON = "person"
"""What judges, in the settings of such a file."""
LONGEST_REASON = 2_000
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
_FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class LabelSettings:
    """What decides about the labels of a person, as the manifest says it."""

    judge: str = PERSON
    person: str = ""
    graded: bool = False
    """Whether 2 answers, 1 helps and 0 does not, instead of 1 for a match and 0 for none."""
    tests: str = ""
    """Whether tests of the pairs were `shown`, or `hidden` though there were some; empty where there were none."""


def finished_pairs(file: Path) -> set[str]:
    """Return the digests of the pairs that a person finished."""
    return _past(file)[1]


def file_of(folder: Path, person: str) -> Path:
    """Return the file of a person's labels."""
    if not _NAME.fullmatch(person):
        raise InputError(f"'{person[:60]}' is no name for a file: wanted letters, digits, '.', '_' or '-', at most 40")
    if person == MAJORITY:
        raise InputError(f"'{person}' is what people say together: give another --person")
    return folder / f"{person}.jsonl"


class LabelBallot:
    """Pairs in the order of one person, and their labels; several threads may ask. Use it in a `with`."""

    def __init__(  # noqa: PLR0913  # each is one thing
        self,
        pairs: Sequence[Pair],
        folder: Path,
        settings: LabelSettings,
        *,
        tests: Mapping[str, Mapping[str, Any]] | None = None,
        seed: int = 0,
        results: Callable[[], dict[str, Any]] = dict,
    ) -> None:
        self.file = file_of(folder, settings.person)
        self._settings, self._tests, self._results, self._seed = settings, tests or {}, results, seed
        self._order = _in_order(pairs, f"{seed}:{settings.person}")
        self._ids = [pair.digest for pair in self._order]
        self._said: dict[str, Mapping[str, Any]] = {}
        self._fixed: set[str] = set()
        self._lock, self._stack = Lock(), ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(sole_writer(self.file))
            begin(self.file, self._settings, "labels", seed=self._seed)
            _refuse_other_texts(self.file, self._order)
            self._said, self._fixed = _past(self.file)
            self._order = [pair for pair in self._order if pair.digest not in self._fixed] or self._order
            self._ids = [pair.digest for pair in self._order]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def __len__(self) -> int:
        return len(self._order)

    @property
    def finished(self) -> bool:
        """Whether nothing of it can change any more."""
        return self._fixed.issuperset(self._ids)

    @property
    def left(self) -> int:
        """How many pairs have no label yet."""
        return sum(each not in self._said for each in self._ids)

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return what the page shows: the pair at a place, or the first without a label."""
        with self._lock:
            if self.finished:
                return {**progress((), ()), "voted": len(self._ids), "total": len(self._ids), "graded": False}
            told = {**progress(self._ids, self._said, at), "graded": self._settings.graded}
            if told["at"] < len(self._order):
                told["item"] = self._shown(self._order[told["at"]])
            return told

    def take(self, given: Mapping[str, Any]) -> None:
        """Write a label down; it is on disk when this returns."""
        item, grade, reason = str(given.get("item")), given.get("grade"), given.get("reason", "")
        pair = next((each for each in self._order if each.digest == item), None)
        grades = (0, 1, 2, None) if self._settings.graded else (0, 1, None)
        if pair is None or isinstance(grade, bool) or grade not in grades:
            raise InputError(f"no pair {item[:20]!r} or no label {str(grade)[:20]!r}; wanted one of {grades}")
        if not isinstance(reason, str) or len(reason) > LONGEST_REASON:
            raise InputError(f"wanted a reason of at most {LONGEST_REASON:,} characters")
        with self._lock:
            if item in self._fixed:
                raise InputError("these labels are finished and stay as they are")
            record = self._record(pair, grade, reason.strip(), seconds_of(given))
            append_lines(self.file, [record])
            self._said[item] = record

    def finish(self) -> dict[str, Any]:
        """Fix what is labelled, if that is all, and return how far people agree."""
        with self._lock:
            if any(each not in self._said for each in self._ids):
                raise InputError("there are pairs without a label yet: load the page again")
            if self._fixed != self._said.keys():
                append_lines(self.file, [{"kind": _FINISHED, "pair": "", "at": now()}])
                self._fixed = set(self._said)
        return self._results()

    def _record(self, pair: Pair, grade: int | None, reason: str, seconds: float) -> dict[str, Any]:
        told = {
            "seconds": {PERSON: round(seconds, 1)},
            "tests": self._settings.tests if pair.digest in self._tests else "",
            "tests_hash": hash_of(repr(self._tests.get(pair.digest))) if pair.digest in self._tests else "",
            "at": now(),
        }
        problem = "unsure" if grade is None else ""
        return line(pair, Verdict(grade, reason, PERSON, problem=problem, told=told), self._settings.person)

    def _shown(self, pair: Pair) -> dict[str, Any]:
        said = self._said.get(pair.digest)
        return {
            "id": pair.digest,
            "query": pair.query.text,
            "code": pair.code.text,
            "language": pair.code.language,
            "labelled": said is not None,
            "grade": said["grade"] if said else None,
            "reason": said["reason"] if said else "",
            "tests": self._tests.get(pair.digest) if self._settings.tests == "shown" else None,
        }


def _refuse_other_texts(file: Path, pairs: Sequence[Pair]) -> None:
    """Raise InputError where ids stand for two texts, in a file or in the pairs: readers of labels know ids alone."""
    texts: dict[tuple[str, str], str] = {}
    for record in read_lines(file):
        if record.get("kind") == "verdict":
            texts[record["query_id"], record["code_id"]] = record["pair"]
    for pair in pairs:
        ids = pair.query.id, pair.code.id
        if texts.setdefault(ids, pair.digest) != pair.digest:
            raise InputError(
                f"{file}: query '{ids[0]}' with code '{ids[1]}' has other texts under the same ids: give another --out"
            )


def _past(file: Path) -> tuple[dict[str, Mapping[str, Any]], set[str]]:
    """Return the labels of a file that count, and the pairs that were finished."""
    fixed: set[str] = set()
    seen: set[str] = set()
    for record in read_lines(file):
        if record.get("kind") == "verdict":
            seen.add(record["pair"])
        elif record.get("kind") == _FINISHED:
            fixed = set(seen)
    return {record["pair"]: record for record in verdicts(file)} if seen else {}, fixed


def _in_order(pairs: Sequence[Pair], seed: str) -> list[Pair]:
    """Return pairs in an order drawn for a person, the codes of one query together."""
    return sorted(pairs, key=lambda pair: (hash_of(f"{seed}:{pair.query.id}"), hash_of(f"{seed}:{pair.id}")))
