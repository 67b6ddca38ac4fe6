"""Read and write results.json, and refuse what does not fit together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.bench.results import MeasuredCell, MeasuredSet, Results
from assay.errors import InputError
from assay.io import files
from assay.io.fields import as_json, read_value

FORMAT = 1
UNITS = frozenset(("line", "function", "file", "line published", "task", "pair"))


def load(file: Path) -> Results:
    """Read results; a file that is none of ours is an error that says so."""
    try:
        found = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the results {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not a results.json: {error}") from error
    return read_results(found, str(file))


def read_results(value: Any, source: str) -> Results:
    """Return what some JSON holds; `source` is where it comes from, for an error that says what is wrong with it."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise InputError(f"{source} is not a results.json of format {FORMAT}: give one that assay bench wrote")
    try:
        results = read_value(Results, value)
    except InputError as error:
        raise _unusable(source, str(error)) from error
    if fault := next(_misfits(results), ""):
        raise _unusable(source, fault)
    return results


def save(results: Results, file: Path) -> None:
    """Write results; a file that is there is replaced at once or not at all."""
    files.write(file, as_text(results) + "\n")


def as_text(results: Results) -> str:
    """Return results as JSON text."""
    return files.dumps(as_json(results))


def _unusable(source: str, fault: str) -> InputError:
    return InputError(f"{source} is not a results.json that can be used: {fault}; give one that assay bench wrote")


def _misfits(results: Results) -> Iterator[str]:
    """Yield what is of the right kind and does not belong together."""
    if not results.manifest.measures:
        yield "manifest.measures is empty"
    for name, of in results.sets.items():
        if of.role not in {"", "dev", "test"}:
            yield f"the role of set '{name[:40]}' is '{of.role[:40]}', wanted dev, test or none"
    for place, cell in enumerate(results.cells):
        if cell.set not in results.sets or cell.system not in results.systems:
            yield f"cells[{place}] is of a set or a system that is not there"
        else:
            yield from (f"cells[{place}]: {fault}" for fault in _cell_misfits(cell, results.sets[cell.set]))
    for place, pair in enumerate(results.comparisons):
        if {pair.a, pair.b} - results.systems.keys():
            yield f"comparisons[{place}] is of a system that is not there"


def _cell_misfits(cell: MeasuredCell, of: MeasuredSet) -> Iterator[str]:
    if not cell.values or cell.values.keys() - cell.figures.keys() or cell.figures.keys() - UNITS:
        yield "it has no values, some without figures, or an unknown unit"
    listed = [values for measures in cell.values.values() for values in measures.values()]
    if any(len(each) != len(of.queries) for each in (*listed, cell.answers, cell.seconds)):
        yield f"it has not one value for each of {len(of.queries)} queries"
    if of.unseen and (cell.judged is None or cell.judged.figures.keys() != cell.figures.keys()):
        yield "it has no figures with the labels of the judge, or of other units"
