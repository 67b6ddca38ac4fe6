"""Compute the feature row of each candidate.

All features are bounded and relative to the query, never to one repository, so that one set of weights serves all of
them. One pass over arrays; nothing here looks at a text. Each earns its place: what an ablation could not measure is
not computed (`docs/results.md`).

Words that people use for a sort of unit in any language of programs, not those of one repository. Nothing is left out
for being of another sort: the ranking learns what it is worth.

Late interaction (Khattab and Zaharia, 2020, *ColBERT*) over a table of static word vectors, and kernel pooling of the
same cosines (Xiong et al., 2017, *End-to-End Neural Ad-hoc Ranking with Kernel Pooling*): besides the most similar
word, how many are similar at each of six levels. No model runs, and what a chunk's words are is read from its text, so
no index holds anything for it. Only the first few dozen candidates are looked at: reading texts costs more than all
the rest of a query.

A phrase is three words in a row, wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, filterfalse, groupby, islice
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static, distinct_rows
from assay.search.messages import READ, MessageMatch
from assay.search.neighbour_votes import NEIGHBOUR_FEATURES, neighbour_votes
from assay.search.past_changes import CommitVotes
from assay.search.path_filters import traits_of
from assay.search.question import Question
from assay.search.retrievers import Array, TermMatch
from assay.store.postings import FIELDS, Numbers, run_starts
from assay.store.snapshot import Snapshot
from assay.terms import STOP_WORDS, spaced, words
from assay.values import CALLABLE_KINDS, KINDS, TYPE_KINDS, Chunk

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
"""A value a candidate, or one for all."""
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
        """Return the cosines of some chunks; what is not known yet is looked up."""
        found: Array = self.cosines[numbers]
        far = np.isnan(found)
        if far.any():
            found[far] = self.snapshot.cosines(self.vector, numbers[far])
        return found

    @cached_property
    def named(self) -> list[Numbers]:
        """The chunks in whose names each of the identifiers stands."""
        return [name.chunks[name.counts[:, NAME] > 0] for name in self.names]

    @cached_property
    def idf(self) -> Array:
        """What each term weighs, as it is rare; a query without terms has one that no chunk holds."""
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
    """A small number a file."""
    file_numbers: Numbers
    """The number of each file in the snapshot, by its small one."""
    declared: Numbers
    """Those that declare a typed name."""
    messages: Mapping[int, MessageMatch]
    """The messages that are pasted of those that say one, by their numbers."""


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
    """Gather the features of some chunks, among them those that declare a typed name, or say a pasted message.

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
    """Say where the query's terms stand, and whether one of its identifiers is the candidate's name."""
    weights = query.term_weights
    held = np.zeros((3, len(numbers), len(weights)), dtype=np.float32)
    for at, term in enumerate(query.terms):
        here, place = _holding(term.chunks, numbers)
        counts = term.counts[place]
        held[0, here, at] = 1.0
        held[1, here, at] = counts[:, NAME] > 0
        held[2, here, at] = counts[:, BODY] > 0
    covered, in_name, in_body = held @ weights
    named = np.zeros(len(numbers), dtype=bool)
    named[_holding(np.sort(np.concatenate([_NONE, *query.named])), numbers)[0]] = True
    return {
        "covered": covered,
        "covered_name": in_name,
        "covered_body": in_body,
        "name_whole": named,
        "rare_missing": held[0, :, int(weights.argmax())] == 0,
    }


def _of_scores(numbers: Numbers, query: QueryInCorpus, file: NDArray[np.intp]) -> Mapping[str, Column]:
    """Give both scores, their places among the candidates, and what the rest of the file scores."""
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
    """Say what a candidate is, and what sort of file it stands in, unless the query is about that sort."""
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
    """Return whether each file is of a test, of an example, an aside, shape `(files, 3)`."""
    return np.array(list(map(traits_of, paths)), dtype=bool).reshape(-1, 3)


