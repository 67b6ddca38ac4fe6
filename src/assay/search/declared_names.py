"""Find the names that a question types as code writes them, and the chunks that declare them.

A name that an index declares needs nothing learned: its declarations come first, by the index's own terms. What is
typed may be qualified (`Session.get`, `json::parse`, `http/client.Do`), be in another letter case or lack an
underscore. Where one name is all that a question tells (`APIRouter`, *where is APIRouter defined*, `class APIRouter`),
it asks for that name; in any other sentence a name is a feature of the ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import definitions_of
from assay.search.filters import Mask
from assay.search.path_filters import PROSE, traits_of
from assay.store.postings import FIELDS
from assay.store.snapshot import Snapshot
from assay.terms import exact, parts, stem
from assay.values import CALLABLE_KINDS, KINDS, TYPE_KINDS, Chunk

_NAME, _PARENT = FIELDS.index("name"), FIELDS.index("parent")
_QUALIFIER = r"(?:\.|::|#|->|\\|/)"
_TYPED = re.compile(rf"[^\W\d]\w*(?:{_QUALIFIER}~?[^\W\d]\w*)*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")  # no blanks part it from a name
_SPLIT = re.compile(_QUALIFIER)
_NAMES_APART = re.compile(r"[.:]+")
_MAX_READ_CHARS, _MAX_TYPED_NAMES = 2000, 40  # characters, names
_MAX_READ_CHUNKS, _MAX_CHUNKS = 256, 48  # chunks of a name whose symbols are read, and that are returned
_INSIDE, _FOLDED = 0.75, 0.25  # how exactly a chunk declares what a unit in it does, and a name in another letter case
_UNDERSCORES = 3  # by which a name may be longer or shorter than it is typed
_KIND_WORDS = {
    **dict.fromkeys((*TYPE_KINDS, "protocol", "record", "object"), TYPE_KINDS),
    **dict.fromkeys(("function", "method", "def", "fn", "func", "fun", "macro"), CALLABLE_KINDS),
    **dict.fromkeys(("constructor", "initializer"), frozenset(("constructor",))),
    **dict.fromkeys(("constant", "variable", "const"), frozenset(("constant",))),
}
_BESIDE = frozenset(
    "a an declaration declarations declare declared declares define defined defines definition definitions does find "
    "for go goto implementation implemented in is located me of show the where which".split()
)
"""Words around a name that add nothing to the question."""
_BESIDE_ELSEWHERE = frozenset(
    "da das der die dans de del dónde donde dove el en es está est ist in la le les no où onde por se um uma un una "
    "une wird wo è é где в".split()
)
"""What remains of such words after a translation."""
_AROUND = _BESIDE | _BESIDE_ELSEWHERE | _KIND_WORDS.keys()
_PIECES = ("impl", "block", "section", "")
_ORDER = np.array(
    [(kind not in TYPE_KINDS) + (kind not in TYPE_KINDS | CALLABLE_KINDS) + (kind in _PIECES) for kind in KINDS]
)
"""Kinds in groups: types, functions, the rest, and what only continues another unit."""


@dataclass(frozen=True, slots=True)
class QueryName:
    """A name as it was typed."""

    name: str
    owner: str = ""
    """The last part of its qualifier: a type, a module, a package."""

    @property
    def is_distinct(self) -> bool:
        """Return whether it is written as names are and words are not: `parse_args`, `APIRouter`, `a.b`."""
        return bool(self.owner) or len(parts(self.name)) > 1 or "_" in self.name


@dataclass(frozen=True, slots=True)
class QueryNames:
    """The names in a question."""

    distinct: tuple[QueryName, ...]
    """Names that do not look like words, if the question has other words."""
    target: QueryName | None = None
    """The name that is the whole question, if there is one."""
    kinds: frozenset[str] = frozenset()
    """The kinds that are named beside that name: `class X`, *X constructor*."""


@lru_cache(64)
def typed_names(text: str) -> QueryNames:
    """Return the names that a text types, each once."""
    text = text[:_MAX_READ_CHARS]
    typed = _TYPED.findall(_CJK.sub(" ", text))[:_MAX_TYPED_NAMES] or _TYPED.findall(text)[:_MAX_TYPED_NAMES]
    names = list(dict.fromkeys(_name_of(word) for word in typed))
    telling = [name for name in names if name.owner or name.name.lower() not in _AROUND]
    asked = (telling or names)[0] if len(telling or names) == 1 else None
    kinds = [_KIND_WORDS[name.name.lower()] for name in names if name != asked and name.name.lower() in _KIND_WORDS]
    distinct = () if asked else tuple(name for name in telling if name.is_distinct)
    return QueryNames(distinct, asked, frozenset().union(*kinds) if asked else frozenset())


def _name_of(typed: str) -> QueryName:
    *before, name = _SPLIT.split(typed)
    return QueryName(name.lstrip("~"), before[-1] if before else "")


def declarations(snapshot: Snapshot, names: QueryNames, allowed: Mask | None) -> NDArray[np.int64]:
    """Return the chunks that declare the name in question, or else the names in it; few, even for a common name."""
    if names.target is not None:
        return _declaring(snapshot, names.target, allowed, with_constructors="constructor" in names.kinds)
    return np.concatenate([np.zeros(0, np.int64), *(_declaring(snapshot, name, allowed) for name in names.distinct)])


def _declaring(
    snapshot: Snapshot, name: QueryName, allowed: Mask | None, *, with_constructors: bool = False
) -> NDArray[np.int64]:
    """Return the chunks of a name, types first."""
    pieces = parts(name.name)
    if not pieces:
        return np.zeros(0, np.int64)
    whole, first = exact(name.name), stem(pieces[0])
    inside = snapshot.postings(f":{name.name}")[0]  # of a small type, which is one chunk with its members
    found = [_named(snapshot, term, name, allowed) for term in ((whole, first) if len(pieces) == 1 else (whole,))]
    if with_constructors:
        found += [_constructors(snapshot, term, allowed) for term in (whole, first)]
    found.append(inside if allowed is None else inside[allowed[inside]])
    return np.array(list(dict.fromkeys(np.concatenate([each[:_MAX_CHUNKS] for each in found]).tolist())), np.int64)


def _named(snapshot: Snapshot, term: str, name: QueryName, allowed: Mask | None) -> NDArray[np.int64]:
    """Return the chunks that have a name, among those whose names contain a term; few symbols are read."""
    numbers = _holding(snapshot, term, _NAME, allowed)
    if not len(numbers):
        return np.zeros(0, np.int64)
    kinds = snapshot.rows("kind", numbers)
    longer = abs(snapshot.symbol_bytes(numbers) - len(name.name.encode()))
    alike = (longer <= _UNDERSCORES) | (kinds == KINDS.index("constant")) | term.startswith("=")
    likely = numbers[alike][np.lexsort((numbers[alike], longer[alike], _ORDER[kinds[alike]]))][:_MAX_READ_CHUNKS]
    return np.array([at for at in likely.tolist() if _is_called(snapshot.symbol(at), name)], np.int64)


def _holding(snapshot: Snapshot, term: str, field: int, allowed: Mask | None) -> NDArray[np.int64]:
    """Return the chunks that have a term in one of their fields."""
    numbers, counts = snapshot.postings(term)
    return numbers[(counts[:, field] > 0) & (True if allowed is None else allowed[numbers])]


def _constructors(snapshot: Snapshot, term: str, allowed: Mask | None) -> NDArray[np.int64]:
    numbers = _holding(snapshot, term, _PARENT, allowed)
    built = snapshot.rows("kind", numbers) == KINDS.index("constructor") if len(numbers) else np.zeros(0, bool)
    found: NDArray[np.int64] = numbers[built]
    return found


def _is_called(symbol: str, name: QueryName) -> bool:
    """Return whether a symbol is a name in any letter case; a name typed with a capital does not mean `parse_args`."""
    folded = fold(name.name)
    return any(fold(one) == folded and one[:1].isupper() >= name.name[:1].isupper() for one in symbol.split(", "))


def fold(name: str) -> str:
    """Return a name without what is ignored: letter case, underscores and a mark at the end (`valid?`)."""
    return name.replace("_", "").rstrip("?!").lower()


def exactness(chunk: Chunk, name: QueryName) -> float:
    """Return how exactly a chunk declares a name: 1 as typed, less in another letter case, 0 if it does not."""
    if chunk.language in PROSE or not chunk.symbol:
        return 0.0
    symbols = chunk.symbol.split(", ")
    if any(one.rstrip("?!") == name.name for one in symbols):
        return 1.0
    return _FOLDED if _is_called(chunk.symbol, name) else 0.0


def line_inside(snapshot: Snapshot, number: int, name: QueryName | None) -> int:
    """Return the line that declares a name inside the unit of a chunk, 0 if the unit itself has that name."""
    if name is None or exactness(snapshot.chunk(number), name):
        return 0
    return next((each.line for each in definitions_of(snapshot.facts(number)) if each.name == name.name), 0)


def is_owner(chunk: Chunk, name: QueryName) -> bool:
    """Return whether the qualifier of a name is something that encloses a chunk."""
    return bool(name.owner) and fold(name.owner) in owners_of(chunk)


def owners_of(chunk: Chunk) -> tuple[str, ...]:
    """Return the names of what encloses a chunk, folded: a type, a file, a folder."""
    *folders, file = chunk.path.split("/")
    return tuple(map(fold, (innermost_name(chunk.parent), file.partition(".")[0], *folders[-1:])))


@lru_cache(16_384)
def innermost_name(parent: str) -> str:
    """Return the innermost of enclosing names."""
    return _NAMES_APART.split(parent)[-1] if parent else ""


def declared_places(
    names: QueryNames, chunks: Sequence[Chunk], declaring: Sequence[bool] | NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Rate each chunk as an answer to a question for one name, 0 if it does not declare that name.

    `declaring` says which are of `declarations`: those that are not called so declare it inside. In this order: as it
    is typed before another letter case; what stands before the name; the kind that is asked for; types, then
    functions, then constants, then blocks that go on with a type; programs before tests; the part that
    holds the signature, or the first one, before other parts.
    """
    worth = np.zeros(len(chunks))
    if names.target is None:
        return worth
    heads: dict[tuple[str, ...], tuple[bool, int]] = {}
    order = [(bool(exactness(one, names.target)) and declared(one) is None, one.start_line) for one in chunks]
    for chunk, place in zip(chunks, order, strict=True):
        heads[unit_of(chunk)] = min(place, heads.get(unit_of(chunk), place))
    for at, (chunk, declares) in enumerate(zip(chunks, declaring, strict=True)):
        is_head = heads[unit_of(chunk)] == order[at]
        worth[at] = _worth(chunk, names, names.target, is_inside=bool(declares), is_head=is_head)
    return worth


