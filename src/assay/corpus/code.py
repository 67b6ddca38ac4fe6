"""Turn the units of a file into chunks: fill gaps, merge tiny neighbors, cut long units at statement borders.

What a container leaves between its members is the container's header or a block of its own; a gap that says
nothing (a closing bracket) goes to the chunk before it, a gap of a few comment lines to the one after.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ast_grep_py import SgNode

from assay.corpus import blocks
from assay.corpus.comments import opening
from assay.corpus.references import file_facts
from assay.corpus.unit import MAX_SIGNATURE_CHARS, ParserFailed, Unit
from assay.corpus.units import ReadPart, file_units, read_parts
from assay.terms import composed
from assay.values import Chunk

_LONG = 120
"""Lines of a function that is looked into for others, where what calls what is read."""
MERGED = 15
"""Lines that tiny neighbours fill together at most."""
_TINY = 5
_TINY_FUNCTION = 3
_SHORT_SETUP = 8
"""Lines before a test that prepare it and are shown with it."""
_DECLARATIONS = frozenset("constant type block macro module impl".split())
_CALLABLE = frozenset("function method constructor".split())
_REPEATED = _CALLABLE | {"test"}
"""Kinds whose every piece says what it is a piece of."""
_GLUED = frozenset("impl module test".split())
_SILENT = re.compile(r"^(?:end|fi|done|else|#endif|#else|pass|public:|private:|protected:)?[\W_]*(?://.*)?$")
_OPENING = re.compile(r"^(?://|#(?!\[|include|define|pragma|!)|--|/?\*|;|%|\{-|(?:type|const|var) ?\($)")
"""A line that says something about what follows it: a comment, a condition, the opening of a group."""
_MIN_NODE_LINES = 4
"""Lines of a node that is worth looking into."""


def borders_of(roots: Sequence[SgNode], ranges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return line → depth of the outermost node that begins there, for the lines of some ranges."""
    found: dict[int, int] = {}
    stack = [(root, 0) for root in roots]
    while stack:
        node, depth = stack.pop()
        comment_from = -1
        for child in node.children():
            span = child.range()
            first, last = span.start.line, span.end.line
            if not any(first < end and last >= start for start, end in ranges):
                continue
            if "comment" in child.kind():
                comment_from = first if comment_from < 0 else comment_from
            else:
                at = comment_from if comment_from >= 0 else first
                comment_from = -1
                found[at] = min(depth, found.get(at, depth))
                if last - first >= _MIN_NODE_LINES:
                    stack.append((child, depth + 1))
    return found


def chunks(
    path: str, text: str, lines: Sequence[str], language: str, sizes: blocks.Sizes
) -> tuple[tuple[Chunk, ...], list[ReadPart]]:
    """Cut one file of code, and return its parts, too; raise `ParserFailed` when no grammar can read it."""
    parts = read_parts(path, text, language)
    found = file_units(parts, len(lines), sizes.code)
    pieces = _merged(_glued(list(_filled(found, lines)), lines))
    roots = [part.root for part in parts if part.root]
    return tuple(_chunk(lines, path, language, piece) for piece in _cut(pieces, lines, roots, sizes)), parts


def facts(chunks: Sequence[Chunk], parts: Sequence[ReadPart], lines: int) -> tuple[str, ...]:
    """Return the facts of each chunk of a file, in the stored form."""
    starts = [chunk.start_line for chunk in chunks]
    rows: list[list[str]] = [[] for _ in chunks]
    for part in parts if chunks else ():
        try:
            units = part.units(lines, _LONG, small=0, every=True)
        except ParserFailed:
            continue
        found = file_facts(part, chunks[0].path, units)
        for line in sorted(found):
            rows[max(bisect_right(starts, line) - 1, 0)] += found[line]
    return tuple(composed("\n".join(each)) for each in rows)


def _cut(pieces: Sequence[Unit], lines: Sequence[str], roots: Sequence[SgNode], sizes: blocks.Sizes) -> Iterator[Unit]:
    """Yield the pieces, long ones cut at the borders of statements."""
    limits = [sizes.block if piece.kind == "block" and not piece.symbol else sizes.code for piece in pieces]
    long = [(each.start, each.end) for each, limit in zip(pieces, limits, strict=True) if each.end - each.start > limit]
    depths = borders_of(roots, long) if long else {}
    for piece, limit in zip(pieces, limits, strict=True):
        if piece.end - piece.start <= limit:
            yield piece
            continue
        for start, end in blocks.even_spans(lines, piece.start, piece.end, limit, depths):
            yield replace(piece, start=start, end=end, doc=piece.doc if start == piece.start else "")


def _chunk(lines: Sequence[str], path: str, language: str, unit: Unit) -> Chunk:
    text = "".join(lines[unit.start : unit.end])
    if unit.kind == "block" and not unit.doc:
        unit.doc = opening(text)
    name, first, last = f"{path}:{unit.start + 1}-{unit.end}", unit.start + 1, unit.end
    symbol, parent = (composed(" ".join(name.split())) for name in (unit.symbol, unit.parent))
    return Chunk(name, text, language, path, first, last, symbol, unit.kind, parent, unit.doc, unit.signature)


