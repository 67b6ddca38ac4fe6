"""Labelled pairs of several sources in, the weights of the judge `signals` out, with how well they carry over.

Every source counts the same, and so does each of its labels. Every pair is learned twice, the second time with its
documentation unread. A source is scored by weights that were learned on the others alone, from pairs that share neither
query nor code with it; those scores set the spread of the probabilities and the thresholds. Where there is a single
source, folds by code take the place of sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import default_static
from assay.errors import InputError
from assay.judge.evidence import COLUMNS, ENCODER_COLUMN, evidence, with_cosines
from assay.judge.fit_signals import LogisticFit, Numbers, balanced, calibrate, fit, probability, thresholds
from assay.judge.judge_figures import SourceFigures, auc, figures_of, reliability
from assay.judge.judge_train_settings import JudgeTrainSettings
from assay.judge.labelled_pairs import LabeledPair, plain
from assay.protocols import Encoder, Say
from assay.types import Chunk, Query

_AT_ONCE = 2_000
_STATIC = "cosine_view"


@dataclass(frozen=True, slots=True)
class TrainedSignals:
    """What a training gave: the file of weights, and figures of pairs that were held out."""

    weights: dict[str, Any]
    figures: tuple[SourceFigures, ...]
    reliability: tuple[tuple[str, tuple[tuple[float, float, int], ...]], ...]
    """By source: the mean probability, the fraction of matches and the number of pairs of each tenth."""


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The rows of all sources, one below the other."""

    pairs: tuple[LabeledPair, ...]
    source: NDArray[np.intp]
    rows: Numbers
    unread: Numbers | None
    """The same with documentation unread; None where an encoder reads the code as it is."""
    columns: tuple[str, ...]

    @property
    def labels(self) -> Numbers:
        """The labels, one a row."""
        return np.array([one.label for one in self.pairs], dtype=np.float64)

    @property
    def counts(self) -> Numbers:
        """How much each row counts: every source the same, and both of its labels."""
        labels, counts = self.labels, np.zeros(len(self.pairs))
        for one in np.unique(self.source):
            counts[self.source == one] = balanced(labels[self.source == one])
        return counts


def learn(
    sources: Mapping[str, Sequence[LabeledPair]],
    settings: JudgeTrainSettings,
    say: Say = lambda _: None,
    *,
    encoder: Encoder | None = None,
    spec: str = "",
) -> TrainedSignals:
    """Return weights learned on all sources, and figures of each by weights learned on the others."""
    read = _read(sources, encoder, say)
    part = read.source if len(sources) > 1 else _folds(read, settings)
    if len(np.unique(part)) < 2:
        raise InputError(f"{len(read.pairs)} pairs of too few different codes; wanted enough to hold some out")
    held_out = np.zeros(len(read.pairs))
    for one in np.unique(part):
        say(f"held out: {[*sources][one] if len(sources) > 1 else f'fold {one + 1} of {settings.folds}'}")
        held_out[part == one] = _fitted(read, _others(read, part, one), settings).scores(read.rows[part == one])
    fitted = _fitted(read, np.ones(len(part), dtype=bool), settings)
    slope, offset = calibrate(held_out, read.labels, read.counts)
    scores = slope * held_out + offset
    weights = {
        "linear": dict(zip(read.columns, (slope * fitted.linear).round(5).tolist(), strict=True)),
        "bias": round(slope * float(fitted.intercepts.mean()) + offset, 5),
        "base": 0.5,
        **_sure(scores, read, settings),
        "encoder": {"spec": spec, "width": encoder.dimension} if encoder else None,
        "pairs": {name: len(pairs) for name, pairs in sources.items()},
    }
    return TrainedSignals(weights, *_figures(sources, read, scores, part))


def _fitted(read: _Evidence, taken: NDArray[np.bool_], settings: JudgeTrainSettings) -> LogisticFit:
    """Return the model of some of the rows, each of them once more unread."""
    part = _taken(read, taken)
    rows, labels, counts, source = part.rows, part.labels, part.counts, part.source
    if part.unread is not None:
        rows, labels = np.concatenate((rows, part.unread)), np.concatenate((labels, labels))
        counts, source = np.concatenate((counts, settings.unread * counts)), np.concatenate((source, source))
    return fit(rows, labels, counts, source, read.columns, penalty=settings.penalty, steps=settings.steps)


