"""Files of pairs to what is trained on; what cannot be used of them is said as one line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.workspaces import say, say_problems
from assay.errors import counted

if TYPE_CHECKING:
    from assay.encode.training_pairs import TrainingPair


def read_pairs(files: Sequence[Path], *, verbose: bool) -> list[TrainingPair]:
    """Return the pairs of files."""
    from assay.assemble.pair_files import read_pairs as read

    found = read(files)
    say_problems(found.problems, every=verbose)
    if found.undecided:
        say(f"{counted(found.undecided, 'undecided pair')} left out")
    return found.pairs
