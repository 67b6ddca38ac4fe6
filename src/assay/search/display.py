"""Choose what a reader sees of hits: the lines worth showing, and one place for each thing.

Lines are whole, always. The window with the most different words of the question wins, the first of
equals; where the unit is declared is shown above it when the window starts later.

The ranking's list stays flat, since lines are judged one by one there; groups are made where a list is shown. The best
hit leads its group, not the type: of 306 sentences with known lines, the first entry is right for 137 so, and for 109
if the type leads wherever it is in the list.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import accumulate, islice
from typing import NamedTuple

from assay.search.declared_names import declared, innermost_name, unit_of
from assay.search.path_filters import PROSE
from assay.terms import STOP_WORDS, WORD, terms, terms_of
from assay.values import TYPE_KINDS, Chunk, Hit

_SIGNATURE = 12  # lines of one that are shown, at most
Line = tuple[int, str]
"""A line of a file: its number and its text."""


def terms_to_mark(queries: Iterable[str]) -> frozenset[str]:
    """Return the terms to look for; stop words count only where there is nothing else."""
    words = [word for query in queries for word in WORD.findall(query)]
    telling = [word for word in words if word.lower() not in STOP_WORDS]
    return frozenset(terms(" ".join(telling or words)))


def lines(chunk: Chunk) -> list[Line]:
    """Return the numbered lines of a chunk."""
    texts = chunk.text.removesuffix("\n").split("\n")
    return [(number, text.removesuffix("\r")) for number, text in enumerate(texts, max(chunk.start_line, 1))]


def excerpt(chunk: Chunk, query_terms: AbstractSet[str], count: int, target_line: int = 0) -> list[Line]:
    """Return about `count` lines, ascending: the best window, and where the unit is declared; none empty at an edge.

    The window is the one around the line that is asked for, if one is.
    """
    every = lines(chunk)
    name = declared(chunk)
    if target_line:
        return lines_around(every, target_line, count, name)
    if (signature := _signature(chunk, query_terms)) and query_terms <= set(terms(f"{chunk.parent} {chunk.symbol}")):
        return _trimmed(every[signature[0] : signature[0] + max(count, len(signature))])
    start = window(every, query_terms, count)
    if name is None or name >= start or count == 1:
        return _trimmed(every[start : start + count])
    start = name + 1 + window(every[name + 1 :], query_terms, count - 1)
    shown = _trimmed(every[start : start + count - 1])
    between = every[name + 1 : shown[0][0] - every[0][0]] if shown else []
    return [every[name], *(between if len(between) == 1 else []), *shown]


def lines_around(every: Sequence[Line], target_line: int, count: int, name: int | None) -> list[Line]:
    """Return at most `count` lines around the target line, ascending, and where the unit is declared."""
    at = max(sum(number <= target_line for number, _ in every) - 1, 0)
    count -= count > 1 and name is not None and not at - count // 2 <= name <= at
    start = max(min(at - count // 2, len(every) - count), 0)
    shown = every[start : start + max(count, 1)]
    return [*([every[name]] if name is not None and count and name < start else []), *shown]


def telling(
    chunk: Chunk, query_terms: AbstractSet[str], matching: Sequence[int], count: int, target_line: int = 0
) -> list[Line]:
    """Return at most `count` lines, ascending: where the unit is declared, and those that answer the query best.

    Those are lines that match, if any do. Else each is taken for the terms that no line before it has, which count the
    more the fewer lines have them: what answers a question seldom stands in one place.
    """
    every = lines(chunk)
    name = declared(chunk)
    if target_line:
        return lines_around(every, target_line, count, name)
    head = _signature(chunk, query_terms) or ([] if name is None else [name])
    if not matching:
        return [every[at] for at in lines_with_terms([text for _, text in every], query_terms, count, head)]
    numbers = [*dict.fromkeys((*(every[at][0] for at in head), *matching))][:count]
    return [line for line in every if line[0] in numbers]


def lines_with_terms(
    texts: Sequence[str], query_terms: AbstractSet[str], count: int, head: Sequence[int] = ()
) -> list[int]:
    """Return the indexes of at most `count` lines that have most of the terms, ascending, with those already chosen.

    Where no line has any, they are the first ones.
    """
    chosen = [*head, *islice(_most_telling(texts, query_terms, head), max(count - len(head), 0))]
    return sorted(chosen) or [*range(min(count, len(texts)))]


def _most_telling(texts: Sequence[str], query_terms: AbstractSet[str], head: Sequence[int]) -> Iterator[int]:
    found = [query_terms & set(terms(text)) for text in texts]
    spread = Counter(term for line in found for term in line)
    left = set(spread).difference(*(found[at] for at in head))
    while left:
        best = max(range(len(texts)), key=lambda at: sum(1 / spread[term] for term in found[at] & left))
        left -= found[best]
        yield best


def _signature(chunk: Chunk, query_terms: AbstractSet[str]) -> list[int]:
    """Return the lines of a chunk that are the signature of its unit, if the query has its name, else none."""
    first = declared(chunk) if chunk.symbol and set(terms(chunk.symbol)) <= query_terms else None
    if first is None:
        return []
    every, signature = lines(chunk), "".join(chunk.signature.split())
    last, text = first, "".join(every[first][1].split())
    while text in signature and not signature.endswith(text) and last - first < _SIGNATURE and last + 1 < len(every):
        last += 1
        text += "".join(every[last][1].split())
    return [*range(first, last + 1)]


def declared_line(chunk: Chunk) -> int:
    """Return the number of the line that declares a unit, or of its first line."""
    return max(chunk.start_line, 1) + (declared(chunk) or 0)


def window(every: Sequence[Line], query_terms: AbstractSet[str], count: int) -> int:
    """Return where the window of `count` lines with the most terms begins; a repeated term counts little."""
    found = [query_terms & set(terms(text)) for _, text in every]
    totals = [0, *accumulate(map(len, found))]

    def worth(at: int) -> tuple[int, int]:
        stop = min(at + count, len(every))
        return len(set().union(*found[at:stop])), totals[stop] - totals[at]

    return max(range(max(len(every) - count, 0) + 1), key=worth)


def fit(hits: Iterable[Hit], query_terms: AbstractSet[str], budget: int, cost: Callable[[Hit], int]) -> list[Hit]:
    """Return whole hits while they fit, then the best whole lines of the next one; `cost` is in tokens."""
    kept: list[Hit] = []
    for hit in hits:
        budget -= cost(hit)
        if budget < 0:
            part = cut(hit, query_terms, budget + cost(hit), cost)
            return [*kept, part] if part else kept
        kept.append(hit)
    return kept


def places(text: str, query_terms: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return where the terms of a query occur in a line, as character ranges."""
    return [word.span() for word in WORD.finditer(text) if not query_terms.isdisjoint(terms_of(word[0]))]


