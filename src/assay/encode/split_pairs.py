"""Training pairs in two parts that share no source: what a table learns from, and what it is examined on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

from assay.encode.train_settings import TableSettings
from assay.encode.training_pairs import TrainingPair
from assay.errors import InputError

_TESTED_KINDS = ("doc", "given")
_TESTED_SOURCES = 8  # at least, so that no source decides the figures


@dataclass(frozen=True, slots=True)
class EncoderPairs:
    """Pairs to learn from, and pairs of other sources to be examined on."""

    learned: list[TrainingPair]
    tested: list[TrainingPair]


def split(pairs: Sequence[TrainingPair], settings: TableSettings) -> EncoderPairs:
    """Return the pairs in two parts that share no source, since functions of one package resemble each other."""
    learned = [pair for pair in pairs if not is_held_out(pair.source, settings)]
    tested = _tested([pair for pair in pairs if is_held_out(pair.source, settings)], settings)
    if not learned or len(tested) < 2:
        raise InputError(f"{len(learned)} pairs to learn, {len(tested)} held out: too few; add sources or --pairs")
    return EncoderPairs(learned, tested)


def is_held_out(source: str, settings: TableSettings) -> bool:
    """Tell whether a source is only evaluated on: named ones, and one in so many of the others."""
    one_in = settings.held_out_one_in
    return source in settings.held_out or (one_in > 0 and crc32(source.encode()) % one_in == 0)


def _tested(held: Sequence[TrainingPair], settings: TableSettings) -> list[TrainingPair]:
    """Return held-out pairs of documentation and code in a fixed order, no text twice, few of one source."""
    most = max(settings.evaluated // _TESTED_SOURCES, 1)
    chosen: list[TrainingPair] = []
    taken: Counter[str] = Counter()
    texts: set[str] = set()
    for pair in sorted(held, key=lambda pair: sha256(f"{settings.seed} {pair.query} {pair.code}".encode()).digest()):
        if pair.kind in _TESTED_KINDS and not {pair.query, pair.code} & texts and taken[pair.source] < most:
            texts.update((pair.query, pair.code))
            taken[pair.source] += 1
            chosen.append(pair)
    return chosen[: settings.evaluated]
