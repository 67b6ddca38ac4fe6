"""Report what an index holds, leaves out and lags behind in, without changing it.

Every byte of the index is read, for that takes 33 ms where it has 230 MB: *whole* is what was found, not what is hoped.
Of an index in a bucket the copies are read, of which there is one of each file then, and the answer says so.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from assay.errors import DamagedIndex, counted, printable
from assay.operations.hits import answer_type, as_text
from assay.operations.indexes import AnyIndex
from assay.operations.past_commits import PastCommits
from assay.operations.requests import StatusOf
from assay.operations.roots import Roots
from assay.search.folder_index import Freshness, IndexReport
from assay.search.index_changes import Differences
from assay.store.catalog import NOTES_BETWEEN
from assay.store.segment import Mask
from assay.store.snapshot import Snapshot
from assay.values import KINDS


@answer_type
class Status:
    """What an index holds, leaves out and lags behind in."""

    root: str
    location: str
    """Where the index is."""
    indexed: bool
    """False: this root was never searched; a search builds the index."""
    whole: bool
    """Whether every byte of the index was read and is intact."""
    damage: str
    """The damage of the stored index, or empty; the next search rebuilds it."""
    encoder: str
    """The encoder of its vectors."""
    format: str
    """The storage format, with its version; empty if there is no index."""
    files: int
    chunks: int
    described: int
    """Chunks that a language model described."""
    history: str
    """The state of the history: how many commits are indexed, or why none are."""
    size_mb: float
    verified: str
    """How much was read to verify that it is intact."""
    updated: str
    """When it was last written, in ISO 8601 (UTC); empty if there is no index."""
    updated_s: float
    """Seconds since then; -1 if there is no index."""
    checked_s: float
    """Seconds since the files were last checked for changes; -1 if they never were."""
    compared: bool
    """Whether it was compared with the files; False if the index is read-only."""
    added: int
    """Files that are not in the index yet; the next search updates it."""
    changed: int
    """Files whose text differs from what the index holds."""
    removed: int
    """Files in the index that are gone."""
    stale: list[str]
    """Some of these, as change: path."""
    rebuild_because: str
    """Why the next search rebuilds all of it, or empty."""
    rebuilt: str
    """Why it was rebuilt at its last update here, or empty."""
    left_out: dict[str, int]
    """Files and folders that are not indexed, counted by reason, most first."""
    examples: list[str]
    """Some of them, as path: reason."""
    noted: dict[str, int]
    """Notes on how files were cut, such as a grammar that failed, with numbers of files; most frequent first."""
    notes: list[str]
    """Some of these files, as path: note."""
    languages: dict[str, int]
    """Chunks of each language, most frequent first; empty if not indexed."""
    kinds: dict[str, int]
    """Chunks of each kind of unit, likewise."""


_OF_ONE = re.compile(r"^[\d.]+ MB, |(?<=^decoded by guess) as .*|(?<= characters are cut): \d+$")
_NOTHING = Freshness(IndexReport(0, 0), Differences(), 0.0, "", "", is_compared=False)


def status(request: StatusOf, roots: Roots) -> Status:
    """Return what the index of a place holds, without changing it; reads every byte of it.

    Files are listed, and read where they may differ.
    """
    reader = roots.place(request.path).reader
    index = reader.index
    found, damage, snapshot = None, "", None
    try:
        found = index.standing()
        damage = index.check() if found else ""
        snapshot = index.snapshot() if found and not damage else None
    except DamagedIndex as error:
        damage = str(error)
    whole = found if found and not damage else _NOTHING
    report, stale = whole.report, whole.stale
    counts = dict[str, Any](zip(("languages", "kinds"), holdings(snapshot) if snapshot else ({}, {}), strict=True))
    return Status(
        root=reader.name,
        location=index.location,
        indexed=found is not None,
        whole=whole is found,
        damage=damage,
        encoder=whole.encoder or index.encoder.name,
        format=whole.form,
        files=report.files,
        chunks=report.chunks,
        described=report.described,
        history=PastCommits(reader.root, reader.settings).summary(),
        **_written(index, found if whole is found else None),
        checked_s=-1.0 if reader.checked_s is None else round(reader.checked_s, 1),
        compared=whole.is_compared,
        added=len(stale.added),
        changed=len(stale.changed),
        removed=len(stale.removed),
        rebuild_because=whole.rebuild_because,
        rebuilt=reader.last_view.report.rebuilt_because if reader.last_view else "",
        **_files(report, stale, request.limit),
        **counts,
    )


def _written(index: AnyIndex, freshness: Freshness | None) -> dict[str, Any]:
    """Return the size of an index, how it was verified, and when it was written."""
    if freshness is None:
        return {"size_mb": 0.0, "verified": "", "updated": "", "updated_s": -1.0}
    when = datetime.fromtimestamp(freshness.updated_s, UTC).isoformat(timespec="seconds")
    ago, size_mb = max(time.time() - freshness.updated_s, 0.0), (index.size_bytes() or 0) / 1e6
    return {"size_mb": round(size_mb, 1), "verified": index.verified, "updated": when, "updated_s": round(ago, 1)}


def _files(report: IndexReport, stale: Differences, most: int) -> dict[str, Any]:
    """Return which files are stale, left out or noted: counts by reason, and some names."""
    notes = sorted(report.notes.items())
    return {
        "stale": [f"{what}: {path}" for what, paths in asdict(stale).items() for path in paths][:most],
        "left_out": _by_kind(each.reason for each in report.skipped),
        "examples": [f"{each.path}: {each.reason}" for each in report.skipped][:most],
        "noted": _by_kind(one for _, text in notes for one in text.split(NOTES_BETWEEN)),
        "notes": [f"{path}: {text}" for path, text in notes][:most],
    }


def _by_kind(texts: Iterable[str]) -> dict[str, int]:
    """Count notes on files without the details of one file: another's name, its size, its encoding."""
    kinds = (re.sub(r"^(a copy of) .*", r"\1 another file", _OF_ONE.sub("", text)) for text in texts)
    return dict(Counter(kinds).most_common())


