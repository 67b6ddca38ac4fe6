"""Find files and units by the messages of commits that changed them: those that match a question vote for both.

A message counts as much as it holds of the question, squared, and is shared by its files. Merges say nothing of their
own, and of a commit of many files each has little to do with what it says.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.corpus.changed_units import ChangedUnits, changed_units
from assay.corpus.git import GitTooSlow
from assay.corpus.git_history import Commit, cut_off, named_commits
from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.search.commit_index import CommitForm, LinkedChunk
from assay.search.declared_names import innermost_name
from assay.search.question import Question
from assay.search.retrievers import FieldWeights, bm25, match
from assay.store.arrays import Strings
from assay.store.postings import Hashes, Numbers, run_starts, term_hashes
from assay.store.segment import Segment
from assay.store.snapshot import Snapshot
from assay.values import Chunk

MAX_COMMITS = 5000
"""The newest commits, which vote."""
MAX_FILES = 30
"""Files of a commit that votes for them."""
_MAX_MESSAGE_CHARS = 1000
_MAX_UNIT_COMMITS = 1000
"""The newest commits, of which the units that they changed are read."""
_DATE_CHARS = len("2024-05-06")
_WITH_UNITS = "/units"
_FIXED_POINT = 1 << 40
_MAX_VOTERS = 40
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
    return [f"{id_}{_WITH_UNITS}" for id_ in ids[:_MAX_UNIT_COMMITS]] + list(ids[_MAX_UNIT_COMMITS:])


def _voters(root: Path, keys: Sequence[str]) -> Iterator[LinkedChunk]:
    """Yield the message of each of some commits, with what it votes for; what a shallow clone begins with adds all."""
    key_of, rootless = {key.removesuffix(_WITH_UNITS): key for key in keys}, cut_off(root)
    units = dict(_known_units(root, [id_ for id_, key in key_of.items() if key != id_]))
    for commit in named_commits(root, list(key_of)):
        if commit.changes and len(commit.parents) < 2 and commit.id not in rootless:
            yield _voter(key_of[commit.id], commit, units.get(commit.id, {}))


def _known_units(root: Path, ids: Sequence[str]) -> Iterator[ChangedUnits]:
    """Yield what units some commits changed, up to one whose files a clone lacks, by a filter or by damage."""
    try:
        yield from changed_units(root, ids) if ids else ()
    except GitTooSlow:
        raise
    except InputError:
        return


def _voter(key: str, commit: Commit, units: Mapping[str, Sequence[str]]) -> LinkedChunk:
    """Return a message whose subject counts twice; its date is in the field for signatures."""
    paths = [change.after for change in commit.changes]
    subject = commit.subject[:200]
    text = f"{subject}\n{subject}\n{_NOISE.sub(' ', commit.body[:_MAX_MESSAGE_CHARS])}"
    rows = [f"{path}\t{name}" for path, names in units.items() for name in dict.fromkeys(names)]
    links = tuple(map(_link, (*paths, *rows))) if len(paths) <= MAX_FILES else ()
    chunk = Chunk(key, text, "text", key, 1, max(1, len(paths)), signature=commit.date[:_DATE_CHARS])
    return LinkedChunk(chunk, links)


def _link(row: str) -> str:
    """Return the term of a file or a unit, as short as terms may be that hardly ever meet."""
    return ":" + hex_digest(row, 6)


VOTING_COMMITS = CommitForm("voters 3", _voters, _keys, str, MAX_COMMITS)
"""Messages, and the files and units that they are about."""


class _LinkTable(NamedTuple):
    """What the commits of a root are about, `n` files and units, with `m` links of commits to them."""

    hashes: Hashes
    """(n) ascending."""
    starts: NDArray[np.intp]
    """(n) where the commits of each begin."""
    commits: NDArray[np.int64]
    """(m) numbers of commits."""


def _link_table(snapshot: Snapshot) -> _LinkTable:
    links = [_links_of(segment) for segment, _ in snapshot.parts]
    hashes = np.concatenate([each for each, _ in links])
    commits = np.concatenate([each + base for (_, each), base in zip(links, snapshot.bases.tolist(), strict=False)])
    order = np.argsort(hashes, kind="stable")
    starts = run_starts(hashes[order])
    return _LinkTable(hashes[order][starts], starts, commits[order])


def _links_of(segment: Segment) -> tuple[Hashes, NDArray[np.int64]]:
    """Return what each link of a segment leads to, and from which of its commits."""
    terms = segment.terms
    first, end = (bisect_left(range(len(terms)), letter, key=terms.bytes_at) for letter in (b":", b";"))
    starts = np.asarray(segment.starts[first : end + 1], np.int64)
    hashes = term_hashes(Strings(terms.whole, terms.offsets[first : end + 1]))
    return np.repeat(hashes, np.diff(starts)), segment.posting_chunk[starts[0] : starts[-1]].astype(np.int64)


class _RootCommits:
    """The commits of one root, and what each is about."""

    def __init__(self, commits: Snapshot) -> None:
        self.commits = commits

    @cached_property
    def table(self) -> _LinkTable:
        """Return what all of them are about."""
        return _link_table(self.commits)

    def voting(self, question: Question) -> _RootVotes:
        """Return how commits vote for a question."""
        commits, table = self.commits, self.table
        found = match(commits, question.terms)
        scores = bm25(commits, found, _WORDS)
        total = float(np.array([term.idf for term in found], np.float32).sum()) or 1.0
        covered = np.zeros(commits.size, np.float32)
        for term in found:
            covered[term.chunks] += term.idf / total
        voters = commits.order.best(scores, np.flatnonzero(scores > 0), _MAX_VOTERS)
        weight = np.zeros(commits.size, np.int64)
        shared = np.sqrt(commits.rows("lines", voters)[:, 1]) if len(voters) else 1.0
        weight[voters] = np.rint((scores[voters] / total) ** 2 / shared * _FIXED_POINT)
        return _RootVotes(
            commits,
            weight,
            table.hashes,
            np.add.reduceat(weight[table.commits], table.starts) if len(table.starts) else weight[:0],
            np.maximum.reduceat(covered[table.commits], table.starts) if len(table.starts) else covered[:0],
        )


class _RootVotes(NamedTuple):
    """How the commits of one root vote, and what each of `n` files and units gets."""

    commits: Snapshot
    weight: NDArray[np.int64]
    """(commits) what each gives to each of its files, times `_FIXED_POINT`: integers add up alike in any order."""
    hashes: Hashes
    """(n) ascending."""
    sums: NDArray[np.int64]
    """(n) the weights of all that are about it."""
    most: Scores
    """(n) the largest part of the question that one message about it holds."""

    def of(self, links: Hashes) -> Scores:
        """Return what each of some links gets, and the most that one of its messages holds, shape `(links, 2)`."""
        votes = np.zeros((len(links), 2), np.float32)
        if len(self.hashes):
            at = np.minimum(np.searchsorted(self.hashes, links), len(self.hashes) - 1)
            here = np.flatnonzero(self.hashes[at] == links)
            votes[here, 0] = self.sums[at[here]] / _FIXED_POINT
            votes[here, 1] = self.most[at[here]]
        return votes


class _ChunkLinks:
    """The links of the file, the unit and the owner of each chunk of a corpus, computed when they are first needed."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._links = np.zeros((snapshot.size, 3), np.uint64)

    def of(self, numbers: Numbers) -> Hashes:
        """Return the links of some chunks, shape `(chunks, 3)`."""
        new = numbers[self._links[numbers, 0] == 0]
        if len(new):
            paths = self.snapshot.paths_of(self.snapshot.files(new).tolist())
            named = (map(innermost_name, self.snapshot.texts(column, new)) for column in ("symbols", "parents"))
            units = ([f"{path}\t{name}" for path, name in zip(paths, names, strict=True)] for names in named)
            rows = zip(paths, *units, strict=True)
            self._links[new] = term_hashes(Strings.of(map(_link, chain.from_iterable(rows)))).reshape(-1, 3)
        return self._links[numbers]


