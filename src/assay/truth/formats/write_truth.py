"""What formats of ground truth write alike: a row of CSV, a JSON list, and what lies beside."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assay.io import files
from assay.truth.formats.gathered import about_file
from assay.truth.ground_truth import Truth

_QUOTED = re.compile(r'[",\r\n]')


def csv_row(cells: Iterable[str]) -> str:
    """Return a row of CSV; Python's own writer leaves a lone carriage return bare, and no reader takes that."""
    return ",".join('"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell for cell in cells) + "\n"


def write_listed(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON list with an object a line."""
    rows = ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    files.write(path, ("[\n", rows, "\n]\n"))


def write_about(truth: Truth, path: Path) -> None:
    """Write what a ground truth speaks of beside its file, where somebody said."""
    about: dict[str, Any] = {"repo": truth.repository, "commit": truth.commit, "hidden": list(truth.hidden)}
    known = {key: value for key, value in about.items() if value}
    if known:
        files.write_json(about_file(path), known)
