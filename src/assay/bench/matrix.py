"""Plan an experiment: a matrix file of query sets, systems and variants, or what the command line names instead."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay import plugins
from assay.bench.requests import BenchRequest, SystemOptions
from assay.errors import InputError, nearest
from assay.io.fields import Fields, read_value
from assay.measure.measures import Measure, parse
from assay.truth.truth_formats import form_of

MEASURES = tuple("nDCG@10 MRR Hit@1 Hit@5 Hit@10 Recall@5 Recall@10 MAP success@2000tokens lines@5".split())
"""What is measured unless a matrix says otherwise; the first one decides."""
DEPTH = 20
"""Results of a query that are asked for."""
ROLES = ("", "dev", "test")


@dataclass(frozen=True, slots=True)
class SetSpec:
    """One set of queries."""

    name: str
    truth: Path | None
    """A file or folder of ground truth; None when it is mined from the corpus."""
    corpus: Path | None = None
    role: str = ""
    form: str = ""
    """The format of the ground truth, where its name does not tell."""
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What others published of their systems, by measure and system."""
    at: str = ""
    """The commit at which a set is asked that is about none; empty for the files as they are."""
    commit: str = ""
    """The commit that a ground truth is about which names none itself."""
    kinds: Mapping[str, range] = field(default_factory=dict)
    """The rows, from 1, of each kind of query, where the ground truth has no column for it; others are *standard*."""


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """One system under test."""

    name: str
    spec: str
    options: Mapping[str, Any] = field(default_factory=dict)
    base: str = ""
    """The system that this one varies."""
    needs: str = ""
    """An environment variable without which it is left out: a key that is paid for."""
    chosen_on: str = ""
    """The role of the sets that its settings were chosen on."""
    threshold: float | None = None
    """Results that score below this are left out before they are measured."""


USUAL = (SystemSpec("assay", "assay"), SystemSpec("bm25", "bm25"))


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """All of an experiment that is known before it runs."""

    sets: tuple[SetSpec, ...]
    systems: tuple[SystemSpec, ...]
    measures: tuple[Measure, ...] = tuple(map(parse, MEASURES))
    k: int = DEPTH
    seed: int = 0
    timeout_s: float = 30.0
    index_timeout_s: float = 3600.0
    threads: int = 1
    """What numeric libraries of every system may use; more helps a transformer index."""

    all_pairs: bool = False
    """Compare every two systems, not only variants with their base and systems that vary nothing."""
    asked: frozenset[str] = frozenset()
    """The systems to ask; of the others the answers of earlier runs are shown. Empty is all of them."""

    def only(self, patterns: Sequence[str]) -> BenchPlan:
        """Ask the systems whose name holds or matches one of some patterns."""
        if not patterns:
            return self
        names = [each.name for each in self.systems]
        kept = frozenset(name for name in names if any(p in name or fnmatchcase(name, p) for p in patterns))
        if not kept:
            raise InputError(f"no system is called like '{patterns[0]}'; {nearest(patterns[0], names)}")
        return replace(self, asked=kept)


def measures_of(names: Sequence[str], k: int) -> tuple[Measure, ...]:
    """Return measures of the first `k` results; without names the usual ones that look no further."""
    if not names:
        return tuple(measure for measure in map(parse, MEASURES) if _reach(measure) <= k)
    measures = tuple(dict.fromkeys(map(parse, names)))
    for measure in measures:
        if _reach(measure) > k:
            raise InputError(f"{measure} looks at {_reach(measure)} results, and {k} are asked for: raise k")
    return measures


def _reach(measure: Measure) -> int:
    """Return how many results a measure looks at; one without a cut-off takes what there is."""
    return 0 if measure.name == "success" else measure.depth or 0


def read_matrix(file: Path, kind: str) -> Fields:
    """Read the tables of a matrix file of one kind of experiment."""
    try:
        fields = Fields(tomllib.loads(file.read_text("utf-8")), f"in {file}", "key")
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, too
        raise InputError(f"{file}: not TOML: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read the matrix {file}: {error.strerror}") from error
    if (found := fields.values.get("kind", kind)) != kind:
        other = {"ranking": "; assay rank compare reads it", "retrieval": "; assay bench reads it"}.get(str(found), "")
        raise InputError(f"kind in {file} is {found!r}, wanted '{kind}'{other}")
    return fields


