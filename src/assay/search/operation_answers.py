"""Look up the answer to an operation question in one index: callers, uses, callees, tests, declarations.

Calls are those that `related` reads from the code. Where something of a new kind is added is told by its siblings: the
files that hold most units of that kind, and the place that names most of these, where they are registered.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import log

from assay.corpus.grammars import CODE
from assay.errors import InputError, counted
from assay.search.declared_names import declared, fold
from assay.search.features import BODY, NAME, PATH
from assay.search.looked_up import LookedUp
from assay.search.named_places import NamedPlace, files_of
from assay.search.operation_questions import AskedOperation, Operation
from assay.search.path_filters import PROSE, traits_of
from assay.search.reference_table import table_of
from assay.search.related import Group, RelatedCode, RelatedPlace, chunk_at, declaration_of, related_code
from assay.store.snapshot import Snapshot
from assay.terms import exact, parts, terms
from assay.values import CALLABLE_KINDS, TYPE_KINDS, Chunk, Hit

_MAX_HITS = 20
_SCORE = 0.99
_GROUPS: dict[Operation, Group] = {"callers": "callers", "callees": "callees", "tests": "tests"}
_SAYS: dict[Operation, str] = {
    "callers": "what calls {}",
    "uses": "where {} is used",
    "callees": "what {} calls",
    "tests": "what tests {}",
    "what": "what {} is",
    "add": "where a new {} is added",
    "versus": "{}",
    "changes": "what changed {}",
}
_OTHERWISE = "with mode code it is searched for by meaning"


def note_of(question: AskedOperation, result: str = "") -> str:
    """Return a note on how a question was understood, what was found, and how to ask otherwise."""
    name = f"'{question.name}' and '{question.other}'" if question.other else f"'{question.name}'"
    return f"read as: {_SAYS[question.operation].format(name)}{result and f' ({result})'}; {_OTHERWISE}"


Ranked = Callable[[], Sequence[Hit]]
"""Returns the hits of the question by its meaning."""


def answer_to(snapshot: Snapshot, question: AskedOperation, ranked: Ranked) -> LookedUp | None:
    """Answer an operation from an index; None if its name is not declared there."""
    if question.operation == "add":
        return _where_to_add(snapshot, question, ranked())
    if question.operation == "changes" and (file := file_asked(snapshot, question.name)):
        first = next(_hits(snapshot, [(file, 1)]))
        return LookedUp((replace(first, line=0),), notes=(note_of(question, file),))
    places = [places_of(snapshot, name) for name in (question.name, question.other) if name]
    if not all(places):
        return None
    path, line = places[0][0]
    if question.operation == "changes":
        return LookedUp(tuple(_hits(snapshot, places[0][:1])), notes=(note_of(question, f"{path}:{line}"),))
    if question.operation in {"what", "versus"}:
        firsts, others = [each[0] for each in places], [one for each in places for one in each[1:_MAX_DECLARATIONS]]
        return LookedUp(tuple(_hits(snapshot, [*firsts, *others])), notes=(note_of(question),))
    code = related_code(snapshot, path, line, _MAX_READ)
    found = list(_places(snapshot, question, code))
    among = f", one of {len(places[0])} declarations of that name" if len(places[0]) > 1 else ""
    most = f", of which the first {_MAX_HITS} are listed" if len(found) > _MAX_HITS else ""
    result = f"{counted(len(found), 'place') if found else 'no place'}{most}; it is declared in {path}:{line}{among}"
    hits = _hits(snapshot, [(one.path, one.start_line) for one in found[:_MAX_HITS]] or places[0][:1])
    return LookedUp(tuple(hits), notes=(note_of(question, result),))


_MAX_DECLARATIONS = 3
"""Declarations of a name that are shown."""


def places_of(snapshot: Snapshot, name: str) -> list[tuple[str, int]]:
    """Return where a name is declared in the letter case that was typed, best first: not in tests, and with a body."""
    try:
        path, line, _ = declaration_of(snapshot, name)
    except InputError:
        owner = re.match(r"(.+?)(?:\.|::|#)", name)
        return places_of(snapshot, name[owner.end() :]) if owner else []
    last = _last_name(name)
    chunk = snapshot.chunk(chunk_at(snapshot, path, line))
    if last == last.lower() and "_" not in last and not re.search(rf"(?<!\w){re.escape(last)}(?!\w)", chunk.text):
        return []
    of_name = table_of(snapshot).definitions(last)
    owner_typed = last != name.rstrip("!?")
    every = [] if owner_typed else [(each.path, each.at.line, each.at.end > each.at.line) for each in of_name]
    best = [(path, line, any(one == (path, line, True) for one in every)), *every]
    order = sorted(best, key=lambda one: (any(traits_of(one[0])), not one[2]))
    return list(dict.fromkeys((path, line) for path, line, _ in order))


def _last_name(name: str) -> str:
    return re.split(r"\W+", name.rstrip("!?"))[-1]


def file_asked(snapshot: Snapshot, name: str) -> str:
    """Return the one file that a name means, empty if there are none or several."""
    found = files_of(snapshot, NamedPlace(name, 1)) if "." in name else []
    return found[0].path if len(found) == 1 else ""


def _places(snapshot: Snapshot, question: AskedOperation, code: RelatedCode) -> Iterator[RelatedPlace]:
    """Yield the places of an operation; if no call leads there, those that name the unit."""
    calls = code.groups[_GROUPS[question.operation]] if question.operation in _GROUPS else code.groups["callers"]
    yield from calls
    if question.operation == "callees" or (question.operation == "callers" and calls):
        return
    known = {(one.path, one.symbol) for group in ("callers", "tests") for one in code.groups[group]}
    for one in _mentions(snapshot, code.subject, _last_name(question.name), in_tests=question.operation == "tests"):
        if (one.path, one.symbol) not in known:
            yield one


def _mentions(snapshot: Snapshot, subject: RelatedPlace, name: str, *, in_tests: bool) -> Iterator[RelatedPlace]:
    """Yield further lines that name a unit, one a chunk, programs first; of tests first those of files called so."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    terms_of_name = {exact(name)} if len(parts(name)) > 1 else {exact(name), *terms(name)}
    numbers = sorted({number for term in terms_of_name for number in _holding(snapshot, term, BODY, NAME)})
    chunks = [unit for unit in snapshot.chunks(numbers[:_MAX_READ]) if _may_mention(unit, subject, in_tests=in_tests)]

    def order(chunk: Chunk) -> tuple[bool, bool, str, int]:
        is_called_so = in_tests and fold(name) in fold(re.sub(r"\W", "", chunk.path.rpartition("/")[2]))
        is_auxiliary = not in_tests and any(traits_of(chunk.path))
        return not is_called_so, is_auxiliary, chunk.path, chunk.start_line

    for chunk in sorted(chunks, key=order):
        for at, text in enumerate(chunk.text.split("\n"), chunk.start_line):
            inside = chunk.path == subject.path and subject.start_line <= at <= subject.end_line
            if not inside and pattern.search(text) and not _IMPORTS.match(text):
                yield RelatedPlace(chunk.path, at, at, chunk.symbol, chunk.kind, chunk.language, text.strip())
                break


