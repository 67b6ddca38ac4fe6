"""A folder, or the file of one split of it, to the files of its parts: what is found, what is asked, what is judged.

BEIR names them `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv`, CoIR `PART-00000-of-00001.parquet` in one
folder or several.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay.io.rows import ENDINGS, plain, suffix

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
    """Return the files of a folder, or of that of one split's file with that split alone; None for any other file."""
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
    """Return the part that a file is, or is a shard of."""
    return _SHARD.sub("", plain(file).stem)


def _root(file: Path) -> Path | None:
    """Return the folder whose part a file is: the one with a corpus, right above it or one further up."""
    if suffix(file) not in ENDINGS:
        return None
    return next((root for root in (file.parent, file.parent.parent) if any(root.glob("corpus*"))), None)


def _is_part(file: Path, root: Path) -> bool:
    """Say whether a file is one of the parts: the corpus and queries, or a table below `qrels`."""
    ending = suffix(file)
    if ending == ".parquet" or (ending in ENDINGS and file.parent.name == "qrels"):
        return True
    return ending in ENDINGS and file.parent == root and part_of(file) in _PARTS
