"""Texts and filters to checked queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import InputError, nearest
from assay.search.question import query_words
from assay.types import KINDS, Mode, Query

LONGEST_QUERY = 20_000
"""Characters; an issue with its stack trace is shorter, a file is longer."""


def queries_of(
    texts: Sequence[str | Query],
    *,
    mode: Mode | None = None,
    languages: Sequence[str] = (),
    paths: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> list[Query]:
    """Return queries with their filters, all of them checked; with none that keeps something they ask for code.

    A text may have query words, `lang:py "exact" /regex/`, which are taken out of it, but for `repo:`, which is for who
    chooses what is searched (`repositories_in`). A `Query` keeps its id, its text, its tags and the filters it has;
    those given here are added to them.
    """
    added = Query("", "", mode or "all", tuple(map(language_named, languages)), tuple(paths), tuple(map(_kind, kinds)))
    named = mode or ("all" if _keeps((*added.languages, *added.paths, *added.kinds)) else None)
    return [_query(str(number), text, named, added) for number, text in enumerate(texts, 1)]


def repositories_in(texts: Sequence[str | Query]) -> tuple[str, ...]:
    """Return the globs of the repositories that texts keep to by the query word `repo:`."""
    typed = (query_words(text).repositories for text in texts if isinstance(text, str))
    return tuple(dict.fromkeys(one for found in typed for one in found))


def _query(number: str, text: str | Query, mode: Mode | None, added: Query) -> Query:
    if isinstance(text, str):
        return _query_of_text(number, text, mode, added)
    _check(text.text)
    return replace(
        text,
        languages=text.languages + added.languages,
        paths=text.paths + added.paths,
        kinds=text.kinds + added.kinds,
    )


def _query_of_text(number: str, text: str, mode: Mode | None, added: Query) -> Query:
    """Return what somebody typed as a query; one with words that keep languages, files or kinds looks in everything.

    So does one that nothing is asked by meaning.
    """
    words = query_words(text)
    _check(text)
    everything = _keeps((*words.languages, *words.paths, *words.kinds)) or not words.by_meaning
    return Query(
        number,
        words.text,
        mode or ("all" if everything else "code"),
        tuple(map(language_named, words.languages)) + added.languages,
        words.paths + added.paths,
        tuple(map(_kind, words.kinds)) + added.kinds,
        words.symbols,
        words.exact,
        words.patterns,
    )


def _keeps(filters: Sequence[str]) -> bool:
    """Say whether filters name what is wanted; to leave something out is not to want all the rest."""
    return any(not one.startswith("!") for one in filters)


def _check(text: str) -> None:
    if not re.search(r"\w", text) and query_words(text).is_plain:
        raise InputError("the query holds no word to search for; ask something, such as 'where are retries handled'")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"the query has {len(text):,} characters, at most {LONGEST_QUERY:,} are searched; cut it")


def language_named(name: str) -> str:
    """Return the language that a name or a file extension says: `python` and `py` are one; `!` before it stays."""
    if name.startswith("!"):
        return f"!{language_named(name[1:])}"
    known = {*BY_EXTENSION.values(), *BY_NAME.values()}
    wanted = name.lower().lstrip(".")
    if wanted in known:
        return wanted
    if wanted in BY_EXTENSION:
        return BY_EXTENSION[wanted]
    raise InputError(f"unknown language '{name}'; {nearest(wanted, sorted(known))}")


def _kind(name: str) -> str:
    if name.startswith("!"):
        return f"!{_kind(name[1:])}"
    known = [kind for kind in KINDS if kind]
    if name.lower() in known:
        return name.lower()
    raise InputError(f"unknown kind '{name}'; {nearest(name.lower(), known)}")
