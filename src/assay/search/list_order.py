"""Order a list by how its hits relate to the question and to one another: names in it, new units, new files.

Weights of the evidence are learned with the ranking (`assay train ranking`), by truth that names files, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from assay.search.declared_names import QueryNames, exactness, fold, innermost_name
from assay.search.features import places_in_runs
from assay.search.path_filters import traits_of
from assay.search.question import Question
from assay.search.retrievers import Array
from assay.terms import parts, stem, words
from assay.values import CALLABLE_KINDS, TYPE_KINDS, Chunk

EVIDENCE = tuple(
    (
        "typed typed_type member_of_typed uses_typed parent_words file_words file_words_short file_whole_short "
        "file_of_unit_short test_asked"
    ).split()
)
"""Of one candidate; what ends in `_short` counts the less the longer a question is."""
_OF_FILES = ("file_words", "file_words_short", "file_whole_short")
_FILE_COLUMNS = [EVIDENCE.index(name) for name in _OF_FILES]
FORMS = ("name", "how", "topic", "other")
"""A name alone; *how* something works; a short phrase; any other question."""
ORDER_WEIGHTS = (*EVIDENCE, *(f"file_{form}" for form in FORMS[1:]), *(f"again_{form}" for form in FORMS))
"""Those of the evidence; of what else is good in a file; of each further hit of a file, which are subtracted."""

FIXED = {"test_asked": 1.0}
"""Set by hand: too few judged questions ask for tests."""

_SHORT, _LONG = 5, 10  # terms of a question that is a topic, and of one that describes a unit
_MAX_REPEATS = 4
_MAX_SUPPORT = 4.0
_HOW = re.compile(r"(?:how|what happens)\b", re.IGNORECASE)
_ASKS = re.compile(r"\b(?:where|which|what|why|when|who|that|function|method|code)\b|\?\s*$", re.IGNORECASE)
_ACTIONS = frozenset(
    "a abort accept add allow an answer apply are ask assign avoid bind block break build cache call can cap capture "
    "cast change check choose clamp clean clear clone close collapse collect combine compare compile complain "
    "compress compute convert copy count create cut deal decide decode decrypt defer delay delete deny derive detect "
    "determine discard dispatch do does download drop dump emit encode encrypt enforce ensure escape evaluate execute "
    "expand export expose extract fail fall fetch fill filter find flush fold follow forbid force forget format "
    "forward free generate get give go group guard guess hand handle hide hold honour i if ignore import in inject "
    "insert inspect interpret invalidate is join keep kill launch leave let limit list listen load locate lock log "
    "look lower make map mark mask match measure merge my normalize notify obtain omit open order our pad parse pass "
    "patch pause pick poll pop prefer prepare prevent print process protect prove publish pull push put query raise "
    "read recover redirect reduce refuse register reject release reload remember remove rename render repeat replace "
    "reply report reset resolve respond restart restore restrict resume retry return reuse rewrite roll rotate round "
    "run save schedule search select send serialize serve set shorten show shut skip sort split start stop store "
    "stream strip substitute suppress swallow switch take tell terminate the translate treat trim truncate try turn "
    "two undo unpack update upload use validate verify visit wait walk warn watch we with work wrap write".split()
)
"""First words of a description of what one unit does, or of a sentence, rather than of a topic."""
_NOUNS = frozenset(
    "bind block cache call cast change check clone copy count delay dispatch dump escape export fall fill filter "
    "format guard handle hold import limit list load lock log look map mask match measure merge order pad patch "
    "pause pick poll pool print process query queue release reload rename replace report request reset restart "
    "retry return roll run schedule search set sort split start stop store stream strip switch test turn update use "
    "visit wait walk watch work".split()
)
"""Of these, the words that are nouns as well; what follows tells which."""
_SENTENCE = re.compile(
    r"\b(?:an?|the|when|if|to|into|so|every|all|until|before|after|unless|once|its?|them)\b", re.IGNORECASE
)
_TESTS = re.compile(
    r"\btests? (?:about|case|covering|checking|for|in|of|showing|that|where|which)\b"
    r"|\b(?:is|are|gets?) (?:\w+ ){0,3}tested\b"
    r"|\b(?:an?|any|the|unit|regression|integration) tests?\b(?! (?:client|helper|runner|server|double))",
    re.IGNORECASE,
)
_GENERIC = frozenset("__init__ base common core helpers impl index init lib main mod src types util utils".split())
"""Names of files that mean nothing; the name of their folder is used."""

_UNIT_KINDS = TYPE_KINDS | CALLABLE_KINDS

Scores = NDArray[np.float64]


@lru_cache(64)
def form_of(text: str, names: QueryNames) -> int:
    """Return the place in `FORMS` of a question."""
    if names.target is not None:
        return 0
    if _HOW.match(text.strip()):
        return 1
    first = text.split(maxsplit=1)[0].lower() if text.strip() else ""
    acts = first in _ACTIONS and (first not in _NOUNS or _SENTENCE.search(text))
    return 3 if acts or _ASKS.search(text) else 2


def shortness(question: Question) -> float:
    """Return 1 for a topic of few terms, 0 for one of many, and for a question for a unit."""
    if form_of(question.text, question.typed) == FORMS.index("other"):
        return 0.0
    return min(max((_LONG - len(question.terms)) / (_LONG - _SHORT), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class ListEvidence:
    """What places candidates in a list beside what each is worth alone."""

    rows: Scores
    """(candidates, len(EVIDENCE))."""
    files: NDArray[np.intp]
    """(candidates) a small number a file."""
    support: Scores
    """(candidates) how good the rest of the file is, what `file_support` returns."""

    def only(self, candidates: Sequence[int]) -> ListEvidence:
        """Return that of some candidates."""
        return ListEvidence(self.rows[candidates], self.files[candidates], self.support[candidates])


def file_support(scores: Array, files: NDArray[np.intp]) -> Scores:
    """Return how good the rest of each candidate's file is, by scores of the first stage."""
    strength = np.exp((scores - scores.max(initial=-np.inf)).astype(np.float64))
    others = np.bincount(files, weights=strength)[files] - strength if len(files) else strength
    beside: Scores = np.log1p(3.0 * np.maximum(others, 0.0) / np.maximum(strength, 1e-6))
    return np.minimum(beside, _MAX_SUPPORT)


