"""Files of pairs to what is trained on; what cannot be used of them is said as one line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError, counted
from assay.io.terminal import say, say_problems

if TYPE_CHECKING:
    from assay.train.pairs import TrainingPair


def read_pairs(files: Sequence[Path], *, verbose: bool) -> list[TrainingPair]:
    """Return the pairs of files."""
    from assay.train.pairs import read_pairs as read

    found = read(files)
    say_problems(found.problems, every=verbose)
    if found.undecided:
        say(f"{counted(found.undecided, 'undecided pair')} left out")
    return found.pairs


def without_judged(pairs: list[TrainingPair], files: Sequence[Path]) -> list[TrainingPair]:
    """Return the pairs of which files judge neither the query nor the code; say how many are left out."""
    from assay.train.pairs import leave_out

    kept = leave_out(pairs, files)
    if files:
        say(f"{counted(len(pairs) - len(kept), 'pair')} of {len(pairs):,} left out: --leave-out judges their texts")
    if pairs and not kept:
        raise InputError("--leave-out leaves nothing to learn from: it judges a text of every pair")
    return kept
