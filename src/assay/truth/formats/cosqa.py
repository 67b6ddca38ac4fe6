"""Rows of a query with a code, and perhaps a `label`: CoSQA's `idx`, `doc` and `code`, and the names of others.

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


def fits(seen: Glimpse) -> bool:
    """Say whether a file looks like this; pairs with ids and no label are candidates, which nobody judged."""
    is_asked = "label" in seen.keys or seen.keys.isdisjoint(("query_id", *_CODE_IDS))
    return is_asked and not seen.keys.isdisjoint(QUERY_TEXTS) and not seen.keys.isdisjoint(CODE_TEXTS)


def read(path: Path) -> TruthFile:
    """Read pairs, and the corpus beside them."""
    found = Gathered(path)
    codes = _corpus(found)
    for row, record in rows.objects(path, found.problems):
        text, code = first_text(record, QUERY_TEXTS), first_text(record, CODE_TEXTS)
        if not text.strip() or not code.strip():
            found.problem(row, f"wanted a query and a code, found {sorted(record)}")
            continue
        grade = grade_of(record.get("label", 1))
        name = _id_of(record, _QUERY_IDS) or f"q-{hex_digest(text, 6)}"
        if grade is None:
            found.problem(row, f"label {record['label']!r}, wanted a whole number from 0")
        elif _known(found, row, Query(name, text)):
            fresh = _id_of(record, _CODE_IDS) or name
            target = codes.setdefault(code, fresh if fresh not in found.documents else f"{fresh}#{row}")
            if target not in found.documents:
                found.document(row, _document(target, code, text_of(record.get("language"))))
            found.judgment(row, Judgment(name, target, grade))
    return found.reading()


def _id_of(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((name for each in names if (name := text_of(record.get(each)))), "")


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


def _document(name: str, code: str, language: str = "") -> Chunk:
    return Chunk(name, code, language or _LANGUAGE, path=name)