def load(file: Path) -> BenchPlan:
    """Read a matrix file of search systems."""
    fields = read_matrix(file, "retrieval")
    fields.only(("kind", "sets", "systems", "variants", *_WHOLE, *_SECONDS, "measures", "all_pairs"))
    all_pairs = fields.values.get("all_pairs", False)
    if type(all_pairs) is not bool:
        raise InputError(f"all_pairs in {file} is {all_pairs!r}; wanted true or false")
    sets = tuple(_set(name, each, file) for name, each in fields.tables("sets"))
    if not sets:
        raise InputError(f"{file} names no set of queries: add [sets.NAME] with truth = 'FILE' or mine = 'FOLDER'")
    systems = tuple(_systems(fields, file)) or (SystemSpec("assay", "assay"),)
    numbers: dict[str, Any] = {key: fields.whole(key, least=least) for key, least in _WHOLE.items() if key in fields}
    numbers |= {key: fields.number(key, least=0.001, most=10**9) for key in _SECONDS if key in fields}
    names = fields.texts("measures", ())
    if "measures" in fields and not names:
        raise InputError(f"measures in {file} is empty, wanted a list such as ['nDCG@10', 'Hit@5']")
    return BenchPlan(sets, systems, measures_of(names, numbers.get("k", DEPTH)), **numbers, all_pairs=all_pairs)


_WHOLE = {"k": 1, "seed": 0, "threads": 1}
"""Whole numbers of a matrix with the least that each may be."""
_SECONDS = ("timeout_s", "index_timeout_s")
_OWN = ("headers", "body")
"""What a system fills in itself, when it asks: secrets are no part of results."""
_SYSTEM_KEYS = ("spec", "base", "needs", "chosen_on", "threshold")


def load_systems(file: Path | None) -> tuple[SystemSpec, ...]:
    """Return the systems and variants of a matrix file, which may name no set; without a file the usual ones."""
    return (tuple(_systems(read_matrix(file, "retrieval"), file)) if file else ()) or USUAL


def _set(name: str, fields: Fields, file: Path) -> SetSpec:
    fields.only(("truth", "corpus", "role", "format", "mine", "published", "commit", "kinds"))
    if ("truth" in fields) == ("mine" in fields):
        raise InputError(f"[sets.{name}] of {file} wants either truth = 'FILE' or mine = 'FOLDER'")
    truth, corpus = fields.text("truth", ""), fields.text("mine", "") or fields.text("corpus", "")
    return SetSpec(
        name,
        _path(truth, file) if truth else None,
        _path(corpus, file) if corpus else None,
        fields.choice("role", ROLES[1:], ""),
        fields.text("format", ""),
        _published(fields.values.get("published", {}), f"'published' in [sets.{name}] of {file}"),
        commit=fields.text("commit", ""),
        kinds=_kinds(fields.values.get("kinds", {}), f"'kinds' in [sets.{name}] of {file}"),
    )


def _kinds(table: Any, where: str) -> dict[str, range]:
    """Read which rows are of which kind: `{hard = "101-127"}`."""
    found = {}
    for kind, text in read_value(dict[str, str], table).items():
        rows = re.fullmatch(r"([1-9]\d{0,8})-([1-9]\d{0,8})", text, re.ASCII)
        if not rows:
            raise InputError(f"{where}: '{text}', wanted rows such as kinds.hard = '101-127'")
        found[kind] = range(int(rows[1]), int(rows[2]) + 1)
    return found


def _published(table: Any, where: str) -> dict[str, dict[str, float]]:
    try:
        return {str(parse(name)): figures for name, figures in read_value(dict[str, dict[str, float]], table).items()}
    except InputError as error:
        raise InputError(f"{where}: {error}; write published.'nDCG@10' = {{ SYSTEM = 0.85 }}") from error


def _systems(fields: Fields, file: Path) -> Iterator[SystemSpec]:
    """Yield the systems, then the variants, each made from its base by the keys it names and no others."""
    made: dict[str, SystemSpec] = {}
    for name, each in fields.tables("systems"):
        if not isinstance(each.values.get("spec"), str):
            raise InputError(f"[systems.{name}] of {file} has no spec: give one, such as spec = 'assay'")
        made[name] = _varied(SystemSpec(name, each.text("spec")), name, each, file)
    variants = list(fields.tables("variants"))
    if variants and not made:
        made["assay"] = SystemSpec("assay", "assay")
    for name, each in variants:
        if name in made:
            raise InputError(f"'{name}' in {file} is both a system and a variant: rename one")
        base = each.text("base", next(iter(made)))
        if base not in made:
            raise InputError(f"[variants.{name}] of {file}: no system '{base}'; {nearest(base, [*made])}")
        made[name] = replace(_varied(made[base], name, each, file), base=base)
    yield from made.values()


def _varied(base: SystemSpec, name: str, fields: Fields, file: Path) -> SystemSpec:
    """Return a system with the keys that a table names."""
    changes = {key: value for key, value in fields.values.items() if key not in _SYSTEM_KEYS}
    needs = fields.text("needs", base.needs)
    spec, options = fields.text("spec", base.spec), merged(base.options, changes)
    if not needs or needs in os.environ:  # else it will be left out, and nothing has to be known of it
        spec, options = _expanded(spec, file), _deeply(options, file)
    least = fields.number("threshold", least=-(10**12)) if "threshold" in fields else base.threshold
    return SystemSpec(name, spec, options, "", needs, fields.text("chosen_on", base.chosen_on), least)


