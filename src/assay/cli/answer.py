"""Write an answer as text, JSON, JSON lines, or places for editors.

Paths are relative to the searched root in JSON; text, places, and JSON of several roots, put the root before them as
it was typed, so that they can be opened from where one stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from assay.cli import text
from assay.cli.workspaces import about
from assay.errors import InputError, counted, printable
from assay.io.terminal import dumps, say, wants_color
from assay.operations.answer import Answer
from assay.operations.sizing import as_row, record
from assay.operations.workspace import Workspace
from assay.search.display import Line, by_file, excerpt, fit, grouped, hits_to_group, lines, others_text, terms_to_mark
from assay.search.text_matches import MOST_MATCHES
from assay.terms import tokens
from assay.values import Hit

if TYPE_CHECKING:
    from assay.cli.search import SearchOptions

_MOST_PROBLEMS = 5
"""Roots that standard error names one by one."""


def listed(given: SearchOptions, ask: Callable[[int], Answer], limit: int) -> Answer:
    """Return an answer with what is listed: hits, groups of them or files; `ask` returns one of so many hits."""
    if given.by != "file" and (given.form != "text" or given.expanded):
        return ask(limit)
    for depth in hits_to_group(limit):
        answer = ask(depth)
        groups = grouped(answer.hits)
        entries = by_file(groups) if given.by == "file" else [[hit] for hit in groups]
        if len(entries) >= limit or len(answer) < depth:
            break
    return replace(answer, hits=tuple(hit for entry in entries[:limit] for hit in entry))


@dataclass(frozen=True, slots=True)
class AnswerOutput:
    """An answer with what it is printed with: the queries, the indexes asked, and how it is to look."""

    answer: Answer
    queries: tuple[str, ...]
    opened: Sequence[Workspace]
    given: SearchOptions

    def written(self) -> str:
        """Return what to print; with a budget, as much of it as that holds."""
        forms = {"text": self._text, "json": self._json, "jsonl": self._json_lines, "vimgrep": self._places}
        return forms[self.given.form]()

    def _json(self) -> str:
        first: dict[str, Any] = {"query": "\n".join(self.queries), "relevant": self.answer.relevant}
        notes = {
            "corrected": "\n".join(self.answer.corrected),
            "language": self.answer.language,
            "notes": self.answer.notes,
            "problems": [{"root": each.where, "problem": each.what} for each in self.answer.problems],
        }
        first |= {name: value for name, value in notes.items() if value}
        rest = {"index": about(self.opened, brief=self.given.budget is not None), **self._matches()}
        hits = self._fitting(dumps(first | rest | {"hits": []}), lambda hit: dumps(as_dict(hit)) + ", ")
        return dumps(first | {"hits": list(map(as_dict, hits))} | rest) + "\n"

    def _json_lines(self) -> str:
        matches = self._matches()
        rest = dumps(matches) + "\n" if matches else ""
        if not (self.answer.relevant or self.given.nearest):
            return rest
        if self.given.by == "file":
            return "".join(map(self._file_line, self._files(rest, self._file_line))) + rest
        return "".join(map(self._json_line, self._fitting(rest, self._json_line))) + rest

    def _json_line(self, hit: Hit) -> str:
        row = as_dict(hit)
        return dumps({"path": row.pop("path"), "relevant": self.answer.relevant, **row}) + "\n"

    def _file_line(self, hits: Sequence[Hit]) -> str:
        rows = list(map(as_dict, hits[: text.MOST_PLACES]))
        kept = ("start_line", "end_line", "score", "symbol", "kind", "others")
        file = {key: value for key, value in rows[0].items() if key in {"root", "path"}}
        places = [{key: row[key] for key in kept if key in row} for row in rows]
        return dumps({**file, "relevant": self.answer.relevant, "places": places}) + "\n"

    def _places(self) -> str:
        places = (self._matches().get("matches") or {}).get("places", ())
        rest = "".join(f"{printable(place['path'])}:{place['line']}:{place['column']}:match\n" for place in places)
        return "".join(map(self._place, self._fitting(rest, self._place))) + rest

    def _place(self, hit: Hit) -> str:
        return text.quickfix(hit, self._lines(hit))

    def _text(self) -> str:
        matches = self._matches()
        rest = _matches_text(matches["matches"]) if matches and self.given.all_matches else ""
        if self.given.by == "file":
            shown = partial(text.file_text, wanted=terms_to_mark(self._asked))
            return "".join(shown(file, color=wants_color()) for file in self._files(rest, shown)) + rest
        color = wants_color()
        return "".join(self._hit_text(hit, color=color) for hit in self._fitting(rest, self._hit_text)) + rest

    def _hit_text(self, hit: Hit, *, color: bool = False) -> str:
        explain, clip, wanted = self.given.explained, not self._whole, terms_to_mark(self._asked)
        more = [f"also {text.place(one, wanted)}" for one in hit.others] if self.given.expanded else [*others_text(hit)]
        shown = text.hit_text(hit, self._lines(hit), wanted, more, explain=explain, clip=clip, color=color)
        return f"{shown}\n"

    @property
    def _asked(self) -> tuple[str, ...]:
        """Return the queries as they were searched for, in whose words lines are chosen and marked."""
        return self.answer.corrected or self.queries

    @property
    def _whole(self) -> bool:
        return self.given.full or self.given.budget is not None

    def _lines(self, hit: Hit) -> list[Line]:
        """Return the lines of a hit that text shows; places are those of the same lines."""
        count = self.opened[0].settings.search.excerpt_lines
        return lines(hit.chunk) if self._whole else excerpt(hit.chunk, terms_to_mark(self._asked), count)

    def _fitting(self, rest: str, write: Callable[[Hit], str]) -> Sequence[Hit]:
        """Return the hits that the budget holds beside the rest of the output."""
        hits, budget = self.answer.hits, self.given.budget
        if budget is None:
            return hits
        fitting = fit(hits, terms_to_mark(self._asked), budget - tokens(rest), lambda hit: tokens(write(hit)))
        if hits and not fitting:
            raise InputError(f"a budget of {budget} tokens holds no line of the best hit; give it more")
        return fitting

    def _files(self, rest: str, write: Callable[[Sequence[Hit]], str]) -> Sequence[Sequence[Hit]]:
        """Return the hits of each file, of as many files as the budget holds beside the rest of the output."""
        files, budget = by_file(self.answer.hits), self.given.budget
        if budget is None:
            return files
        taken = accumulate((tokens(write(file)) for file in files), initial=tokens(rest))
        fitting = sum(each <= budget for each in taken) - 1
        if files and fitting < 1:
            raise InputError(f"a budget of {budget} tokens does not hold the best file; give it more")
        return files[:fitting]

    def _matches(self) -> dict[str, Any]:
        """Return the matches as JSON has them; places that would take over half of the budget are left out."""
        if self.answer.matches is None:
            return {}
        places, budget = self.answer.matches, self.given.budget
        counts = {"count": len(places), "files": len({place.path for place in places})}
        if not self.given.all_matches:
            return {"matches": counts}
        matches = {**counts, "places": list(map(asdict, places))}
        if budget is not None and tokens(dumps(matches)) > budget // 2:
            return {"matches": counts}
        return {"matches": matches}


def explain(answer: Answer, opened: Sequence[Workspace], *, hidden: bool = False, counts: bool = False) -> None:
    """Say on standard error what is to be known about an answer; `hidden` is of hits that are not printed.

    With `counts`, say how many matches there are, which the output does not list.
    """
    if answer.corrected:
        how = f"read as {answer.language}" if answer.language else "spelling corrected"
        say(f"{how}: {', '.join(map(repr, answer.corrected))}")
    for note in answer.notes:
        say(note)
    if counts and answer.matches is not None:
        files = len({place.path for place in answer.matches})
        more = "or more " if len(answer.matches) == MOST_MATCHES else ""
        say(
            f"{counted(len(answer.matches), 'match')} {more}in {counted(files, 'file')}; --all-matches lists the places"
        )
    for problem in answer.problems[:_MOST_PROBLEMS]:
        say(f"not all roots were searched: {problem}")
    if len(answer.problems) > _MOST_PROBLEMS:
        say(f"{len(answer.problems) - _MOST_PROBLEMS} more roots were not searched; --format json lists them")
    if answer and not answer.relevant:
        nearest = "--nearest prints the nearest" if hidden else "these are only the nearest"
        say(f"nothing relevant here, it seems; {nearest}")
    elif not answer and any(one.report.files for one in opened):
        say("nothing found")


def as_dict(hit: Hit) -> dict[str, Any]:
    """Return a hit as JSON has it (docs/formats.md); lines are 1-based and inclusive."""
    unit = record(hit, explain=True)
    return as_row(unit, "more", "why") | {"why": unit.why}


def _matches_text(matches: Mapping[str, Any]) -> str:
    """Return matches for people: how many, then the lines of each file."""
    rows: dict[str, list[str]] = {}
    for place in matches.get("places", ()):
        rows.setdefault(place["path"], []).append(str(place["line"]))
    head = f"{counted(matches['count'], 'match')} in {counted(matches['files'], 'file')}\n"
    return head + "".join(
        f"  {printable(path)}: {', '.join(dict.fromkeys(numbers))}\n" for path, numbers in rows.items()
    )
