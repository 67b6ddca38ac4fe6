"""Judge pairs without a model, by features of both texts: how likely a person would say that the code answers.

Every feature is bounded and looks at its own pair alone, so a pair has the same features alone and among others. Python
is parsed, nothing of it runs; other code, and Python that does not parse, is read by its words.

A logistic model over a few features, or over the cosine of a contextual encoder where one is named; `assay train judge`
learns it, and its card says from what. A pair is *clear* only beyond thresholds at which enough of the held-out labels
agreed; a side without such a threshold has none. Where it may run code, the examples in the query decide.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import StaticEncoder, default_static
from assay.errors import InputError
from assay.io.digest import hex_digest
from assay.judge.pairs import Pair, Verdict, tree_of, undecided
from assay.llm.yes_no import logit
from assay.protocols import Encoder
from assay.terms import STOP_WORDS, WORD, parts, stem
from assay.values import Chunk, Query

if TYPE_CHECKING:
    from assay.judge.trials import Trial

Rows = NDArray[np.float64]
FEATURES = ("cosine", "token_similarity", "name_similarity", "in_order", "has_name", "has_doc")
"""By the static table the cosine of both texts, how near the code comes to each word of the query, and the query to
each word of the name; which neighbors in the query are neighbors in name or documentation; and what the code has."""
ENCODER_FEATURES = ("cosine_encoder",)
"""Where a contextual encoder is named: its cosine, and nothing else."""
MAX_CODE_CHARS = 20_000
"""Characters of a code that are read."""
_DOC_CHARS, _ENCODED_CHARS = 2_000, 3_000
_QUERY_WORDS, _NAME_WORDS, _LEAD_WORDS, _ALL_WORDS, _BODY_WORDS, _VIEW_WORDS = 40, 16, 24, 100, 120, 40
_ASIDE = STOP_WORDS | frozenset(
    "python python2 python3 py using use function method code way program script example without want need".split()
)
"""Words that say nothing of what is asked for."""
_FOREIGN = frozenset(
    "der die das und wie ich eine einen einer mit von zu auf nicht werden comment une les des pour dans avec est que "
    "como una los las el para por con il che della di hoe het een van voor".split()
)
_LETTER = re.compile(r"[^\W\d_]")
_LEAD = re.compile(r"\n\s*\n|(?<=[.!?])\s|:param|@param|Args:|Parameters\b")
_NAME = re.compile(r"\b(?:def|class|function|func|fn|fun|sub|interface|struct)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_CALLED = re.compile(r"\b([A-Za-z_$][\w$]*)\s*\(")
_COMMENT = re.compile(r'"""(.*?)"""|/\*+(.*?)\*/|((?:^[ \t]*(?://+|#+).*\n?)+)', re.DOTALL | re.MULTILINE)
_MARKS = re.compile(r"^[ \t]*(?:\*|//+|#+)[ \t]?", re.MULTILINE)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CodeTerms:
    """The lower-case words of a code, by where they stand."""

    name: _Words = ()
    parameters: _Words = ()
    lead: _Words = ()
    """The first sentence of the documentation."""
    doc: _Words = ()
    body: _Words = ()
    returned: _Words = ()
    """Names in what is returned, and the declared type."""

    def view(self) -> str:
        """Return the text that is encoded: name twice, documentation, parameters and the start of the body."""
        return " ".join((*self.name, *self.name, *self.doc, *self.parameters, *self.body[:_VIEW_WORDS]))


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The words of a query."""

    all: _Words
    telling: _Words
    """Each once, without those that say nothing of what is asked for."""
    known: bool
    """Whether it is English or code, which the features are about."""


def features(pairs: Sequence[Pair], table: StaticEncoder) -> Rows:
    """Return the features of each pair, shape `(pairs, len(FEATURES))`."""
    rows = np.zeros((len(pairs), len(FEATURES)))
    if not pairs:
        return rows
    queries, codes = [query_terms(pair.query) for pair in pairs], [code_terms(pair.code) for pair in pairs]
    asked = table.encode([" ".join(word for word in query.all if word != "python") for query in queries], "query")
    cosines = (asked * table.encode([code.view() for code in codes], "code")).sum(axis=1)
    words = _WordTable(table, queries, codes)
    for at, (query, code) in enumerate(zip(queries, codes, strict=True)):
        if query.telling:
            near = words.similarities(query, code)
            rows[at] = (cosines[at], *near, _in_order(query, code), bool(code.name), bool(code.doc))
    return rows


