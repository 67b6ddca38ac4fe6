"""Find units by their neighbours among the candidates of a question: the tests of them, and their callers.

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
    """Return the votes of tests and callers among candidates, shape `(candidates, len(NEIGHBOUR_FEATURES))`.

    `strength` says how well each answers by itself, `paths` where it stands.
    """
    worths = strength.tolist()
    strongest = np.argsort(-strength, kind="stable")[:_MAX_CANDIDATES].tolist()
    tests = [at for at in strongest if is_test[at]]
    others = [at for at in strongest if not is_test[at]]
    answers = np.flatnonzero(~is_test).tolist()
    named = _by_name(list(map(innermost_name, snapshot.texts("symbols", numbers))), answers)

    worth_of_name: dict[str, float] = {}
    for at in tests[:_MAX_TESTS]:  # the strongest first
        worth_of_name.setdefault(_tested_name(paths[at]), worths[at])
    test_of_file = [0.0] * len(numbers)
    for at in answers:
        test_of_file[at] = max(0.0, worth_of_name.get(_file_name(paths[at]), 0.0))
    calls = []
    for voters in (tests[:_MAX_VOTERS], others[:_MAX_VOTERS]):
        calls.append([0.0] * len(numbers))
        for at, facts in zip(voters, snapshot.texts("facts", numbers[voters]), strict=True):
            _vote(calls[-1], at, worths[at] ** 2, facts, named)
    return np.stack([np.array(test_of_file), *np.log1p(calls)], axis=1).astype(np.float32)


def _vote(votes: list[float], caller: int, worth: float, facts: str, named: dict[str, list[int]]) -> None:
    for name in sorted(names_called(facts) & named.keys()):
        meant = named[name]
        if len(meant) <= _MAX_NAMESAKES:
            for at in meant:
                if at != caller:
                    votes[at] += worth / len(meant)


def _by_name(names: Sequence[str], numbers: Sequence[int]) -> dict[str, list[int]]:
    named = defaultdict[str, list[int]](list)
    for at in numbers:
        if len(names[at]) >= _MIN_NAME_CHARS:
            named[names[at]].append(at)
    return named


@lru_cache(16_384)
def _file_name(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0].lower()


@lru_cache(16_384)
def _tested_name(path: str) -> str:
    """Return the name of the files that a test file is about: its own name without the part that marks a test."""
    return _TEST.sub("", _TEST.sub("", _file_name(path)))
