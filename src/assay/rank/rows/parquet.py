"""Rows of a data set to a Parquet file and back; the owner of pyarrow here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.errors import InputError

_ROWS = 4096


def write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Write rows that have the same fields; text that is no UTF-8 is escaped."""
    clean = [{name: _text(value) for name, value in record.items()} for record in records]
    pq.write_table(pa.Table.from_pylist(clean), path, compression="zstd")


def rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows, counted from 1."""
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS):
                for record in batch.to_pylist():
                    row += 1
                    yield row, record
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {path} as parquet: {error}") from error


def _text(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
