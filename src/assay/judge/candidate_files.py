"""What a user calls queries and a corpus to the values: every form of ground truth, plain lists, a folder of code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.corpus import blocks
from assay.corpus.decode import read as read_text
from assay.corpus.functions import functions
from assay.corpus.languages import language_of
from assay.corpus.walk import walk
from assay.errors import InputError
from assay.io import rows
from assay.judge.past_records import is_records, judgments
from assay.truth.formats.shared import fault_of_id, text_of
from assay.truth.ground_truth import Truth
from assay.truth.truth_formats import UnknownFormat, form_of, read, read_part
from assay.types import Chunk, Judgment, Problem, Query

_IDS = ("id", "_id", "query_id", "code_id", "query-idx", "code-idx", "idx")


def queries_of(path: Path, problems: list[Problem]) -> list[Query]:
    """Return the queries of a file or folder; of a text file each line is one."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.queries)
    elif path.is_dir():
        found = []
    elif rows.suffix(path) in rows.ENDINGS or any("query" in row or "text" in row for row in rows.sample(path, [])):
        found = [Query(name, text) for name, text, _ in _rows(path, ("query", "text"), problems)]
    else:
        found = [Query(str(row), line.strip()) for row, line in rows.lines(path, problems) if line.strip()]
    if not found:
        raise InputError(f"no query in '{path}'{_why(problems)}; wanted ground truth, rows of id and query, or lines")
    return found


def codes_of(path: Path, problems: list[Problem]) -> list[Chunk]:
    """Return the codes of a file or folder; of a folder of code they are its functions, called by their lines."""
    truth = _truth(path, problems)
    if truth is not None:
        found = list(truth.documents)
    elif path.is_dir():
        found = list(_functions(path))
    else:
        found = [Chunk(name, text, language) for name, text, language in _rows(path, ("code", "text"), problems)]
    kept = [code for code in found if code.text.strip()]
    problems += [Problem(code.id, "the code is empty") for code in found if not code.text.strip()]
    if not kept:
        raise InputError(f"no code in '{path}'{_why(problems)}; wanted a corpus, rows of id and code, or a folder")
    return kept


def labels_of(path: Path) -> list[Judgment]:
    """Return the labels of a ground truth, or of what `assay judge run` wrote."""
    return list(judgments(path) if is_records(path) else read(path).truth.judgments)


def _truth(path: Path, problems: list[Problem]) -> Truth | None:
    """Return what a form of ground truth says, None where it has none."""
    try:
        form = form_of(path)
    except UnknownFormat:
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
    for row, record in rows.objects(path, problems):
        name = _first(record, _IDS)
        text = next((record[key] for key in names if isinstance(record.get(key), str)), "")
        fault = "" if name and text.strip() else f"wanted an id and a text under {' or '.join(names)}"
        fault = fault or fault_of_id(name) or (f"'{name}' was there before" if name in seen else "")
        if fault:
            problems.append(Problem(rows.place(path, row), fault))
            continue
        seen.add(name)
        yield name, text, text_of(record.get("language"))


def _first(record: dict[str, Any], names: tuple[str, ...]) -> str:
    return next((text for name in names if (text := text_of(record.get(name)))), "")


def _why(problems: list[Problem]) -> str:
    return f" ({problems[0]})" if problems else ""