@dataclass(frozen=True, slots=True)
class ListOrder:
    """The weights of an order, in the order of `ORDER_WEIGHTS`."""

    weights: Scores

    @classmethod
    def of(cls, stored: Mapping[str, float]) -> ListOrder:
        """Build an order from named weights; one that is not named is 0."""
        return cls(np.array([FIXED.get(name, stored.get(name, 0.0)) for name in ORDER_WEIGHTS]))

    def scores(self, question: Question, scores: Scores, listed: ListEvidence) -> Scores:
        """Return what candidates are worth at their place of a list, in log odds, from what they are worth alone.

        The best of the list is worth what the best was before: the order changes, not how sure it is.
        """
        form, first = form_of(question.text, question.typed), len(EVIDENCE)
        factor = shortness(question) if FORMS[form] in ("how", "topic") else 1.0
        support = float(self.weights[first + form - 1] if form else 0.0) * factor
        again = float(self.weights[first + len(FORMS) - 1 + form]) * factor
        own = scores + listed.rows @ self.weights[:first]
        order = np.argsort(-own, kind="stable")
        further = np.empty(len(order), np.intp)
        further[order] = _places_in_file(listed.files[order])
        placed: Scores = own + support * listed.support * (further == 0) - again * np.minimum(further, _MAX_REPEATS)
        return placed - (placed.max(initial=-np.inf) - scores.max(initial=-np.inf)) if len(scores) else placed

    def of_files(self, question_terms: QuestionTerms, paths: Sequence[str]) -> Scores:
        """Return what the names of files are worth, before any text is read."""
        evidence = np.array(question_terms.of_files(paths)).reshape(len(paths), len(_OF_FILES))
        return evidence @ self.weights[_FILE_COLUMNS]


