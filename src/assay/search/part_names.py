"""Find names by a part of them: their beginning, any part, some of their letters, or a misspelling, in this order.

Letters are those that people type for a long name: each capital or underscore begins a word of it, LdBl for
LoadBalancer. Completions, the file finder of the page and a search for a name that nothing declares ask the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

from assay.errors import some_of
from assay.search.declared_names import (
    QueryName,
    QueryNames,
    declarations,
    declared_places,
    fold,
    is_owner,
    typed_names,
)
from assay.search.filters import Mask, filter_mask
from assay.search.looked_up import MAX_UNITS, LookedUp
from assay.search.path_filters import traits_of
from assay.store.snapshot import Snapshot
from assay.terms import exact, parts
from assay.values import Chunk, Hit, Query

How = Literal["end", "begin", "hold", "letters", "spelt", "some"]
_SAYS: dict[How, str] = {
    "end": "names that end so",
    "begin": "names that begin so",
    "hold": "names that hold it",
    "letters": "names that have its letters",
    "spelt": "names that are spelt almost so",
    "some": "names that have its letters",
}
_SCORES: dict[How, float] = {"end": 0.95, "begin": 0.95, "hold": 0.9, "letters": 0.8, "spelt": 0.8, "some": 0.5}
_MIN_LETTERS, _MAX_LETTERS = 3, 100
_MAX_NAMES = 24
_MAX_SHOWN_NAMES = 3


class NamesLike(NamedTuple):
    """Names that resemble a typed one, the best first."""

    how: How
    names: tuple[str, ...]


class NameFinder:
    """Finds names by their parts; its tables are built at the first search."""

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names, of which each is kept once."""
        self.names = sorted(set(names))

    @cached_property
    def _folded(self) -> list[str]:
        return list(map(fold, self.names))

    @cached_property
    def _words(self) -> list[str]:
        """Each name as its words, a bar before each."""
        return [f"|{'|'.join(parts(name))}" for name in self.names]

    def like(self, typed: str, most: int) -> NamesLike | None:
        """Return the names that begin with a text, else those that hold it, its letters, or that are spelt like it."""
        ways: dict[How, Callable[[str], list[str]]]
        ways = {
            "end": self._ending,
            "begin": self._beginning,
            "hold": self._holding,
            "letters": self.of_letters,
            "spelt": self._spelt,
            "some": self._of_some_letters,
        }
        for how, find in ways.items():
            if found := find(typed):
                return NamesLike(how, tuple(found[:most]))
        return None

    def _ending(self, typed: str) -> list[str]:
        """Return the qualified names whose last part is a text, of modules that are declared so."""
        endings = tuple(f"{joint}{typed}" for joint in (".", "::", "\\"))
        return sorted((name for name in self.names if name.endswith(endings)), key=lambda name: (len(name), name))

    def _beginning(self, typed: str) -> list[str]:
        start = fold(typed)
        found = [name for name, folded in zip(self.names, self._folded, strict=True) if folded.startswith(start)]
        return sorted(found, key=lambda name: (not name.startswith(typed), len(name), name))

    def _holding(self, typed: str) -> list[str]:
        part, wording = fold(typed), f"|{'|'.join(parts(typed))}"
        found = [at for at, folded in enumerate(self._folded) if part in folded]
        order = sorted(found, key=lambda at: (wording not in self._words[at], len(self.names[at]), self.names[at]))
        return [self.names[at] for at in order]

    def of_letters(self, typed: str) -> list[str]:
        """Return the names that have the letters of a text in their order.

        The best begin with the first, have a word for each capital or underscore, and no other word.
        """
        humps = [[*hump] for hump in parts(typed)]
        if not humps:
            return []
        strict = r"(?:\|[^|]*)*?".join(rf"\|{'[^|]*?'.join(map(re.escape, hump))}[^|]*" for hump in humps)
        found = self._matching(strict)
        initials = "".join(humps[0]) if len(humps) == 1 else "".join(hump[0] for hump in humps)
        if not found and len(humps) == 1:
            found = [at for at, words in enumerate(self._words) if _initials(words) == initials]

        def order(at: int) -> tuple[bool, bool, int, int, str]:
            of_words = _initials(self._words[at])
            is_first = of_words.startswith(initials[0])
            return of_words != initials, not is_first, of_words.count("") - 1, len(self.names[at]), self.names[at]

        return [self.names[at] for at in sorted(found, key=order)]

    def _of_some_letters(self, typed: str) -> list[str]:
        letters = "".join(parts(typed))
        found = self._matching(rf"\|{'.*?'.join(map(re.escape, letters))}") if letters else []
        return sorted((self.names[at] for at in found), key=lambda name: (len(name), name))

    def _matching(self, pattern: str) -> list[int]:
        search = re.compile(pattern).search
        return [at for at, words in enumerate(self._words) if search(words)]

    def _spelt(self, typed: str) -> list[str]:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        plain = fold(typed)
        edits = (len(plain) > 3) + (len(plain) > 7) + (len(plain) > 14)
        found = process.extract(plain, self._folded, scorer=OSA.distance, score_cutoff=edits, limit=_MAX_NAMES)
        return [self.names[at] for _, _, at in sorted(found, key=lambda each: (each[1], each[2]))]


