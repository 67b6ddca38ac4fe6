"""What there is to choose from in an index: its languages and kinds, counted from columns without reading a text."""

from __future__ import annotations

from collections import Counter

import numpy as np

from assay.store.snapshot import Snapshot
from assay.types import KINDS


def holdings(snapshot: Snapshot) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many living chunks there are of each language and each kind, most first, but for those without one."""
    languages: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for part, live in snapshot.parts:
        file, kind = (part.file, part.kind) if live is None else (part.file[live], part.kind[live])
        for language, count in zip(part.languages, np.bincount(file, minlength=len(part.languages)), strict=True):
            languages[language] += int(count)
        for name, count in zip(KINDS, np.bincount(kind, minlength=len(KINDS)), strict=True):
            kinds[name] += int(count)
    return _most_first(languages), _most_first(kinds)


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in counts.most_common() if name and count}
