"""CoSQA as CoCLR has it: a JSON list of `idx`, `doc` (the query), `code` and `label`.

`code_idx_map.txt` beside the file, a JSON object from code to number, is the corpus of the retrieval task, and its
numbers are the ids. Without one the corpus is the codes of the file, each once, called after its first pair.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.errors import InputError
from assay.io import files, rows
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, grade_of, text_of, write_listed
from assay.truth.ground_truth import Truth, TruthFile
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


def losses(truth: Truth) -> Iterator[str]:
    """Yield what cannot be held."""
    shared.check_corpus(truth, "CoSQA", texts=True)
    twins = len(truth.documents) - len({document.text for document in truth.documents})
    kinds = "filters judges repeats strays unanswered"
    own = {"documents with the text of another, which become one": twins}
    yield from shared.losses(_unspoken(truth), kinds, own, corpus=True, document_fields=())


def write(truth: Truth, path: Path) -> None:
    """Write pairs, and the corpus beside them."""
    ids: dict[str, str] = {}
    for document in truth.documents:
        ids.setdefault(document.text, document.id)
    texts = {document.id: document.text for document in truth.documents}
    queries = {query.id: query.text for query in truth.queries}
    grades: dict[tuple[str, str], int] = {}
    for each in truth.judgments:
        if each.target in texts:
            grades.setdefault((each.query_id, texts[each.target]), each.grade)
    pairs = [
        {"idx": query, "doc": queries[query], "code": code, "label": grade} for (query, code), grade in grades.items()
    ]
    write_listed(path, pairs)
    files.write(path.with_name(_MAP), json.dumps(ids, ensure_ascii=False))


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


def _unspoken(truth: Truth) -> Truth:
    """Return the documents as they would be read back, but for what the format cannot say of them."""
    languages = ("" if each.language == _LANGUAGE else each.language or "none" for each in truth.documents)
    documents = zip(truth.documents, languages, strict=True)
    return replace(truth, documents=tuple(replace(each, language=language) for each, language in documents))