def holdings(snapshot: Snapshot, mask: Mask | None = None) -> tuple[dict[str, int], dict[str, int]]:
    """Return the number of living chunks of each language and kind, most frequent first, without empty ones.

    Of the chunks that a mask keeps, if there is one.
    """
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for base, (part, live) in zip(snapshot.bases, snapshot.parts, strict=False):
        rows = slice(None) if live is None else live
        if mask is not None:
            rows = mask[base : base + len(part)]
        columns: tuple[Any, Any] = ((part.languages, part.file[rows]), (KINDS, part.kind[rows]))
        for tally, (names, numbers) in zip(counts, columns, strict=True):
            for name, count in zip(names, np.bincount(numbers, minlength=len(names)).tolist(), strict=True):
                tally[name] += count
    return by_frequency(counts[0]), by_frequency(counts[1])


def by_frequency(counts: Counter[str], most: int | None = None) -> dict[str, int]:
    """Return the counts of names, the most frequent first, without the empty name and without zeros."""
    return {name: count for name, count in counts.most_common(most) if name and count}


@as_text.register
def _(answer: Status) -> str:
    if answer.damage:
        return f"{answer.root}: the index is damaged ({answer.damage}); a search rebuilds it"
    return status_text(answer) if answer.indexed else f"{answer.root}: not indexed yet; a search makes the index"


def status_text(answer: Status, *, named: bool = False) -> str:
    """Return the status of an intact index as rows for a terminal; with `named`, files have a row each."""
    facts = {name: getattr(answer, name) for name in ("root", "location", "encoder", "files", "chunks")}
    facts |= {"described": answer.described} if answer.described else {}
    facts |= {"history": answer.history, "size mb": answer.size_mb, "format": answer.format, "updated": answer.updated}
    facts["whole"] = f"yes, {answer.verified}"
    rows = [f"{name:<10}{value}" for name, value in facts.items()]
    stale = {what: getattr(answer, what) for what in ("added", "changed", "removed") if getattr(answer, what)}
    for what, number in stale.items():
        rows.append(f"{'stale':<10}{counted(number, 'file')} {what} since")
        rows += _named(answer.stale, what, named=named)
    if not stale:
        rows.append(f"{'stale':<10}{'no file' if answer.compared else 'not known: the index is read-only'}")
    if answer.rebuild_because:
        rows.append(f"{'stale':<10}all of it: {answer.rebuild_because}")
    for title, kinds, files in (("left out", answer.left_out, answer.examples), ("noted", answer.noted, answer.notes)):
        rows += [f"{title:<10}{counted(number, 'file')}: {kind}" for kind, number in kinds.items()]
        rows += [f"{'':<12}{printable(file)}" for file in files if named]
    return "\n".join(rows) + "\n"


def _named(files: list[str], what: str, *, named: bool) -> list[str]:
    start = f"{what}: "
    return [f"{'':<12}{printable(file.removeprefix(start))}" for file in files if named and file.startswith(start)]
