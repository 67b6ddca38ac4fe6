"""A parquet file to its rows, a batch at a time; the owner of pyarrow here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.errors import InputError


def columns_of(path: Path) -> list[str]:
    """Return the names of the columns."""
    try:
        names: list[str] = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {path} as parquet: {error}") from error
    return names


def rows_of(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows, counted from 1, with those of the wanted columns that there are."""
    names = set(columns_of(path))
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(columns=[name for name in wanted if name in names]):
                for record in batch.to_pylist():
                    row += 1
                    yield row, record
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {path} as parquet: {error}") from error
