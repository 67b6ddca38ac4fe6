"""Texts and filters to checked queries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.corpus.languages import BY_EXTENSION, BY_NAME
from assay.errors import InputError, nearest
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
    """Return queries with their filters, all of them checked; with no filter they ask for code.

    A `Query` keeps its id, its tags and the filters it has; those given here are added to them.
    """
    if mode is None:
        mode = "all" if languages or paths or kinds else "code"
    filters = (tuple(map(language_named, languages)), tuple(paths), tuple(map(_kind, kinds)))
    return [_query(str(number), text, mode, *filters) for number, text in enumerate(texts, 1)]


def _query(  # noqa: PLR0913, PLR0917  the fields of a query
    number: str,
    text: str | Query,
    mode: Mode,
    languages: tuple[str, ...],
    paths: tuple[str, ...],
    kinds: tuple[str, ...],
) -> Query:
    if isinstance(text, str):
        return Query(number, _checked(text), mode, languages, paths, kinds)
    _checked(text.text)
    return replace(text, languages=text.languages + languages, paths=text.paths + paths, kinds=text.kinds + kinds)


def _checked(text: str) -> str:
    if not re.search(r"\w", text):
        raise InputError("the query holds no word to search for; ask something, such as 'where are retries handled'")
    if len(text) > LONGEST_QUERY:
        raise InputError(f"the query has {len(text):,} characters, at most {LONGEST_QUERY:,} are searched; cut it")
    return text


def language_named(name: str) -> str:
    """Return the language that a name or a file extension says: `python` and `py` are one."""
    known = {*BY_EXTENSION.values(), *BY_NAME.values()}
    wanted = name.lower().lstrip(".")
    if wanted in known:
        return wanted
    if wanted in BY_EXTENSION:
        return BY_EXTENSION[wanted]
    raise InputError(f"unknown language '{name}'; {nearest(wanted, sorted(known))}")


def _kind(name: str) -> str:
    known = [kind for kind in KINDS if kind]
    if name.lower() in known:
        return name.lower()
    raise InputError(f"unknown kind '{name}'; {nearest(name.lower(), known)}")
