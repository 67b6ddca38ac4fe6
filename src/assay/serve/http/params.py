"""Declare the parameters and bodies of the HTTP API with their limits, and refuse all others.

A number is written as one and a truth value is `true` or `false`; what is unknown, or given twice where one is wanted,
is refused rather than passed over.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Literal

from fastapi import HTTPException, Query, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BeforeValidator, Field, StringConstraints

from assay.corpus.code_pattern import LONGEST as LONGEST_PATTERN
from assay.corpus.languages import BY_EXTENSION, BY_NAME, GRAMMARS
from assay.errors import nearest
from assay.operations.answer import LONGEST_QUERY
from assay.serve.responses import Detail
from assay.serve.search_tools import LEAST_BUDGET, MOST_HITS, MOST_PROGRAMS, MOST_QUERIES
from assay.values import KINDS

LONGEST_PATH = 4096
MOST_GLOBS, LONGEST_GLOB = 100, 500
MOST_BUDGET = 200_000
LAST_LINE = 10**9
LONGEST_NAME = 200

_JSON = "application/json"
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_TRUTH = {"true": True, "false": False}
_PARSED = sorted({*GRAMMARS, *(ending for ending, language in BY_EXTENSION.items() if language in GRAMMARS)})
_LANGUAGES = sorted({*BY_EXTENSION, *BY_EXTENSION.values(), *BY_NAME.values()})


def _whole(value: Any) -> Any:
    """Return a number that is written as one; anything else is refused."""
    if isinstance(value, str) and not _WHOLE.fullmatch(value):
        raise ValueError(f"wanted a whole number, not '{value[:40]}'")
    return value


def _truth(value: Any) -> Any:
    if isinstance(value, str) and value not in _TRUTH:
        raise ValueError(f"wanted true or false, not '{value[:40]}'")
    return _TRUTH.get(value, value) if isinstance(value, str) else value


def number(least: int, most: int, description: str) -> Any:
    """Return what declares a whole number."""
    return Field(ge=least, le=most), BeforeValidator(_whole), Query(description=description)


def _flag(description: str) -> Any:
    return BeforeValidator(_truth), Query(description=description)


def _text(description: str, most: int = LONGEST_PATH, **more: Any) -> Any:
    return Query(max_length=most, description=description, **more)


_Glob = Annotated[str, StringConstraints(max_length=LONGEST_GLOB)]
_Question = Annotated[str, StringConstraints(max_length=LONGEST_QUERY, pattern=r"\w")]
_LanguageName = Annotated[str, Field(json_schema_extra={"enum": _LANGUAGES})]
_Kind = Annotated[str, Field(json_schema_extra={"enum": [kind for kind in KINDS if kind]})]
_WORDINGS = "A question, a name in any spelling, an error message; several wordings are united."
_PLACE = (
    "A folder or file below what is served, or the https URL of a repository; empty for all in a search, for the one "
    "served folder elsewhere."
)
_GLOBS = "Keep files that match one: *.py, src/**; !tests/** leaves out. Relative to the path."
_REPOSITORIES = "Search the served folders whose name or path matches one: api-*; !*-old leaves out. Without path."
_NAME_HERE = "Instead of a line: a unit, such as Task.retry, below the path."
_PAGE_BEFORE = "The cursor of the page before, all else the same; empty for the first."
_HOLES = "Code with holes: open($PATH, $$$REST); $X is one node, $$$X any number."

Queries = Annotated[list[_Question], _text(_WORDINGS, MOST_QUERIES, alias="query", min_length=1)]
Path = Annotated[str, _text(_PLACE)]
File = Annotated[str, _text("A file below what is served.", min_length=1)]
Name = Annotated[str, _text("A name on that line, alone.", LONGEST_NAME, min_length=1, pattern=r"^[\w$#!?]+$")]
UnitName = Annotated[str, _text(_NAME_HERE, LONGEST_NAME)]
Line = Annotated[int, *number(1, LAST_LINE, "A line of it, from 1.")]
LineOrNone = Annotated[int, *number(0, LAST_LINE, "A line of the file, from 1.")]
Count = Annotated[int, *number(1, MOST_HITS, "Entries of a page, at most.")]
Budget = Annotated[int, *number(LEAST_BUDGET, MOST_BUDGET, "Tokens that the answer may take, about.")]
Cursor = Annotated[str, Query(pattern=r"^([A-Za-z0-9_-]{27})?$", description=_PAGE_BEFORE)]
Mode = Annotated[
    Literal["", "code", "docs", "all"],
    Query(description="What to find; empty: code, or all where languages, kinds or globs keep."),
]
Languages = Annotated[
    list[_LanguageName], _text("Keep these; a file's ending is a name, too.", MOST_GLOBS, alias="language")
]
Language = Annotated[
    str, Query(json_schema_extra={"enum": _PARSED}, description="Of the files to look in; one with a grammar.")
]
Kinds = Annotated[list[_Kind], _text("Keep these kinds of unit.", len(KINDS), alias="kind")]
Globs = Annotated[list[_Glob], _text(_GLOBS, MOST_GLOBS, alias="glob")]
Repositories = Annotated[list[_Glob], _text(_REPOSITORIES, MOST_GLOBS, alias="repo")]
Past = Annotated[str, _text("What a commit did or why; empty for the newest.", LONGEST_QUERY)]
Author = Annotated[str, _text("A part of the author's name or address.", 200)]
Date = Annotated[
    str, Query(pattern=r"^(\d{4}(-\d{2}(-\d{2})?)?)?$", description="A day, month or year, which is included.")
]
DetailOf = Annotated[Detail, Query(description="Of each hit its place and name, its telling lines too, or all of it.")]
Explain = Annotated[bool, *_flag("Add what each score is made of.")]
Styled = Annotated[bool, *_flag("Add each line as pairs of a class and a text, for highlighting.")]
Grouped = Annotated[bool, *_flag("One hit for several members of a type, the best one, which names the others.")]
Pattern = Annotated[str, _text(_HOLES, LONGEST_PATTERN, pattern=r"\S")]


async def exact(request: Request) -> None:
    """Refuse parameters that the route does not know, one given twice that is no list, and a body that is no JSON."""
    query, route = request.query_params, request.scope["route"]
    if request.method == "POST" and request.headers.get("Content-Type", "").partition(";")[0].strip() != _JSON:
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"the body is to be {_JSON}")
    if not query or not route.include_in_schema:  # the page's own parameters are its own
        return
    places = (route.dependant, *route.dependant.dependencies)
    known = {field.alias: field for each in places for field in each.query_params}
    problems = [
        _problem(name, f"unknown parameter; {nearest(name, sorted(known))}") for name in query if name not in known
    ]
    times = Counter(name for name, _ in query.multi_items() if name in known and not _is_list(known[name]))
    problems += [_problem(name, "given more than once") for name in sorted(times) if times[name] > 1]
    if problems:
        raise RequestValidationError(problems)


def _is_list(field: Any) -> bool:
    return str(field.field_info.annotation).startswith("list[")


def _problem(name: str, what: str) -> dict[str, Any]:
    return {"loc": ("query", name[:40]), "msg": what, "type": "value_error"}


HIGHEST_GRADE = 1


def _number(value: Any) -> Any:
    if isinstance(value, str | bool):
        raise ValueError(f"wanted a number, not {value!r:.40}")  # noqa: TRY004  what pydantic takes
    return value


Grade = Annotated[int, Field(ge=0, le=HIGHEST_GRADE), BeforeValidator(_number)]
_EXACT = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Candidate programs for one task."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _EXACT

    programs: Annotated[list[str], Field(min_length=1, max_length=MOST_PROGRAMS)]
    """Python sources that try to solve the task."""
    prompt: str = ""
    """The task."""
    entry_point: str = ""
    """The function that is to be written."""


@dataclass(frozen=True, slots=True)
class Label:
    """One judgment: whether an answer is right."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _EXACT

    query: Annotated[str, Field(max_length=LONGEST_QUERY, pattern=r"\w")]
    """The question."""
    target: Annotated[str, Field(min_length=1, max_length=LONGEST_PATH)]
    """The answer, as `path:start-end` or `path::Symbol.name`, relative to the root; lines are kept by their name."""
    grade: Grade | None
    """1 is right, 0 wrong; null takes back what was said."""
    path: Annotated[str, Field(max_length=LONGEST_PATH)] = ""
    """The root, or any path in it; empty where one folder is served."""
