"""Read and write folders in the layout of BEIR and CoIR: corpus, queries, and the judgments of each split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.io import files, rows
from assay.io.rows import ENDINGS, plain, suffix
from assay.truth.formats import shared
from assay.truth.formats.shared import Gathered, Glimpse, about_of, text_of, write_about
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Chunk, Query

_SHARD = re.compile(r"-\d+-of-\d+$")
_PARTS = ("corpus", "queries")


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """The files of each part."""

    root: Path
    corpus: Sequence[Path] = ()
    queries: Sequence[Path] = ()
    splits: Mapping[str, Sequence[Path]] = field(default_factory=dict)


def layout_of(path: Path) -> FolderLayout | None:
    """Return the layout of a folder, or of a split's file with only that split; None for any other file."""
    root = path if path.is_dir() else _root(path)
    if root is None:
        return None
    files = [file for pattern in ("*", "*/*") for file in sorted(root.glob(pattern)) if _is_part(file, root)]
    parts: dict[str, list[Path]] = {}
    for file in files:
        parts.setdefault(part_of(file), []).append(file)
    splits = {name: members for name, members in parts.items() if name not in _PARTS}
    if path in files and part_of(path) in splits:
        splits = {part_of(path): [file for file in files if file == path]}
    return FolderLayout(root, parts.get("corpus", ()), parts.get("queries", ()), splits)


def part_of(file: Path) -> str:
    """Return the part of a file, or of its shard."""
    return _SHARD.sub("", plain(file).stem)


def _root(file: Path) -> Path | None:
    """Return the folder that a part belongs to: the one with a corpus, directly above it or one further up."""
    if suffix(file) not in ENDINGS:
        return None
    return next((root for root in (file.parent, file.parent.parent) if any(root.glob("corpus*"))), None)


def _is_part(file: Path, root: Path) -> bool:
    """Say whether a file is one of the parts: the corpus and queries, or a table below `qrels`."""
    ending = suffix(file)
    if part_of(file) == _PAIRS:
        return False
    if ending == ".parquet" or (ending in ENDINGS and file.parent.name == "qrels"):
        return True
    return ending in ENDINGS and file.parent == root and part_of(file) in _PARTS


_SPLIT = re.compile(r"[\w.+-]+")
_COLUMNS = ("_id", "id", "text", "title", "language", "metadata")
_PAIRS = "pairs"
"""The labels with their texts, which `assay judge export` puts beside."""
_PAIR = ("query-id", "corpus-id", "score")


def fits(glimpse: Glimpse) -> bool:
    """Say whether a folder, or the file of one of its splits, looks like this."""
    layout = layout_of(glimpse.path)
    return layout is not None and bool(layout.corpus and layout.queries and layout.splits)


def read(path: Path) -> TruthFile:
    """Read a ground truth with its corpus."""
    layout = layout_of(path) or FolderLayout(path)
    missing = [name for name in ("corpus", "queries", "splits") if not getattr(layout, name)]
    if missing:
        wanted = "wanted corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv, or parquet files of those names"
        raise InputError(f"'{layout.root}' has no {missing[0]}: {wanted}")
    gathered = Gathered(path)
    for file in layout.corpus:
        _read_corpus(gathered, file)
    for file in layout.queries:
        _read_queries(gathered, file)
    judged = _read_splits(gathered, layout.splits)
    several = len(layout.splits) > 1
    gathered.queries = {
        name: replace(query, tags={"split": judged[name], **query.tags}) if several else query
        for name, query in gathered.queries.items()
        if name in judged
    }
    only = "" if path.is_dir() else f"-{part_of(path)}"
    reading = gathered.reading(name=layout.root.resolve().name + only, about=about_of(layout.root, gathered.problems))
    return replace(reading, rows=())


def losses(truth: Truth) -> Iterator[str]:
    """Yield what the format cannot store."""
    shared.check_corpus(truth, "BEIR", texts=True)
    odd = sum(bool(each.symbol) and not each.text.startswith(f"{each.symbol}\n") for each in truth.documents)
    splits = [query.tags.get("split", "") for query in truth.queries]
    unsplit = sum(not _SPLIT.fullmatch(split) for split in splits) if any(splits) else 0
    own = {"names of documents that do not begin with them": odd, "queries whose tag split names no file": unsplit}
    kinds = "filters judges repeats strays unanswered"
    yield from shared.losses(truth, kinds, own, tags=None, document_fields=("language", "symbol"))


