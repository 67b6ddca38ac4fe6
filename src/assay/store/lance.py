"""An index in Lance: for object storage, and for corpora that one machine's memory map does not serve.

Two datasets, `chunks` and `files`. A refresh changes the chunks first and then replaces the files, whose metadata
name the version of the chunks they belong to: readers open what that names, so they see all of a change or none.
A query gets its candidates from the vector and the inverted index as a `Snapshot` in memory, with the statistics
of the whole corpus, and is ranked by the same code as everywhere.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Collection, Sequence
from dataclasses import asdict, fields
from typing import Any

import lance
import numpy as np
import pyarrow as pa

from assay.errors import DamagedIndex, StorageError
from assay.protocols import Vectors
from assay.store import lance_files
from assay.store.catalog import FileRecord
from assay.store.lexical_fields import field_words
from assay.store.snapshot import Snapshot, Statistics
from assay.terms import terms_of
from assay.types import Chunk

APPROXIMATE_FROM = 20_000
"""Chunks from which a search of IVF_RQ takes less time than one of all vectors: even at 10,000, a tenth at 84,000."""
_PARTITION_ROWS = 4096
_BITS = 4  # a dimension: recall@200 of 84,000 real vectors is .999 with 4 bits and .60 with 1, for 2 ms more
_REFINE = 3
_REMOVED_AT_ONCE = 500
_NUMBERS = ("start_line", "end_line")
_FOLDERS_ONLY = ("description",)
_TEXTS = tuple(field.name for field in fields(Chunk) if field.name not in {*_NUMBERS, *_FOLDERS_ONLY})
_COLUMNS = (*_TEXTS, *_NUMBERS, "vector")
_ABOUT = b"assay"
_MOMENTS = b"moments"
_SAMPLE = 20_000
_OLDER: dict[str, Any] = {"ctime_ns": 0, "inode": 0}
"""What records had not at first: such a file is read again."""


class LanceStore:
    """Chunks of one corpus at a path or an object storage URI (`s3://…`, `gs://…`, `az://…`)."""

    def __init__(self, uri: str, dimension: int) -> None:
        self.uri = uri.rstrip("/")
        self.dimension = dimension

    def form(self) -> str:
        """Return the version of Lance's file format that the index is in."""
        files = self._dataset("files")
        return "" if files is None else str(files.data_storage_version)

    def about(self) -> dict[str, Any]:
        """Return what the last update said of itself; empty without an index."""
        files = self._dataset("files")
        return {} if files is None else dict(json.loads(files.schema.metadata[_ABOUT])["about"])

    def records(self) -> list[FileRecord]:
        """Return every file's record."""
        files = self._dataset("files")
        try:
            rows = [] if files is None else files.to_table().to_pylist()
            return [FileRecord(**{**_OLDER, **row}) for row in rows]
        except OSError as error:
            raise DamagedIndex(f"files of {self.uri}: {str(error).splitlines()[0]}") from error

    def update(
        self,
        removed: Collection[str],
        chunks: Sequence[Chunk],
        vectors: Vectors,
        *,
        records: Sequence[FileRecord] = (),
        about: dict[str, Any] | None = None,
    ) -> None:
        """Make the next version: without the chunks of the removed paths, with these ones, and with these records."""
        try:
            dataset = self._change(sorted(removed), chunks, vectors)
            said = json.dumps({"chunks": dataset.latest_version, "about": about or {}}).encode()
            metadata = {_ABOUT: said, _MOMENTS: b64encode(self._moments(dataset).tobytes())}
            table = pa.Table.from_pylist([asdict(record) for record in records], schema=_FILES.with_metadata(metadata))
            self._write(table, "files")
            lance_files.note(self.uri)
        except OSError as error:
            raise StorageError(f"cannot write the index in {self.uri}: {str(error).splitlines()[0]}") from error

    def check(self, *, whole: bool) -> None:
        """Raise DamagedIndex when a file is not as it was written; in object storage only what opens is known."""
        lance_files.check(self.uri, whole=whole)
        self._chunks()

    def remove(self, damage: str) -> None:
        """Remove what is damaged from a disk; what others may share in object storage is theirs to remove."""
        if not lance_files.remove(self.uri):
            raise DamagedIndex(f"{damage}: remove {self.uri} and rebuild the index")

    def candidates(
        self,
        terms: Sequence[str],
        vector: Vectors,
        k: int = 300,
        *,
        names: Sequence[str] = (),
        filters: Sequence[str] = ("",),
    ) -> Snapshot:
        """Return what may answer a query, with the statistics of the whole corpus.

        For each filter, a condition in SQL, these are the `k` chunks nearest to the vector, the `k` that match the
        terms best, and the `k` that match the names best; an empty vector has no neighbours.
        """
        chunks = self._chunks()
        if chunks is None or not (total := chunks.count_rows()):
            return Snapshot.of([], np.zeros((0, self.dimension), np.float32))
        nearest: dict[str, Any] = {"column": "vector", "q": vector, "k": min(k, total), "metric": "dot"}
        if total >= APPROXIMATE_FROM:
            nearest |= {"nprobes": total // _PARTITION_ROWS, "refine_factor": _REFINE}  # half of them: recall .89
        tables = []
        for condition in filters:
            only = {"filter": condition, "prefilter": True} if condition else {}
            if vector.size:
                tables.append(chunks.to_table(columns=[*_COLUMNS, "_distance"], nearest=nearest, **only))
            for text in filter(None, (" ".join(terms), " ".join(names))):
                scored = [*_COLUMNS, "_score"]
                tables.append(chunks.to_table(columns=scored, full_text_query=text, limit=k, **only))
        distinct = {row["id"]: row for table in tables for row in table.select(_COLUMNS).to_pylist()}
        rows = sorted(distinct.values(), key=lambda row: (row["path"], row["start_line"]))  # ties are as in a folder
        found = [Chunk(**{name: row[name] for name in (*_TEXTS, *_NUMBERS)}) for row in rows]
        stacked = np.array([row["vector"] for row in rows], dtype=np.float32).reshape(-1, self.dimension)
        return Snapshot.of(found, stacked, self._statistics(chunks, terms))

    def _statistics(self, chunks: lance.LanceDataset, terms: Sequence[str]) -> Statistics:
        """Return what is known of all chunks."""
        holding = {term: chunks.scanner(full_text_query=term).count_rows() for term in set(terms)}
        files = self._dataset("files")
        assert files is not None
        stored = np.frombuffer(b64decode(files.schema.metadata[_MOMENTS]), dtype=np.float32)
        moments = stored.reshape(-1, self.dimension)
        return Statistics(chunks.count_rows(), holding, moments[0], moments[1:])

    def _change(self, removed: Sequence[str], chunks: Sequence[Chunk], vectors: Vectors) -> lance.LanceDataset:
        """Change the chunks, starting from the version that is in use; return them at the new version."""
        dataset = self._chunks()
        if dataset is None or dataset.schema.field("vector").type.list_size != self.dimension:
            dataset = self._write(self._table(chunks, vectors), "chunks")
        else:
            if dataset.version != dataset.latest_version:
                dataset.restore()  # a writer died: what it left is no part of any version
            for start in range(0, len(removed), _REMOVED_AT_ONCE):
                paths = ", ".join(quoted(path) for path in removed[start : start + _REMOVED_AT_ONCE])
                dataset.delete(f"path in ({paths})")
            if chunks:
                dataset = lance.write_dataset(self._table(chunks, vectors), dataset.uri, mode="append")
        self._index(dataset)
        return dataset

    def _moments(self, dataset: lance.LanceDataset) -> Vectors:
        """Return the mean of the vectors and below it the mean of their outer products: how near all are to any query.

        Of a larger corpus some thousands, evenly spread, stand for all: they are off by a hundredth of a deviation.
        """
        rows = dataset.count_rows()
        if not rows:
            return np.zeros((1 + self.dimension, self.dimension), dtype=np.float32)
        chosen = np.unique(np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.int64))
        column = dataset.take(chosen, columns=["vector"])["vector"].combine_chunks()
        vectors = column.values.to_numpy().reshape(len(chosen), self.dimension).astype(np.float64)
        return np.vstack([vectors.mean(axis=0), vectors.T @ vectors / len(chosen)]).astype(np.float32)

    def _index(self, dataset: lance.LanceDataset) -> None:
        """Bring the inverted index up to date, and the vectors' from the size where there is one."""
        rows = dataset.count_rows()
        indexed = {column for index in dataset.describe_indices() for column in index.field_names}
        if "terms" not in indexed and rows:
            dataset.create_scalar_index("terms", "INVERTED", with_position=False, **_WORD_BY_WORD)
        if "vector" not in indexed and rows >= APPROXIMATE_FROM:
            partitions = rows // _PARTITION_ROWS
            dataset.create_index("vector", "IVF_RQ", metric="dot", num_partitions=partitions, num_bits=_BITS)
        dataset.optimize.optimize_indices()

    def _chunks(self) -> lance.LanceDataset | None:
        """Open the version of the chunks that the files belong to."""
        files = self._dataset("files")
        if files is None:
            return None
        return self._dataset("chunks", json.loads(files.schema.metadata[_ABOUT])["chunks"])

    def _dataset(self, name: str, version: int | None = None) -> lance.LanceDataset | None:
        try:
            return lance.dataset(f"{self.uri}/{name}", version=version)
        except ValueError as error:
            if version is None and "not found" in str(error):
                return None
            raise DamagedIndex(f"{name} of {self.uri}: {str(error).splitlines()[0]}") from error
        except OSError as error:
            raise StorageError(f"cannot read the index in {self.uri}: {str(error).splitlines()[0]}") from error

    def _write(self, table: pa.Table, name: str) -> lance.LanceDataset:
        """Replace a whole dataset, or make it."""
        mode = "create" if self._dataset(name) is None else "overwrite"
        return lance.write_dataset(table, f"{self.uri}/{name}", mode=mode)

    def _table(self, chunks: Sequence[Chunk], vectors: Vectors) -> pa.Table:
        columns: dict[str, Any] = {name: [getattr(chunk, name) for chunk in chunks] for name in (*_TEXTS, *_NUMBERS)}
        columns["terms"] = [_terms(chunk) for chunk in chunks]
        flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).ravel())
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, self.dimension)
        return pa.table(columns, schema=_schema(self.dimension))


_WORD_BY_WORD = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "lower_case": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "max_token_length": None,
}
"""Terms are made by `assay.terms`; the index takes them as they are."""

_FILES = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("ctime_ns", pa.int64()),
        ("inode", pa.uint64()),
        ("digest", pa.binary()),
        ("chunks", pa.int32()),
        ("skipped", pa.string()),
        ("note", pa.string()),
    ]
)


def _schema(dimension: int) -> pa.Schema:
    texts = [(name, pa.string()) for name in _TEXTS]
    numbers = [(name, pa.int32()) for name in _NUMBERS]
    return pa.schema([*texts, *numbers, ("terms", pa.string()), ("vector", pa.list_(pa.float32(), dimension))])


def _terms(chunk: Chunk) -> str:
    return " ".join(term for words in field_words(chunk) for word in words for term in terms_of(word))


def quoted(text: str) -> str:
    """Return a text as SQL has it."""
    return "'" + text.replace("'", "''") + "'"
