"""Queries in, those that ask the same and those that ask too little out.

Two queries are the same when their telling words have the same stems, in whatever order. What makes a query poor is a
rule that is printed with the count, so that nobody has to believe it: these are hints.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from assay.terms import STOP_WORDS, WORD, parts, stem
from assay.truth.audit.finding import AuditFinding, short
from assay.types import Query

Grades = Mapping[str, Mapping[Hashable, int]]
"""By query and what was judged, twins being one, the highest grade."""

_LANGUAGES = frozenset(
    "bash c clojure code cpp csharp dart elixir erlang go golang groovy haskell java javascript js julia kotlin lua "
    "matlab ocaml perl php powershell program programming py python python2 python3 ruby rust scala swift ts "
    "typescript".split()
)
"""Names of languages, and the words that every question of code may have."""
_ELSEWHERE = frozenset("anaconda conda ide install jupyter pip pycharm tutorial uninstall versus vs vscode".split())
_LONGEST = 64
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def findings(queries: Sequence[Query], grades: Grades) -> Iterator[AuditFinding]:
    """Yield what is wrong with queries; without any text there is nothing to say."""
    if not any(query.text for query in queries):
        return
    yield from _repeated(queries, grades)
    yield from _poor(queries)


def asks(text: str) -> tuple[str, ...]:
    """Return the stems of the telling words of a text, each once, in order of the alphabet; else of all its words."""
    found = [part for word in WORD.findall(text) for part in parts(word)]
    telling = [word for word in found if word not in STOP_WORDS]
    return tuple(sorted({stem(word) for word in telling or found}))


def _repeated(queries: Sequence[Query], grades: Grades) -> Iterator[AuditFinding]:
    equal = _grouped(queries, _text)
    same = _grouped(queries, lambda query: asks(query.text))
    reworded = [list({_text(query): query for query in reversed(group)}.values())[::-1] for group in same]
    yield _surplus("equal queries", "queries with the text of an earlier one", equal, len(queries))
    what = "queries with the telling words of an earlier one, in other forms or another order"
    yield _surplus("same queries", what, reworded, len(queries))
    different = [(group, why) for group in same if (why := _contradiction(group, grades))]
    yield AuditFinding(
        "same queries, other grades",
        len(different),
        len(same),
        "groups of same queries that disagree about one answer",
        tuple(f"{_group_text(group)}: {why}" for group, why in different),
    )
    apart = [group for group in same if _lacking(group, grades)]
    yield AuditFinding(
        "same queries, other answers",
        len(apart),
        len(same),
        "groups of same queries where what is right for one was not judged for another, and so counts as wrong there",
        tuple(_group_text(group) for group in apart),
    )


def _grouped(queries: Iterable[Query], key: Callable[[Query], Hashable]) -> list[list[Query]]:
    """Return groups of at least two queries with one key and language, the largest first; what has no word is none."""
    groups: defaultdict[Hashable, list[Query]] = defaultdict(list)
    for query in queries:
        if WORD.search(query.text):
            kept = query.mode, query.languages, query.paths, query.kinds, query.tags.get("language")
            groups[key(query), kept].append(query)
    return sorted((group for group in groups.values() if len(group) > 1), key=lambda group: -len(group))


def _surplus(name: str, what: str, groups: Sequence[Sequence[Query]], of: int) -> AuditFinding:
    shown = tuple(_group_text(group) for group in groups if len(group) > 1)
    return AuditFinding(name, sum(len(group) - 1 for group in groups), of, what, shown)


def _text(query: Query) -> str:
    return " ".join(query.text.lower().split())


def _group_text(group: Sequence[Query]) -> str:
    shown = [f"{query.id} '{short(query.text, 50)}'" for query in group[:3]]
    return " = ".join(shown) + (f" … {len(group)} in all" if len(group) > 3 else "")


def _contradiction(group: Sequence[Query], grades: Grades) -> str:
    """Return the first answer that two of the queries grade differently, or nothing."""
    for one, other in combinations(group, 2):
        mine, theirs = grades.get(one.id, {}), grades.get(other.id, {})
        for target in mine.keys() & theirs.keys():
            if mine[target] != theirs[target]:
                return f"{target} is {mine[target]} for {one.id} and {theirs[target]} for {other.id}"
    return ""


def _lacking(group: Sequence[Query], grades: Grades) -> bool:
    judged = [grades.get(query.id, {}) for query in group]
    right = {target for each in judged for target, grade in each.items() if grade}
    return any(right - each.keys() for each in judged)


def _poor(queries: Sequence[Query]) -> Iterator[AuditFinding]:
    rules: Mapping[str, tuple[str, Callable[[str], bool]]] = {
        "no word": ("queries without a letter or digit", lambda text: not WORD.search(text)),
        "no telling word": (
            "queries with nothing but stop words and names of languages",
            lambda text: bool(WORD.search(text)) and not _telling(text),
        ),
        "too short": (
            "queries with one telling word that is no identifier",
            lambda text: len(_telling(text)) == 1 and not _identifier(text),
        ),
        "too long": (f"queries of more than {_LONGEST} words", lambda text: len(WORD.findall(text)) > _LONGEST),
        "cut": ("queries that end in an ellipsis, a comma or an article, or open what they do not close", _cut),
        "not about code": (
            f"queries with one of the words {', '.join(sorted(_ELSEWHERE))}",
            lambda text: not _ELSEWHERE.isdisjoint(map(str.lower, WORD.findall(text))),
        ),
    }
    poor: set[str] = set()
    for name, (what, rule) in rules.items():
        found = [query for query in queries if rule(query.text)]
        poor.update(query.id for query in found)
        examples = tuple(f"{query.id} '{short(query.text)}'" for query in found)
        yield AuditFinding(name, len(found), len(queries), what, examples, hint=name != "no word")
    yield AuditFinding(
        "poor queries", len(poor), len(queries), "queries that any of these rules takes for poor", hint=True
    )


def _telling(text: str) -> set[str]:
    """Return the words of a text that are neither stop words nor names of languages."""
    return {word for word in map(str.lower, WORD.findall(text)) if word not in STOP_WORDS and word not in _LANGUAGES}


def _identifier(text: str) -> bool:
    """Say whether a text has a name of code in it: `parse_args`, `HttpServer`, `os.path`, `sort()`."""
    return any(len(parts(word)) > 1 for word in WORD.findall(text)) or any(sign in text for sign in "._():#`")


def _cut(text: str) -> bool:
    text = text.strip()
    opened = any(text.count(one) > text.count(other) for one, other in _PAIRS.items())
    return opened or text.count('"') % 2 == 1 or text.lower().endswith(("...", "…", ",", " the", " an"))
