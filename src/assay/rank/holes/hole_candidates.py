"""A function of a repository to what might stand in its place: older versions, mutants, functions that are alike.

All are written as Python writes their trees, without documentation and under the name of the hole, so that neither
layout nor comments nor names tell which one is the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.corpus.git import git
from assay.protocols import Encoder
from assay.rank.holes.repository_functions import RepositoryFunction, called, functions_in
from assay.rank.mutation.mutate import mutate
from assay.types import Program


@dataclass(frozen=True, slots=True)
class HoleCandidate:
    """What might stand in a hole."""

    code: str
    origin: str
    """`original`, `older` (a version of before), `mutant`, or `alike` (another function of the repository)."""


@dataclass(frozen=True, slots=True)
class HoleCandidateCounts:
    """How many candidates of each kind a hole gets at most, beside the original."""

    older: int = 8
    mutants: int = 8
    alike: int = 8
    commits: int = 100
    """Commits of its file that are looked into for older versions."""


def candidates_of(  # noqa: PLR0913, PLR0917  each is one thing
    root: Path,
    hole: RepositoryFunction,
    functions: Sequence[RepositoryFunction],
    encoder: Encoder,
    most: HoleCandidateCounts,
    seed: int,
) -> list[HoleCandidate]:
    """Return the original and what else might stand in its place; no two have one text."""
    found = {hole.code: "original"}
    older = dict.fromkeys(code for code in older_versions(root, hole, most.commits) if code not in found)
    found |= dict.fromkeys(list(older)[: most.older], "older")
    made = mutate(Program(hole.id, hole.code, hole.id), most.mutants, seed=seed) if most.mutants else None
    for mutant in made.mutants if made else ():
        found.setdefault(mutant.source, "mutant")
    for other in alike(hole, functions, encoder, most.alike):
        found.setdefault(called(other, hole.entry_point), "alike")
    return [HoleCandidate(code, origin) for code, origin in found.items()]


def older_versions(root: Path, hole: RepositoryFunction, most: int) -> Iterator[str]:
    """Yield the code of a function in earlier commits, the newest first, as far as its file had its name."""
    listed = git(root, "log", "--format=%H", f"--max-count={most}", "HEAD", "--", hole.file).decode().split()
    for commit in listed[1:]:
        if git(root, "ls-tree", commit, "--", hole.file):
            text = git(root, "show", f"{commit}:{hole.file}").decode("utf-8", "replace")
            yield from (each.code for each in functions_in(hole.file, text) if each.name == hole.name)


def alike(
    hole: RepositoryFunction, functions: Sequence[RepositoryFunction], encoder: Encoder, most: int
) -> list[RepositoryFunction]:
    """Return the other functions of a repository that an encoder holds nearest to what the hole asks for."""
    others = [each for each in functions if each.entry_point != hole.entry_point]
    if not others or not most:
        return []
    asked = encoder.encode([hole.prompt], "query")[0]
    near = encoder.encode([each.code for each in others], "code") @ asked
    return [others[at] for at in np.argsort(-near, kind="stable")[:most]]
