"""Compute the feature row of each candidate.

All features are bounded and relative to the query, never to one repository, so that one set of weights serves all of
them. One pass over arrays; nothing here looks at a text. Each earns its place: what an ablation could not measure is
not computed (`docs/results.md`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.search.messages import MessageMatch
from assay.search.neighbour_votes import NEIGHBOUR_FEATURES, neighbour_votes
from assay.search.past_changes import CommitVotes
from assay.search.path_filters import traits_of
from assay.search.question import Question
from assay.search.retrievers import Array, TermMatch
from assay.store.postings import FIELDS, Numbers, run_starts
from assay.store.snapshot import Snapshot
from assay.values import CALLABLE_KINDS, KINDS

NAME, PARENT, PATH, DOC, BODY = range(len(FIELDS))

PAST_FEATURES = tuple(
    "file_votes file_votes_share file_message unit_votes unit_votes_share unit_message owner_votes".split()
)
FEATURES = (
    *(
        "lexical lexical_share dense dense_share covered covered_name covered_body name_whole rare_missing file_dense "
        "has_doc callable block test example aside log_lines lexical_place dense_place file_lexical meaning_known"
    ).split(),
    *PAST_FEATURES,
    *NEIGHBOUR_FEATURES,
)
"""In the order of their columns."""

Column = Array | NDArray[np.bool_] | float
"""One value per candidate, or one for all."""
Similarity = TypeVar("Similarity", float, Array)


def _kinds(*names: str) -> NDArray[np.bool_]:
    """Return which numbers of `KINDS` are of these, to be looked up many at a time."""
    return np.array([kind in names for kind in KINDS])


_CALLABLE = _kinds(*CALLABLE_KINDS)
_BLOCK = _kinds("block", "module")
_TEST = KINDS.index("test")


@dataclass(frozen=True)
class QueryInCorpus:
    """A query looked up in the whole corpus; what takes a pass over all chunks is computed once."""

    snapshot: Snapshot
    question: Question
    terms: Sequence[TermMatch]
    names: Sequence[TermMatch]
    lexical: Array
    """(size) BM25 of every chunk."""
    vector: Array
    """(dimension) what the query means."""
    cosines: Array
    """(size) similarity of every chunk in meaning; not a number where it is far off in a large corpus."""
    mean: float
    """Of the cosines over the corpus."""
    deviation: float
    """Their standard deviation."""
    past: CommitVotes | None = None
    """How past commits vote for files and units; None without a history."""

    @cached_property
    def strongest(self) -> float:
        """The best lexical score."""
        return float(self.lexical.max(initial=0.0))

    @cached_property
    def closest(self) -> float:
        """The best cosine of a living chunk."""
        dead = self.snapshot.dead
        living = np.delete(self.cosines, dead) if len(dead) else self.cosines
        return float(np.fmax.reduce(living, initial=0.0))

    def cosines_of(self, numbers: Numbers) -> Array:
        """Return the cosines of some chunks, computing those that are not known yet."""
        found: Array = self.cosines[numbers]
        far = np.isnan(found)
        if far.any():
            found[far] = self.snapshot.cosines(self.vector, numbers[far])
        return found

    @cached_property
    def named(self) -> list[Numbers]:
        """The chunks in whose names each of the identifiers occurs."""
        return [name.chunks[name.counts[:, NAME] > 0] for name in self.names]

    @cached_property
    def idf(self) -> Array:
        """The weight of each term by its rarity; a query without terms has one that no chunk holds."""
        return np.array([term.idf for term in self.terms] or [1.0], dtype=np.float32)

    @cached_property
    def term_weights(self) -> Array:
        """The same as fractions of the query's weight."""
        weights: Array = self.idf / self.idf.sum()
        return weights

    def standing_out(self, cosine: Similarity) -> Similarity:
        """Return a cosine above the mean of the corpus, in five standard deviations."""
        return (cosine - self.mean) / (5.0 * max(self.deviation, 1e-6))


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """Features of candidate chunks, shape `(candidates, len(FEATURES))`, float32, in the order of the corpus."""

    numbers: Numbers
    rows: Array
    files: NDArray[np.intp]
    """A small number per file."""
    file_numbers: Numbers
    """The number of each file in the snapshot, by its small one."""
    declared: Numbers
    """Those that declare a typed name."""
    messages: Mapping[int, MessageMatch]
    """The pasted messages that candidates contain, by the numbers of their chunks."""


_NONE = np.zeros(0, np.int64)
_NO_PLACES = np.zeros(0, np.intp)
_NO_MESSAGES: Mapping[int, MessageMatch] = {}


def candidates_of(
    numbers: Numbers,
    query: QueryInCorpus,
    declared: Numbers = _NONE,
    messages: Mapping[int, MessageMatch] = _NO_MESSAGES,
    *,
    of_code: bool = True,
) -> CandidateFeatures:
    """Gather the features of some chunks, given those that declare a typed name, and those with a pasted message.

    What stands beside them, their history, their tests and callers, says nothing of documentation.
    """
    files, file = np.unique(query.snapshot.files(numbers), return_inverse=True)
    paths = query.snapshot.paths_of(files.tolist())
    traits = _traits(paths)[file]
    columns = {**_of_terms(numbers, query), **_of_scores(numbers, query, file), **_of_unit(numbers, query, traits)}
    if of_code:
        columns |= _of_past(numbers, query.past) if query.past else {}
        columns |= _of_neighbours(numbers, query, columns, traits[:, 0], [paths[at] for at in file.tolist()])
    rows = np.empty((len(numbers), len(FEATURES)), dtype=np.float32)
    for at, feature in enumerate(FEATURES):
        rows[:, at] = columns.get(feature, 0.0)
    return CandidateFeatures(numbers, rows, file, files, declared, messages)


