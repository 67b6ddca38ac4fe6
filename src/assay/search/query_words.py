"""A query as somebody typed it to its text and its query words: `repo: file: lang: kind: sym: "exact" /regex/`.

The words are those of code hosts: a key with its value, a text in quotes, an expression between slashes, each between
blanks. A text of several lines, or a long one, is an issue or a pasted message and has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from assay.search.question import LONG

KEYS = {
    "repo": "a repository, by name or path",
    "file": "files, by glob",
    "lang": "a language, by name or file extension",
    "kind": "a kind of unit: function, method, class, section, …",
    "sym": "a name, or a qualified one: retry, Task.retry, get_*",
}
"""What a query word keeps; with `-` before it, it leaves that out."""
_WORDS = re.compile(
    r"""(?<!\S)(?:
        "(?P<exact>(?:[^"\\\n]|\\.)+)"
        | /(?P<regex>(?:[^/\\\s]|\\.)(?:(?:[^/\\\n]|\\.)*(?:[^/\\\s]|\\.))?)/
        | (?P<sign>-?)(?P<key>KEYS):(?P<value>"[^"\n]+"|(?!//)[^\s"]\S*)
    )(?!\S)""".replace("KEYS", "|".join(KEYS)),
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_MEANING = re.compile(r"[][\\^$.*+?(){}|]")
_LETTER = re.compile(r"\w")
_NAME = re.compile(r"[^\W\d]\w{2,}")


@dataclass(frozen=True, slots=True)
class QueryWords:
    """A query taken apart; a value that starts with `!` is left out."""

    text: str
    """What is asked by meaning; empty if the words are all there is and none of them says anything."""
    repositories: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    """What the text has to hold letter by letter."""
    patterns: tuple[str, ...] = ()
    """Regular expressions that a line of the text has to match."""
    by_meaning: bool = True
    """Whether anything is asked beside the query words."""

    @property
    def is_plain(self) -> bool:
        """Say whether the query has no query word."""
        filters = (self.repositories, self.paths, self.languages, self.kinds, self.symbols)
        return not any((*filters, self.exact, self.patterns))


def query_words(typed: str) -> QueryWords:
    """Take a query apart; text in quotes stays part of what is asked by meaning, too."""
    if len(typed) > LONG or "\n" in typed.strip():
        return QueryWords(typed)
    found = [each for each in _WORDS.finditer(typed) if not _is_path(each, typed)]
    if not found:
        return QueryWords(typed)
    taken = {each.span() for each in found}
    exact = tuple(_ESCAPE.sub(r"\1", each["exact"]) for each in found if each["exact"])
    patterns = tuple(each["regex"].replace("\\/", "/") for each in found if each["regex"])
    values = {key: tuple(_values(found, key)) for key in KEYS}
    rest = " ".join(
        _WORDS.sub(lambda each: each[0] if each["exact"] or each.span() not in taken else " ", typed).split()
    )
    return QueryWords(
        rest if _LETTER.search(rest) else _names((*patterns, *values["sym"])),
        values["repo"],
        values["file"],
        values["lang"],
        values["kind"],
        values["sym"],
        exact,
        patterns,
        by_meaning=bool(_LETTER.search(_WORDS.sub(lambda each: " " if each.span() in taken else each[0], typed))),
    )


def _is_path(found: re.Match[str], typed: str) -> bool:
    """Say whether what stands between slashes is a path in a question, as in `where is /users/ handled`.

    An expression has a letter that means something in one, or stands alone.
    """
    plain = found["regex"] and not _MEANING.search(found["regex"])
    return bool(plain) and bool(_LETTER.search(_WORDS.sub(" ", typed)))


def _values(found: Iterable[re.Match[str]], key: str) -> Iterable[str]:
    for each in found:
        if each["key"] == key:
            value = each["value"].strip('"')
            several = [value] if key == "file" else value.split(",")
            yield from (f"{'!' if each['sign'] else ''}{one}" for one in several if one)


def _names(values: Iterable[str]) -> str:
    """Return the names in expressions and globs, which is what they ask for by meaning."""
    return " ".join(name for value in values for name in _NAME.findall(re.sub(r"\\[a-zA-Z]", " ", value)))
