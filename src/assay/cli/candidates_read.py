"""What a user calls queries and a corpus to the values: every form of ground truth, plain lists, a folder of code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.bench.files import form_of, read, read_part
from assay.bench.formats.gather import fault_of_id, lines_of, records_of, text_of
from assay.bench.truth import Truth
from assay.corpus import blocks
from assay.corpus.functions import functions
from assay.corpus.languages import language_of
from assay.corpus.reading import read as read_text
from assay.corpus.walk import walk
from assay.errors import InputError
from assay.judge.past import judgments
from assay.types import Chunk, Judgment, Problem, Query

_IDS = ("id", "_id", "query_id", "code_id", "query-idx", "code-idx", "idx")


def queries_of(path: Path, problems: list[Problem]) -> list[Query]:
    """Return the queries of a file or folder; of a text file each line is one."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.queries)
    elif path.suffix in (".jsonl", ".json"):
        rows = _rows(path, ("query", "text"), problems)
        found = [Query(name, text) for name, text, _ in rows]
    elif path.is_file():
        found = [Query(str(row), line.strip()) for row, line in enumerate(lines_of(path, problems), 1) if line.strip()]
    else:
        found = []
    if not found:
        raise InputError(f"no query in '{path}'; wanted ground truth, JSON lines of id and query, or lines of text")
    return found


def codes_of(path: Path, problems: list[Problem]) -> list[Chunk]:
    """Return the codes of a file or folder; of a folder of code they are its functions, called by their lines."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.documents)
    elif path.is_dir():
        found = list(_functions(path))
    else:
        rows = _rows(path, ("code", "text"), problems)
        found = [Chunk(name, text, language) for name, text, language in rows]
    kept = [code for code in found if code.text.strip()]
    problems += [Problem(code.id, "the code is empty") for code in found if not code.text.strip()]
    if not kept:
        raise InputError(f"no code in '{path}'; wanted a corpus of texts, JSON lines of id and code, or a folder")
    return kept


def labels_of(path: Path) -> list[Judgment]:
    """Return the labels of a ground truth, or of what `assay judge run` wrote."""
    if path.is_file():
        with path.open("rb") as lines:
            if b'"kind":' in lines.readline():
                return list(judgments(path))
    return list(read(path).truth.judgments)


def _truth(path: Path, problems: list[Problem]) -> Truth | None:
    """Return what a form of ground truth says, None where it has none."""
    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'")
    try:
        form = form_of(path)
    except InputError:
        return None
    reading = read_part(path, form)
    problems += reading.problems
    return reading.truth


def _functions(root: Path) -> Iterator[Chunk]:
    """Yield every function of a folder of code, in one piece, called by its lines."""
    for file in walk(root).files:
        text = read_text(root, file)
        if not isinstance(text, str):
            continue
        lines, language = blocks.lines_of(text), language_of(file.path, text)
        for first, last, name in functions(file.path, text):
            body = "".join(lines[first - 1 : last])
            yield Chunk(f"{file.path}:{first}-{last}", body, language, file.path, first, last, name)


def _rows(path: Path, names: tuple[str, ...], problems: list[Problem]) -> Iterator[tuple[str, str, str]]:
    """Yield id, text and language of the objects of a file; the first of an id counts."""
    seen: set[str] = set()
    for row, record in records_of(path, problems):
        name = _first(record, _IDS)
        text = next((record[key] for key in names if isinstance(record.get(key), str)), "")
        fault = "" if name and text.strip() else f"wanted an id and a text under {' or '.join(names)}"
        fault = fault or fault_of_id(name) or (f"'{name}' was there before" if name in seen else "")
        if fault:
            problems.append(Problem(f"{path.name}:{row}", fault))
            continue
        seen.add(name)
        yield name, text, text_of(record.get("language"))


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := text_of(record.get(name)))), "")
