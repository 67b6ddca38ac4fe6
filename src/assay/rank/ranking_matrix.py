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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import isnan, nan
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io.fields import Fields
from assay.rank.dataset.rows import SPLITS, Example, by_task, without_examples
from assay.runs.record import read_lines
from assay.types import Task

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


@dataclass(frozen=True, slots=True)
class RankingColumn:
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
    fields = Fields(table, f"in {file}", "key")
    fields.only(("kind", "sets", "rankers", "systems", "k", "seed"))
    fields.choice("kind", ("ranking",), "ranking")
    sets = tuple(_set(name, each, file) for name, each in fields.tables("sets"))
    rankers = tuple(_ranker(name, each, file) for key in _RANKERS for name, each in fields.tables(key))
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


def columns(spec: RankingSetSpec, tasks: Sequence[Task], examples: Sequence[Example]) -> Iterator[RankingColumn]:
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
            yield RankingColumn(spec.name, model or "", config or "", prompt, shown, chosen)


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
            for record in read_lines(ranker.log):
                for name in ("pass@1", "exec@1", "loss"):
                    value, step = record.get(name), record.get("step")
                    if isinstance(value, int | float) and isinstance(step, int | float):
                        curves.setdefault(name, []).append((float(step), float(value)))
            if curves:
                logs[ranker.name] = curves
    return logs


def _stripped(task: Task) -> Task:
    return replace(task, prompt=without_examples(task.prompt))


def _set(name: str, fields: Fields, file: Path) -> RankingSetSpec:
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


def _ranker(name: str, fields: Fields, file: Path) -> RankerSpec:
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