_IMPORTS = re.compile(r"\s*(?:import|from|use|using|require|#\s*include|package|export \*)\b")


def _may_mention(chunk: Chunk, subject: RelatedPlace, *, in_tests: bool) -> bool:
    """Return whether a chunk is code that is not a part of a unit, and of a test if these are wanted."""
    is_test = traits_of(chunk.path).is_test or chunk.kind == "test"
    is_own = bool(subject.symbol) and chunk.parent.split(".")[-1] == subject.symbol.split(".")[-1]
    return chunk.language in CODE and not is_own and (is_test or not in_tests)


_MAX_READ = 400


def _holding(snapshot: Snapshot, term: str, *fields: int) -> list[int]:
    """Return the chunks that have a term in one of their fields."""
    numbers, counts = snapshot.postings(term)
    found: list[int] = numbers[counts[:, fields].sum(axis=1) > 0].tolist()
    return found


def _hits(snapshot: Snapshot, places: Iterable[tuple[str, int]]) -> Iterator[Hit]:
    """Yield the units around some lines, each once."""
    seen = set[int]()
    for path, line in places:
        number = chunk_at(snapshot, path, line)
        if number not in seen:
            seen.add(number)
            yield Hit(snapshot.chunk(number), _SCORE, {"operation": _SCORE}, line=line)


