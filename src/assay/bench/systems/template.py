"""A command, URL or table of arguments with `{query}` and its like in, the same with one query's values out.

A command is split into words before anything is filled in, and what was filled in is never looked at again: no query
can add an argument, name a program or reach a shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from assay.bench.system_corpus import SystemCorpus
from assay.errors import InputError, nearest
from assay.search.question import understand

NAMES = ("query", "regex", "k", "corpus", "location")
"""What may stand in braces; `{{query}}` stands for itself."""

_BRACES = re.compile(r"\{\{(\w+)\}\}|\{([a-z_]+)\}")
_ASKED = ("{query}", "{regex}")

Values = Mapping[str, str]


def words_of(template: str, known: tuple[str, ...] = NAMES) -> list[str]:
    """Split a command as a shell would, and refuse one that is empty, unknown or made by the query."""
    try:
        words = shlex.split(template)
    except ValueError as error:
        raise InputError(f"'{template}' is no command: {error}") from error
    if not words:
        raise InputError("the command is empty; wanted one such as 'rg -n -e {regex} {corpus}'")
    if any(name in words[0] for name in _ASKED):
        raise InputError(f"'{words[0]}' would let a query name the program; start the command with the program")
    for word in words:
        check(word, known)
    return words


def check(text: str, known: tuple[str, ...] = NAMES) -> None:
    """Refuse a name in braces that nothing is known of."""
    for found in _BRACES.finditer(text):
        if found[2] and found[2] not in known:
            raise InputError(f"'{{{found[2]}}}' in '{text}' is unknown; {nearest(found[2], known)}")


def values_of(corpus: SystemCorpus, location: str, text: str = "", k: int = 0) -> Values:
    """Return what stands for each name; a query that looks like an option gets a space before it."""
    plain = text.replace("\0", " ").encode("utf-8", "replace").decode()
    return {
        "query": f" {plain}" if plain.startswith("-") else plain,
        "regex": "|".join(re.escape(word) for word in understand(plain).words),
        "k": str(k),
        "corpus": str(corpus.root),
        "location": location,
    }


def filled(text: str, values: Values) -> str:
    """Return a text with each name in braces replaced, once."""
    return _BRACES.sub(lambda found: f"{{{found[1]}}}" if found[1] else values[found[2]], text)


def filled_all(value: Any, values: Values) -> Any:
    """Return a table with all of its texts filled in; the text `{k}` alone becomes a number."""
    if isinstance(value, Mapping):
        return {key: filled_all(each, values) for key, each in value.items()}
    if isinstance(value, list):
        return [filled_all(each, values) for each in value]
    if value == "{k}":
        return int(values["k"])
    return filled(value, values) if isinstance(value, str) else value


def check_all(value: Any) -> None:
    """Refuse unknown names in braces anywhere in a table."""
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            check_all(each)
    elif isinstance(value, str):
        check(value)
