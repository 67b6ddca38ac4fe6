"""Parse typed queries and their filters; each filter is one row of a table.

Query words are those of code hosts: a key with its value, a text in quotes, an expression between slashes, each between
blanks. A text of several lines, or a long one, is an issue or a pasted message and has none. Options, HTTP parameters
and the page are made of the same table, and what a query keeps is its fields that are tuples, so that nothing has to
list the filters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from assay.errors import InputError, nearest

if TYPE_CHECKING:
    from assay.values import Mode, Query

MAX_QUERY_CHARS = 20_000
"""Characters; an issue with its stack trace is shorter, a file is longer."""
LONG = 300
"""Characters from which a text of several lines is taken for an issue; questions and pasted messages are shorter."""


def language_named(name: str) -> str:
    """Return the language of a name or a file extension: `python` and `py` are one; `!` before it stays."""
    from assay.corpus.languages import BY_EXTENSION, BY_NAME  # not for a list of options

    known = {*BY_EXTENSION.values(), *BY_NAME.values()}
    return _canonical_value("language", name, {**BY_EXTENSION, **dict(zip(known, known, strict=True))}, known)


def kind_named(name: str) -> str:
    """Return the kind of unit of a name; `!` before it stays."""
    from assay.values import KINDS  # not for a list of options

    kinds = {kind: kind for kind in KINDS if kind}
    return _canonical_value("kind", name, kinds, kinds)


def composed_name(name: str) -> str:
    """Return a name as the index has it: a letter and its accents are one character."""
    from assay.terms import composed  # not for a list of options

    return composed(name)


def _canonical_value(what: str, name: str, values: Mapping[str, str], near: Iterable[str]) -> str:
    if name.startswith("!"):
        return f"!{_canonical_value(what, name[1:], values, near)}"
    plain = name.lower().lstrip(".")
    if plain not in values:
        raise InputError(f"unknown {what} '{name}'; {nearest(plain, sorted(near))}")
    return values[plain]


class QueryFilter(NamedTuple):
    """A filter of queries."""

    option: str
    """The name of its option, HTTP parameter, argument in Python and query word."""
    field: str
    """The field of `Query` that holds its values; empty if it chooses the repositories that are searched."""
    metavar: str
    help: str
    """The help of its option, which takes several values and excludes those after a `!`."""
    value: str
    """What the value of its query word is, for help."""
    example: str
    also: tuple[str, ...] = ()
    """Other query words of the same meaning."""
    read: Callable[[str], str] = str
    """Returns a value as the index has it, or raises InputError."""
    names: str = ""
    """What completes a value: `languages` or `kinds`."""
    has_lists: bool = True
    """Whether its query word takes several values with commas."""
    wants_all: bool = True
    """Whether a query with this filter searches code and documentation by default."""


FILTERS = (
    QueryFilter(
        "repo", "", "GLOB", "Search only repositories whose name or path matches; !GLOB excludes. Repeatable.",
        "a repository, by name or path", "repo:api-*"
    ),
    QueryFilter(
        "file", "paths", "GLOB", "Search only files that match; !GLOB excludes. Repeatable.",
        "files, by a part of the path, or src/** or *.py", "file:src/** -file:tests", also=("path",), has_lists=False
    ),
    QueryFilter(
        "lang", "languages", "NAME", "Search only a language, by name or file extension: python, py. Repeatable.",
        "a language, by name or file extension", "lang:go", read=language_named, names="languages"
    ),
    QueryFilter(
        "kind", "kinds", "NAME", "Search only a kind of unit: function, method, class, section, … Repeatable.",
        "a kind of unit: function, method, class, section, …", "kind:class", read=kind_named, names="kinds"
    ),
    QueryFilter(
        "sym", "symbols", "NAME", "Search only units of a name, or a qualified one: Task.retry, get_*. Repeatable.",
        "a name, or a qualified one: retry, Task.retry, get_*", "sym:Task.retry", read=composed_name, wants_all=False
    ),
)  # fmt: skip
"""A new filter is a row here, a field of `Query`, a line of `requests.SearchFilter`, and the code that filters."""
_OF_WORD = {word: each for each in FILTERS for word in (each.option, *each.also)}
KEYS = {word: f"the same as {each.option}" if word in each.also else each.value for word, each in _OF_WORD.items()}
"""What a query word keeps; with `-` before it, it leaves that out."""
_WORDS = re.compile(
    r"""(?<!\S)(?:
        "(?P<exact>(?:\\"|[^"\n])+)"
        | /(?P<regex>(?:[^/\\\s]|\\.)(?:(?:[^/\\\n]|\\.)*(?:[^/\\\s]|\\.))?)/
        | (?P<sign>-?)(?P<key>KEYS):(?P<value>"[^"\n]+"|(?!//)[^\s"]\S*)
    )(?!\S)""".replace("KEYS", "|".join(KEYS)),
    re.VERBOSE,
)
_MEANING = re.compile(r"[][\\^$.*+?(){}|]")
_LETTER = re.compile(r"\w")
_NAME = re.compile(r"[^\W\d]\w{2,}")


@dataclass(frozen=True, slots=True)
class QueryPart:
    """A query word, a quoted text or an expression."""

    text: str
    """As it is written."""
    key: str
    """The filter, `exact` or `regex`."""
    value: str
    """Without key, quotes and escapes."""
    is_out: bool = False
    """Whether it excludes its value."""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query taken apart."""

    text: str
    """The text to search by meaning; empty if there are only query words, without any meaning of their own."""
    parts: tuple[QueryPart, ...] = ()
    by_meaning: bool = True
    """Whether there is any text beside the query words."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By filter, `exact` and `regex`; a value that starts with `!` is left out."""

    def of(self, key: str) -> tuple[str, ...]:
        """Return the values of a filter, of `exact` or of `regex`."""
        return self.values.get(key, ())


