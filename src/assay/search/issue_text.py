"""A pasted issue in, what it asks out: its title, and what it says without what every issue holds.

Forms to fill in, lists of versions and logs are the same in all issues of a project, so their words point nowhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.search.named_places import NamedPlace, places_of
from assay.search.question import LONG

_LONGEST = 20_000  # characters that are read
_ASKED = 2000  # characters that are asked: twice as many find no more
_TITLE = 120  # characters at most
_SENTENCE = 80  # characters from which a line that ends in a period is text

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|</?(?:details|summary|br|p|div|img|sub|sup)\b[^<>\n]{0,200}>", re.DOTALL)
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?P<marked>.+)|\s*(?:\*\*|__)(?P<bold>[^*\n]{3,80}?)(?:\*\*|__)\s*:?\s*$")
_ABOUT_FORM = re.compile(
    r"environment|version|platform|operating system|\bos\b|system info|system details|packages|pip (?:list|freeze)"
    r"|check\s?list|additional context|screenshot",
    re.IGNORECASE,
)
"""Headings over what is about the reporter's machine, or about the form."""
_NOISE = re.compile(
    r"\s*[-*]\s+\[[ xX]\]"  # a box to tick
    r"|\W*\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\W*\d\d:\d\d:\d\d"  # a line of a log
    r"|\s*(?:[-=*_~+|#]\s*){4,}$"  # a rule
    r"|Traceback \(most recent call last\)"
)
_VERSION = re.compile(r"\s*[-*]?\s*[\w.()/+-]+(?: [\w.()/+-]+){0,3}\s*(?::|==?|\s)\s*v?\d+(?:\.\w+)+\S*\s*$")
_LONGEST_VERSION = 100  # characters of a line that names a version and says nothing else
_CODE = ("    ", "\t", ">>>", "$ ")
_LABEL = re.compile(r"^(?:#+\s+|\[[\w ]{1,20}\]:?\s*|(?:bug|feature|feature request|question)\s*:\s*)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IssueText:
    """An issue taken apart."""

    title: str
    """Empty where the text begins with a heading of a form, a sentence, or a trace."""
    text: str
    """The title and what is said below it, prose before code, as far as it is worth asking."""
    places: tuple[NamedPlace, ...]
    """Files that are named, the most telling first."""


def issue_of(text: str) -> IssueText | None:
    """Take an issue apart; None for a question, which is asked as it stands."""
    text = _HIDDEN.sub(" ", text[:_LONGEST]).strip()
    if len(text) < LONG or "\n" not in text:
        return None
    lines = _telling_lines(text)
    return IssueText(_title(text), "\n".join(lines)[:_ASKED], places_of(text)) if lines else None


def _title(text: str) -> str:
    """Return the first line, without labels, if it is one that somebody put above the rest."""
    first = text.partition("\n")[0].strip()
    is_text = first.endswith((":", ",", ";", "!")) or (first.endswith(".") and len(first) > _SENTENCE)
    if is_text or len(first) > _TITLE or _heading(first, first=True) or _NOISE.match(first) or _FENCE.match(first):
        return ""
    return _LABEL.sub("", first) or first


def _telling_lines(text: str) -> list[str]:
    """Return the lines that are not of a form, of a list of versions or of a log, prose before code."""
    prose, code = list[str](), list[str]()
    fenced = about_form = False
    for line in filter(str.strip, text.split("\n")):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _heading(line, first=not prose)):
            about_form = bool(_ABOUT_FORM.search(heading))
        elif not about_form and not _is_noise(line):
            (code if fenced or line.startswith(_CODE) else prose).append(line)
    return prose + code


def _heading(line: str, *, first: bool) -> str:
    """Return the text of a heading; the first one of the highest level is the issue's own title and none."""
    found = _HEADING.match(line)
    return "" if not found or (first and line.startswith("# ")) else found["marked"] or found["bold"]


def _is_noise(line: str) -> bool:
    return bool(_NOISE.match(line) or (len(line) <= _LONGEST_VERSION and _VERSION.match(line)))
