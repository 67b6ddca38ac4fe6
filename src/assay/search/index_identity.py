"""How an index is built in, what its chunks and vectors depend on out: an index of another identity is rebuilt."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from assay import __version__
from assay.corpus.blocks import Sizes
from assay.encode.view import Reads
from assay.protocols import Encoder
from assay.settings import IndexSettings
from assay.store.catalog import Identity

_INDEX = IndexSettings()


@dataclass(frozen=True, slots=True)
class Build:
    """How an index is built."""

    chunk_lines: int = _INDEX.chunk_lines
    section_lines: int = _INDEX.section_lines
    quantisation: str = _INDEX.quantisation
    reads: Reads = "auto"
    open_ignored: bool = field(default=_INDEX.open_ignored, compare=False)
    """Whether `.assayignore` may bring in what git ignores; the rules of the walk remember it."""
    batch_bytes: int = field(default=8_000_000, compare=False)
    """Text that each process holds at once; nothing that is stored depends on it."""

    @property
    def sizes(self) -> Sizes:
        """Return how long chunks may be."""
        return Sizes(self.chunk_lines, self.section_lines)

    def changes(self) -> list[str]:
        """Return what differs from the defaults: part of an index's identity, where nothing stands for the usual."""
        usual = Build()
        mine = ((each.name, getattr(self, each.name)) for each in fields(self) if each.compare)
        return [f"{name} {value}" for name, value in mine if value != getattr(usual, name)]


def identity(encoder: Encoder, build: Build) -> Identity:
    """Return what chunks and vectors depend on."""
    return Identity(encoder.name, encoder.dimension, ", ".join((f"assay {__version__}", *build.changes())))


def mismatch(made_by: Identity, wanted: Identity) -> str:
    """Return why nothing can be built upon an index that was made under another identity; empty for the same one."""
    return (
        "" if made_by == wanted else f"it was made with {_identity_text(made_by)}, and this is {_identity_text(wanted)}"
    )


def _identity_text(identity: Identity) -> str:
    return f"{identity.encoder} ({identity.dimension} dimensions), {identity.settings}"
