"""semble as a system under test: `py:benchmarks/semble_system.py:make`; its model is what SEMBLE_MODEL_NAME names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from semble.index import SembleIndex
from semble.types import ContentType


def make(root: Path, content: str = "code") -> Callable[[str, int], list[tuple[str, int, int, float]]]:
    """Index a folder's `code` or `docs` in memory and return what answers."""
    index = SembleIndex.from_path(str(root), content=[ContentType(content)])

    def answer(query: str, k: int) -> list[tuple[str, int, int, float]]:
        found = index.search(query, top_k=k)
        return [(_relative(str(r.chunk.file_path), root), r.chunk.start_line, r.chunk.end_line, r.score) for r in found]

    return answer


def _relative(path: str, root: Path) -> str:
    return os.path.relpath(path, root) if Path(path).is_absolute() else path
