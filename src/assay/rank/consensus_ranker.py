"""Rank programs by their similarity to the others of a pool.

A normal form is a bag of paths: for each node its label, and it with 1, 2 and 3 of its ancestors. Two programs are as
alike as the fraction of paths that they have in common (Jaccard). A program is compared with those that pass the
gate, each as often as it was sampled, and never with itself: another copy of it counts, it does not. Memory is bounded:
a pool of any size is compared with at most `MAX_REPRESENTATIVES` of its programs.

Nothing runs and nothing is learned: a static gate, how central a program is among the others, and a price of likeness.
The parts of `why` add up to the score. The order of the programs never counts, and a program that comes twice was
sampled twice. A fault that the gate does not find is not guessed.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from io import StringIO
from typing import Final
from warnings import catch_warnings

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.rank.canon import Canon
from assay.rank.gate import Facts, TaskWants, facts, wants_of
from assay.rank.syntax import MAX_PROGRAM_CHARS
from assay.values import Program, Ranked, Task

Numbers = NDArray[np.float64]
Ints = NDArray[np.int64]
VIEWS: Final = {"all": 1.0, "words": 1.0, "results": 1.0, "covers": 1.0, "mass": 0.5}
"""The parts of centrality with their weights: mean likeness by all paths, by labels, by what is below a return or a
print; how much of what is common a program has; and how many have the same normal form."""
MAX_PICKS: Final = 20
"""Programs that are taken one after the other; the rest pays for its likeness to all of them."""
_LOW_QUANTILE: Final = 0.1
"""The quantile of likenesses that counts as unlike."""
_NO_SPREAD: Final = 1e-6
_POOL_CACHE_SIZE: Final = 8
"""Pools that are kept: those drawn of one task."""
_LARGE: Final = 1_000
"""Different programs of a pool that is not kept: its arrays take tens of megabytes."""
LENGTHS: Final = 4
"""Nodes of the longest path."""
_RESULTS: Final = ("Return", "print()", "Emit")
_RESULT_LEVELS: Final = 4
_MAX_POOL_NODES: Final = 4_000_000
"""Nodes of a pool that are looked at, and of each program at least `_MIN_PROGRAM_NODES`."""
_MIN_PROGRAM_NODES: Final = 200


@dataclass(frozen=True, slots=True)
class PathBags:
    """The paths of each program: one entry per pair, sorted by program and path."""

    rows: Ints
    paths: Ints
    lengths: NDArray[np.int8]
    """By path: how many nodes it has."""
    results: NDArray[np.bool_]
    """By path: it ends below a return, or what is printed."""
    programs: int

    @property
    def width(self) -> int:
        """Return how many paths there are."""
        return len(self.lengths)


def bags(canons: Sequence[Canon]) -> PathBags:
    """Return the paths of each program."""
    known: dict[str, int] = {}
    labels: list[int] = []
    parents: list[int] = []
    owners: list[int] = []
    most = max(_MIN_PROGRAM_NODES, _MAX_POOL_NODES // max(len(canons), 1))
    for row, each in enumerate(canons):
        start, own = len(labels), each.labels[:most]
        labels += [known.setdefault(label, len(known) + 1) for label in own]
        parents += [start + parent for parent in each.parents[:most]]
        owners += [row] * len(own)
    ends = np.array([known[label] for label in _RESULTS if label in known], np.int64)
    label, parent, owner = (np.array(each, np.int64) for each in (labels, parents, owners))
    return _bags(label, parent, owner, ends, len(canons))


def _bags(labels: Ints, parents: Ints, owners: Ints, ends: Ints, programs: int) -> PathBags:
    """Return the paths of nodes, given their labels, the positions of their parents and their programs."""
    rows: list[Ints] = []
    paths: list[Ints] = []
    lengths: list[NDArray[np.int8]] = []
    results: list[NDArray[np.bool_]] = []
    below = np.isin(labels, ends)
    for _ in range(_RESULT_LEVELS):
        below = below | below[parents]
    width = 0
    for ids, number, places in _of_lengths(labels, parents):
        pairs = np.unique(owners[places] * max(number, 1) + ids)
        rows.append(pairs // max(number, 1))
        paths.append(pairs % max(number, 1) + width)
        lengths.append(np.full(number, len(lengths) + 1, np.int8))
        result = np.zeros(number, bool)
        result[ids[below[places]]] = True
        results.append(result)
        width += number
    row, path = np.concatenate(rows), np.concatenate(paths)
    order = np.lexsort((path, row))
    return PathBags(row[order], path[order], np.concatenate(lengths), np.concatenate(results), programs)


def _of_lengths(labels: Ints, parents: Ints) -> list[tuple[Ints, int, Ints]]:
    """Return for each length the path that ends at each position, the number of different paths, and the positions."""
    found = []
    most = int(labels.max(initial=0)) + 1
    ids, number = _numbered(labels)
    at = top = np.arange(len(labels))
    for _ in range(LENGTHS):
        found.append((ids, number, at))
        longer = np.flatnonzero(parents[top] != top)
        top = parents[top[longer]]
        ids, number = _numbered(ids[longer] * most + labels[top])
        at = at[longer]
    return found


def _numbered(keys: Ints) -> tuple[Ints, int]:
    unique, inverse = np.unique(keys, return_inverse=True)
    return inverse.astype(np.int64), len(unique)


MAX_REPRESENTATIVES: Final = 400
"""Programs that stand for a pool."""
_BLOCK: Final = 256


def likeness(bags: PathBags, columns: NDArray[np.bool_], against: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return the Jaccard similarity of each program to some programs, over some of the paths."""
    used = columns[bags.paths]
    rows, paths = bags.rows[used], bags.paths[used]
    sizes = np.bincount(rows, minlength=bags.programs).astype(np.float32)
    standing = np.zeros(bags.programs, bool)
    standing[against] = True
    there = np.zeros(bags.width, bool)
    there[paths[standing[rows]]] = True
    kept = there[paths]
    rows, paths, width = rows[kept], (np.cumsum(there) - 1)[paths[kept]], int(there.sum())
    starts = np.searchsorted(rows, np.arange(bags.programs + 1))
    chosen = np.zeros((len(against), width), np.float32)
    for at, program in enumerate(against):
        chosen[at, paths[starts[program] : starts[program + 1]]] = 1
    found = np.empty((bags.programs, len(against)), np.float32)
    for low in range(0, bags.programs, _BLOCK):
        high = min(low + _BLOCK, bags.programs)
        block = np.zeros((high - low, width), np.float32)
        part = slice(starts[low], starts[high])
        block[rows[part] - low, paths[part]] = 1
        common = block @ chosen.T
        either = sizes[low:high, None] + sizes[None, against] - common
        found[low:high] = common / np.maximum(either, 1)
    return found


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """Static facts about the different programs of a pool."""

    sources: tuple[str, ...]
    """The different programs, one for each row."""
    facts: tuple[Facts, ...]
    paths: PathBags
    passing: NDArray[np.bool_]
    """Which programs pass the gate: they parse, use their arguments, and no check shows that they fail."""
    views: dict[str, Numbers]
    """How central each program is, by each of `VIEWS`; -1 if there is no other program."""

    @property
    def central(self) -> Numbers:
        """Return how central each program is."""
        total = np.zeros(len(self.sources))
        for view, weight in VIEWS.items():
            total += weight * self.views[view]
        return total / len(VIEWS)


