"""CoSQA+'s folder of JSON lists: queries, a codebase, pairs with labels, and the pairs that are right once more.

Files are told apart by name (`test_agent_query.json`, `test_agent_codebase.json`, `test_agent_pairs.json`,
`test_agent_pairs_true.json`, and the names of earlier releases); fields are `query-idx`, `query`, `code-idx`, `code`,
`pair-idx`, `label`, and `idx` and `doc` in early ones. Without all pairs the right ones are read alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.io.rows import plain
from assay.truth.formats import shared as lost
from assay.truth.formats.shared import Gathered, Glimpse, grade_of, text_of, write_listed
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Judgment, Query

_LANGUAGE = "python"


def fits(seen: Glimpse) -> bool:
    """Say whether a folder, or one of its files, looks like this."""
    if seen.path.is_dir():
        return {"queries", "codebase"} <= _files(seen.path).keys()
    return bool({"query-idx", "code-idx"} & seen.keys)


def read(path: Path) -> TruthFile:
    """Read a folder of queries, codes and pairs."""
    root = path if path.is_dir() else path.parent
    files = _files(root)
    missing = [name for name in ("queries", "codebase") if name not in files]
    if missing or not {"pairs", "true pairs"} & files.keys():
        wanted = "wanted JSON files with 'query', 'codebase' and 'pairs' in their names"
        raise InputError(f"'{root}' has no {missing[0] if missing else 'pairs'}: {wanted}")
    found = Gathered(root)
    for row, record in rows.objects(files["queries"], found.problems):
        name, text = _first(record, "query-idx", "idx"), _first(record, "query", "doc")
        found.query(row, Query(name, text), file=files["queries"])
    for row, record in rows.objects(files["codebase"], found.problems):
        name, code = _first(record, "code-idx", "idx"), _first(record, "code")
        found.document(row, Chunk(name, code, _LANGUAGE, path=name), file=files["codebase"])
    _read_pairs(found, files)
    return found.reading()


def losses(truth: Truth) -> Iterator[str]:
    """Yield what cannot be held."""
    if not truth.documents:
        raise InputError("CoSQA+ holds a corpus of texts, and this ground truth speaks of a checkout; convert to jsonl")
    yield from lost.filters(truth.queries)
    yield from lost.tags(truth.queries)
    yield from lost.judges(truth.judgments)
    yield from lost.repeats(truth.judgments)
    yield from lost.strays(truth)
    yield from lost.document_fields(frozenset(("language",)), truth.documents)
    others = sum(document.language != _LANGUAGE for document in truth.documents)
    yield from lost.counted(others, "languages of documents, for all are Python there")
    yield from lost.counted(sum(each.grade > 1 for each in truth.judgments), "grades above 1, which become 1")
    yield from lost.corpus(truth)


def write(truth: Truth, path: Path) -> None:
    """Write a folder of JSON lists."""
    texts = {query.id: query.text for query in truth.queries}
    codes = {document.id: document.text for document in truth.documents}
    grades: dict[tuple[str, str], int] = {}
    for each in truth.judgments:
        if each.target in codes:
            grades.setdefault((each.query_id, each.target), min(each.grade, 1))
    pairs = [
        {"pair-idx": number, "query-idx": query, "query": texts[query], "code-idx": target, "code": codes[target]}
        | {"label": grade}
        for number, ((query, target), grade) in enumerate(grades.items(), 1)
    ]
    write_listed(path / "query.json", ({"query-idx": name, "query": text} for name, text in texts.items()))
    write_listed(path / "codebase.json", ({"code-idx": name, "code": code} for name, code in codes.items()))
    write_listed(path / "pairs.json", pairs)
    write_listed(path / "pairs_true.json", [pair for pair in pairs if pair["label"]])


def _files(root: Path) -> dict[str, Path]:
    """Return the file of each kind; of several that of the shortest name, for the others derive from it."""
    files: dict[str, Path] = {}
    found = (file for file in root.glob("*.*") if rows.suffix(file) in rows.ENDINGS)
    for file in sorted(found, key=lambda file: (len(file.name), file.name)):
        stem = plain(file).stem.lower()
        if not stem.endswith("_processed") and (kind := _kind(stem)):
            files.setdefault(kind, file)
    return files


def _kind(stem: str) -> str:
    if "pairs" in stem:
        return "true pairs" if stem.endswith(("true", "for_search")) else "pairs"
    if "codebase" in stem:
        return "codebase"
    return "queries" if "quer" in stem else ""


def _read_pairs(found: Gathered, files: Mapping[str, Path]) -> None:
    grades: dict[tuple[str, str], int] = {}
    for kind in ("pairs", "true pairs"):
        if kind in files:
            for row, record in rows.objects(files[kind], found.problems):
                _read_pair(found, grades, record, (files[kind], row, int(kind == "true pairs")))


def _read_pair(
    found: Gathered, grades: dict[tuple[str, str], int], record: Mapping[str, Any], at: tuple[Path, int, int]
) -> None:
    """Take one pair in; a right pair that is among all pairs already says nothing new."""
    file, row, right = at
    pair = (_first(record, "query-idx"), _first(record, "code-idx"))
    grade = grade_of(record.get("label", right or None))
    fault = ""
    if pair[0] not in found.queries:
        fault = f"there is no query '{pair[0]}'"
    elif pair[1] not in found.documents:
        fault = f"there is no code '{pair[1]}'"
    elif grade is None:
        fault = f"label {record.get('label')!r}, wanted a whole number from 0"
    elif pair in grades:
        same = right and grades[pair] == grade
        fault = "" if same else f"the pair {pair[0]}, {pair[1]} is there already with label {grades[pair]}: that counts"
    else:
        grades[pair] = grade
        found.judgments.append(Judgment(*pair, grade))
    if fault:
        found.problem(row, fault, file=file)


def _first(record: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := text_of(record.get(name)))), "")