_MIN_SIBLINGS, _MAX_SIBLINGS, _MAX_SHOWN_SIBLINGS = 3, 60, 4
_UNITS = CALLABLE_KINDS | TYPE_KINDS | {"constant"}


def _where_to_add(snapshot: Snapshot, question: AskedOperation, hits: Sequence[Hit]) -> LookedUp | None:
    """Return where most units of a kind are, and what names most of them."""
    worth = defaultdict[str, float](float)
    hits = [hit for hit in hits if not any(traits_of(hit.chunk.path))]
    for rank, hit in enumerate(hits, 1):
        worth[hit.chunk.path] += 1.1 / rank
        worth[hit.chunk.path.rpartition("/")[0] + "/"] += 1 / rank
    siblings = {
        group: list(_units_in(snapshot, group)) for group in sorted(worth, key=lambda one: -worth[one])[:_GROUPS_TRIED]
    }
    many = {group: units for group, units in siblings.items() if len(units) >= _MIN_SIBLINGS}
    best = max(many, key=lambda group: worth[group] * log(1 + min(len(many[group]), 30)), default="")
    if not best:
        return None
    registry = _registry(snapshot, many[best], best)
    shown = [Hit(hit.chunk, _SCORE, {"operation": _SCORE}, line=_line(hit.chunk)) for hit in hits[:_MAX_SHOWN_SIBLINGS]]
    named = f", named together in {registry.chunk.path}:{registry.line}" if registry else ""
    where = f"{counted(len(many[best]), 'unit')} in {best}{named}"
    both = [*shown[:1], *([registry] if registry else []), *shown[1:]]
    places = tuple({hit.chunk.id: hit for hit in reversed(both)}.values())[::-1]
    return LookedUp(places, notes=(note_of(question, where),))


_GROUPS_TRIED = 6


def _units_in(snapshot: Snapshot, group: str) -> Iterator[Chunk]:
    """Yield the units of a file or of the files of a folder, of many the first."""
    term = NamedPlace(group.rstrip("/")).term
    numbers = [number for number in _holding(snapshot, term, PATH) if _is_in(snapshot.path(number), group)]
    for number in numbers[:_MAX_SIBLINGS]:
        chunk = snapshot.chunk(number)
        if chunk.kind in _UNITS and chunk.symbol and not chunk.parent:
            yield chunk


def _is_in(path: str, group: str) -> bool:
    return path.rpartition("/")[0] + "/" == group if group.endswith("/") else path == group


def _registry(snapshot: Snapshot, siblings: Sequence[Chunk], group: str) -> Hit | None:
    """Return the place outside of some siblings that names most of them, if it names some."""
    names = {name for chunk in siblings for name in chunk.symbol.split(", ")[:1] if len(name) > 2}
    own = {chunk.id for chunk in siblings}
    counts = Counter[int]()
    for name in names:
        for term in {exact(name), f"({name}"}:
            counts.update(set(_holding(snapshot, term, BODY)))
    likely = (number for number, count in counts.most_common(40) if count >= _MIN_SIBLINGS)
    best: tuple[float, Hit] | None = None
    for chunk in snapshot.chunks(list(likely)):
        present = [name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", chunk.text)]
        if chunk.id in own or chunk.language in PROSE or any(traits_of(chunk.path)) or len(present) < _MIN_SIBLINGS:
            continue
        lines = chunk.text.split("\n")
        first = next(at for at, text in enumerate(lines) if any(name in text for name in present))
        hit = Hit(chunk, _SCORE, {"operation": _SCORE}, line=max(chunk.start_line, 1) + first)
        worth = len(present) * (1.2 if chunk.path == group or chunk.path.startswith(group) else 1.0)
        if best is None or worth > best[0]:
            best = worth, hit
    return best[1] if best else None


def _line(chunk: Chunk) -> int:
    return max(chunk.start_line, 1) + (declared(chunk) or 0)
