"""Read the matrix file of an experiment with rankers: sets of samples, and the rankers to measure on them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.bench.matrix import read_matrix
from assay.errors import InputError, nearest
from assay.io.fields import Fields
from assay.rank.datasets import SPLITS

AXES = ("model", "config")
PROMPTS = ("whole", "stripped")
_SET_KEYS = ("samples", "outcomes", "tasks", "data", "split", "by", "prompts", "limit_tasks")
_RANKERS = ("rankers", "systems")
"""What the tables of rankers are called: `systems` as in every experiment, `rankers` as ever."""
_RANKER_KEYS = ("spec", "trained_on", "log")
_LOG = "log.jsonl"


@dataclass(frozen=True, slots=True)
class RankingSetSpec:
    """Samples to measure on."""

    name: str
    samples: Path | None = None
    outcomes: Path | None = None
    tasks: Path | None = None
    data: Path | None = None
    split: str = ""
    by: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ("whole",)
    limit_tasks: int = 0


@dataclass(frozen=True, slots=True)
class RankerSpec:
    """A ranker to measure."""

    name: str
    spec: str
    trained_on: str = ""
    log: Path | None = None


@dataclass(frozen=True, slots=True)
class Matrix:
    """What a file asks for."""

    sets: tuple[RankingSetSpec, ...]
    rankers: tuple[RankerSpec, ...]
    ks: tuple[int, ...] = (1, 5)
    seed: int = 0


def load(file: Path) -> Matrix:
    """Read a matrix file of rankers."""
    fields = read_matrix(file, "ranking")
    fields.only(("kind", "sets", "rankers", "systems", "k", "seed"))
    fields.choice("kind", ("ranking",), "ranking")
    sets = tuple(_samples(name, each, file) for name, each in fields.tables("sets"))
    rankers = tuple(_ranker_of(name, each, file) for key in _RANKERS for name, each in fields.tables(key))
    if not sets or not rankers:
        raise InputError(f"{file} needs at least one [sets.NAME] and one [rankers.NAME]")
    names = [each.name for each in sets]
    for each in rankers:
        if each.trained_on and each.trained_on not in names:
            raise InputError(
                f"[rankers.{each.name}] was trained on '{each.trained_on}'; {nearest(each.trained_on, names)}"
            )
    ks = fields.list("k", (1, 5))
    if not ks or not all(type(k) is int and k > 0 for k in ks):
        raise InputError(f"'k' in {file} is {list(ks)!r}, wanted a list of numbers like [1, 5]")
    return Matrix(sets, rankers, ks, fields.whole("seed", 0))


def _samples(name: str, fields: Fields, file: Path) -> RankingSetSpec:
    fields.only(_SET_KEYS)
    paths = {key: file.parent / fields.text(key) for key in ("samples", "outcomes", "tasks", "data") if key in fields}
    if ("data" in paths) == ("samples" in paths) or ("samples" in paths) != ("outcomes" in paths):
        raise InputError(f"[sets.{name}] of {file} wants samples = 'FILE' with outcomes = 'FILE', or data = 'FILE'")
    return RankingSetSpec(
        name,
        **paths,
        split=fields.choice("split", SPLITS, ""),
        by=fields.texts("by", (), known=AXES),
        prompts=fields.texts("prompts", (), known=PROMPTS) or PROMPTS[:1],
        limit_tasks=fields.whole("limit_tasks", 0),
    )


def _ranker_of(name: str, fields: Fields, file: Path) -> RankerSpec:
    fields.only(_RANKER_KEYS)
    spec = fields.text("spec", "")
    if not spec:
        raise InputError(f"[rankers.{name}] of {file} names no spec, such as consensus or neural:FOLDER")
    kind, _, argument = spec.partition(":")
    place, mark, asked = argument.partition("?")
    folder = file.parent / place
    if place and folder.exists():
        spec = f"{kind}:{folder}{mark}{asked}"
    own = folder / _LOG
    log = file.parent / fields.text("log") if "log" in fields else own if place and own.exists() else None
    return RankerSpec(name, spec, fields.text("trained_on", ""), log)
