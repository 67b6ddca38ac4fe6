"""Read the pairs that encoders learn from.

Files are records of `assay judge run` (the last verdict of a pair counts, undecided ones are left out), rows with both
texts in any form of `assay.io.rows` (CoSQA's list too), and any ground truth that brings its corpus along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.errors import InputError, counted
from assay.io import rows
from assay.io.fields import FieldError, Fields
from assay.io.rows import plain
from assay.judge import records
from assay.train.pairs import TrainingPair, code_of, words_of
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS
from assay.truth.truth_formats import read
from assay.values import Problem

_GRADES = ("grade", "label", "score", "relevance")
_MAX_GRADE = 1000


def pair_of(row: Mapping[str, Any], source: str) -> TrainingPair | None:
    """Return the pair of a row of a file, None where nobody decided it; a row without a grade is a right pair."""
    fields = Fields(row)
    query = next((fields.text(name) for name in QUERY_TEXTS if name in fields), None)
    if query is None:
        raise FieldError("no field 'query' (or 'doc', as CoSQA calls it)")
    code = next((fields.text(name) for name in CODE_TEXTS if name in fields), None)
    if code is None:
        raise FieldError("no field 'code'")
    if not query.strip() or not code.strip():
        raise FieldError(f"the {'query' if not query.strip() else 'code'} is empty")
    graded = next((name for name in _GRADES if name in row), "")
    if graded and graded not in fields:
        return None
    grade = fields.whole(graded, most=_MAX_GRADE) if graded else 1
    return TrainingPair(query, code, str(row.get("source") or source), str(row.get("kind") or "given"), grade)


def texts_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the query and the code of a row, whatever its label; one of them may be missing, and is empty then."""
    fields = Fields(row)
    query = next((fields.text(name) for name in QUERY_TEXTS if name in fields), "").strip()
    code = next((fields.text(name) for name in CODE_TEXTS if name in fields), "").strip()
    if not query and not code:
        raise FieldError("no field 'query' (or what others call it) and no field 'code' with text")
    return query, code


def refuse_wrong_pairs(pairs: Iterable[TrainingPair]) -> None:
    """Raise InputError where a pair is judged wrong: a table has no use for it, and must not learn it."""
    every = list(pairs)
    if wrong := sum(pair.grade == 0 for pair in every):
        raise InputError(
            f"of {counted(len(every), 'pair')} {wrong:,} have label 0, and a table learns from right pairs alone: "
            "take them out, or train a transformer on both with assay train encoder --base"
        )


@dataclass(slots=True)
class ReadPairs:
    """The pairs of some files."""

    pairs: list[TrainingPair] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """Rows that cannot be used."""
    undecided: int = 0


def read_pairs(files: Sequence[Path]) -> ReadPairs:
    """Read pairs; a file without any that can be used is an error."""
    found = ReadPairs()
    for file in files:
        before = len(found.pairs), len(found.problems)
        _read(file, found)
        if len(found.pairs) == before[0]:
            why = f" ({found.problems[before[1]]})" if len(found.problems) > before[1] else ""
            raise InputError(f"'{file}' holds no pair that can be learned from{why}; wanted query, code and label")
    return found


def leave_out(pairs: Sequence[TrainingPair], files: Sequence[Path]) -> list[TrainingPair]:
    """Return the pairs none of whose texts is in some files: no query of the same words, no copy of a code.

    Texts count whatever their label; a row that cannot be read is an InputError, for its texts would be learned.
    """
    held = [texts for file in files for texts in _texts(file)]
    queries = {words_of(query) for query, _ in held if query}
    codes = {code_of(code) for _, code in held if code}
    return [pair for pair in pairs if words_of(pair.query) not in queries and code_of(pair.code) not in codes]


def _texts(file: Path) -> list[tuple[str, str]]:
    """Return query and code of every row of a file."""
    found, texts = ReadPairs(), list[tuple[str, str]]()
    if _is_of_texts(file):
        for where, row in _rows(file, found.problems):
            try:
                texts.append(texts_of(row))
            except FieldError as error:
                found.problems.append(Problem(where, str(error)))
    else:
        _read(file, found)
        texts = [(pair.query, pair.code) for pair in found.pairs]
    if found.problems or not texts:
        why = str(found.problems[0]) if found.problems else f"'{file}' holds no text"
        raise InputError(f"{why}: what is left out has to be read whole; mend the file")
    return texts


def _read(file: Path, found: ReadPairs) -> None:
    if _is_of_texts(file):
        source = plain(file).stem
        for where, row in _rows(file, found.problems):
            try:
                pair = pair_of(row, source)
            except FieldError as error:
                found.problems.append(Problem(where, str(error)))
                continue
            found.undecided += pair is None
            found.pairs += [pair] if pair else []
        return
    reading = read(file)
    queries = {query.id: query.text for query in reading.truth.queries}
    codes = {code.id: code.text for code in reading.truth.documents}
    found.problems += reading.problems
    for at, judged in enumerate(reading.truth.judgments):
        if judged.query_id in queries and judged.target in codes:
            one = queries[judged.query_id], codes[judged.target]
            found.pairs.append(TrainingPair(*one, reading.truth.name, "given", judged.grade))
        else:
            found.problems.append(Problem(reading.where(at), f"no text of '{judged.target}' in the corpus"))


def _is_of_texts(file: Path) -> bool:
    """Say whether a file has rows with texts; otherwise it is a ground truth."""
    if not file.exists():
        raise InputError(f"no such file: '{file}'")
    return not file.is_dir() and (records.is_records(file) or _has_texts(file))


def _has_texts(file: Path) -> bool:
    """Say whether the rows of a file hold the codes themselves; if nothing can be read of it, rows say why."""
    sample = rows.sample(file, [])
    return not sample or any("code" in row or "query" in row for row in sample)


def _rows(file: Path, problems: list[Problem]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if records.is_records(file):
        yield from ((str(file), {**record, "kind": "given"}) for record in records.verdicts(file))
    else:
        for row, fields in rows.objects(file, problems):
            yield rows.place(file, row), fields
