"""The ranker `consensus`: candidate programs in, how likely each is right out, by what can be seen and what they share.

Nothing runs and no network is asked: a static gate, how central a program is among the others, what its form and the
task's text say, weighed by small boosted trees that ship with the package (`train_consensus` grows them).
Every part of a score is told: the parts of `why` add up to it. The order of the programs never counts, and a program
given twice is a program sampled twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.consensus import pool_features
from assay.rank.consensus.paths import PathBags
from assay.rank.consensus.pool_facts import FEATURES, PoolFacts, centrality, look_at
from assay.rank.consensus.similar import likeness
from assay.rank.consensus.trees import Trees, trees
from assay.types import Program, Ranked, Task

Numbers = NDArray[np.float64]
_TASK: Final = frozenset(
    {"arity", "kind", "kind_wrong", "words_shared", "words_covered", "numbers_shared", "numbers_covered"}
)
"""What compares a program with the text of its task; other numbers of its own are its form."""


TAKEN: Final = 20
"""Programs that are taken one after the other; what is left pays for its likeness to all of them."""

_LOW: Final = 0.1
"""The quantile of likenesses that counts as unlike."""
_NO_SPREAD: Final = 1e-6


def prices(scores: Numbers, held: PathBags, price: float) -> Numbers:
    """Return what to take off each score."""
    best = np.argsort(-scores, kind="stable")[: TAKEN * 10]
    alike = likeness(held, np.ones(held.width, bool), best).astype(np.float64)
    alike = (alike + _relative(alike, best)) / 2
    off = np.zeros(len(scores))
    waiting = np.ones(len(scores), bool)
    for _ in range(min(TAKEN, len(best))):
        left = np.where(waiting[best], (scores - off)[best], -np.inf)
        at = int(np.argmax(left))
        waiting[best[at]] = False
        off = np.where(waiting, np.maximum(off, price * alike[:, at]), off)
    return off


def _relative(alike: Numbers, best: NDArray[np.intp]) -> Numbers:
    """Return where each likeness stands from the low ones among the best (0) to the highest (1)."""
    among = alike[best][~np.eye(len(best), dtype=bool)]
    if not len(among):
        return alike
    low, high = np.quantile(among, _LOW), among.max()
    return np.clip((alike - low) / max(float(high - low), _NO_SPREAD), 0, 1)


def part_of(feature: str) -> str:
    """Return the part of a score that a feature belongs to."""
    if feature in pool_features.NAMES:
        return "peers"
    return "task" if feature in _TASK else "form"


PARTS: Final = ("gate", "central", "base", "form", "task", "peers", "unlike")
"""What a score is the sum of."""


@dataclass(frozen=True, slots=True)
class ConsensusModel:
    """What was learned: trees for right or wrong, trees for each way to fail, and the weights of what stands beside."""

    right: Trees
    faults: Mapping[Fault, Trees]
    columns: tuple[int, ...]
    """The features that the trees look at, by their place in `FEATURES`."""
    gate: float
    """What passing the static gate is worth."""
    central: float
    """What centrality is worth beside the trees."""
    unlike: float
    """The price of being like what stands before."""


class ConsensusRanker:
    """Ranks without running: `consensus`, or `consensus:FILE` with weights of one's own."""

    def __init__(self, spec: str = "") -> None:
        path, without = _without(spec)
        self.name = f"consensus:{spec}" if spec else "consensus"
        self._model = _read(path)
        self._without = without

    def rank(self, task: Task, programs: Sequence[Program]) -> list[Ranked]:
        """Return how likely each program is right, in their order."""
        if not programs:
            return []
        seen = look_at(task, programs)
        parts = self._parts(seen)
        faults, lines = self._faults(seen)
        place = {source: at for at, source in enumerate(seen.sources)}
        return [
            Ranked(program, sum(parts[at].values()), faults[at], lines[at], parts[at])
            for program in programs
            for at in (place[program.source],)
        ]

    def _parts(self, seen: PoolFacts) -> list[dict[str, float]]:
        """Return what each score is the sum of; where nothing can be parsed, nothing that was learned applies."""
        model, columns = self._model, seen.rows[:, self._model.columns]
        learned = model.right.parts(columns, [part_of(FEATURES[at]) for at in model.columns])
        told: dict[str, Numbers] = {
            "gate": model.gate * seen.passing.astype(np.float64),
            "central": model.central * centrality(seen.rows),
            **{name: values * seen.python for name, values in learned.items()},
        }
        told = {name: values for name, values in told.items() if name not in self._without}
        if "unlike" not in self._without:
            total = np.sum(list(told.values()), axis=0) if told else np.zeros(len(seen.rows))
            told["unlike"] = -prices(total, seen.held, model.unlike)
        return [{name: float(values[at]) for name, values in told.items()} for at in range(len(seen.rows))]

    def _faults(self, seen: PoolFacts) -> tuple[list[Fault | None], list[int]]:
        """Return how each program most likely fares: what is found counts, then what was learned.

        Among no others, the form of a program says too little about how it might fail: then there is no opinion.
        """
        model, names = self._model, list(self._model.faults)
        columns = seen.rows[:, model.columns]
        chances = np.exp(np.stack([model.faults[name].sums(columns) for name in names], axis=1))
        likely: list[Fault | None] = [_likely(dict(zip(names, row, strict=True))) for row in chances.tolist()]
        if len(likely) == 1 and likely[0] is not Fault.CORRECT:
            likely = [None]
        faults = [each.fault or guess for each, guess in zip(seen.facts, likely, strict=True)]
        return faults, [each.line for each in seen.facts]


def _likely(chances: Mapping[Fault, float]) -> Fault:
    """Return right where that is more likely than all ways to fail, else the most likely of these."""
    wrong = {fault: chance for fault, chance in chances.items() if fault is not Fault.CORRECT}
    if chances.get(Fault.CORRECT, 0.0) >= sum(wrong.values()):
        return Fault.CORRECT
    return max(wrong, key=lambda fault: wrong[fault])


def _without(spec: str) -> tuple[str, frozenset[str]]:
    """Return the file that a spec names, and the parts that it leaves out: `FILE?without=central,peers`."""
    path, mark, options = spec.partition("?")
    key, _, names = options.partition("=")
    if not mark:
        return path, frozenset()
    parts = frozenset(names.split(","))
    unknown = next((name for name in sorted(parts) if name not in PARTS), None)
    if key != "without" or unknown is not None:
        raise InputError(f"'{spec}': wanted ?without=PART[,PART]; parts are {', '.join(PARTS)}")
    return path, parts


def _read(path: str) -> ConsensusModel:
    """Return the model of a file; without one that of the package, which is read once."""
    if not path:
        return _shipped()
    try:
        return model_of(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"cannot read the weights '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"'{path}' holds no JSON: wanted weights of `assay.rank.consensus.train_consensus`") from error


@cache
def _shipped() -> ConsensusModel:
    return model_of(json.loads((files("assay.rank.consensus") / "data" / "consensus.json").read_text(encoding="utf-8")))


def model_of(record: Any) -> ConsensusModel:
    """Return the model of a record as a file has it."""
    try:
        faults = {Fault(name): trees(each) for name, each in record["faults"].items()}
        columns = tuple(FEATURES.index(name) for name in record["features"])
        weights = (float(record[name]) for name in ("gate", "central", "unlike"))
        return ConsensusModel(trees(record["right"]), faults, columns, *weights)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"not weights of this version ({error}): grow them with `python -m assay.rank.consensus.train_consensus`"
        ) from error