def _initials(words: str) -> str:
    return "".join(word[:1] for word in words.split("|"))


_finders: WeakKeyDictionary[Snapshot, NameFinder] = WeakKeyDictionary()


def finder_of(snapshot: Snapshot) -> NameFinder:
    """Return the finder of the names that an index declares."""
    found = _finders.get(snapshot)
    if found is None:
        found = _finders[snapshot] = NameFinder(term[1:] for term in snapshot.terms() if term[:1] == ":")
    return found


def names_like(snapshot: Snapshot, query: Query) -> LookedUp:
    """Return the declarations of names that resemble the one in a query, if nothing declares that."""
    names = typed_names(query.text)
    target = names.target
    if target is None or not _MIN_LETTERS <= len(target.name) <= _MAX_LETTERS:
        return LookedUp()
    allowed = filter_mask(snapshot, replace(query, exact=(), patterns=()))
    is_written = (
        target.is_distinct and not target.owner and snapshot.holds(exact(target.name))
    )  # and declared in no unit
    if is_written or len(declarations(snapshot, names, allowed)):
        return LookedUp()
    like = finder_of(snapshot).like(target.name, _MAX_NAMES)
    if like is None:
        return LookedUp()
    found = ((chunk, name) for name in like.names for chunk in _declared(snapshot, name, target, allowed))
    best = sorted(islice(found, _MAX_NAMES), key=lambda each: _order(each[0], target))[:MAX_UNITS]
    if not best:
        return LookedUp()
    scores = [_SCORES[like.how] - at / 100 for at in range(len(best))]
    hits = (Hit(chunk, score, {"name": score}) for (chunk, _), score in zip(best, scores, strict=True))
    shown = some_of((name for _, name in best), _MAX_SHOWN_NAMES)
    return LookedUp(tuple(hits), notes=(f"nothing declares '{target.name}'; {_SAYS[like.how]}: {shown}",))


def _order(chunk: Chunk, target: QueryName) -> tuple[bool, bool]:
    return bool(target.owner) and not is_owner(chunk, target), any(traits_of(chunk.path))


def _declared(snapshot: Snapshot, name: str, target: QueryName, allowed: Mask | None) -> Sequence[Chunk]:
    """Return the best declaration of a name, if it may be found."""
    names = QueryNames((), QueryName(name, target.owner))
    numbers = declarations(snapshot, names, allowed)
    chunks = snapshot.chunks(numbers.tolist())
    worth = declared_places(names, chunks, [True] * len(chunks))
    return [chunks[int(worth.argmax())]] if len(chunks) and worth.max() > 0 else []