def encoder_features(pairs: Sequence[Pair], encoder: Encoder) -> Rows:
    """Return the cosine of each pair by a contextual encoder, shape `(pairs, 1)`."""
    if not pairs:
        return np.zeros((0, 1))
    texts = {text: at for at, text in enumerate(dict.fromkeys(pair.query.text for pair in pairs))}
    codes = {text: at for at, text in enumerate(dict.fromkeys(pair.code.text[:_ENCODED_CHARS] for pair in pairs))}
    asked, found = encoder.encode(list(texts), "query"), encoder.encode(list(codes), "code")
    query_at = [texts[pair.query.text] for pair in pairs]
    code_at = [codes[pair.code.text[:_ENCODED_CHARS]] for pair in pairs]
    cosines: Rows = (asked[query_at] * found[code_at]).sum(axis=1, keepdims=True).astype(np.float64)
    return cosines


def query_terms(query: Query) -> QueryTerms:
    """Return the words of a query."""
    every = split(query.text)[:_QUERY_WORDS]
    telling = tuple(dict.fromkeys(word for word in every if word not in _ASIDE)) or tuple(dict.fromkeys(every))
    letters = _LETTER.findall(query.text)
    plain = sum(letter.isascii() for letter in letters)
    foreign = sum(word.lower() in _FOREIGN for word in WORD.findall(query.text))
    return QueryTerms(every, telling, bool(telling) and 2 * plain > len(letters) and foreign < 2)


def code_terms(chunk: Chunk) -> CodeTerms:
    """Return the words of a code; what the chunk already knows (symbol, documentation, signature) is believed."""
    text = textwrap.dedent(chunk.text[:MAX_CODE_CHARS].expandtabs()).strip()
    tree = tree_of(text) if chunk.language in ("", "python") else ""
    nodes = () if isinstance(tree, str) else ast.walk(tree)
    function = next((node for node in nodes if isinstance(node, _Function)), None)
    return _guess(chunk, text) if function is None else _parsed(chunk, function)


def split(text: str) -> _Words:
    """Return the lower-case words of a text, identifiers in parts."""
    return tuple(part for word in WORD.findall(text) for part in parts(word))


class _WordTable:
    """The vectors of all words that some queries and codes compare, each looked up once."""

    def __init__(self, table: StaticEncoder, queries: Sequence[QueryTerms], codes: Sequence[CodeTerms]) -> None:
        words = {word for code in codes for word in _compared(code)[1]}
        ordered = sorted(words.union(*(query.telling for query in queries), *(code.name for code in codes)))
        self._at = {word: at for at, word in enumerate(ordered)}
        self._vectors, self._lengths = table.rows(ordered), table.lengths(ordered)

    def similarities(self, query: QueryTerms, code: CodeTerms) -> tuple[float, float]:
        """Return how near the code comes to each word of the query, and the query to each word of the name.

        Both are means in which a word counts as much as in a text.
        """
        name, every = _compared(code)
        asked = self._vectors[self._places(query.telling)]
        near = [
            np.maximum(asked @ self._vectors[self._places(words)].T, 0.0) if words else np.zeros((len(asked), 1))
            for words in (every, name)
        ]
        of_name = near[1].max(axis=0) @ self._weights(name) if name else 0.0
        return float(near[0].max(axis=1) @ self._weights(query.telling)), float(of_name)

    def _places(self, words: Sequence[str]) -> list[int]:
        return [self._at[word] for word in words]

    def _weights(self, words: Sequence[str]) -> NDArray[np.float32]:
        lengths = self._lengths[self._places(words)] + 1e-6
        weights: NDArray[np.float32] = lengths / lengths.sum()
        return weights


def _compared(code: CodeTerms) -> tuple[_Words, _Words]:
    """Return the words of a code's name, and of all of it, that are compared with those of a query."""
    name = code.name[:_NAME_WORDS]
    lead = tuple(word for word in dict.fromkeys(code.lead) if word not in STOP_WORDS)[:_LEAD_WORDS]
    return name, tuple(dict.fromkeys((*name, *lead, *code.parameters, *code.returned, *code.body)))[:_ALL_WORDS]


def _in_order(query: QueryTerms, code: CodeTerms) -> float:
    """Return the fraction of neighbors in the query that are neighbors, in their order, in name or first sentence."""
    asked = [*pairwise(map(stem, query.telling))]
    stems = ([stem(word) for word in dict.fromkeys(words) if word not in _ASIDE] for words in (code.name, code.lead))
    found = [{*pairwise(each)} for each in stems]
    return max(sum(two in each for two in asked) for each in found) / len(asked) if asked else 0.0


