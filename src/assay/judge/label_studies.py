"""A folder of people's labels in, what they come to out: who is at odds, what is decided, how far they agree.

A label is decided where more than half of those who looked at a pair give it, and where two or more were to look, two
did. What is not is disputed: whoever settles it is one more voice, and the majority stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from statistics import median
from typing import Any

from assay.errors import InputError, StorageError
from assay.judge.annotators import Annotator
from assay.judge.annotators import read as read_labels
from assay.judge.label_agreement import LabelAgreement, compare
from assay.judge.label_ballot import PERSON, LabelSettings
from assay.judge.pairs import Pair
from assay.judge.past_records import cut, is_records, verdicts
from assay.runs.record import among_writers, read_lines, refuse, rewrite, stored_settings

PEOPLE = "people"
"""Who judges where the majority of people does."""


@dataclass(frozen=True, slots=True)
class LabelStudy:
    """What people said of pairs, by the digest of the pair."""

    labels: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """By person, by pair, the record that counts."""

    def of_pairs(self, pairs: Container[str]) -> LabelStudy:
        """Return what people said of some pairs alone."""
        kept = {
            name: {pair: record for pair, record in said.items() if pair in pairs} for name, said in self.labels.items()
        }
        return LabelStudy({name: said for name, said in kept.items() if said})

    def votes(self) -> dict[str, list[Mapping[str, Any]]]:
        """Return the records of each pair, by its digest, in the order of the people's names."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for said in self.labels.values():
            for pair, record in said.items():
                found.setdefault(pair, []).append(record)
        return found

    def disputed(self, without: str = "") -> set[str]:
        """Return the pairs that people label in two ways, one of them perhaps not counted."""
        others = LabelStudy({name: said for name, said in self.labels.items() if name != without})
        return {
            pair for pair, said in others.votes().items() if len(said) > 1 and decided(said, len(others.labels)) is None
        }

    def annotators(self) -> list[Annotator]:
        """Return the people as annotators."""
        return [
            Annotator(name, {(each["query_id"], each["code_id"]): each["grade"] for each in said.values()})
            for name, said in self.labels.items()
            if said
        ]

    def reasons(self) -> dict[str, dict[tuple[str, str], str]]:
        """Return why people said what they did."""
        return {
            name: {(each["query_id"], each["code_id"]): each["reason"] for each in said.values() if each["reason"]}
            for name, said in self.labels.items()
        }

    def texts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return query and code of each pair."""
        every = (each for said in self.labels.values() for each in said.values())
        return {(each["query_id"], each["code_id"]): (each["query"], each["code"]) for each in every}


def read_study(folder: Path) -> LabelStudy:
    """Read the labels of all people in a folder; one that is not there has none."""
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    return LabelStudy({
        file.stem: {record["pair"]: record for record in verdicts(file)}
        for file in files
        if (stored_settings(file) or {}).get("judge") == PERSON and (is_records(file) or not file.stat().st_size)
    })  # fmt: skip


def refuse_other_ways(folder: Path, settings: LabelSettings) -> None:
    """Raise InputError where somebody in a folder was asked in another way: with grades, or with tests in sight."""
    now = {"graded": settings.graded, "tests": settings.tests}
    for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        before = stored_settings(file) or {}
        if before.get("judge") == PERSON and before.get("person") != settings.person:
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
    if not _holds_decided(out):
        raise InputError(f"{out} is there and holds no labels of people: give another --out, or move it away")
    return out


def _holds_decided(file: Path) -> bool:
    try:
        return file.is_file() and not cut(file) and all(each.get("judge") == PEOPLE for each in read_lines(file))
    except StorageError:
        return False


def decided(said: Sequence[Mapping[str, Any]], people: int) -> int | None:
    """Return the grade that more than half of some people give a pair; None where it is open."""
    if len(said) < min(people, 2):
        return None
    grade, votes = Counter(each["grade"] for each in said).most_common(1)[0]
    return grade if grade is not None and 2 * votes > len(said) else None


def write_decided(folder: Path, study: LabelStudy) -> Path:
    """Write what is decided, and what is disputed as undecided, as records beside the folder; return where."""
    out = decided_file(folder)
    people = len(study.labels)
    lines = []
    for said in study.votes().values():
        if len(said) < min(people, 2):
            continue
        grade = decided(said, people)
        votes = {each["judge"]: each["grade"] for each in said}
        reasons = dict.fromkeys(each["reason"] for each in said if each["reason"] and each["grade"] == grade)
        lines.append(
            {
                **said[0],
                "grade": grade,
                "reason": " / ".join(reasons),
                "problem": "" if grade is not None else "split",
                "judge": PEOPLE,
                "votes": votes,
                "seconds": {PERSON: round(sum(_seconds(each) for each in said), 1)},
            }
        )
    with among_writers(out):
        rewrite(out, lines)
    return out


def check_gold(gold: Path, pairs: Sequence[Pair], person: str) -> None:
    """Raise InputError where true labels cannot be read, or are of other pairs, before anybody labels."""
    truth = read_labels(gold).annotators
    known = {key for each in truth for key, grade in each.grades.items() if grade is not None}
    if not any((pair.query.id, pair.code.id) in known for pair in pairs):
        raise InputError(f"{gold} labels none of these pairs: query and code ids have to be the same")
    if person in {each.name for each in truth}:
        raise InputError(f"{gold} is called '{person}' as who labels: give another --person")


def compare_people(study: LabelStudy, gold: Path | None) -> LabelAgreement | None:
    """Return how far people agree with one another and with true labels; None where nothing can be compared."""
    truth = read_labels(gold).annotators if gold else []
    try:
        return compare(study.annotators(), truth)
    except InputError:
        if gold:
            raise
        return None  # one person, or nothing in common yet


def results(study: LabelStudy, gold: Path | None) -> dict[str, Any]:
    """Return what a page shows to somebody whose labels can no longer change."""
    found = compare_people(study, gold)
    people = [
        {
            "name": name,
            "labels": len(said),
            "seconds": seconds_a_label(said.values()),
            "accuracy": _defined(found.against[name].accuracy.value) if found and name in found.against else None,
        }
        for name, said in study.labels.items()
    ]
    return {
        "people": people,
        "gold": gold is not None,
        "alpha": _defined(found.alpha.value) if found else None,
        "twice": found.labelled_twice if found else 0,
        "disputed": len(study.disputed()),
    }


def seconds_a_label(records: Any) -> float:
    """Return the median time that a label took."""
    taken = [_seconds(each) for each in records]
    return float(median(taken)) if taken else 0.0


def _seconds(record: Mapping[str, Any]) -> float:
    return float(record.get("seconds", {}).get(PERSON, 0.0))


def _defined(value: float) -> float | None:
    return None if isnan(value) else value
