"""Read and write Parquet files in batches; the only module that uses pyarrow, also for zstd."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from assay.errors import InputError

_ROWS = 4096


def rows_of(
    file: Path, name: Path, most_bytes: int, names: Sequence[str] = (), at_once: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows, counted from 1, with the existing ones of the named columns, or all; a null is left out.

    A text that many rows share is stored once: the total size is counted before the rows are built.
    Messages call the file by its name, for it may be an unpacked copy.
    """
    row, held = 0, 0
    try:
        schema = pq.read_schema(file)
        columns = [each for each in names or schema.names if each in schema.names]
        with pq.ParquetFile(file, read_dictionary=[each for each in columns if _is_text(schema, each)]) as opened:
            for batch in opened.iter_batches(at_once or _ROWS, columns=columns):
                held += sum(map(_text_bytes, batch.columns))
                if held > most_bytes:
                    raise InputError(f"{name} has more than {most_bytes // 10**9} GB of text: split it")
                for record in batch.to_pylist():
                    row += 1
                    yield row, {key: value for key, value in record.items() if value is not None}
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"cannot read {name} as parquet: {error}") from error


def write(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Write rows that have the same fields; text that is not UTF-8 is escaped."""
    clean = [{name: _text(value) for name, value in record.items()} for record in records]
    pq.write_table(pa.Table.from_pylist(clean), path, compression="zstd")


def unpacked_zstd(raw: BinaryIO) -> BinaryIO:
    """Return the content of a zstd file, of one frame or several."""
    return cast("BinaryIO", io.BufferedReader(pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"), 1 << 20))


def _is_text(schema: pa.Schema, name: str) -> bool:
    kind = schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _text_bytes(column: pa.Array) -> int:
    """Return the size of a column's texts in bytes; a shared text counts once per row."""
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary)
    return int(pc.sum(pc.cast(pc.take(lengths, column.indices), pa.int64())).as_py() or 0)


def _text(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