def _deeply(value: Any, file: Path) -> Any:
    if isinstance(value, dict):
        return {key: each if key in _OWN else _deeply(each, file) for key, each in value.items()}
    if isinstance(value, list):
        return [_deeply(each, file) for each in value]
    return _expanded(value, file) if isinstance(value, str) else value


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested tables with each named key changed."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def _path(text: str, file: Path) -> Path:
    """Return a path relative to the matrix; one that the environment gives is relative to where one stands."""
    given = text.startswith("$") and not text.startswith(("$HERE", "${HERE}"))
    return (Path() if given else file.parent) / Path(_expanded(text, file)).expanduser()


def _expanded(text: str, file: Path) -> str:
    """Return a text with each `$NAME` from the environment, where it has to be set; `$HERE` is the file's folder."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if name == "HERE":
            return str(file.parent.resolve())
        if name not in os.environ:
            raise InputError(f"the environment variable {name} is not set, and '{text}' needs it")
        return os.environ[name]

    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", value, text)


def plan_of(request: BenchRequest, gated: Sequence[str]) -> BenchPlan:
    """Return the plan; measures that a gate looks at are measured, too."""
    what = Path(request.what)
    if what.suffix != ".toml":
        plan = BenchPlan((_set_of(what, request),), USUAL)
    elif request.corpus or request.form_of:
        raise InputError(
            "--corpus and --from go with a file of ground truth; a matrix names corpus and format of each set"
        )
    else:
        plan = load(what)
    systems = systems_of(request.systems, plan.systems)
    if request.threshold is not None:
        systems = tuple(replace(each, threshold=request.threshold) for each in systems)
    k, all_pairs = request.k or plan.k, request.all_pairs or plan.all_pairs
    names = request.measures or map(str, measures_of((), k) if request.k else plan.measures)
    plan = replace(plan, systems=systems, k=k, timeout_s=request.timeout_s or plan.timeout_s, all_pairs=all_pairs)
    return replace(plan, measures=measures_of((*names, *gated), k))


def systems_of(options: SystemOptions, usual: Sequence[SystemSpec] | Path | None) -> tuple[SystemSpec, ...]:
    """Return the systems that options name, else the usual ones, or those of a matrix file, with their changes."""
    if isinstance(usual, Path):
        usual = tuple(_systems(read_matrix(usual, "retrieval"), usual))
    systems = tuple(map(_system_of, options.specs)) or usual or USUAL
    for each in systems:
        plugins.find("system", each.spec.partition(":")[0])
    return tuple(_with_changes(systems, options.changes))


def _set_of(path: Path, request: BenchRequest) -> SetSpec:
    if not path.exists():
        raise InputError(f"no such file or folder: '{path}'; give a repository, a file of ground truth or a matrix")
    name = path.resolve().stem if path.is_file() else path.resolve().name
    try:
        return SetSpec(name, path, request.corpus, form=request.form_of or form_of(path))
    except InputError:
        if path.is_dir() and not request.corpus:
            return SetSpec(name, None, path)
        raise


def _system_of(text: str) -> SystemSpec:
    """Read `NAME=SPEC` or `SPEC`; a name has no colon, so a spec that holds `=` is not mistaken for one."""
    name, equals, spec = text.partition("=")
    if equals and ":" not in name:
        return SystemSpec(name, spec)
    kind, _, argument = text.partition(":")
    words = argument.split()
    return SystemSpec(Path(words[0]).name if kind == "cmd" and words else text, text)


def _with_changes(systems: Sequence[SystemSpec], changes: Sequence[str]) -> Iterator[SystemSpec]:
    """Yield the systems with each `NAME.KEY=VALUE` made true."""
    names = [each.name for each in systems]
    made: dict[str, dict[str, Any]] = {name: {} for name in names}
    for change in changes:
        key, equals, text = change.partition("=")
        name = max((name for name in names if key.startswith(f"{name}.")), key=len, default="")
        if not equals or not name:
            raise InputError(f"--set takes NAME.KEY=VALUE, not '{change}'; {nearest(key.partition('.')[0], names)}")
        options: Any = _toml_value(text)
        for part in reversed(key.removeprefix(f"{name}.").split(".")):
            options = {part: options}
        made[name] = merged(made[name], options)
    for each in systems:
        yield replace(each, options=merged(each.options, made[each.name]))


def _toml_value(text: str) -> Any:
    """Return a TOML value; what is none is text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
