"""A commit in, the chunks that it is found by out: one of its message, and one of what it changed in each file.

A message says why, in prose, and a change says what, in code, so that each is ranked beside its like. The path of a
chunk is the commit's id, and below it the file's; author and date stand where other chunks have their parents and
signature, so that nothing but chunks has to be stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.corpus.git_history import Commit
from assay.corpus.languages import language_of
from assay.corpus.patches import FileChange, Hunk
from assay.types import Chunk

MOST_FILES = 30
"""Changed files of a commit whose changes are read; all are named."""
_MOST_NAMED = 200
_LONGEST_MESSAGE = 4000
_LONGEST_CHANGE = 3000
"""Characters of what a commit changed in a file."""
_FILES = "\x1e"
"""What stands between a message and the files, and in no message that somebody typed."""
_DECLARED = re.compile(
    r"\b(?:def|class|func|fn|function|impl|struct|enum|trait|interface|type|module|sub)\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)"
)
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")


def commit_chunks(commit: Commit) -> Iterator[Chunk]:
    """Yield the chunks of a commit, its message first."""
    paths = [change.after or change.before for change in commit.changes]
    message = commit.message[:_LONGEST_MESSAGE]
    yield Chunk(
        commit.id,
        "\n".join((message, _FILES, *paths[:_MOST_NAMED])),
        "text",
        commit.id,
        1,
        1 + message.count("\n"),
        symbol=commit.subject[:200],
        kind="section",
        parent=commit.author[:200],
        doc=commit.body[:_LONGEST_MESSAGE],
        signature=commit.written,
    )
    for change, path in list(zip(commit.changes, paths, strict=True))[:MOST_FILES]:
        if change.hunks and not change.binary:
            yield _change_chunk(commit, change, f"{commit.id}/{path}")


def changed_files(message: Chunk) -> tuple[str, ...]:
    """Return the files that the commit of a message changed, the first two hundred."""
    return tuple(filter(None, message.text.rpartition(_FILES)[2].split("\n")))


def _change_chunk(commit: Commit, change: FileChange, path: str) -> Chunk:
    first = change.hunks[0].start
    text = "\n".join(_lines(change))[:_LONGEST_CHANGE]
    names = dict.fromkeys(name for hunk in change.hunks for name in _names(hunk))
    return Chunk(
        path,
        text,
        language_of(path),
        path,
        first,
        first,
        symbol=", ".join(list(names)[:8]),
        kind="block",
        parent=commit.author[:200],
        doc=commit.subject[:200],
        signature=commit.written,
    )


def _lines(change: FileChange) -> Iterator[str]:
    for hunk in change.hunks:
        if hunk.context:
            yield f"@ {hunk.context}"
        yield from (f"- {line}" for line in hunk.removed if line)
        yield from (f"+ {line}" for line in hunk.new if line)


def _names(hunk: Hunk) -> Iterator[str]:
    """Yield the names that a change declares, and that of what it stands in."""
    found = _DECLARED.search(hunk.context) or _CALLED.search(hunk.context)
    if found:
        yield found[1]
    for line in (*hunk.removed, *hunk.new):
        if declared := _DECLARED.search(line):
            yield declared[1]
