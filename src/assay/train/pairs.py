"""Split the pairs that encoders learn from, so that no query and no code of a part is in another one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

import numpy as np

from assay.errors import InputError
from assay.terms import WORD
from assay.train.settings import TableSettings, TuneSettings


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """Two texts that should be near, or apart; the source (a package, a repository) is the unit of most splits."""

    query: str
    code: str
    source: str
    kind: str
    """`doc` to code without it, `rest` of a doc, `section` below a heading, or a data set's name."""
    grade: int = 1
    """How well the code answers; 0 is a code that was judged wrong."""


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


def _tested(held_out: Sequence[TrainingPair], settings: TableSettings) -> list[TrainingPair]:
    """Return held-out pairs of documentation and code in a fixed order, no text twice, few of one source."""
    most = max(settings.evaluated // _TESTED_SOURCES, 1)
    chosen: list[TrainingPair] = []
    taken: Counter[str] = Counter()
    texts: set[str] = set()

    def order(pair: TrainingPair) -> bytes:
        return sha256(f"{settings.seed} {pair.query} {pair.code}".encode()).digest()

    for pair in sorted(held_out, key=order):
        if pair.kind in _TESTED_KINDS and not {pair.query, pair.code} & texts and taken[pair.source] < most:
            texts.update((pair.query, pair.code))
            taken[pair.source] += 1
            chosen.append(pair)
    return chosen[: settings.evaluated]


_JOINED = 0.05
"""The fraction of all pairs above which what sharing joins is split."""
_MIN_QUERIES = 2  # queries with a right code, in each part


@dataclass(frozen=True, slots=True)
class QueryParts:
    """The parts of all pairs."""

    learned: list[TrainingPair]
    valid: list[TrainingPair]
    test: list[TrainingPair]
    left_out: int
    """Pairs of a code that another part has."""


def split_by_query(pairs: Sequence[TrainingPair], settings: TuneSettings) -> QueryParts:
    """Return pairs in three parts that share neither the words of a query nor a code."""
    groups = _groups(pairs)
    order = np.random.default_rng(settings.seed).permutation(len(groups))
    queries = sum(len({words_of(pair.query) for pair in group}) for group in groups)
    wanted = {"test": settings.test * queries, "valid": settings.valid * queries}
    parts: dict[str, list[TrainingPair]] = {"test": [], "valid": [], "learned": []}
    taken: Counter[str] = Counter()
    for at in order:
        part = next((name for name, most in wanted.items() if taken[name] < most), "learned")
        taken[part] += len({words_of(pair.query) for pair in groups[at]})
        parts[part] += groups[at]
    apart = _without_shared(parts)
    for name, part_pairs in apart.items():
        if len({pair.query for pair in part_pairs if pair.grade}) < _MIN_QUERIES:
            raise InputError(
                f"{len(pairs):,} pairs of {queries:,} queries leave the {name} part without two queries that have a "
                "right code: give more pairs"
            )
    left_out = len(pairs) - sum(map(len, apart.values()))
    return QueryParts(apart["learned"], apart["valid"], apart["test"], left_out)


def words_of(query: str) -> str:
    """Return the words of a query in one order: queries of the same words are one."""
    return " ".join(sorted({word.lower() for word in WORD.findall(query)})) or query


def code_of(code: str) -> str:
    """Return what is the same of two copies of a code: all but the space in it."""
    return " ".join(code.split())


def _groups(pairs: Sequence[TrainingPair]) -> list[list[TrainingPair]]:
    """Return pairs that sharing joins; where that is too many, by their query alone."""
    most = _JOINED * len(pairs)
    joined = _by(pairs, _roots(pairs))
    apart: list[list[TrainingPair]] = []
    for group in joined:
        single = {at: words_of(pair.query) for at, pair in enumerate(group)}
        apart += [group] if len(group) <= max(most, _MIN_QUERIES) else _by(group, single)
    return apart


def _by(pairs: Sequence[TrainingPair], key: Mapping[int, str]) -> list[list[TrainingPair]]:
    groups: dict[str, list[TrainingPair]] = defaultdict(list)
    for at, pair in enumerate(pairs):
        groups[key[at]].append(pair)
    return [groups[name] for name in sorted(groups)]


def _roots(pairs: Sequence[TrainingPair]) -> dict[int, str]:
    """Return the name of what each pair is joined to by shared words and codes, by union and find."""
    above: dict[str, str] = {}

    def find(name: str) -> str:
        while above.setdefault(name, name) != name:
            above[name] = name = above[above[name]]
        return name

    for pair in pairs:
        above[find(f"c {code_of(pair.code)}")] = find(f"q {words_of(pair.query)}")
    return {at: find(f"q {words_of(pair.query)}") for at, pair in enumerate(pairs)}


def _without_shared(parts: Mapping[str, Sequence[TrainingPair]]) -> dict[str, list[TrainingPair]]:
    """Return parts, the first of which keeps a code that several have."""
    seen: set[str] = set()
    apart: dict[str, list[TrainingPair]] = {}
    for name, pairs in parts.items():
        apart[name] = [pair for pair in pairs if code_of(pair.code) not in seen]
        seen.update(code_of(pair.code) for pair in apart[name])
    return apart
