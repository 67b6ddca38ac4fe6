"""Read and write octocode's CSV: `query,result1..n`, with results `path:start-end:grade`; other columns are tags.

The format has no ids: a query's is the number of its row, unless a column `id` says otherwise. Every result counts as
an answer in octocode's own script, so that a grade of 0 is none, and whole files have no place in it.
`NAME.meta.json` beside the file says which repository and commit it speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from assay.errors import InputError
from assay.io import files, rows
from assay.measure.line_spans import span_of
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, csv_row, fault_of, grade_of, write_about
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Judgment, Query

_RESULT = re.compile(r"result\d+")
_KNOWN_COLUMNS = (*"query id kind language source split date results".split(), *(f"result{n}" for n in range(1, 10)))
_DIGITS = 9
_GUESSED = 100
"""A misspelt column is looked for among so many."""
_LINES = re.compile(r"(\d+)(?:-(\d+))?")


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    columns = glimpse.keys or {name.strip().strip('"') for name in re.split(r"[,\t]", glimpse.head.partition("\n")[0])}
    return "query" in columns and any(map(_RESULT.fullmatch, columns))


def read(path: Path) -> TruthFile:
    """Read a ground truth."""
    gathered = Gathered(path)
    table = rows.cells(path, gathered.problems)
    first, header = next(table, (1, []))
    columns = _columns(gathered, first, header)
    texts: dict[str, int] = {}
    for number, (row, cells) in enumerate(table, 1):
        named = {columns[at]: cell for at, cell in enumerate(cells) if at < len(columns) and columns[at] and cell}
        for at, cell in enumerate(cells):
            if cell.strip() and (at >= len(columns) or not header[at].strip()):
                gathered.problem(row, f"a value without a column: '{cell[:60]}'")
        text = named.get("query", "")
        if "id" not in columns and text.strip() and texts.setdefault(text, row) != row:
            gathered.problem(row, f"the query of row {texts[text]} again: that one counts")
            continue
        tags = {key: cell for key, cell in named.items() if key not in {"query", "id"} and not _RESULT.fullmatch(key)}
        _take(gathered, row, Query(named.get("id", str(number)), text, tags=tags), named)
    return gathered.reading()


def losses(truth: Truth) -> Iterator[str]:
    """Yield what the format cannot store."""
    shared.check_corpus(truth, "octocode's CSV", texts=False)
    own = {
        "queries with an empty tag": sum("" in query.tags.values() for query in truth.queries),
        "judgments of grade 0": sum(each.grade == 0 for each in truth.judgments),
        "judgments of whole files or symbols": sum(each.grade > 0 and not _cell(each) for each in truth.judgments),
    }
    yield from shared.losses(truth, "filters judges repeats", own, tags=_held_tags(truth))


def write(truth: Truth, path: Path) -> None:
    """Write a ground truth, and the file about its corpus."""
    cells: dict[str, dict[str, str]] = {query.id: {} for query in truth.queries}
    for judgment in truth.judgments:
        if judgment.grade > 0 and (cell := _cell(judgment)):
            cells[judgment.query_id].setdefault(cell.rpartition(":")[0], cell)
    tags = _held_tags(truth)
    width = max((len(results) for results in cells.values()), default=0) or 1
    results = [f"result{number}" for number in range(1, width + 1)]
    ids = [query.id for query in truth.queries]
    numbered = ids == [str(number) for number in range(1, len(ids) + 1)]
    named = not numbered or len({query.text for query in truth.queries}) < len(ids)
    header = [*(["id"] if named else []), "query", *tags]
    lines = [[*header, *results]]
    for query in truth.queries:
        id_, targets = [query.id] if named else [], list(cells[query.id].values())
        blanks = [""] * (width - len(targets))
        lines.append([*id_, query.text, *(query.tags.get(name, "") for name in tags), *targets, *blanks])
    files.write(path, map(csv_row, lines), errors="strict")
    write_about(truth, path)


def _held_tags(truth: Truth) -> list[str]:
    return sorted({name for query in truth.queries for name in query.tags if _tag(name)})


def _columns(gathered: Gathered, row: int, header: Sequence[str]) -> list[str]:
    """Return the name of each column; empty if it cannot be used."""
    names = [name.strip() for name in header]
    if "query" not in names:
        raise InputError(f"{gathered.path}:{row}: no column 'query'; found: {', '.join(names) or 'nothing'}")
    if not any(map(_RESULT.fullmatch, names)):
        raise InputError(f"{gathered.path}:{row}: no column 'result1'; found: {', '.join(names)}")
    seen: set[str] = set()
    for at, name in enumerate(names):
        if name and name in seen:
            gathered.problem(row, f"column '{name}' is there twice: the first counts")
            names[at] = ""
        elif name and not _RESULT.fullmatch(name) and at < _GUESSED and (meant := _closest_column(name)):
            gathered.problem(row, f"unknown column '{name}'; did you mean '{meant}'? It is left out")
            names[at] = ""
        seen.add(name)
    return names


def _closest_column(name: str) -> str:
    """Return the known column that a name resembles; empty for a known or different name."""
    if name in _KNOWN_COLUMNS and name != "results":
        return ""
    close = get_close_matches(name.lower(), _KNOWN_COLUMNS, n=1, cutoff=0.75)
    return "result1" if close == ["results"] else "".join(close)


def _tag(name: str) -> bool:
    """Say whether a tag survives as a column when it is read back."""
    plain = bool(name) and name == name.strip() and "\0" not in name
    return plain and name not in {"query", "id"} and not _RESULT.fullmatch(name) and not _closest_column(name)


def _take(gathered: Gathered, row: int, query: Query, named: Mapping[str, str]) -> None:
    """Add a row; leave a query out if all its answers are invalid, since it would count as missed."""
    cells = [cell.strip() for name, cell in named.items() if _RESULT.fullmatch(name) and cell.strip()]
    judgments: dict[str, Judgment] = {}
    for cell in cells:
        judgment = _judgment(query.id, cell)
        if isinstance(judgment, str):
            gathered.problem(row, judgment)
        elif judgment.target in judgments:
            gathered.problem(row, f"'{cell}': its lines are there twice: the first counts")
        else:
            judgments[judgment.target] = judgment
    if cells and not judgments:
        gathered.problem(row, "no answer of the query can be used: it is left out")
    elif gathered.query(row, query):
        for judgment in judgments.values():
            gathered.judgment(row, judgment)


def _judgment(query_id: str, cell: str) -> Judgment | str:
    """Return the judgment of a cell, or its problem."""
    path, lines, last = (["", "", *cell.rsplit(":", 2)])[-3:]
    grade = grade_of(last, lowest=1)
    found = _LINES.fullmatch(lines)
    if not path or not found:
        return f"'{cell}': wanted path:start-end:grade"
    if grade is None:
        return f"'{cell}': grade '{last}', wanted a whole number from 1"
    if max(map(len, found.groups(""))) > _DIGITS:
        return f"'{cell[:60]}': lines beyond the end of any file"
    start, end = int(found[1]), int(found[2] or found[1])
    if not 1 <= start <= end:
        return f"'{cell}': lines count from 1, and a range ends where it starts or later"
    fault = fault_of(path)
    return f"'{cell}': {fault}" if fault else Judgment(query_id, f"{path}:{start}-{end}", grade)


def _cell(judgment: Judgment) -> str:
    """Return the cell of a judgment; empty if it has no lines."""
    try:
        span = span_of(judgment.target)
    except InputError:
        return ""
    return f"{span}:{judgment.grade}" if span.start else ""
