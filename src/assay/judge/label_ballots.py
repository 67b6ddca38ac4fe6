"""Let people label pairs, and decide what they say together.

A label is a verdict as any judge's, in a file of records for each person; the last one of a pair counts, and a person
who finished changes no label and only then sees those of others. Decided is what more than half of those who looked at
a pair say, of two or more where there are as many people; the rest is disputed, and one more person settles it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any, Self

from assay.errors import InputError, StorageError
from assay.judge.campaign import line
from assay.judge.labels import MAJORITY, Annotator, LabelAgreement, compare
from assay.judge.pairs import Pair, Verdict
from assay.judge.records import cut, is_records, verdicts
from assay.judge.written_tests import parts_of
from assay.runs.record import (
    among_writers,
    append_lines,
    begin,
    hash_of,
    read_lines,
    refuse,
    rewrite,
    sole_writer,
    stored_settings,
)

_MAX_SECONDS = 1e6


def progress(order: Sequence[str], done: Container[str], at: int | None = None) -> dict[str, Any]:
    """Return how many items are done, and the place to show: the one asked for, or the first that is not done.

    The place after the last one is the end.
    """
    fresh = (place for place, item in enumerate(order) if item not in done)
    place = next(fresh, len(order)) if at is None else max(0, min(at, len(order)))
    return {"voted": sum(item in done for item in order), "total": len(order), "at": place, "item": None}


def seconds_of(given: Mapping[str, Any]) -> float:
    """Return how long a page says that an answer took, 0 where that is no time."""
    seconds = given.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and 0 <= seconds < _MAX_SECONDS else 0.0


def now() -> str:
    """Return the time as a record has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


PERSON = "person"
"""What judges, in the settings of such a file."""
MAX_REASON_CHARS = 2_000
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


def file_of(folder: Path, person: str) -> Path:
    """Return the file of a person's labels."""
    if not _NAME.fullmatch(person):
        raise InputError(f"invalid name '{person[:60]}': use letters, digits, '.', '_' and '-', at most 40 of them")
    if person == MAJORITY:
        raise InputError(f"'{person}' is what people say together: give another --person")
    return folder / f"{person}.jsonl"


