"""A notebook to its cells: the text of a cell is its source, its lines are those of the JSON file that hold it.

The file is scanned, not only decoded, so that a line number opens the right place in the file.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from assay.corpus.headings import headings
from assay.corpus.prose import ABOVE
from assay.types import Chunk

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n,:\ufeff]*")


def cells(path: str, text: str) -> tuple[Chunk, ...]:
    """Return a chunk a cell with text; raise `ValueError` when the file is no notebook."""
    spots = _members(text, _skip(text, 0))
    if "cells" not in spots:
        raise ValueError("it has no cells")
    language = _kernel(text, spots)
    ends = [match.start() for match in re.finditer("\n", text)]
    chunks: list[Chunk] = []
    above: list[tuple[int, str]] = []
    for at in _elements(text, spots["cells"]):
        cell = _members(text, at)
        source, end = _source(text, cell)
        if not source.strip():
            continue
        is_code = _value(text, cell, "cell_type") == "code"
        parent, symbol = ABOVE.join(title for _, title in above), ""
        if not is_code:
            symbol, parent = _enter(above, source)
        first, last = bisect_right(ends, cell["source"] - 1) + 1, bisect_right(ends, end - 1) + 1
        made = Chunk(
            f"{path}:{first}-{last}",
            source,
            language if is_code else "markdown",
            path,
            first,
            last,
            symbol,
            "cell",
            parent,
        )
        _add(chunks, made)
    return tuple(chunks)


def _add(chunks: list[Chunk], made: Chunk) -> None:
    """Keep chunks apart: cells on one line of a file without line breaks are one chunk."""
    if not chunks or chunks[-1].end_line < made.start_line:
        chunks.append(made)
        return
    last = chunks[-1]
    name = f"{last.path}:{last.start_line}-{made.end_line}"
    chunks[-1] = Chunk(
        name,
        last.text + "\n\n" + made.text,
        last.language,
        last.path,
        last.start_line,
        made.end_line,
        last.symbol or made.symbol,
        "cell",
        last.parent,
    )


def _enter(above: list[tuple[int, str]], source: str) -> tuple[str, str]:
    """Take the headings of a cell of prose; return its own heading and those above it."""
    found = headings(source.split("\n"), "markdown")
    if not found:
        return "", ABOVE.join(title for _, title in above)
    parent = ""
    for at, heading in enumerate(found):
        while above and above[-1][0] >= heading.level:
            above.pop()
        parent = ABOVE.join(title for _, title in above) if at == 0 else parent
        above.append((heading.level, heading.title))
    return found[0].title, parent


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _members(text: str, at: int) -> dict[str, int]:
    """Return where the value of each key of an object begins."""
    found: dict[str, int] = {}
    if text[at : at + 1] != "{":
        raise ValueError("it is no JSON object")
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        found[key] = at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
    return found


def _elements(text: str, at: int) -> Iterator[int]:
    """Yield where each element of an array begins."""
    if text[at : at + 1] != "[":
        raise ValueError("its cells are no array")
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("]", ""):
        yield at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)


def _value(text: str, spots: dict[str, int], key: str) -> Any:
    return _DECODER.raw_decode(text, spots[key])[0] if key in spots else None


def _source(text: str, cell: dict[str, int]) -> tuple[str, int]:
    if "source" not in cell:
        return "", 0
    value, end = _DECODER.raw_decode(text, cell["source"])
    parts: Sequence[Any] = value if isinstance(value, list) else [value]
    return "".join(part for part in parts if isinstance(part, str)), end


def _kernel(text: str, spots: dict[str, int]) -> str:
    metadata = _value(text, spots, "metadata")
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        part = metadata.get(section) if isinstance(metadata, dict) else None
        name = part.get(key) if isinstance(part, dict) else None
        if isinstance(name, str):
            return name.lower()
    return "python"
