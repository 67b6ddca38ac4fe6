"""Train the judge that asks no model from labeled pairs, into a folder with card and manifest.

Every source counts the same, and so does each of its labels. A source is scored by weights that were learned on the
others alone, from pairs that share neither query nor code with it; those scores set the spread of the probabilities and
the thresholds of a clear verdict. Where there is a single source, folds by code take the place of sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay import plugins
from assay.encode.static import default_static
from assay.errors import InputError
from assay.io import files, rows
from assay.judge.pairs import Pair
from assay.judge.signals import ENCODER_FEATURES, FEATURES, encoder_features, features
from assay.llm.yes_no import Calibration
from assay.measure.agreement import Estimate
from assay.protocols import Encoder, Say
from assay.runs.record import write_manifest
from assay.settings import at_least
from assay.train.card import filled
from assay.truth.formats.shared import CODE_TEXTS, QUERY_TEXTS, first_text
from assay.values import Chunk, Problem, Query

Numbers = NDArray[np.float64]
_AT_ONCE = 2_000
_RESAMPLES = 300
_STEPS = 50
_RIDGE = 1e-6  # without which features that say the same have no solution
"""Of Newton's method."""
_Z = 1.96


@dataclass(frozen=True, slots=True)
class JudgeTrainSettings:
    """Penalties and thresholds; the defaults made the shipped weights."""

    penalty: float = 0.1
    """On the squared weights of standardized features."""
    folds: int = 5
    """By code, where there is a single source."""
    sure: float = 0.75
    """The fraction of held-out labels that must agree beyond a threshold, by the lower end of its 95% interval."""
    least_sure: int = 50
    """Held-out pairs beyond a threshold, at least."""

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned with."""
        at_least(self, {"penalty": 0, "folds": 2, "least_sure": 1})
        if not 0.5 < self.sure < 1:
            raise InputError(f"setting 'sure' is {self.sure}; wanted between 0.5 and 1")


@dataclass(frozen=True, slots=True)
class LabeledPair:
    """A pair and what a person says of it."""

    query: str
    code: str
    label: int


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """How a judge that learned from other sources does on one."""

    name: str
    pairs: int
    matches: float
    """The fraction of its pairs that are labelled a match."""
    roc_auc: Estimate
    accuracy: Estimate
    """At even odds."""
    brier: float
    """With the fraction of matches as the prior; the variance of the labels is what knowing that alone gives."""
    called: float
    """The fraction called a match with that prior."""
    cosine: float
    """The ROC-AUC of the cosine alone."""


@dataclass(frozen=True, slots=True)
class _Examples:
    """The features and labels of all sources, one below the other."""

    pairs: tuple[LabeledPair, ...]
    rows: Numbers
    labels: Numbers
    source: NDArray[np.intp]

    def balanced(self, rows: NDArray[np.bool_]) -> Numbers:
        """Return how much each row counts: every source the same, and both its labels; 0 for a source with one."""
        counts = np.zeros(len(self.pairs))
        for one in np.unique(self.source[rows]):
            at = rows & (self.source == one)
            if 0 < self.labels[at].sum() < at.sum():
                counts[at] = balanced(self.labels[at])
        if not counts.any():
            raise InputError("no source is left to learn from once pairs that share a text with the rest are held out")
        return counts


def read_sources(specs: Sequence[str], left_out: Sequence[Path] = ()) -> dict[str, list[LabeledPair]]:
    """Read sources as `NAME=FILE`, without the pairs whose query or code is in a file that is left out."""
    held_out = [pair for file in left_out for pair in read_labelled(file)]
    sources: dict[str, list[LabeledPair]] = {}
    for spec in specs:
        name, equals, file = spec.partition("=")
        if not (name and equals and file) or name in sources:
            raise InputError(f"'{spec}' is not a source: give NAME=FILE, each name once")
        sources[name] = apart(read_labelled(Path(file).expanduser()), held_out)
        if len({pair.label for pair in sources[name]}) < 2:
            raise InputError(f"{file}: {len(sources[name]):,} pairs of one label are left; wanted matches and others")
    return sources


def read_labelled(file: Path) -> list[LabeledPair]:
    """Read the pairs of a file in any form of rows, with the fields `query` (or `doc`), `code` and `label` (0 or 1)."""
    broken: list[Problem] = []
    pairs = []
    for row, fields in rows.objects(file, broken):
        query, code, label = first_text(fields, QUERY_TEXTS), first_text(fields, CODE_TEXTS), str(fields.get("label"))
        if not query or not code or label not in {"0", "1"}:
            raise InputError(f"{rows.place(file, row)}: wanted the texts query and code, and a label of 0 or 1")
        pairs.append(LabeledPair(query, code, int(label)))
    if broken or not pairs:
        raise InputError(str(broken[0]) if broken else f"'{file}' holds no labelled pair")
    return pairs


def apart(pairs: Sequence[LabeledPair], others: Sequence[LabeledPair]) -> list[LabeledPair]:
    """Return the pairs that share neither query nor code with the others, in any letter case and spacing."""
    queries, codes = {plain(one.query) for one in others}, {plain(one.code) for one in others}
    return [one for one in pairs if plain(one.query) not in queries and plain(one.code) not in codes]


def plain(text: str) -> str:
    """Return a text as it is compared: in lower case, without quotes around it, with single spaces."""
    return " ".join(text.lower().strip('"').split())


def learn(
    sources: Mapping[str, Sequence[LabeledPair]],
    settings: JudgeTrainSettings,
    say: Say = lambda _: None,
    *,
    encoder: Encoder | None = None,
    spec: str = "",
) -> tuple[dict[str, Any], list[SourceFigures]]:
    """Return weights learned on all sources, and figures of each by weights learned on the others."""
    pairs = tuple(pair for source in sources.values() for pair in source)
    source = np.repeat(np.arange(len(sources)), [len(each) for each in sources.values()])
    say(f"reading {len(pairs):,} pairs of {len(sources)} sources")
    read = _Examples(pairs, features_of(pairs, encoder), np.array([float(one.label) for one in pairs]), source)
    part = read.source if len(sources) > 1 else _folds(read.pairs, settings.folds)
    if len(np.unique(part)) < 2:
        raise InputError(f"{len(read.pairs)} pairs of too few different codes; wanted enough to hold some out")
    held_out = np.zeros(len(read.pairs))
    for one in np.unique(part):
        say(f"held out: {[*sources][one] if len(sources) > 1 else f'fold {one + 1} of {settings.folds}'}")
        counts = read.balanced(_others(read.pairs, part == one))
        linear, bias = fit(read.rows, read.labels, counts, read.source, settings.penalty)
        held_out[part == one] = read.rows[part == one] @ linear + bias
    counts = read.balanced(np.ones(len(part), dtype=bool))
    slope, offset = calibrate(held_out, read.labels, counts)
    scores = slope * held_out + offset
    low, high = thresholds(probability(scores), read.labels, counts, sure=settings.sure, least=settings.least_sure)
    linear, bias = fit(read.rows, read.labels, counts, read.source, settings.penalty)
    weights = {
        "linear": dict(zip(ENCODER_FEATURES if encoder else FEATURES, (slope * linear).round(5).tolist(), strict=True)),
        "bias": round(slope * bias + offset, 5),
        "base": 0.5,
        "low": round(low, 4),
        "high": round(high, 4),
        "encoder": {"spec": spec, "width": encoder.dimension} if encoder else None,
        "pairs": {name: len(pairs) for name, pairs in sources.items()},
    }
    return weights, [
        figures_of(name, scores[at], read.labels[at], [plain(one.query) for one in sources[name]], read.rows[at, 0])
        for name, at in ((name, read.source == number) for number, name in enumerate(sources))
    ]


def features_of(pairs: Sequence[LabeledPair], encoder: Encoder | None) -> Numbers:
    """Return the features of labelled pairs, a row each; the first one is a cosine."""
    posed = [Pair(Query(str(at), one.query), Chunk(str(at), one.code)) for at, one in enumerate(pairs)]
    pieces = [posed[start : start + _AT_ONCE] for start in range(0, len(posed), _AT_ONCE)]
    return np.concatenate(
        [encoder_features(piece, encoder) if encoder else features(piece, default_static()) for piece in pieces]
    )


def _others(pairs: Sequence[LabeledPair], held_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say which pairs are not held out, and share neither query nor code with those that are."""
    texts = [(plain(one.query), plain(one.code)) for one in pairs]
    inside = [text for text, one in zip(texts, held_out, strict=True) if one]
    queries, codes = {query for query, _ in inside}, {code for _, code in inside}
    return np.array([query not in queries and code not in codes for query, code in texts])


