"""Read the questions of semble's benchmark: a JSON list of `query`, `relevant`, `secondary` and `category`.

A target is a path, or `path`, `start_line` and `end_line`; `relevant` is grade 2, `secondary` grade 1. `NAME.meta.json`
says what commit they are about, else the entry of that name in `repos.json`, beside the file or one folder up. Ids are
the numbers of the questions unless a field `id` differs. `seed` and `related` belong to another test and are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import rows
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, place_of, text_of
from assay.truth.ground_truth import TruthFile
from assay.values import Judgment, Query

_GRADES = {"relevant": 2, "secondary": 1}


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return any("query" in row and isinstance(row.get("relevant"), list) for row in glimpse.rows)


def read(path: Path) -> TruthFile:
    """Read questions; leave one with an invalid target out, since all targets count in the ideal order."""
    gathered = Gathered(path)
    for number, (row, record) in enumerate(rows.objects(path, gathered.problems), 1):
        name, text, kind = (text_of(record.get(key)) for key in ("id", "query", "category"))
        query = Query(name or str(number), text, tags={"kind": kind} if kind else {})
        try:
            grades = _grades(record)
        except InputError as error:
            gathered.problem(row, f"{error}: the question is left out")
            continue
        if gathered.query(row, query):
            for target, grade in grades.items():
                gathered.judgment(row, Judgment(query.id, target, grade))
    return replace(
        gathered.reading(about=shared.about_of(path, gathered.problems) or _repository(gathered)), as_published=True
    )


def _grades(record: Mapping[str, Any]) -> dict[str, int]:
    """Return the targets of a question with their grades, the higher one for a repeated target."""
    grades: dict[str, int] = {}
    for key, grade in _GRADES.items():
        listed = record.get(key, [])
        for target in map(_target, listed if isinstance(listed, list) else [listed]):
            grades.setdefault(target, grade)
    return grades


def _target(value: Any) -> str:
    told = value if isinstance(value, dict) else {"path": value}
    path, start, end = text_of(told.get("path")), told.get("start_line"), told.get("end_line")
    place = place_of(f"{path}:{start}-{end}" if start and end else path)
    if isinstance(place, str):
        raise InputError(place)
    return str(place)


def _repository(gathered: Gathered) -> dict[str, str]:
    """Return URL and revision of the repository that a file of questions is named after."""
    name = shared.name_of(gathered.path)
    for file in (folder / "repos.json" for folder in gathered.path.resolve().parents[:2]):
        for _, record in rows.objects(file, gathered.problems) if file.is_file() else ():
            if record.get("name") == name:
                return {"repo": text_of(record.get("url")), "commit": text_of(record.get("revision"))}
    return {}
