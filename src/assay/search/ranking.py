"""Score candidates by a small learned ranking whose weights ship with the package.

A corpus of single functions (a data set such as CoSQA, snippets saved one a file) has no repository around them: the
rest of a file and its path say nothing there. Repositories are far from that: of 34 looked at, none had more than a
quarter of its files of code with exactly one function.

The features of a ranking compare the candidates of one query. Whether even the best is any good is a question across
queries: how much of the query is unknown to the corpus, how far the best stands out, what the best and the first few
hold. A small network over this row is added to the log odds of every candidate of the query, so that those of different
queries and corpora can be compared, and the floor of *nothing relevant* means the same everywhere.

A linear part, which explains itself, and one hidden layer for what only counts together (a test file, unless tests are
asked for). `assay train ranking` learns the weights on judged queries of many repositories; a folder of others
(`search.weights`) takes the place of those that ship.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.search.declared_names import QueryNames, exactness, fold, innermost_name
from assay.search.features import ALL_FEATURES, FEATURES, PAST_FEATURES, QueryInCorpus, places_in_runs
from assay.search.neighbour_votes import NEIGHBOUR_FEATURES
from assay.search.path_filters import PROSE, traits_of
from assay.search.question import Question
from assay.search.retrievers import Array
from assay.store.segment import Mask, Segment
from assay.store.snapshot import Snapshot
from assay.terms import parts, stem, words
from assay.values import CALLABLE_KINDS, KINDS, TYPE_KINDS, Chunk, Mode

RankingName = Literal["code", "docs", "functions"]
"""`functions` is code of a corpus whose files hold one function each."""
RANKING_NAMES: tuple[RankingName, ...] = get_args(RankingName)

_CALLABLE = np.array([kind in CALLABLE_KINDS for kind in KINDS])
_SINGLE_FUNCTION_FRACTION = 0.75  # of the files of code, so many with exactly one function make a corpus of functions
_MIN_FILES = 20  # files from which a corpus is of any sort


def ranking_name(snapshot: Snapshot, mode: Mode) -> RankingName:
    """Return the name of the ranking for code or for documentation of a corpus."""
    if mode == "docs":
        return "docs"
    if snapshot.single_functions is None:
        snapshot.single_functions = holds_single_functions(snapshot)
    return "functions" if snapshot.single_functions else "code"


def holds_single_functions(snapshot: Snapshot) -> bool:
    """Say whether nearly every file of code holds exactly one function."""
    callables = [np.zeros(0, np.int64), *(_callables(*part) for part in snapshot.parts)]
    in_file = np.concatenate(callables)
    return len(in_file) >= _MIN_FILES and bool((in_file == 1).mean() > _SINGLE_FUNCTION_FRACTION)


def _callables(segment: Segment, live: Mask | None) -> NDArray[np.int64]:
    """Count the functions of each file of code that has a living chunk, shape `(files of code,)`."""
    file, kind = segment.file, segment.kind
    if live is not None:
        file, kind = file[live], kind[live]
    prose = np.array([language in PROSE for language in segment.languages], dtype=bool)
    known = np.bincount(file, minlength=len(prose)) > 0
    functions: NDArray[np.int64] = np.bincount(file[_CALLABLE[kind]], minlength=len(prose))[known & ~prose]
    return functions


QUERY_FEATURES = tuple(
    "unknown terms strongest closest closest_share corpus cosine_mean cosine_deviation rarity always".split()
)
"""Of the query in the whole corpus; the last is 1, for the constant of a sum."""
_ITS_OWN = [at for at, name in enumerate(ALL_FEATURES) if name not in (*PAST_FEATURES, *NEIGHBOUR_FEATURES)]
"""What stands beside a candidate says whether it is better than others, not whether it is any good."""
RELEVANCE_FEATURES = (
    *(f"first_{ALL_FEATURES[at]}" for at in _ITS_OWN),
    *(f"any_{ALL_FEATURES[at]}" for at in _ITS_OWN),
    "score",
    "margin",
    *QUERY_FEATURES,
)
"""Of the best candidate, of any of the first five, of their scores, of the query."""

_FIRST = 5  # candidates


def query_features(found: QueryInCorpus) -> Array:
    """Return what is known of a query before any candidate is looked at, shape `(len(QUERY_FEATURES))`."""
    unknown = [not len(term.chunks) for term in found.terms] or [True]
    weight = float(found.idf.sum())
    row = (
        float(found.term_weights @ np.array(unknown, dtype=np.float32)),
        np.log1p(len(found.terms)),
        found.strongest / weight,
        found.closest,
        found.standing_out(found.closest),
        np.log1p(len(found.snapshot)),
        found.mean,
        found.deviation,
        weight / max(len(found.terms), 1),
        1.0,
    )
    return np.array(row, dtype=np.float32)


def relevance_row(query: Array, rows: Array, scores: Array) -> Array:
    """Return the features of a query with candidates, shape `(len(RELEVANCE_FEATURES))`.

    `query` is what `query_features` returned, `rows` and `scores` are of the second stage; their order does not matter.
    Without candidates theirs are 0.
    """
    if not len(scores):
        return np.concatenate((np.zeros(len(RELEVANCE_FEATURES) - len(query)), query)).astype(np.float32)
    first = np.argsort(-scores, kind="stable")[:_FIRST]
    others = scores[first[1:]]
    margin = float(scores[first[0]] - others.mean()) if len(others) else 0.0
    own = rows[first][:, _ITS_OWN]
    best = (own[0], own.max(axis=0), [scores[first[0]], margin], query)
    return np.concatenate(best).astype(np.float32)


BESIDE = ("message", "list", "name", "answerable")
"""What is added to a score beside the features of the candidate."""
PARTS = (*dict.fromkeys(name.partition("@")[0] for name in ALL_FEATURES), *BESIDE, "together")
"""What a score is explained by: features that differ only in their level are one part."""
SECOND_STAGE: Mapping[RankingName, int] = {"code": 30, "docs": 60, "functions": 30}
"""Candidates that reach the second stage, which reads their texts."""
SHIPPED = Path(__file__).parent / "data"

_MAX_EXPONENT = 80.0  # of e, in float32
_PART_OF = [name.partition("@")[0] for name in ALL_FEATURES]
_PART_STARTS = np.array([_PART_OF.index(part) for part in dict.fromkeys(_PART_OF)])
_WEIGHTS = ("linear", "hidden", "bias", "output")


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """Weights over features: score = rows · linear + relu(rows · hidden + bias) · output."""

    linear: Array
    hidden: Array
    bias: Array
    output: Array

    def scores(self, rows: Array) -> Array:
        """Return one score a row; higher is better."""
        layer = np.maximum(rows @ self.hidden + self.bias, 0.0)
        scores: Array = rows @ self.linear + layer @ self.output
        return scores

    def times(self, factor: float) -> RankingWeights:
        """Return what scores so many times as much."""
        return replace(self, linear=self.linear * np.float32(factor), output=self.output * np.float32(factor))

    def plus(self, feature: int, weight: float) -> RankingWeights:
        """Return what gives a feature so much more weight."""
        linear = self.linear.copy()
        linear[feature] += np.float32(weight)
        return replace(self, linear=linear)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Two stages: `first` orders all candidates by `FEATURES`, `second` the best of them by `ALL_FEATURES`."""

    first: RankingWeights
    second: RankingWeights
    relevance: RankingWeights
    """Over `RELEVANCE_FEATURES`: what is added to the log odds of all candidates of a query."""
    scale: float
    offset: float
    """Platt's calibration: the probability that a hit is right is the logistic of scale · score + offset."""
    floor: float
    """When the best probability is below this, nothing relevant was found."""
    order: ListOrder | None = None
    """How the best candidates become a list; None lists them by their scores."""

    def probabilities(self, scores: Array, answerable: float = 0.0) -> Array:
        """Return how likely each score's hit is right, in [0, 1]; the order stays.

        `answerable` is in log odds: how likely the corpus answers the query at all.
        """
        odds = self.scale * scores + (self.offset + answerable)
        probabilities: Array = 1.0 / (1.0 + np.exp(np.minimum(-odds, _MAX_EXPONENT)))
        return probabilities

    def answerable(self, query: Array, rows: Array, scores: Array) -> float:
        """Return, in log odds, how likely the corpus answers a query with these candidates."""
        return float(self.relevance.scores(relevance_row(query, rows, scores)[None, :])[0])

    def explain(self, rows: Array, beside: Mapping[str, Array] | None = None) -> list[Mapping[str, float]]:
        """Return for each row what its features add to the linear part, strongest first; `together` is the rest.

        `beside` holds what else was added to each score, by its part.
        """
        together = np.maximum(rows @ self.second.hidden + self.second.bias, 0.0) @ self.second.output
        parts = np.zeros((len(rows), len(PARTS)), dtype=np.float32)
        parts[:, : len(_PART_STARTS)] = np.add.reduceat(rows * self.second.linear, _PART_STARTS, axis=1)
        for name, values in (beside or {}).items():
            parts[:, PARTS.index(name)] = values
        parts[:, -1] = together
        order = np.argsort(-np.abs(parts), axis=1, kind="stable").tolist()
        return [
            {PARTS[at]: values[at] for at in strongest if values[at] or at == len(PARTS) - 1}
            for values, strongest in zip(parts.tolist(), order, strict=True)
        ]


