"""A corpus and a mode to the name of the ranking that suits them: what weights are learned for, and stored as.

A corpus of single functions (a data set such as CoSQA, snippets saved one a file) has no repository around them: the
rest of a file and its path say nothing there. Repositories are far from that: of 34 looked at, none had more than a
quarter of its files of code with exactly one function.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.search.filters import PROSE
from assay.store.segment import Mask, Segment
from assay.store.snapshot import Snapshot
from assay.types import CALLABLE_KINDS, KINDS, Mode

RankingName = Literal["code", "docs", "functions"]
"""`functions` is code of a corpus whose files hold one function each."""
RANKING_NAMES: tuple[RankingName, ...] = get_args(RankingName)

_CALLABLE = np.array([kind in CALLABLE_KINDS for kind in KINDS])
_ALONE = 0.75  # of the files of code, so many with exactly one function make a corpus of functions
_FEWEST = 20  # files from which a corpus is of any sort


def ranking_name(snapshot: Snapshot, mode: Mode) -> RankingName:
    """Return the name of the ranking for code or for documentation of a corpus."""
    if mode == "docs":
        return "docs"
    if snapshot.single_functions is None:
        snapshot.single_functions = holds_single_functions(snapshot)
    return "functions" if snapshot.single_functions else "code"


def holds_single_functions(snapshot: Snapshot) -> bool:
    """Say whether nearly every file of code holds exactly one function."""
    callables = [np.zeros(0, np.int64), *(_callables(*part) for part in snapshot.parts)]
    in_file = np.concatenate(callables)
    return len(in_file) >= _FEWEST and bool((in_file == 1).mean() > _ALONE)


def _callables(segment: Segment, live: Mask | None) -> NDArray[np.int64]:
    """Count the functions of each file of code that has a living chunk, shape `(files of code,)`."""
    file, kind = segment.file, segment.kind
    if live is not None:
        file, kind = file[live], kind[live]
    prose = np.array([language in PROSE for language in segment.languages], dtype=bool)
    known = np.bincount(file, minlength=len(prose)) > 0
    functions: NDArray[np.int64] = np.bincount(file[_CALLABLE[kind]], minlength=len(prose))[known & ~prose]
    return functions
