"""Find files that are not indexed, but contain a quoted text or a name that occurs nowhere else.

They are read for a quoted text, and for a name that is all that is asked, where the index has no match: minified and
generated files, and those that are too large. So much is read that nobody waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.corpus.encodings import decoded
from assay.corpus.walked_files import from_utf8
from assay.errors import counted, printable_name
from assay.operations.joint_search import JointSearch
from assay.operations.workspace import Workspace
from assay.terms import exact, terms_of
from assay.values import Query

MAX_READ_BYTES = 50_000_000
MAX_NAMED_FILES = 3
_REASON = re.compile(r"minified|generated|[\d.]+ MB, larger")
_CUT = "characters are cut"
_NAME = re.compile(r"[^\W\d]\w{2,}")


class _LeftOutFile(NamedTuple):
    """A file, with the reason why it is not indexed, or not whole."""

    path: str
    reason: str


def left_out_note(searches: Sequence[JointSearch], queries: Sequence[Query], matches: int) -> str:
    """Return a note on the files that are not indexed and contain the texts of a query, or an empty text.

    `matches` are in the index.
    """
    sought = [texts for query in queries if (texts := _sought(searches, query, matches))]
    members = [member for search in searches for member in search.members]
    found = list(_holding(members, sought)) if sought else []
    if not found:
        return ""
    named = ", ".join(f"{printable_name(each.path)} ({each.reason})" for each in found[:MAX_NAMED_FILES])
    more = f" and {len(found) - MAX_NAMED_FILES} more" if len(found) > MAX_NAMED_FILES else ""
    verb = "matches is" if len(found) == 1 else "match are"
    return f"{counted(len(found), 'file')} that {verb} not indexed: {named}{more}; assay grep reads them"


def _sought(searches: Sequence[JointSearch], query: Query, matches: int) -> tuple[str, ...]:
    """Return the texts of a query that the index does not hold."""
    if query.exact:
        return () if matches > 0 else query.exact
    terms = (exact(query.text), *terms_of(query.text)[-1:]) if _NAME.fullmatch(query.text) else ()
    is_held = any(each.corpus_search.snapshot.holds(term) for each in searches for term in terms)
    return () if is_held or not terms else (query.text,)


def _holding(members: Sequence[Workspace], sought: Sequence[Sequence[str]]) -> Iterator[_LeftOutFile]:
    """Yield the files that contain every text of one of some queries; at most a limit of bytes is read in all."""
    left = MAX_READ_BYTES
    for member in members:
        for path, reason in _left_out(member):
            if left <= 0:
                return
            data = _read(member, path, left)
            left -= len(data)
            text = decoded(data, member.settings.index.encoding) or ""
            if any(all(each in text for each in texts) for texts in sought):
                yield _LeftOutFile(path, reason)


def _left_out(member: Workspace) -> Iterator[_LeftOutFile]:
    """Yield the files that are not indexed, and those with a line that is cut."""
    for skipped in member.report.skipped:
        if _REASON.match(skipped.reason):
            yield _LeftOutFile(skipped.path, skipped.reason.partition(",")[0])
    for path, note in member.report.notes.items():
        if _CUT in note:
            yield _LeftOutFile(path, "a long line is cut")


def _read(member: Workspace, path: str, most: int) -> bytes:
    """Return the beginning of a file, or nothing if it cannot be read."""
    try:
        with from_utf8(member.index.root, path).open("rb") as file:
            return file.read(most)
    except OSError:
        return b""
