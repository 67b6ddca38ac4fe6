"""Where an index lies that several machines share: its place, the copies on this one, and whose index it is."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import InputError
from assay.store.blobs import Blobs
from assay.store.local_copies import LocalCopies
from assay.store.manifest import Manifest

UNNAMED_S = 24 * 3600.0
"""How long a file that no manifest names stays: a reader may still map it, or a writer be about to name it."""


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """One repository in a bucket."""

    name: str
    """As `--index` takes it."""
    blobs: Blobs
    copies: LocalCopies
    origin: str = ""
    """Which repository this is; empty where a person named the place, who knows."""
    fresh_s: float = 3.0
    """A manifest that was asked for so recently is not asked for again by a reader."""
    unnamed_s: float = UNNAMED_S

    def refuse_another(self, manifest: Manifest) -> None:
        """Raise InputError where the index there is of another repository than this one."""
        if self.origin and manifest.origin != self.origin:
            theirs = f"of {manifest.origin}" if manifest.origin else "of a repository that was named so"
            raise InputError(
                f"{self.name} is the index {theirs}, and this is {self.origin}: "
                "give this one another name, as in --index s3://BUCKET/PREFIX#NAME"
            )
