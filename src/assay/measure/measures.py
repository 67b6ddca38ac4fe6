"""Compute measures by their names, one number a query: `parse("nDCG@10").of(matched)`; a name parses as it prints.

The definitions are trec_eval's, whose names `ir_measures` made parseable: gain is linear, logarithms are of base 2, and
a query without right answers or without results counts 0. Of line ranges they mean: a result is right when it earns a
grade, and an answer counts where it is first found. Cut-offs count ranks, or tokens where the name says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError, nearest
from assay.measure.compare import Values
from assay.measure.matched import Matched

Depth = int | None
"""How many ranks count, None for all."""


READING = frozenset(("lines", "tokens"))
"""Measures of what a reader has to read, of which less is better."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure; make it with `parse`."""

    name: str
    depth: Depth = None

    def __str__(self) -> str:
        """Return the name that `parse` reads."""
        return self.name if self.depth is None else f"{self.name}@{self.depth}{_suffix(self.name)}"

    @property
    def less_is_better(self) -> bool:
        """Say whether a smaller value is the better one."""
        return self.name in READING

    def of(self, matched: Matched) -> Values:
        """Return the value of each query."""
        return _COMPUTED[self.name](matched, self.depth)


def parse(text: str) -> Measure:
    """Return the measure of a name, in any letter case; a few names of other tools are understood too."""
    found = _SPELLED.fullmatch(text.strip())
    name = _NAMED.get(found["name"].lower()) if found else None
    if found and name:
        depth = int(found["depth"]) if found["depth"] else None
        if _shape(name, depth) in NAMES and (found["unit"] or "").lower() == (_suffix(name) if depth else ""):
            return Measure(name, depth)
    asked = found["depth"] if found and int(found["depth"] or 0) else ""
    known = [re.sub("@[kN]", f"@{asked}", name) for name in NAMES] if asked else NAMES
    raise InputError(f"unknown measure '{text}'; {nearest(text, known)}")


def hit(matched: Matched, depth: Depth) -> Values:
    """Return 1 where any of the first k results is right, else 0 (trec_eval's success)."""
    return _right(matched, depth).any(axis=1).astype(float)


def reciprocal_rank(matched: Matched, depth: Depth) -> Values:
    """Return one over the rank of the first right result (Voorhees, TREC-8 question answering, 1999)."""
    right = _right(matched, depth)
    ranks = np.arange(1, right.shape[1] + 1)
    best: Values = (right / ranks).max(axis=1, initial=0.0)
    return best


def ndcg(matched: Matched, depth: Depth) -> Values:
    """Return the sum of grade / log2(rank + 1) over that of the best order (Järvelin and Kekäläinen, TOIS 2002)."""
    return ndcg_of(matched.gains[:, :depth], matched.ideal[:, :depth])


def ndcg_of(gains: NDArray[Any], ideal: NDArray[Any]) -> Values:
    """Return nDCG of gains by rank, a row a query, over those of the best order."""
    return _share(_discounted(gains), _discounted(ideal))


def binary_ndcg(matched: Matched, depth: Depth) -> Values:
    """Return nDCG with a gain of 1 at each rank that finds an answer, however many and of what grade.

    In the unit `line published` it is the figure of semble's benchmark: answers that share a rank gain 1 together.
    """
    return _share(_discounted(matched.found[:, :depth] > 0), _discounted(matched.ideal[:, :depth] > 0))


def recall(matched: Matched, depth: Depth) -> Values:
    """Return the share of the right answers that the first k results find."""
    return _share(matched.found[:, :depth].sum(axis=1), matched.right)


def accuracy(matched: Matched, depth: Depth) -> Values:
    """Return 1 where the first k results find every right answer (Chen et al., LocAgent, 2025, section 4), else 0."""
    every: Values = ((matched.right > 0) & (matched.found[:, :depth].sum(axis=1) == matched.right)).astype(float)
    return every


def covered(matched: Matched, depth: Depth) -> Values:
    """Return the share of the right answers, hunks of a fix say, of which the first k results show every line."""
    return _share(matched.covered[:, :depth].sum(axis=1), matched.right)


def average_precision(matched: Matched, depth: Depth) -> Values:
    """Return the mean precision at the ranks of the right answers, 0 for one not found (Buckley and Voorhees 2005)."""
    right = _right(matched, depth)
    precision = np.cumsum(right, axis=1) / np.arange(1, right.shape[1] + 1)
    return _share((precision * matched.found[:, :depth]).sum(axis=1), matched.right)


