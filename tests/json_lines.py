"""Files of JSON lines as tests write and read them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def write_lines(file: str | Path, rows: Iterable[object]) -> Path:
    """Write a row a line; a text stands as it is, so that it can be no JSON."""
    path = Path(file)
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def read_lines(file: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
