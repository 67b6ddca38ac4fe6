"""Say what an index holds, leaves out and lags behind in, without changing it."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np

from assay.errors import DamagedIndex
from assay.operations.places import Roots
from assay.operations.requests import StatusOf
from assay.operations.sizing import answer_type
from assay.search.index_changes import Differences
from assay.store.segment import Mask
from assay.store.snapshot import Snapshot
from assay.values import KINDS

_LISTED = 20


@answer_type
class Status:
    """What an index holds and leaves out."""

    root: str
    indexed: bool
    """False: nobody has searched this root yet; a search makes the index."""
    files: int
    chunks: int
    encoder: str
    location: str
    size_mb: float
    checked_s: float
    """Seconds since this server looked at the files; -1 where it has not."""
    left_out: dict[str, int]
    """Files and folders that are not indexed, counted by reason."""
    examples: list[str]
    """Some of them, as path: reason."""
    notes: int
    """Files that were cut by lines, as their grammar failed."""
    added: int
    """Files that are not in the index yet; the next search sees to these and to what changed or is gone."""
    changed: int
    """Files whose text is no longer what the index holds."""
    removed: int
    """Files of the index that are gone."""
    stale: list[str]
    """Some of these, as what: path."""
    updated_s: float
    """Seconds since the index was last written; -1 where there is none."""
    damage: str
    """What is wrong with the stored index, or empty; the next search rebuilds it."""
    rebuilt: str
    """Why this server made the index anew, or empty."""
    languages: dict[str, int]
    """Chunks of each language, most first; empty where it is not indexed, or the index lies in a database."""
    kinds: dict[str, int]
    """Chunks of each kind of unit, likewise."""


def status(request: StatusOf, roots: Roots) -> Status:
    """Return what the index of a place holds, without changing it; files are listed, and read where they may differ."""
    reader = roots.place(request.path).reader
    held = reader.last_view
    index = reader.index
    standing, damage, languages, kinds = None, "", dict[str, int](), dict[str, int]()
    try:
        standing = index.standing()
        if standing and (every := index.snapshot()) is not None:
            languages, kinds = holdings(every)
    except DamagedIndex as found:
        damage = str(found)
    report, differing = (standing.report, standing.stale) if standing else (None, Differences())
    skipped = report.skipped if report else ()
    reasons = Counter(re.sub("^a copy of .*", "a copy of another file", each.reason) for each in skipped)
    return Status(
        root=reader.name,
        indexed=report is not None,
        files=report.files if report else 0,
        chunks=report.chunks if report else 0,
        encoder=index.encoder.name,
        location=index.location,
        size_mb=round((index.size_bytes() or 0) / 1e6, 1) if report else 0.0,
        checked_s=-1.0 if reader.checked_s is None else round(reader.checked_s, 1),
        left_out=dict(reasons.most_common(_LISTED)),
        examples=[f"{each.path}: {each.reason}" for each in skipped[:_LISTED]],
        notes=len(report.notes) if report else 0,
        **{each.name: len(getattr(differing, each.name)) for each in fields(differing)},
        stale=[f"{each.name}: {path}" for each in fields(differing) for path in getattr(differing, each.name)][
            :_LISTED
        ],
        updated_s=round(max(time.time() - standing.updated_s, 0.0), 1) if standing else -1.0,
        damage=damage,
        rebuilt=held.report.rebuilt_because if held else "",
        languages=languages,
        kinds=kinds,
    )


def holdings(snapshot: Snapshot, kept: Mask | None = None) -> tuple[dict[str, int], dict[str, int]]:
    """Return how many living chunks there are of each language and each kind, most first, but for those without one.

    Of the chunks that a mask keeps, if there is one.
    """
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for base, (part, live) in zip(snapshot.bases, snapshot.parts, strict=False):
        rows = slice(None) if live is None else live
        if kept is not None:
            rows = kept[base : base + len(part)]
        columns: tuple[Any, Any] = ((part.languages, part.file[rows]), (KINDS, part.kind[rows]))
        for counted, (names, numbers) in zip(counts, columns, strict=True):
            for name, count in zip(names, np.bincount(numbers, minlength=len(names)).tolist(), strict=True):
                counted[name] += count
    languages, kinds = ({name: n for name, n in each.most_common() if name and n} for each in counts)
    return languages, kinds