def look_at(task: Task, programs: Sequence[Program], *, are_finished: bool = True) -> PoolFacts:
    """Return the static facts of a pool's programs; the last few pools are cached for other rankers."""
    counted = Counter[str]()
    for program in programs:
        counted[program.source] += max(program.n, 1)
    sources = tuple(sorted(counted))
    look_once = _look if len(sources) <= _LARGE else _look.__wrapped__
    return look_once(wants_of(task), sources, tuple(counted[source] for source in sources), are_finished)


@lru_cache(_POOL_CACHE_SIZE)
def _look(wants: TaskWants, sources: tuple[str, ...], n: tuple[int, ...], are_finished: bool) -> PoolFacts:  # noqa: FBT001
    with catch_warnings(action="ignore"):
        seen = tuple(facts(source, wants, is_finished=are_finished) for source in sources)
    paths = bags([each.canon for each in seen])
    passing = np.array([each.fault is None and each.parses for each in seen], bool)
    ignoring = passing & np.array([each.ignores for each in seen], bool)
    counts = np.asarray(n, np.float64)
    if 2 * counts[ignoring].sum() < counts[passing].sum():  # else the task may want one answer to everything
        passing &= ~ignoring
    return PoolFacts(sources, seen, paths, passing, _views(seen, np.asarray(n, np.float64), paths, passing))


