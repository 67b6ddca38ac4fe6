"""Pairs of a query and a code in, one row of evidence each out: what a judgment without a model is made of.

Every column is bounded and looks at its own pair alone, so that one pair judged by itself is judged as among others.
Words of a query that only say *in Python, please* count for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder
from assay.judge.code_facts import CodeTerms, read, split
from assay.protocols import Encoder, Vectors
from assay.terms import STOP_WORDS, WORD, stem
from assay.types import Chunk, Query

Rows = NDArray[np.float32]
Value = TypeVar("Value", Query, Chunk)
_Places = tuple[list[int], list[int]]
"""Which query, and which code, each pair is of."""

COLUMNS = (
    "cosine_view",
    "cosine_name",
    "cosine_doc",
    "cosine_lead",
    "cosine_body",
    "cosine_bare",
    "cosine_title",
    "near_name",
    "near_lead",
    "near_all",
    "near_least",
    "met_all",
    "weighed_all",
    "asked_name",
    "asked_lead",
    "covered",
    "covered_name",
    "covered_lead",
    "covered_body",
    "missing",
    "name_precision",
    "lead_precision",
    "in_order",
    "verb",
    "kind_met",
    "kind_missed",
    "yes_no",
    "returns_value",
    "lines",
    "has_doc",
    "has_name",
    "query_length",
    "query_trouble",
)
ENCODER_COLUMN = "cosine_encoder"
"""What stands behind the others where a contextual encoder is named."""
GROUPS = {
    "dense": COLUMNS[0:7],
    "late": COLUMNS[7:15],
    "lexical": COLUMNS[15:23],
    "signature": COLUMNS[23:28],
    "code": COLUMNS[28:31],
    "query": COLUMNS[31:33],
}
"""Which columns are evidence of one sort, for ablations."""

_ASIDE = STOP_WORDS | frozenset(
    "python python2 python3 py using use function method code way program script example without want need".split()
)
_TROUBLE = frozenset("not error no cannot doesn isn attribute wrong fails failed install why difference vs".split())
_ASKS_YES_NO = frozenset("check if is whether test detect determine".split())
_SAYS_YES_NO = frozenset("is has check can in exists contains was are should".split())
_KINDS = tuple(
    frozenset(words.split())
    for words in (
        "list array tuple lists arrays sequence",
        "dict dictionary dictionaries json map mapping",
        "string str text char character unicode",
        "int integer number float count length sum average mean num",
        "dataframe pandas column row df columns rows",
        "file csv path folder directory filename dir",
        "date time datetime timestamp day month",
        "plot axis graph figure matplotlib legend",
    )
)
_VERBS = frozenset(
    "get set check convert remove delete add create make read write print find sort split join count parse load "
    "save open close return calculate compute generate format change draw plot select compare start stop run kill send "
    "turn extract determine detect download upload iterate flatten merge append insert test call list show display "
    "filter round normalize encode decode copy move rename update replace".split()
)
_FOREIGN = frozenset(
    "der die das und wie ich eine einen einer mit von zu auf nicht werden comment une les des pour dans avec est que "
    "como una los las el para por con il che della di hoe het een van voor".split()
)
_MET = 0.55
"""The cosine from which two words are taken for the same."""
_NAME_WORDS, _LEAD_WORDS, _ALL_WORDS = 16, 24, 100
_QUERY_WORDS = 40
_ENCODED = 3_000
"""Characters of a code that a contextual encoder is given."""
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The words of a query."""

    all: tuple[str, ...]
    telling: tuple[str, ...]
    """Each once, without those that say nothing of what is wanted."""
    known: bool
    """It is written in words that the evidence is about: English, or code."""


