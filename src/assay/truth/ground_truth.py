"""Ground truth: what is asked, what is right, and what it speaks of.

A document is a file without lines here: its id stands where a path stands, so that one set of measures serves
repositories and collections of texts. What a reader cannot use becomes a `Problem`, and the rest still counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.types import Chunk, Judgment, Problem, Query


@dataclass(frozen=True, slots=True)
class Truth:
    """Queries with their judgments, and the corpus they speak of."""

    name: str
    queries: tuple[Query, ...]
    judgments: tuple[Judgment, ...]
    documents: tuple[Chunk, ...] = ()
    """The corpus when the ground truth brings it along, each with its id as path; else it is a checkout."""
    repository: str = ""
    """Where the checkout comes from: `owner/name`, a URL or a folder."""
    commit: str = ""
    """What the judgments speak of; empty when nobody said."""
    hidden: tuple[str, ...] = ()
    """Targets whose lines are blanked in the corpus before it is indexed: they hold the questions."""


@dataclass(frozen=True, slots=True)
class TruthFile:
    """What a file of ground truth held."""

    truth: Truth
    problems: tuple[Problem, ...] = ()
    rows: tuple[int, ...] = ()
    """The line of each judgment in the file that was read, in their order; empty where they have none."""
    file: str = ""
    """The name of that file."""
    as_published: bool = False
    """Paths are matched and results are counted as the script does with which figures of this format are published."""

    def where(self, at: int) -> str:
        """Return where a judgment stands: file and row, else its query."""
        return f"{self.file}:{self.rows[at]}" if self.rows else f"query {self.truth.judgments[at].query_id}"