def _views(facts: Sequence[Facts], n: Numbers, paths: PathBags, passing: NDArray[np.bool_]) -> dict[str, Numbers]:
    """Return how central each program is, by each view."""
    against = _standing(passing if passing.any() else np.ones(len(n), bool), n)
    mean = partial(_mean_over_others, n=n, against=against)
    columns = {"all": np.ones(paths.width, bool), "words": paths.lengths == 1, "results": paths.results}
    known: dict[object, int] = {}
    forms = np.array([known.setdefault(each.canon, len(known)) for each in facts], np.intp)
    return {
        **{view: mean(likeness(paths, chosen, against)) for view, chosen in columns.items()},
        "covers": _covers(paths, n, against),
        "mass": mean(forms[:, None] == forms[against][None, :]),
    }


def _mean_over_others(values: NDArray[np.generic], *, n: Numbers, against: NDArray[np.intp]) -> Numbers:
    """Return the mean over the other programs; -1 without others."""
    numbers, itself = values.astype(np.float64), np.zeros(values.shape)
    itself[against, np.arange(len(against))] = 1
    others = np.maximum(n[against].sum() - itself.sum(1), 0)
    total = numbers @ n[against] - (numbers * itself).sum(1)
    return np.where(others > 0, total / np.maximum(others, 1), -1.0)


def _covers(paths: PathBags, n: Numbers, against: NDArray[np.intp]) -> Numbers:
    """Return the fraction of the common paths in each program."""
    weight = np.zeros(paths.programs)
    weight[against] = n[against]
    common = np.bincount(paths.paths, weights=weight[paths.rows], minlength=paths.width) / max(n[against].sum(), 1)
    total = np.bincount(paths.rows, weights=common[paths.paths], minlength=paths.programs)
    return np.asarray(total / max(common.sum(), 1e-9))