class PersonFile:
    """The file of what one person says, which a `with` keeps to itself while it is open."""

    file: Path

    def _begin(self) -> None:
        """Begin the file, or go on with it; what cannot be gone on with is refused."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(sole_writer(self.file))
            self._begin()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()


class LabelBallot(PersonFile):
    """Pairs in the order of one person, and their labels; several threads may ask. Use it in a `with`."""

    page = "label.html"

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
        self._labels: dict[str, Mapping[str, Any]] = {}
        self._fixed: set[str] = set()
        self._lock = Lock()

    def _begin(self) -> None:
        begin(self.file, self._settings, "labels", seed=self._seed)
        _refuse_other_texts(self.file, self._order)
        past = verdicts(self.file) if self.file.exists() else ()
        self._labels = {record["pair"]: record for record in past}
        self._fixed = finished_pairs(self.file)
        self._order = [pair for pair in self._order if pair.digest not in self._fixed] or self._order
        self._ids = [pair.digest for pair in self._order]

    def __len__(self) -> int:
        return len(self._order)

    @property
    def finished(self) -> bool:
        """Whether nothing of it can change any more."""
        return self._fixed.issuperset(self._ids)

    @property
    def left(self) -> int:
        """How many pairs have no label yet."""
        return sum(each not in self._labels for each in self._ids)

    def item_to_show(self, at: int | None = None) -> dict[str, Any]:
        """Return what the page shows: the pair at a place, or the first without a label."""
        with self._lock:
            if self.finished:
                return {**progress((), ()), "voted": len(self._ids), "total": len(self._ids), "graded": False}
            page = {**progress(self._ids, self._labels, at), "graded": self._settings.graded}
            if page["at"] < len(self._order):
                page["item"] = self._shown(self._order[page["at"]])
            return page

    def take(self, ballot: Mapping[str, Any]) -> None:
        """Write a label down; it is on disk when this returns."""
        item, grade, reason = str(ballot.get("item")), ballot.get("grade"), ballot.get("reason", "")
        pair = next((each for each in self._order if each.digest == item), None)
        grades = (0, 1, 2, None) if self._settings.graded else (0, 1, None)
        if pair is None or isinstance(grade, bool) or grade not in grades:
            raise InputError(f"no pair {item[:20]!r} or no label {str(grade)[:20]!r}; wanted one of {grades}")
        if not isinstance(reason, str) or len(reason) > MAX_REASON_CHARS:
            raise InputError(f"wanted a reason of at most {MAX_REASON_CHARS:,} characters")
        with self._lock:
            if item in self._fixed:
                raise InputError("these labels are finished and stay as they are")
            record = self._record(pair, grade, reason.strip(), seconds_of(ballot))
            append_lines(self.file, [record])
            self._labels[item] = record

    def finish(self) -> dict[str, Any]:
        """Fix what is labelled, if that is all, and return how far people agree."""
        with self._lock:
            if any(each not in self._labels for each in self._ids):
                raise InputError("there are pairs without a label yet: load the page again")
            if self._fixed != self._labels.keys():
                append_lines(self.file, [{"kind": _FINISHED, "pair": "", "at": now()}])
                self._fixed = set(self._labels)
        return self._results()

    def _record(self, pair: Pair, grade: int | None, reason: str, seconds: float) -> dict[str, Any]:
        tests = self._tests.get(pair.digest)
        about = {
            "seconds": {PERSON: round(seconds, 1)},
            "tests": self._settings.tests if tests else "",
            "tests_hash": hash_of(repr(tests)) if tests else "",
            "at": now(),
        }
        problem = "unsure" if grade is None else ""
        return line(pair, Verdict(grade, reason, PERSON, problem=problem, details=about), self._settings.person)

    def _shown(self, pair: Pair) -> dict[str, Any]:
        label = self._labels.get(pair.digest)
        texts = {"query": pair.query.text, "codes": [{"code": pair.code.text, "language": pair.code.language}]}
        return {
            "id": pair.digest,
            **texts,
            "labelled": label is not None,
            "grade": label["grade"] if label else None,
            "reason": label["reason"] if label else "",
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


def finished_pairs(file: Path) -> set[str]:
    """Return the digests of the pairs that a person finished."""
    lines = [(record.get("kind"), record["pair"]) for record in read_lines(file)]
    last = max((place for place, (kind, _) in enumerate(lines) if kind == _FINISHED), default=0)
    return {pair for kind, pair in lines[:last] if kind == "verdict"}


def _in_order(pairs: Sequence[Pair], seed: str) -> list[Pair]:
    """Return pairs in an order drawn for a person, the codes of one query together."""
    return sorted(pairs, key=lambda pair: (hash_of(f"{seed}:{pair.query.id}"), hash_of(f"{seed}:{pair.id}")))


PEOPLE = "people"
"""Who judges where the majority of people does."""


@dataclass(frozen=True, slots=True)
class LabelStudy:
    """What people said of pairs, by the digest of the pair."""

    labels: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """By person, by pair, the record that counts."""

    def of_pairs(self, pairs: Container[str]) -> LabelStudy:
        """Return what people said of some pairs alone."""
        kept = {name: {pair: one[pair] for pair in one if pair in pairs} for name, one in self.labels.items()}
        return LabelStudy({name: labels for name, labels in kept.items() if labels})

    def votes(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the records of each pair, by its digest, in the order of the people's names."""
        found = defaultdict[str, list[Mapping[str, Any]]](list)
        for labels in self.labels.values():
            for pair, record in labels.items():
                found[pair].append(record)
        return found

    def disputed(self, without: str = "") -> set[str]:
        """Return the pairs that people label in two ways, one of them perhaps not counted."""
        others = LabelStudy({name: labels for name, labels in self.labels.items() if name != without})
        votes = others.votes().items()
        return {pair for pair, given in votes if len(given) > 1 and decided(given, len(others.labels)) is None}

    def annotators(self) -> list[Annotator]:
        """Return the people who labelled anything as annotators."""
        found = []
        for name, labels in self.labels.items():
            keyed = {(each["query_id"], each["code_id"]): each for each in labels.values()}
            grades = {key: each["grade"] for key, each in keyed.items()}
            reasons = {key: each["reason"] for key, each in keyed.items() if each["reason"]}
            if labels:
                found.append(Annotator(name, grades, reasons))
        return found

    def texts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return query and code of each pair."""
        every = (each for labels in self.labels.values() for each in labels.values())
        return {(each["query_id"], each["code_id"]): (each["query"], each["code"]) for each in every}


def read_study(folder: Path) -> LabelStudy:
    """Read the labels of all people in a folder; one that is not there has none."""
    files = [file for file in files_of_people(folder, PERSON) if is_records(file) or not file.stat().st_size]
    return LabelStudy({file.stem: {record["pair"]: record for record in verdicts(file)} for file in files})


def files_of_people(folder: Path, judge: str) -> list[Path]:
    """Return the files of a folder, one a person, that a labelling page of a kind wrote."""
    return [file for file in sorted(folder.glob("*.jsonl")) if (stored_settings(file) or {}).get("judge") == judge]


def refuse_other_ways(folder: Path, settings: LabelSettings) -> None:
    """Raise InputError where somebody in a folder was asked in another way: with grades, or with tests in sight."""
    for file in sorted(folder.glob("*.jsonl")):
        before = stored_settings(file) or {}
        if before.get("judge") == PERSON and before.get("person") != settings.person:
            now = {"graded": settings.graded, "tests": settings.tests}
            refuse(file, "labels", (name for name, value in now.items() if before.get(name) != value))


def decided_file(folder: Path, inputs: Iterable[Path | None] = ()) -> Path:
    """Return where what a folder's people decide goes: beside it; what somebody else put there is refused."""
    folder = folder if folder.name not in {"", ".."} else folder.resolve()
    if not folder.name:
        raise InputError(f"'{folder}' cannot hold labels: give another --out")
    out = folder.with_name(f"{folder.name}.jsonl")
    if not out.exists():
        return out
    if any(given and given.exists() and out.samefile(given) for given in inputs):
        raise InputError(f"what is decided in '{folder}' would replace {out}, which is read here: give another --out")
    with suppress(StorageError):
        if out.is_file() and not cut(out) and all(each.get("judge") == PEOPLE for each in read_lines(out)):
            return out
    raise InputError(f"{out} is there and holds no labels of people: give another --out, or move it away")