@lru_cache(64)
def query_words(typed: str) -> QueryWords:
    """Take a query apart, once; quoted text is also searched by meaning."""
    if len(typed) > LONG or "\n" in typed.strip():
        return QueryWords(typed)
    found = [each for each in _WORDS.finditer(typed) if not _is_path(each, typed)]
    if not found:
        return QueryWords(typed)
    parts, taken = tuple(map(_part, found)), {each.span() for each in found}
    values: dict[str, tuple[str, ...]] = {}
    for part in parts:
        values[part.key] = (*values.get(part.key, ()), *_values(part))
    kept = _WORDS.sub(lambda each: each[0] if each["exact"] or each.span() not in taken else " ", typed)
    rest = " ".join(kept.split())
    is_asked = bool(_LETTER.search(_WORDS.sub(lambda each: " " if each.span() in taken else each[0], typed)))
    text = rest if _LETTER.search(rest) else names_in((*values.get("regex", ()), *values.get("sym", ())))
    return QueryWords(text, parts, is_asked, values)


def _part(match: re.Match[str]) -> QueryPart:
    if match["exact"]:
        return QueryPart(match[0], "exact", unquoted(match["exact"]))
    if match["regex"]:
        return QueryPart(match[0], "regex", match["regex"].replace("\\/", "/"))
    return QueryPart(match[0], _OF_WORD[match["key"]].option, match["value"].strip('"'), bool(match["sign"]))


def unquoted(text: str) -> str:
    """Return what stood between quotes: a backslash before a quote makes it part of the text, any other is itself."""
    return text.replace('\\"', '"')


def _values(part: QueryPart) -> Iterable[str]:
    row = _OF_WORD.get(part.key)
    several = part.value.split(",") if row and row.has_lists else [part.value]
    return (f"{'!' if part.is_out else ''}{one}" for one in several if one)


def left_out_options(argument: str) -> list[str]:
    """Return `-file:tests`, which a shell hands over like an option, as `--file=!tests`; others as they are."""
    found = _WORDS.fullmatch(argument)
    if not found or not found["sign"]:
        return [argument]
    part = _part(found)
    return [f"--{part.key}={value}" for value in _values(part)]


def _is_path(match: re.Match[str], typed: str) -> bool:
    """Return whether what stands between slashes is a path in a question, as in `where is /users/ handled`.

    An expression has a letter that means something in one, or stands alone.
    """
    plain = match["regex"] and not _MEANING.search(match["regex"])
    return bool(plain) and bool(_LETTER.search(_WORDS.sub(" ", typed)))


def names_in(values: Iterable[str]) -> str:
    """Return the names in expressions and globs, which are searched by meaning in their place."""
    return " ".join(name for value in values for name in _NAME.findall(re.sub(r"\\[a-zA-Z]", " ", value)))


def queries_of(
    texts: Sequence[str | Query], keep: Mapping[str, Sequence[str]] | None = None, *, mode: Mode | None = None
) -> list[Query]:
    """Return checked queries with their filters; those without a filter that includes something search code.

    A text may have query words, `lang:py "exact" /regex/`, which are taken out of it, but for `repo:`, which is for who
    chooses what is searched (`repositories_in`). A `Query` keeps its id, its text, its tags and the filters it has;
    those of `keep`, by the names of their options, are added to them.
    """
    kept = _fields(keep or {})
    named = mode or ("all" if _wants_all(keep or {}) else None)
    return [_query(str(number), text, named, kept) for number, text in enumerate(texts, 1)]


def repositories_in(texts: Sequence[str | Query]) -> tuple[str, ...]:
    """Return the globs of repositories in texts: the values of the query word `repo:`."""
    typed = (query_words(text).of("repo") for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(one for found in typed for one in found))


def mode_of(text: str) -> Literal["all", "code"]:
    """Return what a typed query searches by default: code, or everything if a filter of it includes something.

    So does one that nothing is asked by meaning.
    """
    words = query_words(text)
    return "all" if _wants_all(words.values) or not words.by_meaning else "code"


def _query(number: str, text: str | Query, mode: Mode | None, filters: Mapping[str, tuple[str, ...]]) -> Query:
    from assay.terms import composed
    from assay.values import FILTER_FIELDS, Query

    _check(text if isinstance(text, str) else text.text)
    if isinstance(text, str):
        words = query_words(text)
        values: dict[str, Any] = {**_fields(words.values), "exact": words.of("exact"), "patterns": words.of("regex")}
        text = Query(number, composed(words.text), mode or mode_of(text), **values)
    return replace(text, **{name: getattr(text, name) + filters.get(name, ()) for name in FILTER_FIELDS})


def _fields(values: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the fields of a query that values by the names of filters mean."""
    rows = (each for each in FILTERS if each.field)
    return {each.field: tuple(map(each.read, values.get(each.option, ()))) for each in rows}


def _wants_all(values: Mapping[str, Sequence[str]]) -> bool:
    """Return whether filters include something; to exclude something is not to want all the rest."""
    wanted = (one for each in FILTERS if each.field and each.wants_all for one in values.get(each.option, ()))
    return any(not one.startswith("!") for one in wanted)


def _check(text: str) -> None:
    if not _LETTER.search(text) and not query_words(text).parts:
        raise InputError("the query holds no word to search for; ask something, such as 'where are retries handled'")
    if len(text) > MAX_QUERY_CHARS:
        raise InputError(f"the query has {len(text):,} characters, at most {MAX_QUERY_CHARS:,} are searched; cut it")
