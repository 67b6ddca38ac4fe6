"""Name the units that commits changed: those around the changes, from git's hunk headers, and added ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.corpus.git import reading
from assay.corpus.patches import changed_path

_HEADS = tuple(
    "log --format=%x00%H --no-notes --no-color --no-ext-diff --no-textconv --no-renames --relative -p --unified=0"
    " --submodule=short --ignore-submodules=all --src-prefix=a/ --dst-prefix=b/ --no-walk=unsorted --stdin -- .".split()
)
_KEYWORDS = "def|class|func|fn|function|impl|struct|enum|trait|interface|type|module|sub|fun"
_DECLARED = re.compile(rf"\b(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?([A-Za-z_]\w*)")
_MAY_DECLARE = re.compile(rf"\b(?:{_KEYWORDS})\s".encode())
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_MAX_LINE_BYTES = 300
_MAX_NAMES = 100
"""Names of one file that count as changed by a commit: one that changes more says nothing of each."""


class ChangedUnits(NamedTuple):
    """The names of the units that one commit changed, by the path of their file."""

    id: str
    names: dict[str, list[str]]


def declared_name(line: str) -> str:
    """Return the name that a line declares; empty without one."""
    found = _DECLARED.search(line)
    return found[1] if found else ""


def head_name(line: str) -> str:
    """Return the name of the unit in the line of a hunk header: what it declares, or else calls."""
    found = _DECLARED.search(line) or _CALLED.search(line)
    return found[1] if found else ""


def changed_units(root: Path, ids: Sequence[str]) -> Iterator[ChangedUnits]:
    """Yield the units that commits changed, by full ids, in this order; merges count as without changes."""
    with reading(root, *_HEADS, stdin="".join(f"{id_}\n" for id_ in ids).encode("ascii")) as printed:
        commit, names, found = "", dict[str, list[str]](), list[str]()
        for line in printed:
            if line.startswith(b"\0"):
                if commit:
                    yield ChangedUnits(commit, names)
                commit, names, found = line[1:].decode("ascii", "replace").strip(), {}, []
            elif line.startswith(b"+++ "):
                path = changed_path(line)
                found = names.setdefault(path, []) if path else []
            elif len(found) < _MAX_NAMES and (name := _name(line)):
                found.append(name)
        if commit:
            yield ChangedUnits(commit, names)


def _name(line: bytes) -> str:
    """Return the name in a line of a patch: in a hunk header, or in an added declaration."""
    if line.startswith(b"@@ "):
        return head_name(line[:_MAX_LINE_BYTES].decode("utf-8", "replace").split("@@", 2)[-1])
    if line.startswith(b"+") and _MAY_DECLARE.search(line, 1, _MAX_LINE_BYTES):
        return declared_name(line[:_MAX_LINE_BYTES].decode("utf-8", "replace"))
    return ""