def _folds(pairs: Sequence[LabeledPair], folds: int) -> NDArray[np.intp]:
    """Return a fold a pair, the same for the same code."""
    return np.array([crc32(plain(one.code).encode("utf-8", "replace")) % folds for one in pairs])


def balanced(labels: Numbers) -> Numbers:
    """Return how much each label counts for both to count half, all together 1."""
    ones = labels.sum()
    counts: Numbers = np.where(labels == 1, 0.5 / ones, 0.5 / (len(labels) - ones))
    return counts


def fit(
    rows: Numbers, labels: Numbers, counts: Numbers, source: NDArray[np.intp], penalty: float
) -> tuple[Numbers, float]:
    """Return the weights and the bias of a logistic model of standardized features.

    Each source that counts has a bias of its own, so that no weight has to explain how sources differ; returned is
    their mean.
    """
    taken, counts = counts > 0, counts / counts.sum()
    rows, labels, counts, source = rows[taken], labels[taken], counts[taken], source[taken]
    middle = counts @ rows
    spread = np.sqrt(counts @ (rows - middle) ** 2) + 1e-6
    ones = (source[:, None] == np.unique(source)).astype(np.float64)
    every = np.hstack(((rows - middle) / spread, ones))
    found = _newton(every, labels, counts, np.repeat((penalty, 0.0), (rows.shape[1], ones.shape[1])) + _RIDGE)
    linear = found[: rows.shape[1]] / spread
    return linear, float(found[rows.shape[1] :].mean() - linear @ middle)