def _filled(units: Sequence[Unit], lines: Sequence[str]) -> Iterator[Unit]:
    """Yield the units without overlap, containers cut down to their headers, gaps between them as units."""
    at = 0
    around: list[Unit] = []
    for unit in units:
        start = max(unit.start, at)
        yield from _gap(around, at, start, lines)
        end = min(unit.end, around[-1].inside) if around else unit.end
        if end <= start:
            continue
        at = start if unit.inside else end
        if unit.inside:
            around.append(replace(unit, start=start, end=end, inside=end))
        else:
            yield replace(unit, start=start, end=end)
    yield from _gap(around, at, len(lines), lines)


def _gap(around: list[Unit], start: int, end: int, lines: Sequence[str]) -> Iterator[Unit]:
    """Yield the lines outside of units, each with its container, and leave containers that end."""
    while around or start < end:
        owner = around[-1] if around else None
        if owner and owner.inside <= start:
            around.pop()
            continue
        if start >= end:
            return
        limit = min(end, owner.inside) if owner else end
        gap = _gap_of(owner, start, limit)
        gap.start, gap.end = blocks.trimmed(lines, start, limit)
        if gap.start < gap.end:
            yield gap
        start = limit


def _gap_of(owner: Unit | None, start: int, end: int) -> Unit:
    if owner is None:
        return Unit(start, end)
    if owner.start == start or owner.kind in _REPEATED:
        header = owner.start == start
        doc = owner.doc if header else ""
        return replace(owner, start=start, end=end, doc=doc, inside=owner.inside * header, rest=not header)
    return Unit(start, end, parent=owner.path, rest=True)


def _glued(pieces: Sequence[Unit], lines: Sequence[str]) -> list[Unit]:
    """Join empty gaps, short comments and bare headers to a neighbor; join the parts of one unit."""
    kept: list[Unit] = []
    carried: Unit | None = None
    for found in pieces:
        piece = found if carried is None else replace(found, start=carried.start)
        carried = None
        if kept and _is_gap(piece) and _all(_SILENT, lines, piece):
            kept[-1].end = piece.end
        elif _waits(piece, lines):
            carried = piece
        elif kept and kept[-1].joins and (kept[-1].symbol, kept[-1].parent) == (piece.symbol, piece.parent):
            kept[-1] = replace(kept[-1], end=piece.end, joins=piece.joins)
        else:
            kept.append(piece)
    return [*kept, carried] if carried is not None else kept


def _is_gap(piece: Unit) -> bool:
    return piece.rest or (piece.kind == "block" and not piece.symbol)


def _waits(piece: Unit, lines: Sequence[str]) -> bool:
    """Say whether a piece belongs to the next one: a lone comment, or the bare opening of a container."""
    size = piece.end - piece.start
    if piece.rest and piece.kind == "test" and size <= _SHORT_SETUP:
        return True
    if size > _TINY:
        return False
    if _is_gap(piece):
        return _all(_OPENING, lines, piece)
    return bool(piece.inside) and piece.kind in _GLUED and not piece.doc


def _all(pattern: re.Pattern[str], lines: Sequence[str], piece: Unit) -> bool:
    return piece.end - piece.start <= _TINY and all(
        pattern.match(line.strip()) for line in lines[piece.start : piece.end] if line.strip()
    )


def _merged(pieces: Sequence[Unit]) -> list[Unit]:
    """Merge tiny neighbors of one parent."""
    kept: list[Unit] = []
    group: list[Unit] = []
    for piece in pieces:
        fits = group and _sort(group[0]) == _sort(piece) and piece.end - group[0].start <= MERGED
        if _is_tiny(piece) and fits:
            group.append(piece)
            continue
        kept.extend(_one(group))
        group = [piece] if _is_tiny(piece) else []
        if not group:
            kept.append(piece)
    return [*kept, *_one(group)]


def _sort(piece: Unit) -> tuple[str, bool]:
    return piece.parent, piece.kind in _CALLABLE


def _is_tiny(piece: Unit) -> bool:
    size = piece.end - piece.start
    return size <= _TINY and (piece.kind in _DECLARATIONS or (piece.kind in _CALLABLE and size <= _TINY_FUNCTION))


def _one(group: Sequence[Unit]) -> Sequence[Unit]:
    if len(group) < 2:
        return group
    kinds = [unit.kind for unit in group if unit.kind != "block"] or ["block"]
    symbol = ", ".join(dict.fromkeys(unit.symbol for unit in group if unit.symbol))
    doc = "\n".join(unit.doc for unit in group if unit.doc)
    signature = "; ".join(unit.signature for unit in group if unit.signature)[:MAX_SIGNATURE_CHARS]
    kind = max(kinds, key=kinds.count)
    return [Unit(group[0].start, group[-1].end, kind, symbol, group[0].parent, doc, signature)]