def _trimmed(numbered: Sequence[Line]) -> list[Line]:
    """Return lines without the empty ones at either end."""
    full = [at for at, (_, text) in enumerate(numbered) if text.strip()]
    return list(numbered[full[0] : full[-1] + 1]) if full else list(numbered)


def cut(hit: Hit, query_terms: AbstractSet[str], budget: int, cost: Callable[[Hit], int]) -> Hit | None:
    """Return the longest window of a hit that fits the budget, or None if not even one line fits."""
    every = lines(hit.chunk)
    count = bisect_right(range(1, len(every)), budget, key=lambda count: cost(_part(hit, every, query_terms, count)))
    return _part(hit, every, query_terms, count) if count else None


def _part(hit: Hit, every: Sequence[Line], query_terms: AbstractSet[str], count: int) -> Hit:
    at = sum(number < hit.line for number, _ in every)
    start = max(min(at - count // 2, len(every) - count), 0) if hit.line else window(every, query_terms, count)
    shown = every[start : start + count]
    text = "".join(f"{line}\n" for _, line in shown)
    chunk = replace(hit.chunk, text=text, start_line=shown[0][0], end_line=shown[-1][0])
    return replace(hit, chunk=chunk)


_LIKELY = 0.25
"""A fraction of the first hit's probability; less likely hits are shown only to readers who ask for more."""
_MIN_SHOWN_HITS = 3


def worth_showing(scores: Sequence[float]) -> int:
    """Return how many hits are worth showing to a person or a model, by their scores, best first."""
    return max(sum(score >= _LIKELY * scores[0] for score in scores), _MIN_SHOWN_HITS)


_MIN_GROUP_HITS = 3  # hits of one type that are a group
_MAX_NAMES = 6


def grouped(*blocks: Sequence[Hit]) -> list[Hit]:
    """Return the best hit of each group, best first; its `others` are the rest of the group, best first.

    A line that was looked up stands for nothing else. A later block adds to the groups of those before it, and changes
    nothing else of them: it is of a further page.
    """
    groups: dict[object, list[Hit]] = {}
    for block in blocks:
        sizes = Counter(map(_type_of, block))
        for hit in block:
            of_type, (root, chunk) = _type_of(hit), (hit.chunk.root, hit.chunk)
            if hit.line and "message" not in hit.why:
                groups[root, chunk.id] = [hit]
                continue
            is_unit = chunk.symbol and chunk.language not in PROSE
            key: object = of_type
            if of_type is None or not (of_type in groups or sizes[of_type] >= _MIN_GROUP_HITS):
                key = (root, *unit_of(chunk)) if is_unit else (root, chunk.id)
            groups.setdefault(key, []).append(hit)
    united = []
    for group in groups.values():
        every = {(one.root, one.id): one for hit in group for one in (hit.chunk, *hit.others)}
        united.append(replace(group[0], others=tuple(every.values())[1:]))
    return united


def others_text(hit: Hit, path_of: Callable[[Chunk], str] = lambda chunk: chunk.path) -> Iterator[str]:
    """Yield what a hit represents, one line each: members of its type, more of its name, copies in other roots."""
    best, holder = hit.chunk, _type_of(hit)
    of_type = holder.name if holder else ""
    here = [chunk for chunk in hit.others if chunk.root == best.root]
    members: dict[str, Chunk] = {}
    for chunk in here:
        if chunk.symbol != best.symbol:
            members.setdefault(chunk.kind if chunk.symbol in {"", of_type} else chunk.symbol, chunk)
    if members:
        names = [f"{name.partition(',')[0]}:{declared_line(members[name])}" for name in [*members][:_MAX_NAMES]]
        if len(members) > _MAX_NAMES:
            names.append("…")
        yield f"+{len(members)} in {of_type}: {', '.join(names)}"
    if lines := sorted({declared_line(chunk) for chunk in here if chunk.symbol == best.symbol}):
        name = best.symbol or innermost_name(best.parent)
        yield f"+{len(lines)} more of {name} at {'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}"
    if copies := dict.fromkeys(path_of(chunk) for chunk in hit.others if chunk.root != best.root):
        yield f"also in {', '.join(copies)}"


class _NamedType(NamedTuple):
    root: str
    path: str
    name: str


def _type_of(hit: Hit) -> _NamedType | None:
    """Return the type that a hit is or is a member of; functions of a namespace or in a function are no members."""
    chunk = hit.chunk
    is_type = chunk.kind in TYPE_KINDS or chunk.kind == "impl"
    name = chunk.symbol if is_type else "" if chunk.kind == "function" else innermost_name(chunk.parent)
    return _NamedType(chunk.root, chunk.path, name) if name and chunk.language not in PROSE else None
