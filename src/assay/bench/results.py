"""Scored runs to `results.json`, which accumulates from run to run, and the comparisons that are made of it.

A cell is one system on one set. It stays until the same system is asked again, and only while the set is what it was:
other queries, judgments or files make figures that do not belong in one table.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import InputError
from assay.measure.compare import compare

FORMAT = 1

Results = dict[str, Any]
"""What results.json holds; docs/formats.md explains it."""


def empty() -> Results:
    """Return results without a cell."""
    return {"format": FORMAT, "manifest": {}, "sets": {}, "systems": {}, "cells": [], "comparisons": []}


def load(file: Path) -> Results:
    """Read results; a file that is none of ours is an error that says so."""
    try:
        held = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the results {file}: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{file} is no results.json: {error}") from error
    if not isinstance(held, dict) or held.get("format") != FORMAT or not isinstance(held.get("cells"), list):
        raise InputError(f"{file} is no results.json of format {FORMAT}: give one that assay bench wrote")
    return held


def save(results: Results, file: Path) -> None:
    """Write results; a file that is there is replaced at once or not at all."""
    beside = file.with_suffix(".json.new")
    beside.write_text(json.dumps(results, ensure_ascii=False, allow_nan=False) + "\n", "utf-8", "backslashreplace")
    beside.replace(file)


def joined(old: Results, new: Results) -> Results:
    """Return old cells with the new ones in their place; cells of a set that has changed are left out."""
    same = {name for name, told in old["sets"].items() if _identity(told) == _identity(new["sets"].get(name, told))}
    fresh = {(cell["set"], cell["system"]) for cell in new["cells"]}
    kept = [cell for cell in old["cells"] if cell["set"] in same and (cell["set"], cell["system"]) not in fresh]
    sets = {**{name: told for name, told in old["sets"].items() if name in same}, **new["sets"]}
    systems = {**old["systems"], **new["systems"]}
    cells = sorted(
        [*kept, *new["cells"]], key=lambda cell: ([*sets].index(cell["set"]), [*systems].index(cell["system"]))
    )
    used = {cell["system"] for cell in cells}
    held = {
        **new,
        "sets": sets,
        "systems": {name: told for name, told in systems.items() if name in used},
        "cells": cells,
    }
    return {**held, "comparisons": list(comparisons(held))}


def comparisons(results: Results) -> Iterator[dict[str, Any]]:
    """Yield every pair of systems on every set, and on all sets of a role together, by the first measure."""
    measure, seed = results["manifest"]["measures"][0], results["manifest"]["seed"]
    for name, unit, values in _columns(results, measure):
        if len(values) > 1:
            for pair in compare(values, seed=seed):
                yield {"set": name, "unit": unit, "measure": measure, **asdict(pair)}


def _columns(results: Results, measure: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each set, and each role with several, with the values of the systems that answered all of it."""
    cells = {(cell["set"], cell["system"]): cell for cell in results["cells"]}
    roles: dict[str, list[str]] = defaultdict(list)
    for name, told in results["sets"].items():
        roles[told["role"]].append(name)
    groups = {
        **{name: [name] for name in results["sets"]},
        **{f"all {role}".strip(): of for role, of in roles.items() if len(of) > 1},
    }
    for group, names in groups.items():
        values = {}
        for system in results["systems"]:
            mine = [cells.get((name, system)) for name in names]
            if all(cell and measure in main(cell) for cell in mine):
                values[system] = np.concatenate([main(cell)[measure] for cell in mine if cell])
        yield group, unit_of(cells[names[0], next(iter(values))]) if values else "line", values


def unit_of(cell: Mapping[str, Any]) -> str:
    """Return the unit that stands for a cell where one figure is shown."""
    return str(next(iter(cell["values"])))


def main(cell: Mapping[str, Any]) -> dict[str, list[float]]:
    """Return the values of a cell at that unit, by measure."""
    values: dict[str, list[float]] = cell["values"][unit_of(cell)]
    return values


def _identity(told: Mapping[str, Any]) -> tuple[Any, ...]:
    return told["qrels"], told["corpus"], told["commit"]