def as_json(ranking: Ranking) -> str:
    """Return the text of a file of weights, four decimals each."""
    stored = {
        "features": ALL_FEATURES,
        "first": _rounded(ranking.first),
        "second": _rounded(ranking.second),
        "relevance": {"features": RELEVANCE_FEATURES, **_rounded(ranking.relevance)},
        "scale": ranking.scale,
        "offset": ranking.offset,
        "floor": ranking.floor,
    }
    if ranking.order is not None:
        stored["order"] = dict(zip(ORDER_WEIGHTS, np.round(ranking.order.weights, 4).tolist(), strict=True))
    return json.dumps(stored) + "\n"


def _rounded(weights: RankingWeights) -> dict[str, list[float]]:
    return {name: np.round(getattr(weights, name).astype(float), 4).tolist() for name in _WEIGHTS}


@cache
def load_ranking(name: RankingName, folder: Path = SHIPPED, *, reads_order: bool) -> Ranking:
    """Return the weights of that name in a folder for encoders that read the order of words, or for those that do not.

    A folder without weights for single functions orders them as other code.
    """
    file = folder / weights_file(name, reads_order=reads_order)
    if name == "functions" and not file.exists():
        file = folder / weights_file("code", reads_order=reads_order)
    try:
        stored = json.loads(file.read_text("utf-8"))
        names = [str(name) for name in stored["features"]]
        first = [name for name in names if name in FEATURES]
        stages = _weights(stored["first"], first, FEATURES), _weights(stored["second"], names, ALL_FEATURES)
        relevance = _relevance(stored.get("relevance"))
        order = ListOrder.of(stored["order"]) if "order" in stored else None
        scale, offset, floor = (float(stored[name]) for name in ("scale", "offset", "floor"))
        ranking = Ranking(*stages, relevance, scale, offset, floor, order)
    except FileNotFoundError as error:
        raise InputError(f"no ranking weights '{file}': train them with assay train ranking") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"'{file}' does not hold ranking weights ({error}): {_RETRAIN}") from error
    if not set(names) <= set(ALL_FEATURES):
        raise InputError(f"'{file}' was trained on other features than this version computes: {_RETRAIN}")
    return ranking