def _taken(read: _Evidence, taken: NDArray[np.bool_]) -> _Evidence:
    """Return some of the rows; a source that has one label alone left among them is left out."""
    labels = read.labels
    taken = taken.copy()
    for one in np.unique(read.source):
        if len(np.unique(labels[taken & (read.source == one)])) < 2:
            taken &= read.source != one
    if not taken.any():
        raise InputError("no source is left to learn from once pairs that share a text with the rest are held out")
    pairs = tuple(one for one, kept in zip(read.pairs, taken, strict=True) if kept)
    unread = None if read.unread is None else read.unread[taken]
    return _Evidence(pairs, read.source[taken], read.rows[taken], unread, read.columns)


def _others(read: _Evidence, part: NDArray[np.intp], held_out: int) -> NDArray[np.bool_]:
    """Say which rows are of other parts, and share neither query nor code with those that are held out."""
    texts = [(plain(one.query), plain(one.code)) for one in read.pairs]
    inside = [text for text, one in zip(texts, part, strict=True) if one == held_out]
    queries, codes = {query for query, _ in inside}, {code for _, code in inside}
    return np.array([query not in queries and code not in codes for query, code in texts])


def _folds(read: _Evidence, settings: JudgeTrainSettings) -> NDArray[np.intp]:
    """Return a fold a pair, the same for the same code."""
    return np.array([crc32(plain(one.code).encode("utf-8", "replace")) % settings.folds for one in read.pairs])


def _sure(scores: Numbers, read: _Evidence, settings: JudgeTrainSettings) -> dict[str, float]:
    """Return the thresholds of a clear no and a clear yes: sure enough if every source counts the same."""
    low, high = thresholds(probability(scores), read.labels, read.counts, sure=settings.sure, least=settings.least_sure)
    return {"low": round(low, 4), "high": round(high, 4)}


def _figures(
    sources: Mapping[str, Sequence[LabeledPair]], read: _Evidence, scores: Numbers, part: NDArray[np.intp]
) -> tuple[tuple[SourceFigures, ...], tuple[tuple[str, tuple[tuple[float, float, int], ...]], ...]]:
    """Return the figures of each source, and how far its probabilities can be relied on."""
    figures, curves = [], []
    for number, name in enumerate(sources):
        at = read.source == number
        labels, queries = read.labels[at], [plain(one.query) for one in sources[name]]
        orders = {_STATIC: auc(read.rows[at, read.columns.index(_STATIC)], labels)}
        best = _best_column(read, part != number if len(sources) > 1 else at)
        orders[f"best column, {best}"] = auc(read.rows[at, read.columns.index(best)], labels)
        if read.columns[-1] == ENCODER_COLUMN:
            orders[ENCODER_COLUMN] = auc(read.rows[at, -1], labels)
        figures.append(figures_of(name, scores[at], labels, queries, orders))
        curves.append((name, tuple(reliability(probability(scores[at]), labels))))
    return tuple(figures), tuple(curves)


def _best_column(read: _Evidence, taken: NDArray[np.bool_]) -> str:
    """Return the column of evidence that orders the pairs of some rows best, in the mean over their sources."""
    labels, kept = read.labels, np.unique(read.source[taken])
    means = [
        np.mean([auc(column[read.source == one], labels[read.source == one]) for one in kept]) for column in read.rows.T
    ]
    return read.columns[int(np.argmax(means))]


def _read(sources: Mapping[str, Sequence[LabeledPair]], encoder: Encoder | None, say: Say) -> _Evidence:
    """Read the evidence of all pairs."""
    pairs = tuple(pair for source in sources.values() for pair in source)
    source = np.repeat(np.arange(len(sources)), [len(each) for each in sources.values()])
    say(f"reading {len(pairs):,} pairs of {len(sources)} sources")
    rows = _rows(pairs, encoder, documented=True)
    unread = None if encoder else _rows(pairs, None, documented=False)
    return _Evidence(pairs, source, rows, unread, (*COLUMNS, ENCODER_COLUMN) if encoder else COLUMNS)


def _rows(pairs: Sequence[LabeledPair], encoder: Encoder | None, *, documented: bool) -> Numbers:
    posed = [(Query(str(at), one.query), Chunk(str(at), one.code)) for at, one in enumerate(pairs)]
    pieces = [posed[start : start + _AT_ONCE] for start in range(0, len(posed), _AT_ONCE)]
    read = [evidence(piece, default_static(), documented=documented) for piece in pieces]
    if encoder:
        read = [with_cosines(rows, piece, encoder) for rows, piece in zip(read, pieces, strict=True)]
    return np.concatenate(read).astype(np.float64)