def _parsed(chunk: Chunk, function: _Function) -> CodeTerms:
    own = ast.get_docstring(function)
    doc = (chunk.doc or own or "")[:_DOC_CHARS]
    nodes = [node for statement in function.body[own is not None :] for node in ast.walk(statement)]
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    names = [one.arg for one in arguments if one.arg not in ("self", "cls")]
    types = [ast.unparse(one.annotation) for one in arguments if one.annotation]
    values = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    declared = ast.unparse(function.returns) if function.returns else ""
    returned = [name for value in values for node in ast.walk(value) for name in _names(node)]
    body = (name for node in nodes for name in _names(node))
    return CodeTerms(
        split(chunk.symbol or function.name),
        split(" ".join((*names, *types))),
        split(_first_sentence(doc)),
        split(doc),
        _telling(split(" ".join(body))),
        split(" ".join((declared, *returned))),
    )


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node brings; of a text its start."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield name
        case ast.Constant(value=str(text)):
            yield text[:60]


def _guess(chunk: Chunk, text: str) -> CodeTerms:
    """Read a text of which no grammar is known."""
    name = chunk.symbol or next((match[1] for match in _NAME.finditer(text)), "")
    name = name or next((match[1] for match in _CALLED.finditer(text)), "")
    comment = _COMMENT.search(text)
    doc = (chunk.doc or (_MARKS.sub("", next(filter(None, comment.groups()), "")) if comment else ""))[:_DOC_CHARS]
    signature = chunk.signature or next((line for line in text.splitlines() if name and name in line), "")
    parameters = tuple(word for word in split(signature) if word not in split(name))
    return CodeTerms(split(name), parameters, split(_first_sentence(doc)), split(doc), _telling(split(text)))


def _first_sentence(doc: str) -> str:
    return _LEAD.split(doc.strip(), maxsplit=1)[0]


def _telling(words: _Words) -> _Words:
    """Return the first distinct words that say something."""
    return tuple(dict.fromkeys(word for word in words if len(word) > 1 and word not in STOP_WORDS))[:_BODY_WORDS]


WEIGHTS = "signals.json"
"""The file of a folder of weights."""
PASSED, FAILED = 0.91, 0.04
"""Probability of a match for code that passes, or fails, the examples in its query; from MBPP, see the card."""
_SHIPPED = Path(__file__).parent / "data" / WEIGHTS
_AT_ONCE = 2_000  # pairs whose words are at hand together
_REASONS = {
    "no match": "hardly anything asked for is said there",
    "match": "what is asked for is said there",
    "unclear": "words alone do not decide",
}


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """A logistic model, and where it is sure."""

    features: tuple[str, ...]
    linear: Rows
    bias: float
    base: float
    """The fraction of matches that it expects by itself."""
    low: float
    """A probability up to this is a clear no; -1 where no threshold is sure enough."""
    high: float
    """A probability from this on is a clear yes; 2 where no threshold is sure enough."""
    width: int = 0
    """The width of the vectors of the encoder whose cosines were learned from; 0 where there was none."""


