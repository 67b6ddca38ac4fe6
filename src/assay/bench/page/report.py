"""Results in, one page out that needs nothing else: it opens from a disk, without a network, with or without scripts.

Everything that a stranger wrote (queries, paths, messages of tools) is text and nothing else; the page's own policy
forbids loading anything and running any script but the one it was written with.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from assay.bench.page.about import about, troubles
from assay.bench.page.html import Html, join, tag, text
from assay.bench.page.judged import judged
from assay.bench.page.misses import misses
from assay.bench.page.parts import counted
from assay.bench.page.study import Study
from assay.bench.page.tables import tables
from assay.bench.page.verdict import title, verdict
from assay.bench.results import FORMAT
from assay.errors import InputError, MissingExtra, StorageError

_CONTENTS = ("verdict", "plots", "tables", "misses", "errors", "about")
_SETS = 4
_NAMES = {"tables": "All figures", "errors": "Errors", "about": "How to repeat"}


def write_report(results: Mapping[str, Any], path: Path) -> None:
    """Write results as a page; a page that is there is replaced at once or not at all."""
    page = report(results)
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(page, "utf-8", "backslashreplace")
        beside.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}; give another place for the report") from error


def report(results: Mapping[str, Any]) -> str:
    """Return the page; equal results give equal bytes."""
    if results.get("format") != FORMAT:
        raise InputError(
            f"results of format {results.get('format')!r}, wanted {FORMAT}: measure again with this version"
        )
    study = Study(results)
    style, script = _held("style.css"), _held("script.js")
    return Template(_held("page.html")).substitute(
        title=text(title(study)),
        policy=_policy(script),
        style=style,
        script=script,
        facts=_facts(study),
        contents=_contents(study),
        body=join([verdict(study), _plots(study), *_details(study), troubles(study), about(study)]),
    )


def _details(study: Study) -> list[Html]:
    return [tables(study), *judged(study), misses(study)] if study.overviews and study.measures else []


def _plots(study: Study) -> Html:
    try:
        from assay.bench.page.figures import drawn
    except ModuleNotFoundError as error:
        raise MissingExtra("the report", str(error.name), "bench") from error
    return drawn(study)


def _facts(study: Study) -> Html:
    """Return what was measured, in one line."""
    queries = sum(len(told["queries"]) for told in study.sets.values())
    commits = [f"{name} {told['commit'][:8]}".strip() for name, told in study.sets.items()]
    parts = [
        counted(queries, "query"),
        counted(len(study.sets), "set"),
        counted(len(study.systems), "system"),
        ", ".join(commits) if len(commits) <= _SETS else "",
        f"first {study.manifest['k']} results" if "k" in study.manifest else "",
        str(study.manifest.get("when", ""))[:16].replace("T", " "),
    ]
    return join([tag("span", part) for part in parts if part])


def _contents(study: Study) -> Html:
    keys = _CONTENTS if study.overviews and study.measures else _CONTENTS[-2:]
    return join(tag("a", _NAMES.get(key, key.capitalize()), href=f"#{key}") for key in keys)


def _policy(script: str) -> str:
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _held(name: str) -> str:
    return resources.files("assay.bench.page").joinpath(name).read_text("utf-8")
