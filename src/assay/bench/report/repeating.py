"""What went wrong, what was measured with what, and how to do it again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.bench.report.result_tables import SYSTEM, system_phrase
from assay.bench.results import MeasuredSystem
from assay.bench.study import Experiment
from assay.errors import counted
from assay.io.values import as_json
from assay.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Count,
    Fold,
    Phrase,
    Rows,
    Section,
    Table,
    Verbatim,
    words,
)

_PROBLEMS = 40
_REASONS = 8
_NONE = "\N{EN DASH}"


def troubles(study: Experiment) -> Section:
    """Return the section of errors and of ground truth that could not be used."""
    rows = tuple(_errors(study))
    columns = (SYSTEM, Column("Set", words=True), Column("Queries"), *_worded("Reason", "Such as"))
    failed: Block = Table("Queries that failed, counted as zero", columns, rows) if rows else words("No query failed.")
    problems = [block for name, of in study.sets.items() if of.problems for block in _problems(name, of.problems)]
    none = words("Every row of the ground truth could be used.")
    return Section("errors", "Errors and problems", (failed, *(problems or [none])), "Errors", appendix=True)


def _errors(study: Experiment) -> Iterator[tuple[Cell, ...]]:
    for (of, system), cell in study.cells.items():
        reasons = Counter(cell.errors.values())
        for reason, count in reasons.most_common(_REASONS):
            such = next(key for key, why in cell.errors.items() if why == reason)
            yield (
                system_phrase(study, system),
                Phrase(of),
                Count(count),
                Phrase(reason),
                Phrase(f"query\N{NO-BREAK SPACE}{such}"),
            )
        if len(reasons) > _REASONS:
            rest = sum(count for _, count in reasons.most_common()[_REASONS:])
            yield (
                system_phrase(study, system),
                Phrase(of),
                Count(rest),
                Phrase("other reasons: see results.json"),
                Phrase(""),
            )


def _problems(of: str, problems: tuple[str, ...]) -> Iterator[Block]:
    title = f"Ground truth of {of}: {counted(len(problems), 'problem')}"
    yield Bullets(title, tuple(map(words, problems[:_PROBLEMS])))
    if len(problems) > _PROBLEMS:
        yield words(f"{len(problems) - _PROBLEMS:,} more are in results.json.", "note")


def repeating(study: Experiment) -> Section:
    """Return the section of sets, systems and the manifest."""
    command = study.manifest.command
    again = [words("To repeat:"), Verbatim(command)] if command else [words("The manifest holds no command.", "note")]
    rest = {key: value for key, value in as_json(study.manifest).items() if key != "command"}
    rows = tuple((Phrase(key), Phrase(value)) for key, value in _flat(rest))
    manifest = Table("Manifest", _worded("Key", "Value"), rows)
    folded = Fold("Manifest: settings, versions, hardware, seed", manifest)
    blocks = (*again, _sets(study), _systems(study), folded)
    return Section("about", "How to repeat this", blocks, "How to repeat", appendix=True)


def _worded(*titles: str) -> tuple[Column, ...]:
    return tuple(Column(title, words=True) for title in titles)


def _sets(study: Experiment) -> Table:
    hashes = _worded("Commit", "Hash of judgments", "Hash of corpus")
    columns = (*_worded("Set", "Role", "Ground truth"), Column("Queries"), *hashes)
    rows: Rows = tuple(
        (
            Phrase(name),
            Phrase(of.role or _NONE),
            Phrase(of.truth),
            Count(len(of.queries)),
            *(Phrase(each[:12] or _NONE, code=True) for each in (of.commit, of.qrels, of.corpus)),
        )
        for name, of in study.sets.items()
    )
    return Table("Sets of queries", columns, rows)


def _systems(study: Experiment) -> Table:
    columns = (SYSTEM, *_worded("Spec", "Asked", "Chosen on", "Settings"))
    rows = tuple(
        (
            system_phrase(study, name),
            Phrase(system.spec, code=True),
            Phrase(system.how),
            Phrase(system.chosen_on or _NONE),
            _settings(study, system),
        )
        for name, system in study.results.systems.items()
    )
    return Table("Systems", columns, rows)


def _settings(study: Experiment, system: MeasuredSystem) -> Phrase:
    """Return all settings, or for a variant what it changes."""
    own = dict(_flat(system.settings))
    base = study.results.systems.get(system.base)
    if base is None:
        lines = tuple(f"{key} = {value}" for key, value in own.items())
        return Phrase(counted(len(own), "setting"), lines=lines) if own else Phrase(_NONE)
    before = dict(_flat(base.settings))
    changed = [key for key in {**before, **own} if before.get(key) != own.get(key)]
    return Phrase(f"{system.base} with", lines=tuple(f"{key} = {own.get(key, '(unset)')}" for key in changed))


def _flat(value: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested tables by their dotted keys."""
    for key, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from _flat(inner, f"{above}{key}.")
        else:
            yield f"{above}{key}", inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
