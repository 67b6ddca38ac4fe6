"""Read and write CoSQA+'s folder of JSON lists: queries, a codebase, labeled pairs, and the right pairs again.

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
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, text_of, write_listed
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Query

_LANGUAGE = "python"


def fits(glimpse: Glimpse) -> bool:
    """Say whether a folder, or one of its files, looks like this."""
    if glimpse.path.is_dir():
        return {"queries", "codebase"} <= _files(glimpse.path).keys()
    return bool({"query-idx", "code-idx"} & glimpse.keys)


def read(path: Path) -> TruthFile:
    """Read a folder of queries, codes and pairs."""
    root = path if path.is_dir() else path.parent
    files = _files(root)
    missing = [name for name in ("queries", "codebase") if name not in files]
    if missing or not {"pairs", "true pairs"} & files.keys():
        wanted = "wanted JSON files with 'query', 'codebase' and 'pairs' in their names"
        raise InputError(f"'{root}' has no {missing[0] if missing else 'pairs'}: {wanted}")
    gathered = Gathered(root)
    for row, record in rows.objects(files["queries"], gathered.problems):
        name, text = _first(record, "query-idx", "idx"), _first(record, "query", "doc")
        gathered.query(row, Query(name, text), file=files["queries"])
    for row, record in rows.objects(files["codebase"], gathered.problems):
        name, code = _first(record, "code-idx", "idx"), _first(record, "code")
        gathered.document(row, Chunk(name, code, _LANGUAGE, path=name), file=files["codebase"])
    for kind, right in (("pairs", None), ("true pairs", 1)):  # a right pair of both is one
        for row, record in rows.objects(files[kind], gathered.problems) if kind in files else ():
            pair = (_first(record, "query-idx"), _first(record, "code-idx"))
            gathered.grade(row, pair, "label", record.get("label", right), file=files[kind])
    return gathered.reading()


def losses(truth: Truth) -> Iterator[str]:
    """Yield what the format cannot store."""
    shared.check_corpus(truth, "CoSQA+", texts=True)
    own = {
        "languages of documents, for all are Python there": sum(each.language != _LANGUAGE for each in truth.documents),
        "grades above 1, which become 1": sum(each.grade > 1 for each in truth.judgments),
    }
    kinds = "filters judges repeats strays"
    yield from shared.losses(truth, kinds, own, corpus=True, document_fields=("language",))


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
    """Return the file of each kind; of several the one with the shortest name, from which the others derive."""
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


def _first(record: Mapping[str, Any], *names: str) -> str:
    return next((text for name in names if (text := text_of(record.get(name)))), "")
