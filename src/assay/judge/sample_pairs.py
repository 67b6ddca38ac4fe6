"""A file of pairs in, those of a random sample of them out: whole queries, single pairs, or pairs in strata of a field.

Only pairs that can be judged are drawn from, so that a sample is as large as it was to be. What was wrong with other
rows is passed on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.judge.pairs import Pair, count, read, read_with_rows
from assay.runs.draw_sample import BY_PAIR, BY_QUERY, SampleDraw, draw_within
from assay.types import Problem


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """What is to be judged of a file."""

    pairs: Iterator[Pair | Problem]
    total: int
    """Pairs, and rows that are none."""


def read_sample(
    file: Path, sample: SampleDraw, *, queries: Path | None = None, corpus: Path | None = None
) -> SampledPairs:
    """Return the drawn pairs of a file in their order, with the problems of the others; without a size all of them."""
    found = read(file, queries=queries, corpus=corpus)
    if not sample.size:
        return SampledPairs(found, count(file))
    strata: dict[str, str] = {}
    held, problems = Counter[str](), 0
    for each in read_with_rows(file, queries=queries, corpus=corpus):
        if isinstance(each, Problem):
            problems += 1
            continue
        key = _key(each[0], sample)
        held[key] += 1
        strata[key] = _stratum(each[1], sample, file)
    drawn = draw_within(strata, sample.size, sample.seed, BY_QUERY if sample.by == BY_QUERY else BY_PAIR)
    total = sum(held[key] for key in drawn) + problems
    return SampledPairs(filter(partial(_is_drawn, drawn, sample), found), total)


def _stratum(row: Mapping[str, Any], sample: SampleDraw, file: Path) -> str:
    if sample.by in {BY_QUERY, BY_PAIR}:
        return ""
    if sample.by not in row:
        fields = ", ".join(sorted(row))
        raise InputError(f"--sample-by {sample.by}: {file} has no such field; wanted query, pair or one of {fields}")
    return repr(row[sample.by])


def _key(pair: Pair, sample: SampleDraw) -> str:
    return pair.query.id if sample.by == BY_QUERY else pair.digest


def _is_drawn(drawn: frozenset[str], sample: SampleDraw, each: Pair | Problem) -> bool:
    return isinstance(each, Problem) or _key(each, sample) in drawn
