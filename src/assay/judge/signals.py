"""Pairs in, how likely the code answers the query out: no model, no network; the screener that saves calls.

A logistic model over `evidence`, learned on labelled pairs of several sources (`assay train judge` makes it; its card
says on which), and over the cosine of a contextual encoder, where one is named. A pair is *clear* only beyond
thresholds at which enough of the held-out labels agreed; a side without such a threshold has none. Where it may run
code on the examples that a query shows, what that shows decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.encode.static import default_static
from assay.errors import InputError
from assay.judge.evidence import COLUMNS, ENCODER_COLUMN, Rows, evidence, query_terms, with_cosines
from assay.judge.pairs import Pair
from assay.judge.trials import Trial
from assay.judge.verdicts import Verdict, undecided
from assay.protocols import Encoder
from assay.types import Chunk, Query

Call = Literal["match", "no match", "unclear"]
CALLS = get_args(Call)
Try = Callable[[Sequence[Pair]], Sequence[Trial]]
"""Runs the code of each pair on what its query shows, in a sandbox; one trial a pair, in their order."""

WEIGHTS = "signals.json"
"""The file of a folder of weights."""
_SHIPPED = Path(__file__).parent / "data" / WEIGHTS
_AT_ONCE = 2_000  # pairs whose words are at hand together
PASSED, FAILED = 0.91, 0.04
"""How likely code answers its query that holds, or not, on the examples which that shows; from MBPP, see the card."""


@dataclass(frozen=True, slots=True)
class SignalWeights:
    """A logistic model over columns of evidence, and where it is sure."""

    columns: tuple[str, ...]
    linear: NDArray[np.float64]
    bias: float
    base: float
    """The fraction of matches that it expects by itself."""
    low: float
    """A chance up to this is a clear no; -1 where no threshold is sure enough."""
    high: float
    """A chance from this on is a clear yes; 2 where no threshold is sure enough."""
    width: int = 0
    """The width of the vectors of the encoder whose cosines were learned with; 0 where there was none."""

    def scores(self, rows: Rows) -> NDArray[np.float64]:
        """Return the log-odds of a match, one a row."""
        scores: NDArray[np.float64] = rows @ self.linear + self.bias
        return scores


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """What the judge thinks of one pair."""

    call: Call
    chance: float
    """That the code answers the query."""
    reason: str
    path: Literal["signals", "tests", "none"] = "signals"
    """What decided: evidence, a run, or nothing, for there was nothing to read or the sandbox broke."""
    why: Mapping[str, float] = field(default_factory=dict, hash=False)
    """What each column adds to the log-odds, strongest first."""
    trial: Trial | None = None
    """What running the code showed, None where that was not allowed."""

    @property
    def grade(self) -> int:
        """1 where a match is at least as likely as not, for those who need a label for every pair."""
        return int(self.chance >= 0.5)


class SignalsJudge:
    """The judge `signals`, or `signals:FOLDER` with other weights; `prior` is the fraction of matches to expect.

    With `trials` it is `signals+examples` and runs code on the examples of its query. With an encoder, and weights that
    were learned with one, the cosine of its vectors is evidence as well.
    """

    def __init__(
        self, folder: str = "", *, prior: float = 0.5, trials: Try | None = None, encoder: Encoder | None = None
    ) -> None:
        if not 0 < prior < 1:
            raise InputError(f"a prior of {prior}; wanted the fraction of matches to expect, between 0 and 1")
        kind = "signals+examples" if trials else "signals"
        self.name = "".join((f"{kind}:{folder}" if folder else kind, f"+{encoder.name}" if encoder else ""))
        self._weights = load(weights_file(folder, encoder=encoder is not None))
        self._encoder, self._encoding = encoder, Lock()  # tokenizers are not thread-safe
        _check_encoder(self._weights, encoder)
        self._shift = _log_odds(prior) - _log_odds(self._weights.base)
        self._trials = trials

    def judge(self, pair: Pair) -> Verdict:
        """Return the verdict about one pair; one with nothing to go by is undecided."""
        return self.judge_all([pair])[0]

    def judge_all(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """Return the verdict about each pair, in their order."""
        return [_verdict(opinion) for opinion in self.opinions([(pair.query, pair.code) for pair in pairs])]

    def opinions(self, pairs: Sequence[tuple[Query, Chunk]]) -> list[PairEstimate]:
        """Return an opinion a pair, in their order."""
        opinions: list[PairEstimate] = []
        for start in range(0, len(pairs), _AT_ONCE):
            some = pairs[start : start + _AT_ONCE]
            read = self._by_signals(some)
            if self._trials:
                trials = self._trials([Pair(*pair) for pair in some])
                read = [_tried(*one) for one in zip(trials, read, strict=True)]
            opinions += read
        return opinions

    def _by_signals(self, pairs: Sequence[tuple[Query, Chunk]]) -> list[PairEstimate]:
        rows = evidence(pairs, default_static())
        if self._encoder:
            with self._encoding:
                rows = with_cosines(rows, pairs, self._encoder)
        scores = self._weights.scores(rows) + self._shift
        added = rows * self._weights.linear
        return [self._opinion(pair, *one) for pair, *one in zip(pairs, scores.tolist(), added, strict=True)]

    def _opinion(self, pair: tuple[Query, Chunk], score: float, added: NDArray[np.float64]) -> PairEstimate:
        query, code = pair
        if not code.text.strip():
            return PairEstimate("no match", 0.0, "the code is empty", "none")
        if not query_terms(query).known:
            return PairEstimate("unclear", _chance(self._shift + _log_odds(self._weights.base)), _UNKNOWN, "none")
        chance = _chance(score)
        strongest = np.argsort(-np.abs(added), kind="stable").tolist()
        why = {self._weights.columns[at]: round(float(added[at]), 4) for at in strongest if added[at]}
        if chance <= self._weights.low:
            return PairEstimate("no match", chance, f"{chance:.2f}: hardly anything asked for is said there", why=why)
        if chance >= self._weights.high:
            return PairEstimate("match", chance, f"{chance:.2f}: what is asked for is said there", why=why)
        return PairEstimate("unclear", chance, f"{chance:.2f}: words alone do not decide", why=why)


_UNKNOWN = "the query is not in words that the evidence knows: English, or names of code"


def _tried(trial: Trial, before: PairEstimate) -> PairEstimate:
    """Return what a trial shows; one that shows nothing leaves the opinion as it was."""
    held = f"holds on {trial.held} of {trial.examples} examples that the query shows"
    if trial.state == "passed":
        return PairEstimate("match", PASSED, held, "tests", trial=trial)
    if trial.state == "failed":
        return PairEstimate("no match", FAILED, f"{held}: {trial.detail}", "tests", trial=trial)
    if trial.state == "broken":
        return PairEstimate("unclear", before.chance, trial.detail, "none", trial=trial)
    return replace(before, trial=trial)


def _verdict(opinion: PairEstimate) -> Verdict:
    trial = opinion.trial
    if opinion.call == "unclear" and opinion.path == "none":
        return undecided("sandbox" if trial and trial.state == "broken" else "evidence", opinion.reason)
    told: dict[str, Any] = {"call": opinion.call, "why": dict(opinion.why)}
    if trial:
        told["examples"] = asdict(trial)
    return Verdict(opinion.grade, opinion.reason, opinion.path, opinion.chance, told=told)


def weights_file(folder: str, *, encoder: bool = False) -> Path:
    """Return the file of weights of a folder that `assay train judge` wrote; of no folder, what ships."""
    if not folder and encoder:
        raise InputError("the weights that ship know no encoder: learn some with assay train judge --encoder SPEC")
    if not folder:
        return _SHIPPED
    path = Path(folder).expanduser()
    return path / WEIGHTS if path.is_dir() else path


def weights_version(file: Path) -> str:
    """Return a hash of a file of weights, by which verdicts of other weights are told apart."""
    try:
        return blake2b(file.read_bytes(), digest_size=8).hexdigest()
    except OSError as error:
        raise InputError(f"no weights of a judge in {file}: {error.strerror}") from error


def load(file: Path) -> SignalWeights:
    """Read the weights that `assay train judge` wrote."""
    return _loaded(file, file.stat().st_mtime_ns if file.is_file() else 0)


@cache
def _loaded(file: Path, _changed: int) -> SignalWeights:
    try:
        stored: dict[str, Any] = json.loads(file.read_text("utf-8"))
        named = stored.get("encoder")
        columns = (*COLUMNS, ENCODER_COLUMN) if named else COLUMNS
        linear = np.array([float(stored["linear"][column]) for column in columns])
        numbers = [float(stored[name]) for name in ("bias", "base", "low", "high")]
        width = int(named["width"]) if named else 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"no weights of a judge in {file} ({error!r}); give a folder that assay train judge wrote"
        ) from error
    bias, base, low, high = numbers
    return SignalWeights(columns, linear, bias, base, low, high, width)


def _check_encoder(weights: SignalWeights, encoder: Encoder | None) -> None:
    """Refuse an encoder with weights that know nothing of it, and weights that lack theirs."""
    if weights.width and encoder is None:
        raise InputError("these weights were learned with the cosines of an encoder: give --encoder SPEC")
    if encoder and not weights.width:
        raise InputError("these weights were learned without an encoder: leave --encoder out, or train with it")
    if encoder and encoder.dimension != weights.width:
        raise InputError(
            f"{encoder.name} has vectors of width {encoder.dimension}, and these weights are for {weights.width}: "
            f"learn weights for it with assay train judge --encoder SPEC"
        )


def _log_odds(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def _chance(score: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(score, -50.0, 50.0))))
