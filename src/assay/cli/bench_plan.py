"""What was typed after `assay bench` to a plan: a matrix as it is written, else one set and the systems named."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay import plugins
from assay.bench import matrix
from assay.bench.matrix import BenchPlan, SetSpec, SystemSpec, measures_of
from assay.errors import InputError, nearest
from assay.truth.truth_formats import form_of


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The options that say what to measure."""

    corpus: Path | None
    form: str
    systems: tuple[str, ...]
    changes: tuple[str, ...]
    measures: tuple[str, ...]
    k: int | None
    timeout_s: float | None
    threshold: float | None
    all_pairs: bool


def plan_of(what: Path, asked: BenchOptions, gated: Sequence[str]) -> BenchPlan:
    """Return the plan; measures that a gate looks at are measured, too."""
    plan = _started(what, asked)
    if asked.systems:
        plan = replace(plan, systems=tuple(map(_system, asked.systems)))
    for each in plan.systems:
        plugins.find("system", each.spec.partition(":")[0])
    plan = replace(plan, systems=tuple(_changed(plan.systems, asked.changes)), k=asked.k or plan.k)
    if asked.timeout_s:
        plan = replace(plan, timeout_s=asked.timeout_s)
    if asked.threshold is not None:
        plan = replace(plan, systems=tuple(replace(each, threshold=asked.threshold) for each in plan.systems))
    plan = replace(plan, all_pairs=asked.all_pairs or plan.all_pairs)
    names = asked.measures or map(str, measures_of((), plan.k) if asked.k else plan.measures)
    return replace(plan, measures=measures_of((*names, *gated), plan.k))


def _started(what: Path, asked: BenchOptions) -> BenchPlan:
    if what.suffix != ".toml":
        return BenchPlan((_set(what, asked),), (SystemSpec("assay", "assay"), SystemSpec("bm25", "bm25")))
    if asked.corpus or asked.form:
        raise InputError(
            "--corpus and --from go with a file of ground truth; a matrix names corpus and format of each set"
        )
    return matrix.load(what)


def _set(path: Path, asked: BenchOptions) -> SetSpec:
    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'; give a repository, a file of ground truth or a matrix")
    name = path.resolve().stem if path.is_file() else path.resolve().name
    try:
        return SetSpec(name, path, asked.corpus, form=asked.form or form_of(path))
    except InputError:
        if path.is_dir() and not asked.corpus:
            return SetSpec(name, None, path)
        raise


def _system(text: str) -> SystemSpec:
    """Read `NAME=SPEC` or `SPEC`; a name has no colon, so a spec that holds `=` is not mistaken for one."""
    name, equals, spec = text.partition("=")
    if equals and ":" not in name:
        return SystemSpec(name, spec)
    kind, _, argument = text.partition(":")
    words = argument.split()
    return SystemSpec(Path(words[0]).name if kind == "cmd" and words else text, text)


def _changed(systems: Sequence[SystemSpec], changes: Sequence[str]) -> Iterator[SystemSpec]:
    """Yield the systems with each `NAME.KEY=VALUE` made true."""
    names = [each.name for each in systems]
    made: dict[str, dict[str, Any]] = {name: {} for name in names}
    for change in changes:
        key, equals, text = change.partition("=")
        name = max((name for name in names if key.startswith(f"{name}.")), key=len, default="")
        if not equals or not name:
            raise InputError(f"--set takes NAME.KEY=VALUE, not '{change}'; {nearest(key.partition('.')[0], names)}")
        options: Any = _value(text)
        for part in reversed(key.removeprefix(f"{name}.").split(".")):
            options = {part: options}
        made[name] = matrix.merged(made[name], options)
    for each in systems:
        yield replace(each, options=matrix.merged(each.options, made[each.name]))


def _value(text: str) -> Any:
    """Return a TOML value; what is none is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
