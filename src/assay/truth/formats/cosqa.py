"""Read rows of a query and a code, with an optional `label`: CoSQA's `idx`, `doc` and `code`, and other names.

CoSQA's `code_idx_map.txt` beside the file, a JSON object from code to number, is the corpus of the retrieval task, and
its numbers are the ids. Without one the corpus is the codes of the file, each once, called by its id or after its first
pair. A query without an id is called by a hash of its text; a row without a label is a right pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.io.digest import hex_digest
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS, Gathered, Glimpse, first_text, grade_of, text_of
from assay.truth.ground_truth import TruthFile
from assay.values import Chunk, Judgment, Query

_MAP = "code_idx_map.txt"
_LANGUAGE = "python"
_QUERY_IDS, _CODE_IDS = ("idx", "query_id"), ("code_id",)


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this; pairs with ids and without a label are unjudged candidates."""
    is_asked = "label" in glimpse.keys or glimpse.keys.isdisjoint(("query_id", *_CODE_IDS))
    return is_asked and not glimpse.keys.isdisjoint(QUERY_TEXTS) and not glimpse.keys.isdisjoint(CODE_TEXTS)


def read(path: Path) -> TruthFile:
    """Read pairs, and the corpus beside them."""
    gathered = Gathered(path)
    codes = _corpus(gathered)
    for row, record in rows.objects(path, gathered.problems):
        text, code = first_text(record, QUERY_TEXTS), first_text(record, CODE_TEXTS)
        if not text.strip() or not code.strip():
            gathered.problem(row, f"wanted a query and a code, found {sorted(record)}")
            continue
        grade = grade_of(record.get("label", 1))
        name = _id_of(record, _QUERY_IDS) or f"q-{hex_digest(text, 6)}"
        if grade is None:
            gathered.problem(row, f"label {record['label']!r}, wanted a whole number from 0")
        elif _is_usable(gathered, row, Query(name, text)):
            fresh = _id_of(record, _CODE_IDS) or name
            target = codes.setdefault(code, fresh if fresh not in gathered.documents else f"{fresh}#{row}")
            if target not in gathered.documents:
                gathered.document(row, _document(target, code, text_of(record.get("language"))))
            gathered.judgment(row, Judgment(name, target, grade))
    return gathered.reading()


def _id_of(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for each in names if (name := text_of(record.get(each)))), "")


def _corpus(gathered: Gathered) -> dict[str, str]:
    """Read the corpus beside a file, and return the id of each code."""
    file = gathered.path.with_name(_MAP)
    if not file.is_file():
        return {}
    value = rows.value_of(file)
    if not isinstance(value, dict):
        raise InputError(f"{file}: wanted a JSON object from code to number")
    codes = {code: text_of(number) for code, number in value.items()}
    for code, name in codes.items():
        gathered.document(1, _document(name, code), file=file)
    return codes


def _is_usable(gathered: Gathered, row: int, query: Query) -> bool:
    """Say whether a pair's query is usable; several pairs may have the same one."""
    earlier = gathered.queries.get(query.id)
    return (earlier is not None and earlier.text == query.text) or gathered.query(row, query)


def _document(name: str, code: str, language: str = "") -> Chunk:
    return Chunk(name, code, language or _LANGUAGE, path=name)