def _worth(chunk: Chunk, names: QueryNames, target: QueryName, *, is_inside: bool, is_head: bool) -> float:
    how = exactness(chunk, target) or _INSIDE * is_inside
    made = names.kinds == {"constructor"} and chunk.kind == "constructor"
    if made and fold(innermost_name(chunk.parent)) == fold(target.name):
        how = 1.0
    if not how:
        return 0.0
    owned = is_owner(chunk, target) or (how == _INSIDE and fold(chunk.symbol) == fold(target.owner)) or not target.owner
    wanted = chunk.kind in names.kinds if names.kinds else True
    kind = (3 - int(_ORDER[KINDS.index(chunk.kind)])) / 3
    is_program = not any(traits_of(chunk.path))
    return 1 + 16 * (how == 1.0) + 8 * owned + 4 * wanted + 2 * is_program + 1.5 * kind + 0.4 * is_head


def unit_of(chunk: Chunk) -> tuple[str, ...]:
    """Return a key that the parts of one unit share, with its overloads and its copies in other roots."""
    return chunk.path, chunk.parent, chunk.symbol, chunk.kind


def declared(chunk: Chunk) -> int | None:
    """Return which line of a chunk declares its unit: one that names it and is of its signature, if it has one."""
    signature, names = " ".join(chunk.signature.split()), chunk.symbol.split(", ")
    for at, line in enumerate(chunk.text.removesuffix("\n").split("\n")):
        text = " ".join(line.split())
        named = text and any(name and name in text for name in names)
        if named and (not signature or signature in text or text.rstrip(" {:") in signature):
            return at
    return None