class SignalsJudge:
    """The judge `signals`, or `signals:FOLDER` with other weights; `prior` is the fraction of matches to expect.

    With `trials` it is `signals+examples` and runs code on the examples of its query.
    """

    def __init__(
        self,
        folder: str = "",
        *,
        prior: float = 0.5,
        trials: Callable[[Sequence[Pair]], Sequence[Trial]] | None = None,
        encoder: Encoder | None = None,
    ) -> None:
        if not 0 < prior < 1:
            raise InputError(f"a prior of {prior}; wanted the fraction of matches to expect, between 0 and 1")
        kind = "signals+examples" if trials else "signals"
        self.name = "".join((f"{kind}:{folder}" if folder else kind, f"+{encoder.name}" if encoder else ""))
        self._weights = load(weights_file(folder, encoder=encoder is not None))
        self._encoder, self._encoding = encoder, Lock()  # tokenizers are not thread-safe
        _check_encoder(self._weights, encoder)
        self._bias = self._weights.bias + logit(prior) - logit(self._weights.base)
        self._trials = trials

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict about one pair; one with nothing to go by is undecided."""
        return self.judge_all([pair])[0]

    def judge_all(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return the verdict about each pair, in their order."""
        verdicts: list[Verdict] = []
        for start in range(0, len(pairs), _AT_ONCE):
            some = pairs[start : start + _AT_ONCE]
            added = self._features(some) * self._weights.linear
            read = map(self._verdict, some, added)
            verdicts += map(_tried, self._trials(some), read) if self._trials else read
        return verdicts

    def _features(self, pairs: Sequence[Pair]) -> Rows:
        if self._encoder is None:
            return features(pairs, default_static())
        with self._encoding:
            return encoder_features(pairs, self._encoder)

    def _verdict(self, pair: Pair, added: Rows) -> Verdict:
        if not pair.code.text.strip():
            return Verdict(0, "the code is empty", "none", 0.0, details={"call": "no match", "why": {}})
        if not query_terms(pair.query).known:
            return undecided("evidence", "the query is neither English nor names of code, which the features are about")
        probability = float(1 / (1 + np.exp(-np.clip(added.sum() + self._bias, -50.0, 50.0))))
        sure_yes, sure_no = probability >= self._weights.high, probability <= self._weights.low
        call = "no match" if sure_no else "match" if sure_yes else "unclear"
        why = {self._weights.features[at]: round(float(added[at]), 4) for at in np.argsort(-np.abs(added)).tolist()}
        reason = f"{probability:.2f}: {_REASONS[call]}"
        return Verdict(int(probability >= 0.5), reason, "signals", probability, details={"call": call, "why": why})


def _tried(trial: Trial, before: Verdict) -> Verdict:
    """Return what running the code shows; a trial that shows nothing leaves the verdict as it was."""
    if trial.state == "broken":
        return undecided("sandbox", trial.detail)
    ran = {"examples": asdict(trial)}
    if trial.state == "not run":
        return before if before.grade is None else replace(before, details={**before.details, **ran})
    held = f"holds on {trial.held} of {trial.examples} examples that the query shows"
    if trial.state == "passed":
        return Verdict(1, held, "tests", PASSED, details={"call": "match", "why": {}, **ran})
    return Verdict(0, f"{held}: {trial.detail}", "tests", FAILED, details={"call": "no match", "why": {}, **ran})


def weights_file(folder: str, *, encoder: bool = False) -> Path:
    """Return the file of weights of a folder that `assay train judge` wrote; of no folder, what ships."""
    if not folder:
        if encoder:
            raise InputError("the weights that ship know no encoder: learn some with assay train judge --encoder SPEC")
        return _SHIPPED
    path = Path(folder).expanduser()
    return path / WEIGHTS if path.is_dir() else path


def weights_version(file: Path) -> str:
    """Return a hash of a file of weights, by which verdicts of other weights are told apart."""
    try:
        return hex_digest(file.read_bytes(), 8)
    except OSError as error:
        raise InputError(f"no weights of a judge in {file}: {error.strerror}") from error


def load(file: Path) -> SignalWeights:
    """Read the weights that `assay train judge` wrote."""
    return _loaded(file, file.stat().st_mtime_ns if file.is_file() else 0)


@cache
def _loaded(file: Path, _changed: int) -> SignalWeights:
    try:
        stored: dict[str, Any] = json.loads(file.read_text("utf-8"))
        encoder = stored.get("encoder")
        names = ENCODER_FEATURES if encoder else FEATURES
        if stored["linear"].keys() != set(names):
            raise InputError(
                f"the weights in {file} are of other features than this version has: learn them again with assay "
                "train judge"
            )
        linear = np.array([float(stored["linear"][name]) for name in names])
        bias, base, low, high = (float(stored[name]) for name in ("bias", "base", "low", "high"))
        return SignalWeights(names, linear, bias, base, low, high, int(encoder["width"]) if encoder else 0)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"no weights of a judge in {file} ({error!r}); give a folder that assay train judge wrote"
        ) from error


def _check_encoder(weights: SignalWeights, encoder: Encoder | None) -> None:
    """Refuse an encoder with weights that know nothing of it, and weights that lack theirs."""
    width = encoder.dimension if encoder else 0
    if width != weights.width:
        have = f"the cosines of an encoder of width {weights.width}" if weights.width else "no encoder"
        given = f"{encoder.name} has width {width}" if encoder else "none is given"
        raise InputError(
            f"these weights were learned with {have}, and {given}: give that one with --encoder SPEC, leave it out, or "
            "learn weights for it with assay train judge --encoder SPEC"
        )