def decided(given: Sequence[Mapping[str, Any]], people: int) -> int | None:
    """Return the grade that more than half of some people give a pair; None where it is open."""
    if len(given) < min(people, 2):
        return None
    grade, votes = Counter(each["grade"] for each in given).most_common(1)[0]
    return grade if 2 * votes > len(given) else None


def write_decided(folder: Path, study: LabelStudy) -> Path:
    """Write what is decided, and what is disputed as undecided, as records beside the folder; return where."""
    out = decided_file(folder)
    people = len(study.labels)
    votes = [given for given in study.votes().values() if len(given) >= min(people, 2)]
    with among_writers(out):
        rewrite(out, (_decision(given, decided(given, people)) for given in votes))
    return out


def _decision(given: Sequence[Mapping[str, Any]], grade: int | None) -> dict[str, Any]:
    reasons = dict.fromkeys(each["reason"] for each in given if each["reason"] and each["grade"] == grade)
    return {
        **given[0],
        "grade": grade,
        "reason": " / ".join(reasons),
        "problem": "" if grade is not None else "split",
        "judge": PEOPLE,
        "votes": {each["judge"]: each["grade"] for each in given},
        "seconds": {PERSON: round(sum(map(_seconds, given)), 1)},
    }


def compare_people(study: LabelStudy) -> LabelAgreement | None:
    """Return how far people agree with one another; None with one person, or nothing in common yet."""
    with suppress(InputError):
        return compare(study.annotators())
    return None


def results(study: LabelStudy) -> dict[str, Any]:
    """Return what a page shows to somebody whose labels can no longer change."""
    found = compare_people(study)
    return {
        "people": [
            {"name": name, "labels": len(labels), "seconds": seconds_a_label(labels)}
            for name, labels in study.labels.items()
        ],
        "alpha": None if found is None else found.alpha.value,
        "twice": found.labelled_twice if found else 0,
        "disputed": len(study.disputed()),
    }


def seconds_a_label(labels: Mapping[str, Mapping[str, Any]]) -> float:
    """Return the median time that a label of these took."""
    return float(median(map(_seconds, labels.values()))) if labels else 0.0


def _seconds(record: Mapping[str, Any]) -> float:
    return float(record.get("seconds", {}).get(PERSON, 0.0))


_CASE = ("state", "detail", "got", "expected")


def shown_tests(file: Path, pairs: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the tests of those of some pairs, by their digests, that a file of records has any of."""
    if not is_records(file):
        raise InputError(f"'{file}' holds no records of `assay judge run`: --tests wants the tests that agents wrote")
    programs: dict[str, dict[str, Any]] = {}
    reports: dict[str, Mapping[str, Any]] = {}
    for record in read_lines(file):
        pair = str(record.get("pair"))
        if pair not in pairs:
            continue
        if record["kind"] == "run":
            reports[pair] = record
        if record["kind"] != "reply" or record.get("part") not in {"tests", "fix"}:
            continue
        value = record["value"]
        if value.get("action", "repair") == "repair":  # not one that installs, or gives up
            setup, helpers, cases = parts_of(value)
            reading = value.get("reading") or programs.get(pair, {}).get("reading", "")
            programs[pair] = {"reading": reading, "setup": setup, "helpers": helpers, "cases": list(cases)}
            reports.pop(pair, None)
    return {pair: _as_shown(program, reports.get(pair, {})) for pair, program in programs.items()}


def _as_shown(program: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    ran = {case["number"]: case for case in report.get("cases", ())}
    cases = [
        {"script": script, **{name: str(ran.get(number, {}).get(name, "")) for name in _CASE}}
        for number, script in enumerate(program["cases"], 1)
    ]
    return {**program, "cases": cases, "error": str(report.get("error", ""))}
