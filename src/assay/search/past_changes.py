"""Find files and units by what commits said that changed them: messages found for a question vote for both.

A message counts as much as it holds of the question, squared, and is shared by its files. Merges say nothing of their
own, and of a commit of many files each has little to do with what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.corpus.changed_units import ChangedUnits, changed_units
from assay.corpus.git import GitTooSlow
from assay.corpus.git_history import Commit, cut_off, named_commits
from assay.errors import InputError
from assay.search.commit_index import CommitForm
from assay.search.question import Question
from assay.search.retrievers import FieldWeights, bm25, match
from assay.store.snapshot import Snapshot
from assay.values import Chunk

MAX_FILES = 30
"""Files of a commit that votes for them."""
_MAX_MESSAGE_CHARS = 1000
_UNITS_READ = 1000
"""The newest commits, of which the units that they changed are read."""
_WITH_UNITS = "/units"
_VOTERS = 40
"""Commits that vote, those whose messages hold most of a question."""
_WORDS = FieldWeights(weight=(0.0, 0.0, 0.0, 0.0, 1.0), typical_length=(2.0, 2.0, 5.0, 15.0, 20.0), b=(0, 0, 0, 0, 0.6))
_NOISE = re.compile(
    r"^(?:[A-Z][\w-]*-by|Change-Id|git-svn-id|Bug|Closes|Fixes|Refs?|See|Link|Cc|PR-URL|Reviewed-on): ?.*$"
    r"|https?://\S+|\(?#\d+\)?",
    re.MULTILINE | re.IGNORECASE,
)
"""Trailers, addresses and numbers of tickets."""

Scores = NDArray[np.float32]


def _keys(ids: Sequence[str]) -> list[str]:
    """Return the keys of commits: of the newest, units are read, too."""
    return [f"{id_}{_WITH_UNITS}" for id_ in ids[:_UNITS_READ]] + list(ids[_UNITS_READ:])


def _voters(root: Path, keys: Sequence[str]) -> Iterator[Chunk]:
    """Yield the message of each of some commits, with what it votes for; what a shallow clone begins with adds all."""
    ids, rootless = [key.removesuffix(_WITH_UNITS) for key in keys], cut_off(root)
    newest = [id_ for id_, key in zip(ids, keys, strict=True) if key.endswith(_WITH_UNITS)]
    units = dict(_known_units(root, newest))
    for key, commit in zip(keys, named_commits(root, ids), strict=True):
        if commit.changes and len(commit.parents) < 2 and commit.id not in rootless:
            yield _voter(key, commit, units.get(commit.id, {}))


def _known_units(root: Path, ids: Sequence[str]) -> Iterator[ChangedUnits]:
    """Yield what units some commits changed, up to one whose files a clone lacks, by a filter or by damage."""
    try:
        yield from changed_units(root, ids) if ids else ()
    except GitTooSlow:
        raise
    except InputError:
        return


def _voter(key: str, commit: Commit, units: Mapping[str, Sequence[str]]) -> Chunk:
    """Return a message whose subject counts twice; what it votes for stands where chunks have a signature."""
    paths = [change.after for change in commit.changes]
    subject = commit.subject[:200]
    text = f"{subject}\n{subject}\n{_NOISE.sub(' ', commit.body[:_MAX_MESSAGE_CHARS])}"
    rows = [f"{path}\t{name}" for path, names in units.items() for name in dict.fromkeys(names)]
    named = "\n".join((*paths, *rows)) if len(paths) <= MAX_FILES else ""
    return Chunk(key, text, "text", key, 1, max(1, len(paths)), signature=named)


def _voted_for(chunk: Chunk) -> Sequence[str]:
    return [f":{row}" for row in chunk.signature.split("\n") if row]


VOTING_COMMITS = CommitForm("voters 1", _voters, _keys, str, _voted_for)
"""Messages, and the files and units that they are about."""


class PastChanges:
    """The commits of each of some roots, by the name of the root, or by nothing where there is one."""

    def __init__(self, commits: Mapping[str, Snapshot]) -> None:
        self._commits = commits

    def said_of(self, question: Question) -> CommitVotes:
        """Return what all commits say of files and units, for a question."""
        return CommitVotes({root: _of_root(commits, question) for root, commits in self._commits.items()})


@dataclass(frozen=True, slots=True)
class _RootVotes:
    commits: Snapshot
    weight: Scores
    """(commits) what each gives to each of its files."""
    covered: Scores
    """(commits) the fraction of the question's weight that its message holds."""


def _of_root(commits: Snapshot, question: Question) -> _RootVotes:
    found = match(commits, question.terms)
    scores = bm25(commits, found, _WORDS)
    idf = np.array([term.idf for term in found], np.float32)
    total = float(idf.sum()) or 1.0
    covered = np.zeros(commits.size, np.float32)
    for term in found:
        covered[term.chunks] += term.idf / total
    voters = commits.order.best(scores, np.flatnonzero(scores > 0), _VOTERS)
    weight = np.zeros(commits.size, np.float32)
    weight[voters] = (scores[voters] / total) ** 2 / np.sqrt(commits.rows("lines", voters)[:, 1]) if len(voters) else 0
    return _RootVotes(commits, weight, covered)


class CommitVotes:
    """What commits say of files and units, for one question."""

    def __init__(self, roots: Mapping[str, _RootVotes]) -> None:
        self._roots = roots

    def of(self, root: str, rows: Sequence[str]) -> Scores:
        """Return what each of some files or units of a root gets, a unit written as its file, a tab and its name.

        The result has shape `(rows, 2)`: the sum of the votes, and the most that one message about it holds of the
        question.
        """
        said = np.zeros((len(rows), 2), np.float32)
        votes = self._roots.get(root)
        if votes is not None and votes.commits.size:
            for at, (commits, _) in enumerate(votes.commits.postings_of([f":{row}" for row in rows])):
                if len(commits):
                    own = np.sort(votes.weight[commits])  # an index that was updated has them in another order
                    said[at] = own.sum(), votes.covered[commits].max()
        return said
