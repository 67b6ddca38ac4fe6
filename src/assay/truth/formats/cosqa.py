"""CoSQA as CoCLR has it: a JSON list of `idx`, `doc` (the query), `code` and `label`.

`code_idx_map.txt` beside the file, a JSON object from code to number, is the corpus of the retrieval task, and its
numbers are the ids. Without one the corpus is the codes of the file, each once, called after its first pair.
"""

from __future__ import annotations

from pathlib import Path

from assay.errors import InputError
from assay.io import rows
from assay.truth.formats.shared import Gathered, Glimpse, grade_of, text_of
from assay.truth.ground_truth import TruthFile
from assay.values import Chunk, Judgment, Query

_MAP = "code_idx_map.txt"
_LANGUAGE = "python"


def fits(seen: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return {"idx", "doc", "code"} <= seen.keys


def read(path: Path) -> TruthFile:
    """Read pairs, and the corpus beside them."""
    found = Gathered(path)
    codes = _corpus(found)
    for row, record in rows.objects(path, found.problems):
        name, text, code = text_of(record.get("idx")), record.get("doc"), record.get("code")
        if not name or not isinstance(text, str) or not isinstance(code, str):
            found.problem(row, f"wanted idx, doc and code, found {sorted(record)}")
            continue
        grade = grade_of(record.get("label", 1))
        if grade is None:
            found.problem(row, f"label {record['label']!r}, wanted a whole number from 0")
        elif _known(found, row, Query(name, text)):
            target = codes.setdefault(code, name if name not in found.documents else f"{name}#{row}")
            if target not in found.documents:
                found.document(row, _document(target, code))
            found.judgment(row, Judgment(name, target, grade))
    return found.reading()


def _corpus(found: Gathered) -> dict[str, str]:
    """Take in the corpus beside a file and return the id of each code."""
    file = found.path.with_name(_MAP)
    if not file.is_file():
        return {}
    value = rows.value_of(file)
    if not isinstance(value, dict):
        raise InputError(f"{file}: wanted a JSON object from code to number")
    codes = {code: text_of(number) for code, number in value.items()}
    for code, name in codes.items():
        found.document(1, _document(name, code), file=file)
    return codes


def _known(found: Gathered, row: int, query: Query) -> bool:
    """Say whether a pair's query can be used; several pairs may have the same."""
    earlier = found.queries.get(query.id)
    return (earlier is not None and earlier.text == query.text) or found.query(row, query)


def _document(name: str, code: str) -> Chunk:
    return Chunk(name, code, _LANGUAGE, path=name)