class PastChanges:
    """The commits of each of some roots, by the name of the root, or by an empty name where there is one."""

    def __init__(self, commits: Mapping[str, Snapshot]) -> None:
        self._roots = {root: _RootCommits(one) for root, one in commits.items() if one.size}
        self._links: _ChunkLinks | None = None

    def votes_for(self, question: Question, corpus: Snapshot) -> CommitVotes:
        """Return how the commits vote for what is in a corpus, for a question."""
        links = self._links
        if links is None or links.snapshot is not corpus:
            links = self._links = _ChunkLinks(corpus)
        return CommitVotes({root: commits.voting(question) for root, commits in self._roots.items()}, links)


class CommitVotes:
    """How commits vote for the files and units of a corpus, for one question."""

    def __init__(self, roots: Mapping[str, _RootVotes], links: _ChunkLinks) -> None:
        self._roots, self._links = roots, links

    def of(self, numbers: Numbers) -> Scores:
        """Return the votes of commits for the file, the unit and the owner of some chunks, shape `(chunks, 3, 2)`.

        The sum of the votes, and the most that one message about it holds of the question.
        """
        links, votes = self._links.of(numbers), np.zeros((len(numbers), 3, 2), np.float32)
        roots = np.array(self._links.snapshot.roots_of(numbers))
        for root, own in self._roots.items():
            here = np.flatnonzero(roots == root)
            votes[here] = own.of(links[here].ravel()).reshape(-1, 3, 2)
        return votes

    def strongest(self, root: str, path: str) -> str:
        """Return subject and date of the commit that gives most to a file, or nothing where none votes for it."""
        votes = self._roots.get(root)
        voting = votes.commits.postings(_link(path))[0] if votes else np.zeros(0, np.int64)
        if votes is None or not votes.weight[voting].any():
            return ""
        (best,) = votes.commits.order.best(votes.weight.astype(np.float32), voting, 1).tolist()
        commit = votes.commits.chunk(best)
        subject, _, _ = commit.text.partition("\n")
        return f"{subject} ({commit.signature})"
