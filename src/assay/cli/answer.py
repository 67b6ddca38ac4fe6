"""Queries and workspaces to an answer, and an answer to what is printed: text, JSON, JSON lines, or places for editors.

Paths are relative to the searched root in JSON; text, places, and JSON of several roots, put the root before them as
it was typed, so that they can be opened from where one stands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from assay.assemble import related_to
from assay.cli import text
from assay.cli.workspaces import Opened, about, counted
from assay.errors import InputError
from assay.search.excerpt import asked, excerpt, fit, lines
from assay.search.literal import Place, literal_matches
from assay.search.union import union
from assay.types import Hit, Query
from assay.words import tokens


@dataclass(frozen=True, slots=True)
class Look:
    """How an answer is to look."""

    form: str
    budget: int | None = None
    full: bool = False
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked, the best hits of all roots, every literal match if asked for, and of which index that is."""

    queries: tuple[str, ...]
    hits: tuple[Hit, ...]
    matches: Mapping[str, Any] | None
    index: Mapping[str, Any]
    excerpt_lines: int
    relevant: bool
    """Whether the best hit is likely to be right, rather than only the nearest."""

    def __bool__(self) -> bool:
        """Say whether anything was found."""
        return bool(self.hits or (self.matches and self.matches["count"]))

    def written(self, look: Look) -> str:
        """Return what to print; with a budget, as much of it as that holds."""
        forms = {"text": self._text, "json": self._json, "jsonl": self._json_lines, "vimgrep": self._places}
        return forms[look.form](look)

    def _json(self, look: Look) -> str:
        rest = {"query": "\n".join(self.queries), "relevant": self.relevant, "index": self.index}
        rest |= self._matches(look.budget)
        hits = self._fitting(look.budget, dumps(rest | {"hits": []}), lambda hit: dumps(as_dict(hit)) + ", ")
        first = {"query": rest.pop("query"), "relevant": rest.pop("relevant")}
        return dumps(first | {"hits": [as_dict(hit) for hit in hits]} | rest) + "\n"

    def _json_lines(self, look: Look) -> str:
        matches = self._matches(look.budget)
        rest = dumps(matches) + "\n" if matches else ""
        hits = self._fitting(look.budget, rest, lambda hit: dumps(as_dict(hit)) + "\n")
        return "".join(f"{dumps(as_dict(hit))}\n" for hit in hits) + rest

    def _places(self, look: Look) -> str:
        places = (self._matches(look.budget).get("matches") or {}).get("places", ())
        rest = "".join(f"{place['path']}:{place['line']}:{place['column']}:literal match\n" for place in places)
        return "".join(map(text.quickfix, self._fitting(look.budget, rest, text.quickfix))) + rest

    def _text(self, look: Look) -> str:
        matches = self._matches(look.budget)
        rest = _matches_text(matches["matches"]) if matches else ""
        whole = look.full or look.budget is not None
        wanted = asked(self.queries)

        def plain(hit: Hit) -> str:
            shown = lines(hit.chunk) if whole else excerpt(hit.chunk, wanted, self.excerpt_lines)
            return text.plain(hit, shown, wanted, explain=look.explain, clip=not whole) + "\n"

        def colored(hit: Hit) -> str:
            shown = lines(hit.chunk) if whole else excerpt(hit.chunk, wanted, self.excerpt_lines)
            return text.colored(hit, shown, wanted, explain=look.explain, clip=not whole) + "\n"

        show = colored if text.wants_color() else plain
        return "".join(map(show, self._fitting(look.budget, rest, plain))) + rest

    def _fitting(self, budget: int | None, rest: str, write: Callable[[Hit], str]) -> Sequence[Hit]:
        """Return the hits that the budget holds beside the rest of the output."""
        if budget is None:
            return self.hits
        hits = fit(self.hits, asked(self.queries), budget - tokens(rest), lambda hit: tokens(write(hit)))
        if self.hits and not hits:
            raise InputError(f"a budget of {budget} tokens holds no line of the best hit; give it more")
        return hits

    def _matches(self, budget: int | None) -> dict[str, Any]:
        """Return the literal matches as JSON has them; places that would take over half of the budget are left out."""
        if self.matches is None:
            return {}
        if budget is not None and tokens(dumps(self.matches)) > budget // 2:
            return {"matches": {key: value for key, value in self.matches.items() if key != "places"}}
        return {"matches": self.matches}


