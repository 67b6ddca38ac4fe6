"""Read instances of SWE-bench and Loc-Bench (JSON lines, JSON, Parquet): the issue asks, the patched lines answer.

Each hunk gives the lines of the file before the patch, by the judge `patch`; new files could not be found and are left
out. Loc-Bench's `edit_functions` give `path::Class.name`, by the judge `edit_functions`. Repository and commit are
tags of a query, for an instance has its own: `by_checkout` makes one ground truth of each. Read only: no patch can be
made of lines.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

from assay.corpus.patches import Patches
from assay.io import rows
from assay.truth.formats.shared import Gathered, Glimpse, fault_of_target
from assay.truth.ground_truth import Truth, TruthFile
from assay.values import Judgment, Query

_NEEDED = ("instance_id", "repo", "base_commit", "problem_statement", "patch")
_COLUMNS = (*_NEEDED, "edit_functions", "category", "created_at")
_TAGS = {"instance_id": "instance_id", "repo": "repository", "base_commit": "commit", "category": "category"}


def fits(glimpse: Glimpse) -> bool:
    """Say whether a file looks like this."""
    return "instance_id" in glimpse.keys and len(glimpse.keys.intersection(_NEEDED)) > 2


def read(path: Path) -> TruthFile:
    """Read instances."""
    gathered = Gathered(path)
    for row, record in rows.objects(path, gathered.problems, _COLUMNS):
        wrong = [name for name in _NEEDED if not isinstance(record.get(name), str) or not record[name].strip()]
        if wrong:
            gathered.problem(row, f"an instance without a text '{wrong[0]}'")
        else:
            _take(gathered, row, record)
    checkouts = {_checkout(query) for query in gathered.queries.values()}
    repository, commit = checkouts.pop() if len(checkouts) == 1 else ("", "")
    return gathered.reading(about={"repo": repository, "commit": commit})


def by_checkout(truth: Truth) -> list[Truth]:
    """Split a ground truth by the repository and commit tags of its queries; a pinned one stays whole."""
    if truth.commit:
        return [truth]
    parts: dict[tuple[str, str], list[Query]] = {}
    for query in truth.queries:
        parts.setdefault(_checkout(query, truth), []).append(query)
    judgments: dict[str, list[Judgment]] = {}
    for judgment in truth.judgments:
        judgments.setdefault(judgment.query_id, []).append(judgment)
    return [
        replace(
            truth,
            name="-".join(filter(None, (repository.replace("/", "__"), commit[:12]))) or truth.name,
            queries=tuple(queries),
            judgments=tuple(each for query in queries for each in judgments.get(query.id, ())),
            repository=repository,
            commit=commit,
        )
        for (repository, commit), queries in parts.items()
    ]


def edited(patch: str) -> Iterator[str]:
    """Yield `path:start-end` for each hunk, from its first changed line to its last.

    Lines that are only added stand between two: those are named. A file without hunks that was renamed or is binary,
    and one that was empty, is named as a whole; new files are left out.
    """
    for change in Patches(BytesIO(patch.encode("utf-8", "surrogatepass"))).changes():
        if not change.hunks and (change.before or change.binary):
            yield change.before or change.binary
        for (start, size), parts in groupby(change.hunks if change.before else (), key=lambda hunk: hunk.within):
            hunks, last = list(parts), start + size - 1
            changed = [
                (hunk.start, hunk.start + hunk.size - 1)
                if hunk.size
                else (max(hunk.start, start), min(hunk.start + 1, last))
                for hunk in hunks
            ]
            spans = [one for one, hunk in zip(changed, hunks, strict=True) if hunk.size or one[0] == one[1]] or changed
            lines = f":{min(first for first, _ in spans)}-{max(end for _, end in spans)}"
            yield f"{change.before}{lines if size else ''}"


def _checkout(query: Query, truth: Truth | None = None) -> tuple[str, str]:
    repository, commit = query.tags.get("repository", ""), query.tags.get("commit", "")
    return (repository or truth.repository, commit or truth.commit) if truth else (repository, commit)


def _take(gathered: Gathered, row: int, record: Mapping[str, Any]) -> None:
    name = record["instance_id"]
    tags = {tag: record[key] for key, tag in _TAGS.items() if isinstance(record.get(key), str) and record[key]}
    if isinstance(date := record.get("created_at"), str):
        tags["date"] = date
    functions = _functions(record.get("edit_functions"))
    if functions is None:
        gathered.problem(row, "edit_functions, wanted a list of 'path:Class.name'")
    judgments = {target: Judgment(name, target, 1, "patch") for target in edited(record["patch"])}
    judgments |= {target: Judgment(name, target, 1, "edit_functions") for target in functions or ()}
    faults = {target: fault for target in judgments if (fault := fault_of_target(target))}
    for fault in faults.values():
        gathered.problem(row, fault)
    usable = [judgment for target, judgment in judgments.items() if target not in faults]
    if not usable:
        gathered.problem(row, f"instance '{name}' changes no file that was there before: it is left out")
    elif gathered.query(row, Query(name, record["problem_statement"], tags=tags)):
        for judgment in usable:
            gathered.judgment(row, judgment)


def _functions(value: object) -> list[str] | None:
    """Return `path::Class.name` of each function; the list may be text, with single or double colons."""
    listed = _parsed(value) if isinstance(value, str) and value.strip() else value or []
    if not isinstance(listed, list) or not all(isinstance(each, str) and ":" in each for each in listed):
        return None
    pairs = (each.partition(":") for each in listed)
    return [f"{path}::{name.lstrip(':')}" for path, _, name in pairs if name.strip(":")]


def _parsed(text: str) -> object:
    """Parse a list in the syntax of JSON or Python."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value: object = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return value
    return None