def _standing(able: NDArray[np.bool_], n: Numbers) -> NDArray[np.intp]:
    """Return the representatives of a pool: all candidates, or the most sampled and an even choice of the others."""
    there = np.flatnonzero(able)
    if len(there) <= MAX_REPRESENTATIVES:
        return there
    heavy = there[np.argsort(-n[there], kind="stable")][: MAX_REPRESENTATIVES // 2]
    rest = np.setdiff1d(there, heavy)
    even = rest[np.linspace(0, len(rest) - 1, MAX_REPRESENTATIVES - len(heavy)).astype(np.intp)]
    return np.sort(np.concatenate([heavy, even]))


def prices(scores: Numbers, paths: PathBags, price: float) -> Numbers:
    """Return the penalty of each score for similarity, so that the second program differs from the first."""
    best = np.argsort(-scores, kind="stable")[: MAX_PICKS * 10]
    alike = likeness(paths, np.ones(paths.width, bool), best).astype(np.float64)
    alike = (alike + _relative(alike, best)) / 2
    off = np.zeros(len(scores))
    waiting = np.ones(len(scores), bool)
    for _ in range(min(MAX_PICKS, len(best))):
        left = np.where(waiting[best], (scores - off)[best], -np.inf)
        at = int(np.argmax(left))
        waiting[best[at]] = False
        off = np.where(waiting, np.maximum(off, price * alike[:, at]), off)
    return off


def _relative(alike: Numbers, best: NDArray[np.intp]) -> Numbers:
    """Scale each similarity from the low ones among the best programs (0) to the highest (1)."""
    among = alike[best][~np.eye(len(best), dtype=bool)]
    if not len(among):
        return alike
    low, high = np.quantile(among, _LOW_QUANTILE), among.max()
    return np.clip((alike - low) / max(float(high - low), _NO_SPREAD), 0, 1)


GATE: Final = 20.0
"""What passing the gate is worth."""
CENTRAL: Final = 6.0
UNLIKE: Final = 4.0
"""The price of being like a program that comes before."""


CALIBRATION: Final = (-1.08, 0.503)
"""Bias and weight of `central` in the log-odds of being right: a logistic fit over the passing programs of MBPP, APPS,
HumanEval and TACO in pools of 3 to 100, each set as much as another. On a set that it did not see it is off by 0.10 to
0.25 (expected calibration error): how hard the task is decides more, and nothing here knows that."""
FAILS: Final = 0.02
"""The probability of a program that does not pass."""


class ConsensusRanker:
    """Ranks without running programs: `consensus`, or for unfinished programs `consensus:?unfinished`."""

    def __init__(self, spec: str = "") -> None:
        if spec not in {"", "?unfinished"}:
            raise InputError(f"unknown ranker 'consensus:{spec}'; use consensus or consensus:?unfinished")
        self.name = f"consensus:{spec}" if spec else "consensus"
        self._are_finished = not spec

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the score of each program in an order, and the probability that it is right."""
        if not programs:
            return []
        read = list(programs) if self._are_finished else [_finished(each) for each in programs]
        seen = look_at(task, read, are_finished=self._are_finished)
        parts = _parts(seen)
        place = {source: at for at, source in enumerate(seen.sources)}
        found = []
        for program, one in zip(programs, read, strict=True):
            part, about = parts[place[one.source]], seen.facts[place[one.source]]
            found.append(Ranked(program, sum(part.values()), about.fault, about.line, part, _probability(part)))
        return found


def _probability(parts: Mapping[str, float]) -> float:
    bias, weight = CALIBRATION
    return round(1 / (1 + math.exp(-bias - weight * parts["central"])), 3) if parts["gate"] == GATE else FAILS


def _parts(pool: PoolFacts) -> list[dict[str, float]]:
    """Return the terms of each score."""
    readable = np.array([each.fault is None and each.parses for each in pool.facts], np.float64)
    gate = GATE * (pool.passing + readable) / 2  # half of it for what only ignores what it is given
    of: dict[str, Numbers] = {"gate": gate, "central": CENTRAL * pool.central}
    of["unlike"] = -prices(of["gate"] + of["central"], pool.paths, UNLIKE)
    return [{name: float(values[at]) for name, values in of.items()} for at in range(len(pool.sources))]


class _PartRanker:
    """A ranker that scores the different programs of a pool by their static facts."""

    def __init__(self, name: str, score: Callable[[PoolFacts], Numbers]) -> None:
        self.name = name
        self._score = score

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return the score of each program, in their order."""
        if not programs:
            return []
        seen = look_at(task, programs)
        scores = dict(zip(seen.sources, self._score(seen).tolist(), strict=True))
        return [Ranked(program, scores[program.source]) for program in programs]


class GateRanker(_PartRanker):
    """`gate`: 1 for a program without a visible fault, else 0."""

    def __init__(self) -> None:
        super().__init__("gate", lambda seen: seen.passing.astype(np.float64))


class CentralityRanker(_PartRanker):
    """`centrality`: how central a program is among the others."""

    def __init__(self) -> None:
        super().__init__("centrality", lambda seen: seen.central)


def _finished(program: Program) -> Program:
    return replace(program, source=finished_part(program.source))


def finished_part(source: str) -> str:
    """Return the finished statements of a program, with open blocks closed so that it can be parsed.

    A statement is finished when its line has ended. What is wrong in the finished part stays wrong.
    """
    lines = StringIO(source, newline="").readlines() if len(source) <= MAX_PROGRAM_CHARS else []
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines.pop()
    while lines:
        try:
            with catch_warnings(action="ignore"):
                ast.parse("".join(lines))
            return "".join(lines)
        except SyntaxError as error:
            shorter = _closed(lines, error.msg, error.lineno or 0)
        except (ValueError, RecursionError, MemoryError):
            shorter = None
        if shorter is None:
            return source
        lines = shorter
    return ""


def _closed(lines: list[str], message: str, line: int) -> list[str] | None:
    """Return lines without the unfinished statement, or with the open block closed; None if they do not parse."""
    if "was never closed" in message or "unterminated triple-quoted" in message:
        return lines[: line - 1]
    if found := re.search(r"expected an indented block after '?(\w+).* on line (\d+)", message):
        at = int(found[2])
        header = lines[at - 1]
        space = header[: len(header) - len(header.lstrip())]
        closing = [] if found[1] in {"match", "case"} else [header, f"{space} pass\n"]
        return None if _has_code(lines[at:]) else [*lines[: at - 1], *closing]
    if "expected 'except' or 'finally' block" in message:
        for at in range(len(lines) - 1, -1, -1):
            space = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            if lines[at].lstrip().startswith("try") and all(_is_within(each, space) for each in lines[at + 1 :]):
                return [*lines, f"{space}finally:\n", f"{space} pass\n"]
    last = max((at for at, each in enumerate(lines) if _has_code([each])), default=0)
    return lines[:last] if lines[last].lstrip().startswith("@") else None


def _has_code(lines: Sequence[str]) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def _is_within(line: str, space: str) -> bool:
    return not _has_code([line]) or (line.startswith(space) and line[len(space) : len(space) + 1].isspace())
