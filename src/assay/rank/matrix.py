"""A matrix file in, what each ranker is worth on each set, model, configuration and way to prompt out.

k = [1, 5]

[sets.mbpp]
samples = "mbpp.jsonl"                  # relative to this file
outcomes = "mbpp.outcomes.jsonl"        # what assay exec wrote of them
tasks = "MBPP.jsonl"
by = ["model", "config"]                # a column for each value of these; temperatures are configurations
prompts = ["whole", "stripped"]         # stripped: without the example tests

[sets.valid]
data = "mbpp-data.jsonl"                # a data set of assay rank data, and one split of it
split = "valid"

[rankers.consensus]
spec = "consensus"

[rankers.ternary]
spec = "neural:runs/ternary"
trained_on = "mbpp"                     # the set whose column this ranker is the measure of
log = "runs/ternary/log.jsonl"          # figures of its training; its own log where it has one
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan, nan
from pathlib import Path
from typing import Any

from assay import records
from assay.errors import InputError, nearest
from assay.rank.rows.data import SPLITS, Example, by_task
from assay.rank.rows.strip import without_examples
from assay.types import Task

AXES = ("model", "config")
PROMPTS = ("whole", "stripped")
_SET_KEYS = ("samples", "outcomes", "tasks", "data", "split", "by", "prompts", "limit_tasks")
_RANKER_KEYS = ("spec", "trained_on", "log")
_LOG = "log.jsonl"


@dataclass(frozen=True, slots=True)
class SetSpec:
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

    sets: tuple[SetSpec, ...]
    rankers: tuple[RankerSpec, ...]
    ks: tuple[int, ...] = (1, 5)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """Samples of one kind with their tasks as a ranker is shown them."""

    set: str
    model: str
    config: str
    prompt: str
    tasks: tuple[Task, ...]
    examples: tuple[Example, ...]

    @property
    def name(self) -> str:
        """What tells it from the others."""
        prompt = "" if self.prompt == PROMPTS[0] else self.prompt
        return " / ".join(part for part in (self.set, self.model, self.config, prompt) if part)


def load(file: Path) -> Matrix:
    """Read a matrix file."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: not TOML: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read the matrix {file}: {error.strerror}") from error
    _known(table, ("sets", "rankers", "k", "seed"), f"in {file}")
    sets = tuple(_set(name, each, file) for name, each in _tables(table, "sets", file))
    rankers = tuple(_ranker(name, each, file) for name, each in _tables(table, "rankers", file))
    if not sets or not rankers:
        raise InputError(f"{file} needs at least one [sets.NAME] and one [rankers.NAME]")
    names = [each.name for each in sets]
    for each in rankers:
        if each.trained_on and each.trained_on not in names:
            raise InputError(
                f"[rankers.{each.name}] was trained on '{each.trained_on}'; {nearest(each.trained_on, names)}"
            )
    ks, seed = table.get("k", [1, 5]), table.get("seed", 0)
    if not isinstance(ks, list) or not ks or not all(type(k) is int and k > 0 for k in ks):
        raise InputError(f"'k' in {file} is {ks!r}, wanted a list of numbers like [1, 5]")
    if type(seed) is not int:
        raise InputError(f"'seed' in {file} is {seed!r}, wanted a whole number")
    return Matrix(sets, rankers, tuple(ks), seed)


def columns(spec: SetSpec, tasks: Sequence[Task], examples: Sequence[Example]) -> Iterator[Column]:
    """Yield the columns of a set: one for each model, configuration and prompt that it is taken apart by."""
    if spec.limit_tasks:
        kept = set(list(by_task(examples))[: spec.limit_tasks])
        examples = [each for each in examples if each.task_id in kept]
    values = [sorted({getattr(each, axis) for each in examples}) if axis in spec.by else [None] for axis in AXES]
    for prompt, model, config in product(spec.prompts, *values):
        chosen = tuple(
            each
            for each in examples
            if (model is None or each.model == model) and (config is None or each.config == config)
        )
        if chosen:
            shown = tuple(tasks) if prompt == PROMPTS[0] else tuple(map(_stripped, tasks))
            yield Column(spec.name, model or "", config or "", prompt, shown, chosen)


def tasks_of(examples: Sequence[Example]) -> tuple[Task, ...]:
    """Return the tasks of rows whose prompts are all that is known of them."""
    return tuple(Task(name, rows[0].prompt) for name, rows in by_task(examples).items())


