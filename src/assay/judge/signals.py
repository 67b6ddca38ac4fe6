"""Judge pairs without a model: how likely a person would say that the code answers the query.

A logistic model over a few features, or over the cosine of a contextual encoder where one is named; `assay train judge`
learns it, and its card says from what. A pair is *clear* only beyond thresholds at which enough of the held-out labels
agreed; a side without such a threshold has none. Where it may run code, the examples in the query decide.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from assay.encode.static import default_static
from assay.errors import InputError
from assay.judge.features import ENCODER_FEATURES, FEATURES, Rows, encoder_features, features, query_terms
from assay.judge.pairs import Pair
from assay.judge.trials import Trial
from assay.judge.verdicts import Verdict, undecided
from assay.protocols import Encoder

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
        self._bias = self._weights.bias + _log_odds(prior) - _log_odds(self._weights.base)
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
            return Verdict(0, "the code is empty", "none", 0.0, told={"call": "no match", "why": {}})
        if not query_terms(pair.query).known:
            return undecided("evidence", "the query is neither English nor names of code, which the features are about")
        probability = float(1 / (1 + np.exp(-np.clip(added.sum() + self._bias, -50.0, 50.0))))
        sure_yes, sure_no = probability >= self._weights.high, probability <= self._weights.low
        call = "no match" if sure_no else "match" if sure_yes else "unclear"
        why = {self._weights.features[at]: round(float(added[at]), 4) for at in np.argsort(-np.abs(added)).tolist()}
        reason = f"{probability:.2f}: {_REASONS[call]}"
        return Verdict(int(probability >= 0.5), reason, "signals", probability, told={"call": call, "why": why})


def _tried(trial: Trial, before: Verdict) -> Verdict:
    """Return what running the code shows; a trial that shows nothing leaves the verdict as it was."""
    if trial.state == "broken":
        return undecided("sandbox", trial.detail)
    ran = {"examples": asdict(trial)}
    if trial.state == "not run":
        return before if before.grade is None else replace(before, told={**before.told, **ran})
    held = f"holds on {trial.held} of {trial.examples} examples that the query shows"
    if trial.state == "passed":
        return Verdict(1, held, "tests", PASSED, told={"call": "match", "why": {}, **ran})
    return Verdict(0, f"{held}: {trial.detail}", "tests", FAILED, told={"call": "no match", "why": {}, **ran})


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
        encoder = stored.get("encoder")
        names = ENCODER_FEATURES if encoder else FEATURES
        if stored["linear"].keys() != set(names):
            raise InputError(
                f"the weights in {file} are of an earlier version, with features that were removed because six do as "
                "well: learn them again with assay train judge"
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


def _log_odds(fraction: float) -> float:
    return float(np.log(fraction / (1 - fraction)))