def _of_past(numbers: Numbers, past: CommitVotes) -> Mapping[str, Column]:
    """Say how commits with messages like the question vote for the file, the unit and the owner of each candidate."""
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
    """Say what tests and callers among the candidates say of each."""
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
    """Return for each of some values in order how many of the same stand before it."""
    starts = run_starts(ordered)
    return np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))


def _place(scores: Array) -> Array:
    """Return how near the top each candidate is: 1 for the first, a half for the eleventh."""
    place = np.empty(len(scores), dtype=np.float32)
    place[np.argsort(-scores, kind="stable")] = 10.0 / (10.0 + np.arange(len(scores)))
    return place


def _holding(chunks: Numbers, numbers: Numbers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which of some numbers are among ascending chunks, and where these stand."""
    if not len(chunks):
        return _NO_PLACES, _NO_PLACES
    place = np.minimum(np.searchsorted(chunks, numbers), len(chunks) - 1)
    here = np.flatnonzero(chunks[place] == numbers)
    return here, place[here]


KIND_FEATURES = ("type", "type_asked", "kind_asked", "constant", "constant_asked", "block_asked", "type_not_callable")

_RECORDS = frozenset(("struct", "class", "type"))
_CONTRACTS = frozenset(("interface", "trait", "type", "class"))
_NAMED: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("struct", "structur", "record", "object"), _RECORDS),
    "class": frozenset(("class", "struct")),
    **dict.fromkeys(("interfac", "protocol", "trait"), _CONTRACTS),
    **dict.fromkeys(("enum", "enumer", "variant"), frozenset(("enum",))),
    "union": frozenset(("type", "enum", "struct")),
    **dict.fromkeys(("alias", "alia"), frozenset(("type",))),
    "typedef": frozenset(("type", "struct")),
    "type": _RECORDS | _CONTRACTS | {"enum"},
}
"""The kinds of unit that a stem in a question stands for."""
_CONSTANTS = frozenset(
    "constant default config configur set limit maximum minimum max min tabl valu list map option flag environ "
    "variabl number size timeout mani long mask prefix version".split()
)
"""Stems that ask for a value rather than for what is done with it."""
_TYPES = TYPE_KINDS | {"impl"}
_BLOCKS = frozenset(("block", "module", ""))


def kind_features(terms: Sequence[str], chunks: Sequence[Chunk]) -> Array:
    """Return what each chunk is and whether a question's stems ask for it, shape `(chunks, len(KIND_FEATURES))`."""
    named = [_NAMED[term] for term in terms if term in _NAMED]
    value = not _CONSTANTS.isdisjoint(terms)
    asked = frozenset().union(*named)
    rows = {kind: _row(kind, asked, value=value) for kind in {chunk.kind for chunk in chunks}}
    return np.array([rows[chunk.kind] for chunk in chunks], dtype=np.float32).reshape(len(chunks), len(KIND_FEATURES))


def _row(kind: str, named: frozenset[str], *, value: bool) -> tuple[bool, ...]:
    return (
        kind in _TYPES,
        kind in _TYPES and bool(named),
        kind in named,
        kind == "constant",
        kind == "constant" and value,
        kind in _BLOCKS and value,
        kind in CALLABLE_KINDS and bool(named),
    )


SIMILARITY_FIELDS = ("name", "doc", "text")
LEVELS = ((1.0, 0.03), (0.8, 0.08), (0.6, 0.08), (0.45, 0.08), (0.3, 0.08), (0.15, 0.1))
"""Centre and width of each kernel; the first counts the same word alone."""
_NEAR = tuple(f"near_{field}" for field in SIMILARITY_FIELDS)
_ALIKE = tuple(f"alike_{field}@{round(100 * centre)}" for field in SIMILARITY_FIELDS for centre, _ in LEVELS)
TOKEN_FEATURES = (*_NEAR, *_ALIKE, "asked_name", "asked_doc", "least_met", "met")
"""In the order of their columns; what stands behind an `@` is a level."""

_NAME_WORDS, _DOC_WORDS, _TEXT_WORDS = 16, 40, 90
_DOC, _TEXT = 400, 3000  # characters looked at
_CHUNK_CACHE_SIZE = 8192  # of about 1 kB: questions in a row come to the same ones, above all while one is typed
_CENTRES, _WIDTHS = (np.array(column, dtype=np.float32) for column in zip(*LEVELS, strict=True))

Bags = tuple[NDArray[np.int32], tuple[int, ...]]
"""The rows of the words of a chunk's name, documentation and text, each once, end to end, and how many they are."""


@dataclass(frozen=True)
class TokenSimilarity:
    """Compares words by a static table, loaded at the first question."""

    load: Callable[[], StaticEncoder] = default_static
    _known: dict[tuple[str, ...], Bags] = field(default_factory=dict, compare=False)

    @cached_property
    def _table(self) -> StaticEncoder:
        return self.load()

    @cached_property
    def _rows_of(self) -> Callable[[tuple[str, ...]], Array]:
        """Return the vectors of the words of a question, which is asked of code and of documentation."""
        return lru_cache(8)(self._table.rows)

    @cached_property
    def _plain(self) -> frozenset[int]:
        return frozenset(row for word in STOP_WORDS for row in self._table.vocabulary.rows_of_word(word))

    def features(self, asked_words: Sequence[str], weights: Array, chunks: Sequence[Chunk]) -> Array:
        """Return how similar some words are to those of each chunk's name, documentation and text.

        `weights` add up to 1; the result has shape `(chunks, len(TOKEN_FEATURES))`: for each of the three the mean
        cosine with the most similar word, and the logarithm of how many words are similar at each level, both weighted;
        how much of the name and of the documentation is asked for; the cosine of the word that is met least, and the
        mean of all.
        """
        if not asked_words or not chunks:
            return np.zeros((len(chunks), len(TOKEN_FEATURES)), dtype=np.float32)
        bags = self._bags(chunks)
        lengths = np.array([length for _, own in bags for length in own])
        ends = np.cumsum(lengths)
        rows, place = distinct_rows(np.concatenate([rows for rows, _ in bags]), len(self._table.vocabulary))
        cosines = np.maximum(self._table.cosines(rows, self._rows_of(tuple(asked_words))), 0.0)
        nearest = np.maximum.reduceat(cosines[place], ends - lengths, axis=0)
        near = (nearest * weights).sum(axis=1)  # in BLAS, finite numbers raised an invalid-value warning now and then
        alike, asked = _summed(cosines, place, lengths, weights)
        last = nearest[len(SIMILARITY_FIELDS) - 1 :: len(SIMILARITY_FIELDS)]
        columns = (
            near.reshape(len(chunks), -1),
            alike.reshape(len(chunks), -1),
            asked.reshape(len(chunks), -1)[:, : len(SIMILARITY_FIELDS) - 1],
            last.min(axis=1, keepdims=True),
            last.mean(axis=1, keepdims=True),
        )
        return np.hstack(columns).astype(np.float32)

    def _bags(self, chunks: Sequence[Chunk]) -> list[Bags]:
        """Return the bags of some chunks; questions in a row come to the same ones."""
        keys: list[tuple[str, ...]]
        keys = [(one.symbol, one.parent, one.doc, one.description, one.text) for one in chunks]
        known = {key: bags for key in keys if (bags := self._known.get(key))}
        if new := {key: chunk for key, chunk in zip(keys, chunks, strict=True) if key not in known}:
            read = dict(zip(new, self._read(list(new.values())), strict=True))
            if len(self._known) + len(read) > _CHUNK_CACHE_SIZE:
                self._known.clear()
            self._known.update(read)
            known |= read
        return list(map(known.__getitem__, keys))

    def _read(self, chunks: Sequence[Chunk]) -> list[Bags]:
        """Return the rows of the words of each chunk's name, of its documentation too, and of all of it; never none."""
        abouts = [about[:_DOC] for about in map(attrgetter("about"), chunks)]
        texts = [chunk.text[:_TEXT] for chunk in chunks]
        columns = ([chunk.symbol for chunk in chunks], [chunk.parent for chunk in chunks], abouts, texts)
        found = self._table.vocabulary.rows_of_each(list(map(words, chain.from_iterable(columns))))
        many, bags, is_plain = len(chunks), [], self._plain.__contains__
        for name, parent, doc, text in zip(*(found[at * many : (at + 1) * many] for at in range(4)), strict=True):
            every = [*name, *doc]
            parts = ((*name, *parent), _NAME_WORDS), (every, _DOC_WORDS), ((*every, *text), _TEXT_WORDS)
            of_each = [list(islice(filterfalse(is_plain, dict.fromkeys(rows)), most)) or [0] for rows, most in parts]
            bags.append((np.array([*chain.from_iterable(of_each)], dtype=np.int32), tuple(map(len, of_each))))
        return bags


def _summed(cosines: Array, place: NDArray[np.intp], lengths: NDArray[np.int64], weights: Array) -> tuple[Array, Array]:
    """Return two sums over the words of each bag: how many are similar at each level, and how much of it is asked for.

    The first is the weighted logarithm of a soft count, shape `(bags, levels)`, the second a mean cosine, `(bags,)`.
    Kernels are computed once a distinct word, and a product with what each bag holds adds up those of its words.
    """
    held = np.zeros((len(lengths), len(cosines)), dtype=np.float32)
    held[np.repeat(np.arange(len(lengths)), lengths), place] = 1.0
    of_words = np.ascontiguousarray(cosines.T)  # long rows: numpy takes many times as long over short ones
    columns = np.empty((len(_CENTRES) * len(of_words) + 1, len(cosines)), dtype=np.float32)
    columns[-1] = of_words.max(axis=0)
    kernels = columns[:-1].reshape(len(_CENTRES), *of_words.shape)
    np.subtract(of_words, _CENTRES[:, None, None], out=kernels)
    kernels /= _WIDTHS[:, None, None]
    np.multiply(kernels, kernels, out=kernels)
    kernels *= np.float32(-0.5)
    np.exp(kernels, out=kernels)
    sums = columns @ held.T
    counts = np.log1p(sums[:-1]).reshape(len(_CENTRES), -1, len(lengths))
    return (counts * weights[:, None]).sum(axis=1).T, sums[-1] / lengths


PHRASE_FEATURES = ("phrase", "phrase_long", "phrase_any")

_RUN = 3  # words that make a phrase
_LONG = 12  # words from which a phrase is as good as it gets
_MAX_QUERY_WORDS = 200  # words of a question


def phrase_features(text: str, chunks: Sequence[Chunk]) -> Array:
    """Return how much of a question stands word by word in each chunk, shape `(chunks, len(PHRASE_FEATURES))`.

    The fraction of its runs of three words, the longest run in twelfths of twelve words, and whether there is one of
    five.
    """
    asked = words(text.lower())[:_MAX_QUERY_WORDS]
    runs = [f" {' '.join(asked[at : at + _RUN])} " for at in range(len(asked) - _RUN + 1)]
    rows = np.zeros((len(chunks), len(PHRASE_FEATURES)), dtype=np.float32)
    for at, held in enumerate(map(spaced, [chunk.text[:READ] for chunk in chunks]) if len(runs) > 1 else ()):
        there = [run in held for run in runs]
        if True in there:
            longest = max(sum(group) for _, group in groupby(there))
            rows[at] = sum(there) / len(runs), min(longest + _RUN - 1, _LONG) / _LONG, longest >= _RUN
    return rows


TEXT_FEATURES = (*TOKEN_FEATURES, *KIND_FEATURES, *PHRASE_FEATURES)
ALL_FEATURES = (*FEATURES, *TEXT_FEATURES)
"""What the second stage looks at; the first looks at `FEATURES`."""


def text_features(similarity: TokenSimilarity, found: QueryInCorpus, chunks: Sequence[Chunk]) -> Array:
    """Return the features of chunks, shape `(chunks, len(TEXT_FEATURES))`."""
    question = found.question
    alike = similarity.features(question.words, found.term_weights, chunks)
    return np.hstack((alike, kind_features(question.terms, chunks), phrase_features(question.text, chunks)))
