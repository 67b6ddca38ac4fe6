"""Find units by what stands beside them among the candidates of a question: tests of them, and what calls them.

The strongest candidates vote for what they call; a test file, by its name, for the files that it tests.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from assay.corpus.call_facts import names_called
from assay.search.declared_names import innermost_name
from assay.store.postings import Numbers
from assay.store.snapshot import Snapshot

NEIGHBOUR_FEATURES = ("test_of_file", "tested", "called")
_MAX_CANDIDATES = 80
"""Candidates that may vote."""
_MAX_VOTERS = 25
"""Of these, tests and others that vote for what they call."""
_MAX_TESTS = 40
"""Tests whose files vote for the files that they are named for."""
_MIN_NAME_CHARS = 4
_MAX_NAMESAKES = 4
"""Candidates of one name, of which a call may mean any."""
_TEST = re.compile(r"^tests?[_-]?|[_-]?(?:tests?|spec|its?)$", re.IGNORECASE)

Scores = NDArray[np.float32]


def neighbour_votes(
    snapshot: Snapshot, numbers: Numbers, strength: Scores, is_test: NDArray[np.bool_], paths: Sequence[str]
) -> Scores:
    """Return what tests and callers among candidates say of each, shape `(candidates, len(NEIGHBOUR_FEATURES))`.

    `strength` says how well each answers by itself, `paths` where it stands.
    """
    votes = np.zeros((len(numbers), len(NEIGHBOUR_FEATURES)), np.float32)
    strongest = np.argsort(-strength, kind="stable")[:_MAX_CANDIDATES].tolist()
    tests = [at for at in strongest if is_test[at]]
    others = [at for at in strongest if not is_test[at]]
    names = list(map(innermost_name, snapshot.texts("symbols", numbers)))
    named, in_file = _by_name(names, is_test), _by_file_name(paths, is_test)
    for at in tests[:_MAX_TESTS]:
        tested = in_file.get(_tested_name(paths[at]), [])
        votes[tested, 0] = np.maximum(votes[tested, 0], strength[at])
    for column, voters in ((1, tests[:_MAX_VOTERS]), (2, others[:_MAX_VOTERS])):
        for at, facts in zip(voters, snapshot.texts("facts", numbers[voters]), strict=True):
            _vote(votes[:, column], at, float(strength[at]) ** 2, facts, named)
    votes[:, 1:] = np.log1p(votes[:, 1:])
    return votes


def _vote(votes: Scores, caller: int, worth: float, facts: str, named: dict[str, list[int]]) -> None:
    for name in sorted(names_called(facts) & named.keys()):
        meant = named[name]
        if len(meant) <= _MAX_NAMESAKES:
            for at in meant:
                votes[at] += worth / len(meant) if at != caller else 0.0


def _by_name(names: Sequence[str], is_test: NDArray[np.bool_]) -> dict[str, list[int]]:
    named = defaultdict[str, list[int]](list)
    for at in np.flatnonzero(~is_test).tolist():
        if len(names[at]) >= _MIN_NAME_CHARS:
            named[names[at]].append(at)
    return named


def _by_file_name(paths: Sequence[str], is_test: NDArray[np.bool_]) -> dict[str, list[int]]:
    named = defaultdict[str, list[int]](list)
    for at in np.flatnonzero(~is_test).tolist():
        named[_file_name(paths[at])].append(at)
    return named


@lru_cache(16_384)
def _file_name(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


@lru_cache(16_384)
def _tested_name(path: str) -> str:
    """Return the name of the files that a test file is about: that of its own without what says that it is a test."""
    return _TEST.sub("", _TEST.sub("", _file_name(path)))
