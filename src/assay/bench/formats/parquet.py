"""A parquet file to its rows, a batch at a time; the owner of pyarrow here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assay.errors import InputError

MOST_BYTES = 8 * 10**9
"""Texts of one file; a million documents of 8 KB."""
_ROWS = 4096


def columns_of(path: Path) -> list[str]:
    """Return the names of the columns."""
    try:
        names: list[str] = pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {path} as parquet: {error}") from error
    return names


def rows_of(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows, counted from 1, with those of the wanted columns that there are.

    A text that many rows share stands in the file once: what they hold together is counted before it is made.
    """
    names = set(columns_of(path))
    columns = [name for name in wanted if name in names]
    row, held = 0, 0
    try:
        with pq.ParquetFile(path, read_dictionary=_texts(path, columns)) as file:
            for batch in file.iter_batches(_ROWS, columns=columns):
                held += sum(map(_text_bytes, batch.columns))
                if held > MOST_BYTES:
                    raise InputError(f"{path} holds more than {MOST_BYTES // 10**9:,} GB of text: split it")
                for record in batch.to_pylist():
                    row += 1
                    yield row, record
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {path} as parquet: {error}") from error


def _texts(path: Path, columns: list[str]) -> list[str]:
    """Return the columns that hold texts."""
    schema = pq.read_schema(path)
    kinds = (pa.types.is_string, pa.types.is_large_string)
    return [name for name in columns if any(is_kind(schema.field(name).type) for is_kind in kinds)]


def _text_bytes(column: pa.Array) -> int:
    """Return how many bytes the texts of a column come to, those that are shared as often as they stand there."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary)
    return int(pc.sum(pc.cast(pc.take(lengths, column.indices), pa.int64())).as_py() or 0)
