"""What is said of an index: what it holds and leaves out, what its refresh did, how it stands against the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.corpus.walked_files import Skipped
from assay.search.index_changes import Differences


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index holds and leaves out, and what its refresh did."""

    files: int
    """Files with text in the index, copies of the same text included."""
    chunks: int
    described: int = 0
    """Chunks with a description."""
    skipped: tuple[Skipped, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """What is to be known about how a file was cut, by its path."""
    changed: Differences = Differences()  # noqa: RUF009  frozen
    """What its refresh brought up to date."""
    rebuilt_because: str = ""
    """Why nothing of the former index was kept, or empty."""
    seconds: float = 0.0
    busy: bool = False
    """Another process was writing for longer than was to be waited: this is the version before."""
    unwritten: str = ""
    """Why files that changed are not in it: nothing can be written, and this is the version before. Or empty."""
    folders: tuple[str, ...] = ()
    """Below the root, those that were looked into, as `Walk` has them."""

    @property
    def stale(self) -> bool:
        """Say whether files changed that are not in it."""
        return self.busy or bool(self.unwritten)


@dataclass(frozen=True, slots=True)
class Freshness:
    """How an index stands against the files, when nothing is done about it."""

    report: IndexReport
    stale: Differences
    """What the next refresh would change."""
    updated_s: float
    """When it was last written, in seconds since 1970."""
    encoder: str
    """What it was made with, whatever the settings say now."""
    form: str
    """The format it is stored in, with its version."""
    rebuild_because: str = ""
    """Why the next refresh would make it anew, or empty."""
    is_compared: bool = True
    """Whether files were looked at; those of an index that is read as it is need not be here."""