def find(queries: Sequence[Query], opened: Sequence[Opened], form: str, *, all_matches: bool) -> Answer:
    """Ask every root every query and unite what they found."""
    limit = opened[0].settings.search.limit
    hits: list[Hit] = []
    places: set[Place] = set()
    for one in opened:
        below = _prefix(one, opened, form)
        found = union(one.workspace.searcher.search(queries, limit), limit)
        hits += (replace(hit, chunk=replace(hit.chunk, path=below(hit.chunk.path))) for hit in found)
        for query in queries if all_matches else ():
            every = literal_matches(one.workspace.snapshot, query)
            places.update(replace(place, path=below(place.path)) for place in every)
    if len(opened) > 1:
        hits.sort(key=lambda hit: -hit.score)
    matches = _matches_of(sorted(places)) if all_matches else None
    sure = opened[0].workspace.is_relevant(hits) or bool(places)
    return _answer(tuple(query.text for query in queries), hits[:limit], matches, opened, sure=sure)


def find_related(one: Opened, path: str, line: int, form: str) -> Answer:
    """Return what has to do with the unit at a line."""
    below = _prefix(one, (one,), form)
    found = related_to(one.workspace, path, line, one.settings.search.limit)
    hits = [replace(hit, chunk=replace(hit.chunk, path=below(hit.chunk.path))) for hit in found]
    return _answer((f"{path}:{line}",), hits, None, (one,), sure=bool(hits))


def as_dict(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON has it (docs/formats.md); lines are 1-based and inclusive."""
    chunk = hit.chunk
    return {
        "path": chunk.path,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "score": round(hit.score, 3),
        "symbol": chunk.symbol,
        "kind": chunk.kind,
        "language": chunk.language,
        "why": {name: round(value, 3) for name, value in hit.why.items() if abs(value) >= 0.0005},
        "text": chunk.text,
    }


def dumps(value: Any) -> str:
    """Return JSON; letters stay letters, and bytes that are no UTF-8 stay the escapes that they came in as."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace").decode()


def _matches_of(places: Sequence[Place]) -> dict[str, Any]:
    files = len({place.path for place in places})
    return {"count": len(places), "files": files, "places": [asdict(place) for place in places]}


def _matches_text(matches: Mapping[str, Any]) -> str:
    """Return literal matches for people: how many, then the lines of each file."""
    rows: dict[str, list[str]] = {}
    for place in matches.get("places", ()):
        rows.setdefault(place["path"], []).append(str(place["line"]))
    head = f"{counted(matches['count'], 'literal match')} in {counted(matches['files'], 'file')}\n"
    return head + "".join(f"  {path}: {', '.join(dict.fromkeys(numbers))}\n" for path, numbers in rows.items())


def _answer(
    queries: tuple[str, ...],
    hits: Sequence[Hit],
    matches: Mapping[str, Any] | None,
    opened: Sequence[Opened],
    *,
    sure: bool,
) -> Answer:
    return Answer(queries, tuple(hits), matches, about(opened), opened[0].settings.search.excerpt_lines, sure)


def _prefix(one: Opened, opened: Sequence[Opened], form: str) -> Callable[[str], str]:
    """Return what puts a root before a path, or leaves the path as it is."""
    if form in {"json", "jsonl"} and len(opened) == 1:
        return lambda path: path
    return lambda path: Path(one.typed, path).as_posix()
