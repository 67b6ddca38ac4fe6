"""Objects of a file that is JSON, JSON lines or parquet, whichever it is; pyarrow is loaded for parquet alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.bench.formats.gather import records_of
from assay.errors import MissingExtra
from assay.types import Problem


def objects_of(path: Path, wanted: tuple[str, ...], problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file, each with its row; of parquet only the wanted columns are read."""
    if path.suffix == ".parquet":
        yield from _parquet(path).rows_of(path, wanted)
    else:
        yield from records_of(path, problems)


def columns_of(path: Path) -> list[str]:
    """Return the columns of a parquet file."""
    names: list[str] = _parquet(path).columns_of(path)
    return names


def _parquet(path: Path) -> Any:
    try:
        from assay.bench.formats import parquet
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("assay"):
            raise
        raise MissingExtra(f"reading {path.name}", error.name, "bench") from error
    return parquet