def precision(matched: Matched, depth: Depth) -> Values:
    """Return the right results among the first k, over k, however many there were."""
    return _share(_right(matched, depth).sum(axis=1), np.full(len(matched.queries), depth))


def r_precision(matched: Matched, _: Depth) -> Values:
    """Return the precision of as many results as there are right answers (Buckley and Voorhees 2005)."""
    within = np.arange(matched.gains.shape[1]) < matched.right[:, None]
    return _share((_right(matched, None) & within).sum(axis=1), matched.right)


def bpref(matched: Matched, _: Depth) -> Values:
    """Return how rarely results judged wrong stand above right ones; the unjudged do not count.

    For each right answer 1 - min(wrong above it, R) / min(wrong, R), averaged over the R right ones (Buckley and
    Voorhees, SIGIR 2004, as corrected in trec_eval).
    """
    above = np.minimum(np.cumsum(matched.wrong, axis=1), matched.right[:, None])
    bound = np.maximum(np.minimum(matched.irrelevant, matched.right), 1)
    return _share(((1 - above / bound[:, None]) * matched.found).sum(axis=1), matched.right)


def judged(matched: Matched, depth: Depth) -> Values:
    """Return the share of the first k results that somebody judged; of fewer results, of those there are."""
    filled = np.minimum(matched.filled, matched.filled if depth is None else depth)
    return _share(matched.judged[:, :depth].sum(axis=1), filled)


_UNPRICED = "the tokens of the results were not counted: match(…, cost=…)"


def success(matched: Matched, tokens: Depth) -> Values:
    """Return the recall of the results that fit whole, from the top, into so many tokens, as an agent pays."""
    if matched.tokens is None:
        raise InputError(_UNPRICED)
    fits = np.cumsum(matched.tokens, axis=1) <= (tokens or 0)
    return _share((matched.found * fits).sum(axis=1), matched.right)


def lines(matched: Matched, depth: Depth) -> Values:
    """Return how many lines the first k results make a reader read: long chunks flatter every other measure.

    It is nan when one of them is a whole file, whose length nobody said.
    """
    read: Values = matched.lines[:, :depth].sum(axis=1)
    return read


def token_count(matched: Matched, depth: Depth) -> Values:
    """Return how many tokens the first k results make a reader read; nan when one of them is a whole file."""
    if matched.tokens is None:
        raise InputError(_UNPRICED)
    read: Values = (matched.tokens + 0 * matched.lines)[:, :depth].sum(axis=1)
    return read


def _right(matched: Matched, depth: Depth) -> NDArray[np.bool_]:
    return matched.gains[:, :depth] > 0


def _discounted(grades: NDArray[Any]) -> Values:
    """Sum rank by rank, for then figures equal those of a plain loop to the last digit."""
    total: Values = np.zeros(len(grades))
    for rank, column in enumerate(grades.T, 1):
        total += column / log2(rank + 1)
    return total


def _share(some: NDArray[Any], of: NDArray[Any]) -> Values:
    shares: Values = np.divide(some, of, out=np.zeros(len(of)), where=of > 0)
    return shares


NAMES = tuple(
    "Hit@k MRR MRR@k nDCG nDCG@k binary-nDCG binary-nDCG@k Recall@k Acc@k covered@k MAP MAP@k Precision@k R-precision "
    "bpref judged@k success@Ntokens lines@k tokens@k".split()
)
"""Every measure, k and N for a number."""
_COMPUTED: dict[str, Callable[[Matched, Depth], Values]] = {
    "Hit": hit,
    "MRR": reciprocal_rank,
    "nDCG": ndcg,
    "binary-nDCG": binary_ndcg,
    "Recall": recall,
    "Acc": accuracy,
    "covered": covered,
    "MAP": average_precision,
    "Precision": precision,
    "R-precision": r_precision,
    "bpref": bpref,
    "judged": judged,
    "success": success,
    "lines": lines,
    "tokens": token_count,
}
_ALSO = {"ap": "MAP", "p": "Precision", "r": "Recall", "rr": "MRR", "rprec": "R-precision", "rprecision": "R-precision"}
_NAMED = {name.lower(): name for name in _COMPUTED} | _ALSO
_SPELLED = re.compile(r"(?P<name>[A-Za-z-]+)(?:@0*(?P<depth>\d+)(?P<unit>[A-Za-z]+)?)?")


def _suffix(name: str) -> str:
    return "tokens" if name == "success" else ""


def _shape(name: str, depth: Depth) -> str:
    if depth is None:
        return name
    return f"{name}@N{_suffix(name)}" if _suffix(name) else f"{name}@k" if depth else ""