def calibrate(scores: Numbers, labels: Numbers, counts: Numbers) -> tuple[float, float]:
    """Return the slope, 0 or more, and the offset that make probabilities of scores (Platt, 1999)."""
    rows = np.column_stack((scores, np.ones(len(scores))))
    slope, offset = _newton(rows, labels, counts / counts.sum(), np.full(2, _RIDGE))
    return max(float(slope), 0.0), float(offset)


def calibrate_near(
    prior: Calibration, log_odds: Sequence[Sequence[float]], labels: Sequence[int], *, strength: float = 4.0
) -> Calibration:
    """Return the likeliest calibration of some labelled rows of log-odds, near a prior where labels are few.

    Each parameter has a Gaussian prior of precision `strength` / 4, as so many labels in doubt have.
    """
    if len(log_odds) != len(labels) or not labels:
        raise InputError(f"{len(log_odds)} rows of log-odds and {len(labels)} labels; wanted one or more of each")
    rows = np.column_stack((np.asarray(log_odds, dtype=float), np.ones(len(labels))))
    center = np.array([*prior.weights, prior.bias])
    found = _newton(rows, np.asarray(labels, float), np.ones(len(labels)), np.full(len(center), strength / 4), center)
    *weights, bias = found.tolist()
    return Calibration(tuple(weights), bias)


def _newton(
    rows: Numbers, labels: Numbers, counts: Numbers, precision: Numbers, center: Numbers | float = 0.0
) -> Numbers:
    """Return the weights of a logistic model; `precision` is how strongly each is held to its center."""
    shrunk, at = np.diag(precision), np.zeros(rows.shape[1]) + center
    for _ in range(_STEPS):
        found = probability(rows @ at)
        slope = rows.T @ (counts * (found - labels)) + shrunk @ (at - center)
        at = at - np.linalg.solve((rows * (counts * found * (1 - found))[:, None]).T @ rows + shrunk, slope)
    return at


def probability(scores: Numbers) -> Numbers:
    """Return probabilities of log-odds."""
    found: Numbers = 1 / (1 + np.exp(-np.clip(scores, -50.0, 50.0)))
    return found


def thresholds(chances: Numbers, labels: Numbers, counts: Numbers, *, sure: float, least: int) -> tuple[float, float]:
    """Return up to which probability a no is sure and from which a yes is; -1 and 2 where nothing is."""
    order = np.argsort(chances, kind="stable")
    no = _most_sure(1 - labels[order], counts[order], sure, least)
    yes = _most_sure(labels[order][::-1], counts[order][::-1], sure, least)
    return float(chances[order[no - 1]]) if no else -1.0, float(chances[order[-yes]]) if yes else 2.0


def _most_sure(right: Numbers, counts: Numbers, sure: float, least: int) -> int:
    """Return how many of the most extreme pairs are enough in agreement: the most, by Wilson's lower bound.

    Pairs that count differently are as many as would say as much if all counted the same (Kish, 1965).
    """
    whole = counts.cumsum()
    share = np.clip((counts * right).cumsum() / whole, 0.0, 1.0)
    number = whole**2 / (counts**2).cumsum()
    width = _Z * np.sqrt(share * (1 - share) / number + _Z**2 / (4 * number**2))
    bound = (share + _Z**2 / (2 * number) - width) / (1 + _Z**2 / number)
    found = np.flatnonzero((bound >= sure) & (np.arange(1, len(right) + 1) >= least))
    return int(found[-1]) + 1 if len(found) else 0


