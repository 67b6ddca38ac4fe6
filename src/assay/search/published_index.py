"""The index of a repository that is not here in, the same as it was last written out: read, never refreshed.

What others keep up to date in a bucket is searched without a checkout; each refresh asks whether there is a newer one.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from assay.errors import DamagedIndex, InputError
from assay.protocols import Encoder, Progress
from assay.search.folder_index import FolderIndex
from assay.search.index_changes import Differences
from assay.search.index_report import Freshness, IndexReport
from assay.store.catalog import Identity
from assay.store.folder import IndexFolder
from assay.store.snapshot import Snapshot


class PublishedIndex:
    """The index of one root, of which no file need be here."""

    def __init__(self, root: Path, folder: IndexFolder, encoder: Encoder) -> None:
        self.root = root
        self.encoder = encoder
        self._folder = folder
        self._index = FolderIndex(self.root, folder, encoder)
        self._read: tuple[str, IndexReport] | None = None
        """A version's catalog, and what the version holds."""

    @property
    def location(self) -> str:
        """Where it lies."""
        return self._index.location

    @property
    def verified(self) -> str:
        """Say what `check` reads."""
        return self._index.verified

    def refresh(
        self,
        progress: Progress | None = None,  # noqa: ARG002  as of an index that is written
        *,
        patience_s: float | None = None,  # noqa: ARG002  the same
        replaces: bool = True,  # noqa: ARG002  the same
    ) -> IndexReport:
        """Take what was written last, and say what it holds."""
        started = time.perf_counter()
        self.snapshot()
        report = self.status()
        assert report is not None  # it is searched
        return replace(report, seconds=time.perf_counter() - started)

    def generation(self) -> str:
        """Return what names the version that was written last, as no other; empty without an index."""
        return self._index.generation()

    def snapshot(self) -> Snapshot:
        """Return what is searched: what was written last, by the encoder that is asked."""
        manifest = self._folder.manifest()
        if manifest is None:
            raise InputError(f"there is no index in {self.location}: assay index PATH --index {self.location} makes it")
        self._refuse_another(manifest.identity)
        return self._index.snapshot()

    def status(self) -> IndexReport | None:
        """Say what it holds; None where there is none."""
        catalog = self._folder.catalog()
        if self._read is None or self._read[0] != catalog:
            report = self._index.status()
            self._read = None if report is None else (catalog, report)
        return self._read and self._read[1]

    def last(self) -> IndexReport | None:
        """Say what it holds; None where there is none that was made by this encoder and can be read."""
        try:
            manifest = self._folder.manifest()
            made_by = manifest and (manifest.identity.encoder, manifest.identity.dimension)
            return self.status() if made_by == (self.encoder.name, self.encoder.dimension) else None
        except DamagedIndex:  # or of an older form: who writes it makes another one
            return None

    def standing(self) -> Freshness | None:
        """Say what it holds and how old it is; there are no files here to compare it with."""
        manifest, report = self._folder.manifest(), self.status()
        if manifest is None or report is None:
            return None
        updated_s = manifest.checked_ns / 1e9
        made_by = manifest.identity.encoder
        return Freshness(report, Differences(), updated_s, made_by, self._index.form, is_compared=False)

    def describe(self, progress: Progress | None = None) -> IndexReport:  # noqa: ARG002
        """Refuse: descriptions are of files, which are not here."""
        raise InputError(
            f"{self.location} is read as it is: describe it where its files are, and without index.refresh=false"
        )

    def check(self) -> str:
        """Read every byte; return what is damaged, or nothing."""
        return self._index.check()

    def keeping(self) -> AbstractContextManager[None]:
        """Refuse: nothing here could change it."""
        raise InputError(
            f"{self.location} is read as it is: keep it up to date where its files are, and without index.refresh=false"
        )

    def torn(self) -> bool:
        """Say whether a file in use was written to or cut off."""
        return self._index.torn()

    def size_bytes(self) -> int:
        """Return what it takes up where it lies."""
        return self._index.size_bytes()

    def _refuse_another(self, made_by: Identity) -> None:
        if (made_by.encoder, made_by.dimension) != (self.encoder.name, self.encoder.dimension):
            made = f"{made_by.encoder} ({made_by.dimension} dimensions)"
            raise InputError(f"{self.location} was made with {made}, and this is {self.encoder.name}: give --encoder")
