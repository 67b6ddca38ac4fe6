"""Candidates and labels in, what each depth is worth out: figure 4 of CoSQA+, by which their number is chosen.

Two columns: how many of the codes at a rank are right, of those that were judged and of all; and which share of all
right codes that are known stands at a rank or above it. A pair without a label is no wrong one; it is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from assay.types import Judgment

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Depths:
    """Counts by rank, the first rank first."""

    right: tuple[int, ...]
    judged: tuple[int, ...]
    pairs: tuple[int, ...]
    known: int
    """Right pairs that the labels name, of queries that have candidates and codes that could be one."""
    gone: int
    """Right pairs whose code is not among them: a filter left it out."""

    @property
    def rates(self) -> list[float]:
        """The share of the candidates at each rank that somebody called right."""
        return [right / pairs for right, pairs in zip(self.right, self.pairs, strict=True)]

    @property
    def recall_by_depth(self) -> list[float]:
        """The share of all known right codes that each depth holds."""
        return [so_far / max(self.known, 1) for so_far in accumulate(self.right)]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        rows = zip(self.right, self.judged, self.pairs, self.rates, self.recall_by_depth, strict=True)
        names = ("right", "judged", "pairs", "rate", "found")
        ranks = [{"rank": rank, **dict(zip(names, row, strict=True))} for rank, row in enumerate(rows, 1)]
        return {"known": self.known, "gone": self.gone, "ranks": ranks}


def depths(
    candidates: Iterable[Mapping[str, Any]], labels: Iterable[Judgment], corpus: Collection[str] | None = None
) -> Depths:
    """Return what each rank holds, of the codes in `corpus`; of several labels of a pair the highest grade counts."""
    grades: dict[tuple[str, str], int] = {}
    for label in labels:
        pair = (label.query_id, label.target)
        grades[pair] = max(label.grade, grades.get(pair, 0))
    right, judged, pairs = Counter[int](), Counter[int](), Counter[int]()
    asked = set()
    for each in candidates:
        rank, grade = each["rank"], grades.get((each["query_id"], each["code_id"]))
        asked.add(each["query_id"])
        pairs[rank] += 1
        judged[rank] += grade is not None
        right[rank] += bool(grade)
    wanted = [code for (query, code), grade in grades.items() if query in asked and grade > 0]
    known = sum(corpus is None or code in corpus for code in wanted)
    ranks = sorted(pairs)
    columns = [tuple(counts[rank] for rank in ranks) for counts in (right, judged, pairs)]
    return Depths(columns[0], columns[1], columns[2], known, len(wanted) - known)


def sparkline(values: Iterable[float]) -> str:
    """Return a bar a value, the highest full."""
    shown = list(values)
    most = max(shown, default=0.0) or 1.0
    return "".join(_BARS[min(int(value / most * len(_BARS)), len(_BARS) - 1)] for value in shown)