def _of_terms(numbers: Numbers, query: QueryInCorpus) -> Mapping[str, Column]:
    """Compute where the query's terms occur, and whether one of its identifiers is the candidate's name."""
    weights = query.term_weights
    occurrences = np.zeros((3, len(numbers), len(weights)), dtype=np.float32)
    for at, term in enumerate(query.terms):
        here, place = _holding(term.chunks, numbers)
        counts = term.counts[place]
        occurrences[0, here, at] = 1.0
        occurrences[1, here, at] = counts[:, NAME] > 0
        occurrences[2, here, at] = counts[:, BODY] > 0
    covered, in_name, in_body = occurrences @ weights
    named = np.zeros(len(numbers), dtype=bool)
    named[_holding(np.sort(np.concatenate([_NONE, *query.named])), numbers)[0]] = True
    return {
        "covered": covered,
        "covered_name": in_name,
        "covered_body": in_body,
        "name_whole": named,
        "rare_missing": occurrences[0, :, int(weights.argmax())] == 0,
    }


def _of_scores(numbers: Numbers, query: QueryInCorpus, file: NDArray[np.intp]) -> Mapping[str, Column]:
    """Compute both scores, their places among the candidates, and the scores of the rest of the file."""
    lexical, cosine = query.lexical[numbers], query.cosines_of(numbers)
    per_weight = lexical / query.idf.sum()
    return {
        "lexical": per_weight,
        "lexical_share": lexical / max(query.strongest, 1e-6),
        "lexical_place": _place(lexical),
        "file_lexical": _file_mean(file, per_weight),
        "dense": cosine,
        "dense_share": query.standing_out(cosine),
        "dense_place": _place(cosine),
        "file_dense": _file_mean(file, cosine),
        "meaning_known": query.standing_out(query.closest),
    }


def _of_unit(numbers: Numbers, query: QueryInCorpus, traits: NDArray[np.bool_]) -> Mapping[str, Column]:
    """Compute what a candidate is and of which class its file is, unless the query is about that class."""
    question, snapshot, (test, example, aside) = query.question, query.snapshot, traits.T
    kinds = snapshot.rows("kind", numbers)
    lines = snapshot.rows("lines", numbers).astype(np.float32)
    return {
        "callable": _CALLABLE[kinds],
        "block": _BLOCK[kinds],
        "has_doc": snapshot.rows("lengths", numbers)[:, DOC] > 0,
        "log_lines": np.log1p(lines[:, 1] - lines[:, 0] + 1) / 5.0,
        "test": (test | (kinds == _TEST)) & (not question.about_tests),
        "example": example & (not question.about_examples),
        "aside": aside & (not question.about_asides),
    }


def _traits(paths: Sequence[str]) -> NDArray[np.bool_]:
    """Return whether each file is a test, an example or an aside, shape `(files, 3)`."""
    return np.array(list(map(traits_of, paths)), dtype=bool).reshape(-1, 3)


def _of_past(numbers: Numbers, past: CommitVotes) -> Mapping[str, Column]:
    """Compute how commits with messages like the question vote for file, unit and owner of each candidate."""
    (file_votes, file_message), (unit_votes, unit_message), (owner_votes, _) = past.of(numbers).transpose(1, 2, 0)
    return {
        "file_votes": np.sqrt(file_votes),
        "file_votes_share": file_votes / max(file_votes.max(initial=0.0), 1e-6),
        "file_message": file_message,
        "unit_votes": np.sqrt(unit_votes),
        "unit_votes_share": unit_votes / max(unit_votes.max(initial=0.0), 1e-6),
        "unit_message": unit_message,
        "owner_votes": np.sqrt(owner_votes),
    }


def _of_neighbours(
    numbers: Numbers,
    query: QueryInCorpus,
    columns: Mapping[str, Column],
    in_test: NDArray[np.bool_],
    paths: Sequence[str],
) -> Mapping[str, Column]:
    """Compute how tests and callers among the candidates vote for each."""
    lexical, dense, covered = (np.asarray(columns[name]) for name in ("lexical_share", "dense_share", "covered"))
    strength = 0.5 * lexical + 0.25 * np.clip(dense, 0.0, 2.0) + 0.25 * covered
    is_test = in_test | (query.snapshot.rows("kind", numbers) == _TEST)
    votes = neighbour_votes(query.snapshot, numbers, strength, is_test, paths)
    return dict(zip(NEIGHBOUR_FEATURES, votes.T, strict=True))


def _file_mean(file: NDArray[np.intp], scores: Array) -> Array:
    """Return for each candidate the mean of the three best scores among the candidates of its file."""
    order = np.lexsort((-scores, file))
    top = order[places_in_runs(file[order]) < 3]
    mean = np.bincount(file[top], weights=scores[top]) / np.bincount(file[top])
    return mean[file].astype(np.float32)


def places_in_runs(ordered: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of some ordered values how many equal ones come before it."""
    starts = run_starts(ordered)
    return np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))


def _place(scores: Array) -> Array:
    """Return how near the top each candidate is: 1 for the first, a half for the eleventh."""
    place = np.empty(len(scores), dtype=np.float32)
    place[np.argsort(-scores, kind="stable")] = 10.0 / (10.0 + np.arange(len(scores)))
    return place


def _holding(chunks: Numbers, numbers: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of some numbers are among ascending chunks, and their positions there."""
    if not len(chunks):
        return _NO_PLACES, _NO_PLACES
    place = np.minimum(np.searchsorted(chunks, numbers), len(chunks) - 1)
    here = np.flatnonzero(chunks[place] == numbers)
    return here, place[here]