_RETRAIN = "train them again with assay train ranking"


def weights_file(name: RankingName, *, reads_order: bool) -> str:
    """Return the name of a file of weights; a cosine of word bags and one of a transformer differ in worth."""
    return f"{name}-contextual.json" if reads_order else f"{name}.json"


def _relevance(stored: Mapping[str, Any] | None) -> RankingWeights:
    """Return the weights over `RELEVANCE_FEATURES`; files of contextual encoders have none."""
    if stored is None:
        return no_weights(len(RELEVANCE_FEATURES))
    return _weights(stored, [str(name) for name in stored["features"]], RELEVANCE_FEATURES)


def no_weights(features: int) -> RankingWeights:
    """Return weights that score everything 0."""
    nothing = np.zeros(0, dtype=np.float32)
    return RankingWeights(np.zeros(features, np.float32), np.zeros((features, 0), np.float32), nothing, nothing)


def _weights(stored: Mapping[str, Any], names: Sequence[str], features: Sequence[str]) -> RankingWeights:
    """Return one stage; a feature that it does not know weighs nothing."""
    linear, hidden, bias, output = (np.array(stored[name], dtype=np.float32) for name in _WEIGHTS)
    if linear.shape != (len(names),) or hidden.shape != (len(names), len(bias)):
        raise ValueError(f"the weights are of shape {hidden.shape}, wanted ({len(names)}, any)")
    spread = np.zeros((len(features), len(names)), dtype=np.float32)
    known = {name: at for at, name in enumerate(features)}
    for at, name in enumerate(names):
        if name in known:
            spread[known[name], at] = 1
    return RankingWeights(spread @ linear, spread @ hidden, bias, output)


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
"""Names of files that say nothing; that of their folder does."""

_UNIT_KINDS = TYPE_KINDS | CALLABLE_KINDS

Scores = NDArray[np.float64]


@lru_cache(64)
def form_of(text: str, names: QueryNames) -> int:
    """Return the place in `FORMS` of a question."""
    if names.asked is not None:
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
    """Return how good the rest of the file of each candidate is, beside it, by scores of the first stage."""
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
        """Return the order of named weights; what is not named weighs nothing."""
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

    def of_files(self, asked: AskedWords, paths: Sequence[str]) -> Scores:
        """Return what the names of files are worth, before any text is read."""
        evidence = np.array(asked.of_files(paths)).reshape(len(paths), len(_OF_FILES))
        return evidence @ self.weights[_FILE_COLUMNS]


def _places_in_file(files: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return for each of ordered candidates how many of its file come before it."""
    by_file = np.argsort(files, kind="stable")
    place = np.empty(len(files), dtype=np.intp)
    place[by_file] = places_in_runs(files[by_file])
    return place


def evidence_of(asked: AskedWords, chunks: Sequence[Chunk]) -> Scores:
    """Return the evidence of candidates, shape `(candidates, len(EVIDENCE))`."""
    files = asked.of_files([chunk.path for chunk in chunks])
    parents = list(map(_parent_words, [chunk.parent for chunk in chunks]))
    units = list(map(_names_its_file, [chunk.symbol for chunk in chunks], [chunk.path for chunk in chunks]))
    each = zip(chunks, parents, files, units, strict=True)
    rows = [asked.row(chunk, parent, file, names_file=names_file) for chunk, parent, file, names_file in each]
    return np.array(rows, dtype=np.float64).reshape(len(chunks), len(EVIDENCE))


class AskedWords:
    """What of a question is compared with each candidate; `weights` are those of its terms."""

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