def auc(scores: Numbers, labels: Numbers, counts: Numbers | None = None) -> float:
    """Return the probability that a match scores higher than another pair; a draw counts half."""
    counts = np.ones(len(scores)) if counts is None else counts
    _, place = np.unique(scores, return_inverse=True)
    ones, zeros = np.bincount(place, counts * labels), np.bincount(place, counts * (1 - labels))
    whole = ones.sum() * zeros.sum()
    return float(ones @ (np.cumsum(zeros) - zeros / 2) / whole) if whole else float("nan")


def figures_of(name: str, scores: Numbers, labels: Numbers, queries: Sequence[str], cosines: Numbers) -> SourceFigures:
    """Return the figures of log-odds at even prior odds, with intervals over queries."""
    share = float(labels.mean())
    prior = probability(scores + np.log(share / (1 - share)))
    right = ((scores >= 0) == labels).astype(np.float64)
    draws = _resampled(queries)
    aucs = [auc(scores, labels, counts) for counts in draws]
    means = [float(counts @ right / counts.sum()) for counts in draws]
    return SourceFigures(
        name, len(labels), share, _estimate(auc(scores, labels), aucs), _estimate(float(right.mean()), means),
        float(((prior - labels) ** 2).mean()), float((prior >= 0.5).mean()), auc(cosines, labels),
    )  # fmt: skip


def _resampled(queries: Sequence[str]) -> list[Numbers]:
    """Return how often each pair comes in resamples of the queries."""
    _, place = np.unique(np.array(queries, dtype=object).astype(str), return_inverse=True)
    groups, random = int(place.max()) + 1, np.random.default_rng(0)
    taken = [np.bincount(random.integers(groups, size=groups), minlength=groups) for _ in range(_RESAMPLES)]
    return [counts.astype(np.float64)[place] for counts in taken]


def _estimate(value: float, draws: Sequence[float]) -> Estimate:
    low, high = np.nanquantile(draws, (0.025, 0.975))
    return Estimate(value, float(low), float(high))


def card(weights: Mapping[str, Any], figures: Sequence[SourceFigures], settings: JudgeTrainSettings) -> str:
    """Return the model card of a training."""
    encoder = weights["encoder"]
    facts = {
        "encoder": f" --encoder {encoder['spec']}" if encoder else "",
        "features": f"the cosine by `{encoder['spec']}`" if encoder else f"{len(FEATURES)} features",
        "results": results_table(figures),
    }
    return filled("judge", {**asdict(settings), **weights, **facts})


def results_table(figures: Sequence[SourceFigures]) -> str:
    """Return the figures of held-out sources as a Markdown table."""
    head = "| held out | pairs | matches | ROC-AUC | accuracy | Brier | called | cosine alone, ROC-AUC |"
    lines = (
        f"| {one.name} | {one.pairs:,} | {one.matches:.3f} | {interval_text(one.roc_auc)} | "
        f"{interval_text(one.accuracy)} | {one.brier:.3f} | {one.called:.3f} | {one.cosine:.3f} |"
        for one in figures
    )
    return "\n".join((head, "|---|---|---|---|---|---|---|---|", *lines))


def interval_text(one: Estimate) -> str:
    """Return a value with its interval."""
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"


def train_judge(  # noqa: PLR0913, PLR0917  what is learned from, how, where to, and who hears of it
    sources: Sequence[str], left_out: Sequence[Path], spec: str, folder: Path, settings: JudgeTrainSettings, say: Say
) -> list[SourceFigures]:
    """Train the judge without a model into a folder with card and manifest; return how well it carries over."""
    from assay.judge.signals import WEIGHTS

    read = read_sources(sources, left_out)
    encoder = plugins.make("encoder", spec) if spec else None
    weights, figures = learn(read, settings, say, encoder=encoder, spec=spec)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / WEIGHTS, weights)
    files.write(folder / "README.md", card(weights, figures, settings))
    pairs = (astuple(one) for each in read.values() for one in each)
    write_manifest(folder / "manifest.json", settings, seed=0, corpus=pairs)
    return figures