def _places_in_file(files: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of ordered candidates how many of its file come before it."""
    by_file = np.argsort(files, kind="stable")
    place = np.empty(len(files), dtype=np.intp)
    place[by_file] = places_in_runs(files[by_file])
    return place


def evidence_of(question_terms: QuestionTerms, chunks: Sequence[Chunk]) -> Scores:
    """Return the evidence of candidates, shape `(candidates, len(EVIDENCE))`."""
    files = question_terms.of_files([chunk.path for chunk in chunks])
    parents = list(map(_parent_words, [chunk.parent for chunk in chunks]))
    units = list(map(_names_its_file, [chunk.symbol for chunk in chunks], [chunk.path for chunk in chunks]))
    each = zip(chunks, parents, files, units, strict=True)
    rows = [question_terms.row(chunk, parent, file, names_file=names_file) for chunk, parent, file, names_file in each]
    return np.array(rows, dtype=np.float64).reshape(len(chunks), len(EVIDENCE))


class QuestionTerms:
    """A question as it is compared with each candidate; `weights` are those of its terms."""

    def __init__(self, question: Question, weights: Array) -> None:
        self.weight = dict(zip(question.terms, weights.tolist(), strict=False))  # without terms there is one weight
        self.short = shortness(question)
        self.typed = question.typed.distinct
        self.folded = frozenset(fold(name.name) for name in self.typed)
        self.tests = bool(_TESTS.search(question.text))

    def row(
        self, chunk: Chunk, parent: tuple[str, tuple[str, ...]], file: tuple[float, float, float], *, names_file: bool
    ) -> tuple[float, ...]:
        """Return the evidence of one candidate, in the order of `EVIDENCE`."""
        typed = max(exactness(chunk, name) for name in self.typed) if self.typed else 0.0
        folded, stems = parent
        return (
            typed,
            typed * (chunk.kind in TYPE_KINDS),
            folded in self.folded,
            self._uses(chunk) if len(self.typed) > 1 else 0.0,
            sum([self.weight.get(each, 0.0) for each in stems]),
            *file,
            names_file and chunk.kind in _UNIT_KINDS and self.short,
            self.tests and (chunk.kind == "test" or traits_of(chunk.path).is_test),
        )

    def of_files(self, paths: Sequence[str]) -> list[tuple[float, float, float]]:
        """Return for each path what the words of its file's name weigh, the same if short, and if all are there."""
        rows, weight, short = [], self.weight, self.short
        for stems, _ in map(_file_words, paths):
            known = [weight[each] for each in stems if each in weight]
            total = sum(known)
            rows.append((total, total * short, short if known and len(known) == len(stems) else 0.0))
        return rows

    def _uses(self, chunk: Chunk) -> float:
        """Return the fraction of at least two typed names that a candidate holds: it is where they meet."""
        return sum(name.name in chunk.text for name in self.typed) / len(self.typed)


@lru_cache(16_384)
def _stems(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(stem, chain.from_iterable(map(parts, words(text))))))


@lru_cache(16_384)
def _parent_words(parent: str) -> tuple[str, tuple[str, ...]]:
    """Return the innermost of enclosing names, folded, and its stems."""
    name = innermost_name(parent)
    return (fold(name), _stems(name)) if name else ("", ())


@lru_cache(16_384)
def _file_words(path: str) -> tuple[tuple[str, ...], str]:
    """Return the stems of a file's name and the name without its ending; of a generic name, those of its folder."""
    *folders, file = path.split("/")
    name = file.partition(".")[0]
    if name.lower() in _GENERIC and folders:
        return _stems(folders[-1])[-1:], fold(folders[-1])
    return _stems(name), fold(name)


@lru_cache(16_384)
def _names_its_file(symbol: str, path: str) -> bool:
    return fold(symbol) == _file_words(path)[1]