@dataclass(frozen=True, slots=True)
class Words:
    """A static table of words, each looked up once."""

    place: dict[str, int]
    vectors: Vectors
    lengths: NDArray[np.float32]
    """How much each word counts in a text."""

    @classmethod
    def of(cls, encoder: StaticEncoder, words: set[str]) -> Words:
        """Look up these words; those without a vector are zero."""
        ordered = sorted(words)
        place = dict(zip(ordered, range(len(ordered)), strict=True))
        return cls(place, encoder.rows(ordered), encoder.lengths(ordered))

    def take(self, words: Sequence[str]) -> Vectors:
        """Return a row a word."""
        return self.vectors[[self.place[word] for word in words]]

    def fractions(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return how much each of these words counts among them; they add up to 1."""
        lengths = self.lengths[[self.place[word] for word in words]] + 1e-6
        fractions: NDArray[np.float32] = lengths / lengths.sum()
        return fractions


def query_terms(query: Query) -> QueryTerms:
    """Return the words of a query."""
    every = split(query.text)[:_QUERY_WORDS]
    telling = tuple(dict.fromkeys(word for word in every if word not in _ASIDE)) or tuple(dict.fromkeys(every))
    letters = _LETTER.findall(query.text)
    plain = sum(letter.isascii() for letter in letters)
    foreign = sum(word.lower() in _FOREIGN for word in WORD.findall(query.text))
    return QueryTerms(every, telling, bool(telling) and 2 * plain > len(letters) and foreign < 2)


def evidence(pairs: Sequence[tuple[Query, Chunk]], encoder: StaticEncoder, *, documented: bool = True) -> Rows:
    """Return the evidence about each pair, shape `(pairs, len(COLUMNS))`; with documentation unread, if so wished."""
    if not pairs:
        return np.zeros((0, len(COLUMNS)), dtype=np.float32)
    queries, query_at = _distinct([query for query, _ in pairs])
    codes, code_at = _distinct([code for _, code in pairs])
    questions, said = [query_terms(query) for query in queries], [read(code) for code in codes]
    if not documented:
        said = [replace(one, doc=(), lead=()) for one in said]
    cosines = _cosines(questions, said, (query_at, code_at), encoder)
    heard = {word for one in said for part in _heard(one) for word in part}
    words = Words.of(encoder, heard.union(*(one.telling for one in questions)))
    rows = np.zeros((len(pairs), len(COLUMNS)), dtype=np.float32)
    for i, (query, code) in enumerate(zip(query_at, code_at, strict=True)):
        question, one = questions[query], said[code]
        if question.telling:
            rows[i] = (*cosines[i], *_nearness(question, one, words), *_lexical(question, one), *_rest(question, one))
    return rows


def _distinct(values: Sequence[Value]) -> tuple[list[Value], list[int]]:
    """Return the values that differ in what is read of them, and which of those each one is."""
    place: dict[Hashable, int] = {}
    kept: list[Value] = []
    at = []
    for value in values:
        key = (value.text, value.symbol, value.doc, value.language) if isinstance(value, Chunk) else value.text
        if key not in place:
            place[key] = len(kept)
            kept.append(value)
        at.append(place[key])
    return kept, at


def _cosines(
    questions: Sequence[QueryTerms], said: Sequence[CodeTerms], pairs: _Places, encoder: StaticEncoder
) -> Rows:
    """Return the cosine of each query with the views of its code: as a whole, and part by part."""
    asked_for = encoder.encode([" ".join(word for word in one.all if word != "python") for one in questions], "query")
    views = (
        [(*one.name, *one.name, *one.doc, *one.parameters, *one.body[:40]) for one in said],
        [one.name for one in said],
        [one.doc for one in said],
        [one.lead for one in said],
        [one.body for one in said],
        [(*one.name, *one.name, *one.parameters, *one.body[:40]) for one in said],
        [(*one.name, *one.name, *one.lead) for one in said],
    )
    query_at, code_at = pairs
    vectors = asked_for[query_at]
    cosines = [(vectors * encoder.encode([" ".join(view) for view in part], "code")[code_at]).sum(1) for part in views]
    return np.stack(cosines, axis=1)


def _heard(said: CodeTerms) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the words that words of a query are compared with: of the name, of the first sentence, and of all."""
    name = said.name[:_NAME_WORDS]
    lead = tuple(word for word in dict.fromkeys(said.lead) if word not in STOP_WORDS)[:_LEAD_WORDS]
    return name, lead, tuple(dict.fromkeys((*name, *lead, *said.parameters, *said.returned, *said.body)))[:_ALL_WORDS]


def _nearness(question: QueryTerms, said: CodeTerms, words: Words) -> tuple[float, ...]:
    """Say how near the nearest word of the code comes to each word of the query, and how much else the code says.

    In the mean and at worst; in the mean of all again, each word of the query as heavy as it is in a text; and from the
    words of the name and of the first sentence to the query, so heavy, too.
    """
    wanted, heavy = words.take(question.telling), words.fractions(question.telling)
    parts = _heard(said)
    near = [np.maximum(wanted @ words.take(part).T, 0.0) if part else np.zeros((len(wanted), 1)) for part in parts]
    name, lead, every = (cosines.max(axis=1) for cosines in near)
    asked = [
        float(cosines.max(axis=0) @ words.fractions(part)) if part else 0.0
        for cosines, part in zip(near[:2], parts[:2], strict=True)
    ]
    return name.mean(), lead.mean(), every.mean(), every.min(), (every > _MET).mean(), every @ heavy, *asked


def _lexical(question: QueryTerms, said: CodeTerms) -> tuple[float, ...]:
    """Say which words of the query stand where, as stems, and how much else the name and first sentence say."""
    wanted = [stem(word) for word in question.telling]
    name, lead, body = (_stems(words) for words in (said.name, said.lead, (*said.parameters, *said.body)))
    every = {*name, *lead, *body, *map(stem, said.doc), *map(stem, said.returned)}
    return (
        _share(wanted, every),
        _share(wanted, set(name)),
        _share(wanted, set(lead)),
        _share(wanted, set(body)),
        min(sum(word not in every for word in wanted), 6) / 6,
        _share(name, set(wanted)),
        _share(lead, set(wanted)),
        max(_in_order(wanted, name), _in_order(wanted, lead)),
    )


def _rest(question: QueryTerms, said: CodeTerms) -> tuple[float, ...]:
    """Compare what is asked for with the signature, and say what sort of query and of code these are."""
    every = frozenset(question.all)
    shown = frozenset((*said.name, *said.lead, *said.parameters, *said.returned))
    kinds = [kind for kind in _KINDS if not kind.isdisjoint(every)]
    verbs = [word for word in question.all if word in _VERBS][:1]
    yes_no = not _ASKS_YES_NO.isdisjoint(every)
    return (
        float(bool(verbs) and verbs[0] in (*said.name, *said.lead[:4])) - float(bool(verbs)) / 2,
        sum(not kind.isdisjoint(shown) for kind in kinds) / 4,
        sum(kind.isdisjoint(shown) for kind in kinds) / 4,
        float(yes_no == (said.name[:1] != () and said.name[0] in _SAYS_YES_NO)) if yes_no else 0.5,
        float(said.returns_value),
        np.log1p(said.lines) / 5,
        float(bool(said.doc)),
        float(bool(said.name)),
        min(len(question.telling), 10) / 10,
        float(not _TROUBLE.isdisjoint(every)),
    )


def _stems(words: Sequence[str]) -> list[str]:
    return [stem(word) for word in dict.fromkeys(words) if word not in _ASIDE]


def _share(words: Sequence[Any], among: AbstractSet[Any]) -> float:
    return sum(word in among for word in words) / len(words) if words else 0.0


def _in_order(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return which share of neighbouring words of the query are neighbours, in the same order, in the code."""
    return _share([*pairwise(wanted)], {*pairwise(said)})


def with_cosines(rows: Rows, pairs: Sequence[tuple[Query, Chunk]], encoder: Encoder) -> Rows:
    """Return rows of evidence with one more column: the cosine of query and code by a contextual encoder."""
    if not pairs:
        return np.zeros((0, len(COLUMNS) + 1), dtype=np.float32)
    queries, query_at = _distinct([query for query, _ in pairs])
    codes, code_at = _distinct([code for _, code in pairs])
    asked = encoder.encode([query.text for query in queries], "query")
    said = encoder.encode([code.text[:_ENCODED] for code in codes], "code")
    cosines = (asked[query_at] * said[code_at]).sum(axis=1)
    return np.column_stack((rows, cosines)).astype(np.float32)
