"""The values that everything passes around: frozen, slotted, a few lines each.

Lines are 1-based and inclusive everywhere; paths are relative to the searched root, with `/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["all", "code", "docs"]


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody asks, with what to keep of the corpus."""

    id: str
    text: str
    mode: Mode = "all"
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs on the relative path; one that starts with `!` leaves paths out."""
    kinds: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What a ground truth says about it: its kind (standard, hard, …), language, split, date."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Code or prose that can be found, judged and ranked; without a file it has no path."""

    id: str
    text: str
    language: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    symbol: str = ""
    """The unit's own name: `parse_args`, or the heading of a section of prose."""
    kind: str = ""
    """One of `KINDS`, or empty."""
    parent: str = ""
    """Enclosing names, outermost first, joined by `.`; for prose the headings above, by ` > `."""
    doc: str = ""
    """The docstring or leading comment, without its markers."""
    signature: str = ""


KINDS = (
    "",
    "function",
    "method",
    "constructor",
    "class",
    "interface",
    "struct",
    "enum",
    "trait",
    "impl",
    "type",
    "macro",
    "constant",
    "module",
    "test",
    "section",
    "block",
    "cell",
)
"""Every kind a chunk may have; the position of a kind is what an index stores."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry of a ranked answer; `why` holds each part of its score."""

    chunk: Chunk
    score: float
    why: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgment:
    """Ground truth: how well a target answers a query, and who says so."""

    query_id: str
    target: str
    """`path:start-end`, `path:line`, `path::Symbol.name`, or a whole file; a document's id is its path."""
    grade: int
    """0 for judged and wrong; the higher, the better."""
    judge: str = ""
    reason: str = ""