def relative(
    rankers: Sequence[RankerSpec], columns_: Sequence[str], sets: Sequence[str], values: Any
) -> list[list[float]]:
    """Return values, a row a ranker, divided by that of the ranker trained on a column's set, else by the best."""
    told = [[float(value) for value in row] for row in values]
    for place in range(len(columns_)):
        own = [row[place] for row, ranker in zip(told, rankers, strict=True) if ranker.trained_on == sets[place]]
        base = own[0] if own else max((row[place] for row in told if not isnan(row[place])), default=nan)
        for row in told:
            row[place] = row[place] / base if base else nan
    return told


def training(rankers: Sequence[RankerSpec]) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """Return what the training of each ranker wrote down of ranked pass@1, exec@1 and loss."""
    logs: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for ranker in rankers:
        if ranker.log is not None:
            curves: dict[str, list[tuple[float, float]]] = {}
            for record in records.read(ranker.log):
                for name in ("pass@1", "exec@1", "loss"):
                    value, step = record.get(name), record.get("step")
                    if isinstance(value, int | float) and isinstance(step, int | float):
                        curves.setdefault(name, []).append((float(step), float(value)))
            if curves:
                logs[ranker.name] = curves
    return logs


def _stripped(task: Task) -> Task:
    return replace(task, prompt=without_examples(task.prompt))


def _set(name: str, table: Mapping[str, Any], file: Path) -> SetSpec:
    where = f"in [sets.{name}] of {file}"
    _known(table, _SET_KEYS, where)
    paths = {key: _path(table[key], file, where) for key in ("samples", "outcomes", "tasks", "data") if key in table}
    if ("data" in paths) == ("samples" in paths) or ("samples" in paths) != ("outcomes" in paths):
        raise InputError(f"[sets.{name}] of {file} wants samples = 'FILE' with outcomes = 'FILE', or data = 'FILE'")
    by, prompts = _texts(table, "by", AXES, where), _texts(table, "prompts", PROMPTS, where)
    split, limit = table.get("split", ""), table.get("limit_tasks", 0)
    if split and split not in SPLITS:
        raise InputError(f"split {where} is {split!r}; {nearest(str(split), SPLITS)}")
    if type(limit) is not int or limit < 0:
        raise InputError(f"limit_tasks {where} is {limit!r}, wanted a whole number")
    return SetSpec(name, **paths, split=split, by=by, prompts=prompts or ("whole",), limit_tasks=limit)


def _ranker(name: str, table: Mapping[str, Any], file: Path) -> RankerSpec:
    where = f"in [rankers.{name}] of {file}"
    _known(table, _RANKER_KEYS, where)
    for key, value in table.items():
        if not isinstance(value, str):
            raise InputError(f"{key} {where} is {value!r}, wanted text")
    spec = table.get("spec", "")
    if not spec:
        raise InputError(f"[rankers.{name}] of {file} names no spec, such as consensus or neural:FOLDER")
    kind, _, argument = spec.partition(":")
    folder = file.parent / argument
    if argument and folder.exists():
        spec = f"{kind}:{folder}"
    own = folder / _LOG
    log = _path(table["log"], file, where) if "log" in table else own if argument and own.exists() else None
    return RankerSpec(name, spec, table.get("trained_on", ""), log)


def _texts(table: Mapping[str, Any], key: str, known: Sequence[str], where: str) -> tuple[str, ...]:
    values = table.get(key, [])
    if not isinstance(values, list):
        raise InputError(f"{key} {where} is {values!r}, wanted a list of {', '.join(known)}")
    for value in values:
        if value not in known:
            raise InputError(f"{key} {where} has {value!r}; {nearest(str(value), known)}")
    return tuple(values)


def _tables(table: Mapping[str, Any], key: str, file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    held = table.get(key, {})
    if not isinstance(held, dict) or not all(isinstance(each, dict) for each in held.values()):
        raise InputError(f"'{key}' in {file} wants tables: [{key}.NAME]")
    yield from held.items()


def _known(table: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise InputError(f"unknown key '{key}' {where}; {nearest(key, keys)}")


def _path(value: object, file: Path, where: str) -> Path:
    if not isinstance(value, str):
        raise InputError(f"{value!r} {where} is no path")
    return file.parent / value
