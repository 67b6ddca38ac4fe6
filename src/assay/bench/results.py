"""Scored runs as `results.json` has them, and the comparisons that are made of them.

A cell is one system on one set. All of it is made anew from the saved answers of a run, so nothing in it is older than
the code that wrote it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from assay.bench.shape import checked
from assay.errors import InputError
from assay.measure.compare import compare

FORMAT = 1

Results = dict[str, Any]
"""What results.json holds; docs/formats.md explains it."""


def empty() -> Results:
    """Return results without a cell."""
    lists: Results = {key: [] for key in ("cells", "comparisons", "asked")}
    return {"format": FORMAT, "manifest": {}, "sets": {}, "unusable": {}, "systems": {}, **lists}


def load(file: Path) -> Results:
    """Read results; a file that is none of ours is an error that says so."""
    try:
        held = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the results {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is no results.json: {error}") from error
    return checked(held, str(file))


def save(results: Results, file: Path) -> None:
    """Write results; a file that is there is replaced at once or not at all."""
    beside = file.with_suffix(".json.new")
    beside.write_text(json.dumps(results, ensure_ascii=False, allow_nan=False) + "\n", "utf-8", "backslashreplace")
    beside.replace(file)


def comparisons(results: Results) -> Iterator[dict[str, Any]]:
    """Yield every pair of systems on every set, and on all sets of a role together, by the measure that decides."""
    measure, seed = deciding(results["manifest"]["measures"]), results["manifest"]["seed"]
    for name, unit, values in _columns(results, measure):
        if len(values) > 1:
            for pair in compare(values, seed=seed):
                yield {"set": name, "unit": unit, "measure": measure, **asdict(pair)}


def deciding(measures: Sequence[str]) -> str:
    """Return the measure that decides: the first one of which more is better, if there is any."""
    return next(filter(is_quality, measures), measures[0])


def is_quality(measure: str) -> bool:
    """Say whether more is better: not so for what a reader has to read, nor for how much was judged."""
    return not measure.startswith(("lines@", "judged@"))


def all_of(role: str, sets: Mapping[str, Any]) -> str:
    """Return what all sets of a role together are called; no set is called so."""
    name = f"all {role}".strip()
    while name in sets:
        name += " sets"
    return name


def _columns(results: Results, measure: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each set, and each role with several, with the values of the systems that answered all of it.

    Sets are taken together at the first unit that all of them have: lines of one are no files of another.
    """
    cells = {(cell["set"], cell["system"]): cell for cell in results["cells"]}
    roles: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(cell["set"] for cell in results["cells"]):
        roles[results["sets"][name]["role"]].append(name)
    groups = {
        **{name: [name] for names in roles.values() for name in names},
        **{all_of(role, results["sets"]): names for role, names in roles.items() if len(names) > 1},
    }
    for group, names in groups.items():
        unit = shared_unit([cell for (name, _), cell in cells.items() if name in names])
        values = {}
        for system in results["systems"]:
            found = [cells.get((name, system), {}).get("values", {}).get(unit, {}).get(measure) for name in names]
            if all(each is not None for each in found):
                values[system] = np.concatenate(found)
        yield group, unit, values


def shared_unit(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the first unit that all of some cells were measured by, empty when there is none."""
    held = [[*cell["values"]] for cell in cells]
    return next((unit for unit in max(held, key=len, default=[]) if all(unit in units for units in held)), "")


def unit_of(cell: Mapping[str, Any]) -> str:
    """Return the unit that stands for a cell where one figure is shown."""
    return str(next(iter(cell["values"])))