def write(truth: Truth, path: Path) -> None:
    """Write a folder of JSON lines and tables."""
    known = {document.id for document in truth.documents}
    judged: dict[str, dict[tuple[str, str], int]] = {}
    splits = {query.id: query.tags.get("split", "") for query in truth.queries}
    for each in truth.judgments:
        if each.target in known:
            split = splits[each.query_id] if _SPLIT.fullmatch(splits[each.query_id]) else "test"
            judged.setdefault(split, {}).setdefault((each.query_id, each.target), each.grade)
    files.write_rows(path / "corpus.jsonl", map(_document_record, truth.documents))
    files.write_rows(path / "queries.jsonl", map(_query_record, truth.queries))
    for split, pairs in judged.items():
        lines = (f"{query}\t{target}\t{grade}\n" for (query, target), grade in pairs.items())
        files.write(path / "qrels" / f"{split}.tsv", ("\t".join(_PAIR) + "\n", *lines), errors="strict")
    write_about(truth, path)


def _read_corpus(gathered: Gathered, file: Path) -> None:
    for row, record in rows.objects(file, gathered.problems, _COLUMNS):
        name = text_of(record.get("_id", record.get("id")))
        text, title, language = (record.get(key) or "" for key in ("text", "title", "language"))
        about = record.get("metadata")
        language = language or (about.get("language", "") if isinstance(about, dict) else "")
        if not all(isinstance(value, str) for value in (text, title, language)):
            gathered.problem(row, f"document '{name}': text, title and language have to be strings", file=file)
            continue
        whole = f"{title}\n{text}" if title else text
        gathered.document(row, Chunk(name, whole, language.lower(), path=name, symbol=title), file=file)


def _read_queries(gathered: Gathered, file: Path) -> None:
    for row, record in rows.objects(file, gathered.problems, _COLUMNS):
        name, text = text_of(record.get("_id", record.get("id"))), record.get("text")
        if not name or not isinstance(text, str):
            gathered.problem(row, f"wanted a query with _id and text, found {sorted(record)}", file=file)
        else:
            gathered.query(row, Query(name, text, tags=_tags(record)), file=file)


def _tags(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of a query, with CoIR's language."""
    about = record.get("metadata")
    tags = {key: value for key, value in about.items() if isinstance(value, str)} if isinstance(about, dict) else {}
    language = record.get("language")
    return {**tags, "language": language.lower()} if isinstance(language, str) and language else tags


def _read_splits(gathered: Gathered, splits: Mapping[str, Sequence[Path]]) -> dict[str, str]:
    """Read the judgments, and return the split of each query."""
    judged: dict[str, str] = {}
    for split, parts in splits.items():
        for file in parts:
            for row, pair in _pairs(gathered, file):
                query, target = (text_of(pair.get(name)) for name in _PAIR[:2])
                taken = gathered.grade(row, (query, target), "score", pair.get("score"), file=file)
                if taken and judged.setdefault(query, split) != split:
                    gathered.problem(
                        row, f"query '{query}' is judged in {judged[query]} too, and counts there", file=file
                    )
    return judged


def _pairs(gathered: Gathered, file: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a split; a table without a header has the columns of BEIR or TREC."""
    if rows.form_of(file) != "table" or rows.suffix(file) == ".csv":
        yield from rows.objects(file, gathered.problems, _PAIR)
        return
    header: Sequence[str] = ()
    for row, line in rows.lines(file, gathered.problems):
        cells = line.split("\t")
        if not line.strip():
            continue
        if not header:
            is_header = set(_PAIR) <= set(cells)
            header = cells if is_header else (_PAIR if len(cells) == 3 else ("query-id", "", "corpus-id", "score"))
            if is_header:
                continue
        if len(cells) == len(header):
            yield row, dict(zip(header, cells, strict=True))
        else:
            gathered.problem(row, f"{len(cells)} cells, wanted {len(header)}", file=file)


def _document_record(document: Chunk) -> dict[str, Any]:
    title = document.symbol if document.symbol and document.text.startswith(f"{document.symbol}\n") else ""
    text = document.text[len(title) + 1 :] if title else document.text
    about = {"metadata": {"language": document.language}} if document.language else {}
    return {"_id": document.id, "title": title, "text": text, **about}


def _query_record(query: Query) -> dict[str, Any]:
    return {"_id": query.id, "text": query.text, **({"metadata": dict(query.tags)} if query.tags else {})}
