"""Group ranked hits so that a reader sees one place a thing: the best hit of a type or a unit, the best ones of a file.

The ranking's list stays flat, since lines are judged one by one there; groups are made where a list is shown. The best
hit leads its group, not the type: of 306 sentences with known lines, the first entry is right for 137 so, and for 109
if the type leads wherever it is in the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.search.declared_names import innermost_name, unit_of
from assay.search.excerpt import declared_line
from assay.search.filters import PROSE
from assay.types import TYPE_KINDS, Chunk, Hit

_LEAST = 3  # hits of one type that are a group
_MOST_NAMES = 6
_WIDER, _MOST_HITS = 3, 200


def hits_to_group(limit: int) -> list[int]:
    """Return how many hits to ask for, so that `limit` groups are among them, and how many if these are too few."""
    return sorted({max(limit, min(_WIDER * limit, _MOST_HITS)), max(limit, _MOST_HITS)})


def grouped(*blocks: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of each group, best first; its `others` are all that it stands for, best first.

    A later block adds to the groups of those before it, and changes nothing else of them: it is of a further page.
    """
    groups: dict[object, list[Hit]] = {}
    for block in blocks:
        sizes = Counter(map(_type_of, block))
        for hit in block:
            of_type, (root, chunk) = _type_of(hit), (hit.chunk.root, hit.chunk)
            is_unit = chunk.symbol and chunk.language not in PROSE
            key: object = of_type
            if of_type is None or not (of_type in groups or sizes[of_type] >= _LEAST):
                key = (root, *unit_of(chunk)) if is_unit else (root, chunk.id)
            groups.setdefault(key, []).append(hit)
    return [_united(group) for group in groups.values()]


def by_file(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Return the hits of each file, in the order of their best ones."""
    files: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        files.setdefault((hit.chunk.root, hit.chunk.path), []).append(hit)
    return list(files.values())


def others_text(hit: Hit, path_of: Callable[[Chunk], str] = lambda chunk: chunk.path) -> Iterator[str]:
    """Yield what a hit stands for, one line each: members of its type, more of its name, copies in other roots."""
    best, of_type = hit.chunk, (_type_of(hit) or [""])[-1]
    here = [chunk for chunk in hit.others if chunk.root == best.root]
    members: dict[str, Chunk] = {}
    for chunk in here:
        if chunk.symbol != best.symbol:
            members.setdefault(chunk.kind if chunk.symbol in {"", of_type} else chunk.symbol, chunk)
    if members:
        names = [f"{name.partition(',')[0]}:{declared_line(members[name])}" for name in [*members][:_MOST_NAMES]]
        more = ["…"] * (len(members) > _MOST_NAMES)
        yield f"+{len(members)} in {of_type}: {', '.join(names + more)}"
    if lines := sorted({declared_line(chunk) for chunk in here if chunk.symbol == best.symbol}):
        name = best.symbol or innermost_name(best.parent)
        yield f"+{len(lines)} more of {name} at line{'s'[: len(lines) > 1]} {', '.join(map(str, lines))}"
    if copies := dict.fromkeys(path_of(chunk) for chunk in hit.others if chunk.root != best.root):
        yield f"also in {', '.join(copies)}"


def _united(group: Sequence[Hit]) -> Hit:
    chunks = {(chunk.root, chunk.id): chunk for hit in group for chunk in (hit.chunk, *hit.others)}
    return replace(group[0], others=tuple(chunks.values())[1:])


def _type_of(hit: Hit) -> tuple[str, str, str] | None:
    """Return the type that a hit is or is a member of; functions of a namespace or in a function are no members."""
    chunk = hit.chunk
    is_type = chunk.kind in TYPE_KINDS or chunk.kind == "impl"
    name = chunk.symbol if is_type else "" if chunk.kind == "function" else innermost_name(chunk.parent)
    return (chunk.root, chunk.path, name) if name and chunk.language not in PROSE else None
