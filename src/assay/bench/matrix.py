"""Read a matrix file: query sets, systems, and variants that change only the keys they name."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import isfinite
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.io.values import read_value
from assay.measure.measures import Measure, parse

MEASURES = (
    "nDCG@10",
    "MRR",
    "Hit@1",
    "Hit@5",
    "Hit@10",
    "Recall@5",
    "Recall@10",
    "MAP",
    "success@2000tokens",
    "lines@5",
)
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


def load(file: Path) -> BenchPlan:
    """Read a matrix file."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, too
        raise InputError(f"{file}: not TOML: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read the matrix {file}: {error.strerror}") from error
    if (kind := table.get("kind", "retrieval")) != "retrieval":
        other = "; assay rank compare reads it" if kind == "ranking" else ""
        raise InputError(f"kind in {file} is {kind!r}, wanted 'retrieval'{other}")
    _known(table, ("kind", "sets", "systems", "variants", *_NUMBERS, "measures", "all_pairs"), f"in {file}")
    if type(table.get("all_pairs", False)) is not bool:
        raise InputError(f"all_pairs in {file} is {table['all_pairs']!r}; wanted true or false")
    sets = tuple(_set(name, _table(each, f"sets.{name}"), file) for name, each in _tables(table, "sets", file))
    if not sets:
        raise InputError(f"{file} names no set of queries: add [sets.NAME] with truth = 'FILE' or mine = 'FOLDER'")
    systems = tuple(_systems(table, file)) or (SystemSpec("assay", "assay"),)
    numbers = {key: _number(key, table[key], file) for key in _NUMBERS if key in table}
    measures = measures_of(_measures(table["measures"], file) if "measures" in table else (), numbers.get("k", DEPTH))
    return BenchPlan(sets, systems, measures, **numbers, all_pairs=table.get("all_pairs", False))


_NUMBERS = {"k": int, "seed": int, "timeout_s": float, "index_timeout_s": float, "threads": int}
_LEAST = {"k": 1, "seed": 0, "threads": 1}
_MOST = 1_000_000_000
_SET_TEXTS = ("truth", "corpus", "role", "format", "mine")
_OWN = ("headers", "body")
"""What a system fills in itself, when it asks: secrets are no part of results."""
_SYSTEM_KEYS = ("spec", "base", "needs", "chosen_on", "threshold")


def _set(name: str, table: Mapping[str, Any], file: Path) -> SetSpec:
    _known(table, (*_SET_TEXTS, "published"), f"in [sets.{name}] of {file}")
    _check_texts(table, _SET_TEXTS, f"sets.{name}", file)
    if ("truth" in table) == ("mine" in table):
        raise InputError(f"[sets.{name}] of {file} wants either truth = 'FILE' or mine = 'FOLDER'")
    if table.get("role", "") not in ROLES:
        raise InputError(f"role in [sets.{name}] of {file} is '{table['role']}'; wanted dev or test")
    corpus = table.get("mine") or table.get("corpus")
    return SetSpec(
        name,
        _path(table["truth"], file) if "truth" in table else None,
        _path(corpus, file) if corpus else None,
        table.get("role", ""),
        table.get("format", ""),
        _published(table.get("published", {}), f"'published' in [sets.{name}] of {file}"),
    )


def _published(table: Any, where: str) -> dict[str, dict[str, float]]:
    try:
        return {str(parse(name)): figures for name, figures in read_value(dict[str, dict[str, float]], table).items()}
    except InputError as error:
        raise InputError(f"{where}: {error}; write published.'nDCG@10' = {{ SYSTEM = 0.85 }}") from error


def _systems(table: Mapping[str, Any], file: Path) -> Iterator[SystemSpec]:
    """Yield the systems, then the variants, each made from its base by the keys it names and no others."""
    made: dict[str, SystemSpec] = {}
    for name, each in _tables(table, "systems", file):
        if not isinstance(each.get("spec"), str):
            raise InputError(f"[systems.{name}] of {file} has no spec: give one, such as spec = 'assay'")
        words = _words(each, f"systems.{name}", file)
        spec, options = _filled(each["spec"], _options(each), words, file)
        made[name] = SystemSpec(name, spec, options, **words, threshold=_threshold(each, f"systems.{name}", file))
    variants = list(_tables(table, "variants", file))
    if variants and not made:
        made["assay"] = SystemSpec("assay", "assay")
    for name, each in variants:
        if name in made:
            raise InputError(f"'{name}' in {file} is both a system and a variant: rename one")
        _check_texts(each, ("base", "spec"), f"variants.{name}", file)
        base = made.get(each.get("base", next(iter(made))))
        if base is None:
            raise InputError(
                f"[variants.{name}] of {file}: no system '{each['base']}'; {nearest(each['base'], [*made])}"
            )
        words = {"needs": base.needs, "chosen_on": base.chosen_on, **_words(each, f"variants.{name}", file)}
        changed = merged(base.options, _options(each))
        spec, options = _filled(each.get("spec", base.spec), changed, words, file)
        least = _threshold({"threshold": base.threshold, **each}, f"variants.{name}", file)
        made[name] = SystemSpec(name, spec, options, base=base.name, **words, threshold=least)
    yield from made.values()


def _filled(spec: str, options: dict[str, Any], words: Mapping[str, str], file: Path) -> tuple[str, dict[str, Any]]:
    """Return spec and options with the environment's values in place; as they are for what will be left out."""
    needs = words.get("needs", "")
    if needs and needs not in os.environ:
        return spec, options
    return _expanded(spec, file), _deeply(options, file)


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


def _options(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in _SYSTEM_KEYS}


def _words(table: Mapping[str, Any], where: str, file: Path) -> dict[str, str]:
    _check_texts(table, ("needs", "chosen_on"), where, file)
    return {key: table[key] for key in ("needs", "chosen_on") if key in table}


def _check_texts(table: Mapping[str, Any], keys: Sequence[str], where: str, file: Path) -> None:
    for key in keys:
        if not isinstance(table.get(key, ""), str):
            raise InputError(f"'{key}' in [{where}] of {file} is {table[key]!r}; wanted text")


def _threshold(table: Mapping[str, Any], where: str, file: Path) -> float | None:
    value = table.get("threshold")
    if value is not None and (type(value) not in {int, float} or not isfinite(value)):
        raise InputError(f"'threshold' in [{where}] of {file} is {value!r}; wanted the least score, a number")
    return value


def _measures(names: Any, file: Path) -> list[str]:
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"measures in {file} is {names!r}; wanted a list such as ['nDCG@10', 'Hit@5']")
    return names


def _number(key: str, value: Any, file: Path) -> Any:
    wanted = "a whole number" if _NUMBERS[key] is int else "a number"
    least = f"from {_LEAST[key]}" if key in _LEAST else "above 0"
    if type(value) is not int and (type(value) is not float or _NUMBERS[key] is int):
        raise InputError(f"{key} in {file} is {value!r}; wanted {wanted} {least}")
    if not (value >= _LEAST[key] if key in _LEAST else value > 0) or not value <= _MOST:
        raise InputError(f"{key} in {file} is {value!r}; wanted {wanted} {least} to {_MOST:,}")
    return _NUMBERS[key](value)


def _tables(table: Mapping[str, Any], key: str, file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, each in _table(table.get(key, {}), f"{key} in {file}").items():
        yield name, _table(each, f"{key}.{name} in {file}")


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} is {value!r}; wanted a table of keys")
    return value


def _known(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"unknown key '{key}' {where}; {nearest(key, known)}")


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
