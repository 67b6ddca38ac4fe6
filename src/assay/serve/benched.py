"""Reports of `assay bench` as data: the same sentences, tables and plots that report.html has, made from results.json.

What the report's own functions write is read back as text, so that nothing is said twice; no markup of a report is ever
handed on. A drawing becomes an image of its own, with the colours of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib import resources
from itertools import count
from pathlib import Path
from threading import Lock
from typing import ClassVar
from urllib.parse import quote

from assay.bench.caveats import caveats
from assay.bench.page.judged import judged
from assay.bench.page.study import Study
from assay.bench.page.tables import tables
from assay.bench.page.verdict import title, verdict
from assay.bench.results import load
from assay.corpus.builtin import OWN_REPORTS
from assay.corpus.files import shown
from assay.errors import AssayError, InputError, MissingExtra
from assay.serve.benched_text import Drawing, Table, drawings_in, lead_in, tables_in
from assay.serve.session import NotServed

FOLDER = OWN_REPORTS
"""Where `assay bench` writes, below the folder that it was started in."""
_RESULTS = "results.json"
_KNOWN = 8
_LARGEST_BYTES = 100_000_000
_MOST_CELLS = 500
"""A tenth of a second goes by for each; what is larger is read in its own page, which is written once."""
_PATIENCE_S = 5.0
"""How long a report waits for another that is being made."""
_DESCRIBED = {"use_attribute_docstrings": True}


class DamagedReport(InputError):
    """What should be results is none that this version wrote, or too large to be shown."""


class StillDrawing(AssayError):
    """Another report is being made."""


@dataclass(frozen=True, slots=True)
class About:
    """A report."""

    __pydantic_config__: ClassVar = _DESCRIBED

    name: str
    folder: str
    written: str
    """When, as ISO 8601 has it."""
    systems: list[str]
    sets: list[str]
    error: str = ""
    """Why it cannot be read; empty where it can."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Reports, newest first."""

    reports: list[About]


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, its caption, and where it is."""

    title: str
    alt: str
    src: str


@dataclass(frozen=True, slots=True)
class Report:
    """What was measured."""

    __pydantic_config__: ClassVar = _DESCRIBED

    name: str
    verdict: list[str]
    """What came out, in two sentences, and what to know before believing it."""
    tables: list[Table]
    plots: list[Plot]
    note: str = ""
    """Why there is no plot."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a report may lie, and what it is called."""

    name: str
    folder: Path
    top: Path
    """The folder that its results must not lead out of."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of some folders, as they are at the time."""

    sources: Sequence[Source]

    def listed(self) -> Listed:
        """Return what there is, newest first; what cannot be read says why."""
        found = [_about(name, file) for name, file in self._files().items()]
        return Listed(sorted(found, key=lambda about: about.written, reverse=True))

    def report(self, name: str) -> Report:
        """Return one report."""
        file = self._file(name)
        made = _made(file)
        places = (f"/api/bench/{quote(name, safe='')}/plots/{number}.svg" for number in range(len(made.drawings)))
        plots = [Plot(each.title, each.told, src) for each, src in zip(made.drawings, places, strict=True)]
        return Report(name, made.verdict, made.tables, plots, made.note)

    def plot(self, name: str, number: int) -> str:
        """Return a drawing as a document of its own."""
        file = self._file(name)
        drawings = _made(file).drawings
        if number >= len(drawings):
            raise NotServed(f"the report '{name}' has {len(drawings)} plots, counted from 0")
        head, _, rest = drawings[number].svg.removeprefix("<svg").partition(">")
        return f'<svg xmlns="http://www.w3.org/2000/svg"{head}><style>{_colours()}</style>{rest}'

    def _files(self) -> dict[str, Path]:
        """Return the results that are there, each by a name that no other has."""
        named: dict[str, Source] = {}
        for source in self.sources:
            plain = name = re.sub(r"[^\w.+-]", "_", source.name, flags=re.ASCII) or "report"
            for number in count(2):
                if name not in named:
                    break
                name = f"{plain}-{number}"
            named[name] = source
        return {name: each.folder / _RESULTS for name, each in named.items() if _is_there(each)}

    def _file(self, name: str) -> Path:
        file = self._files().get(name)
        if file is None:
            raise NotServed(f"no report '{name[:60]}'; /api/bench lists what there is")
        return file


def _is_there(source: Source) -> bool:
    file = source.folder / _RESULTS
    return file.is_file() and file.resolve().is_relative_to(source.top.resolve())


def _about(name: str, file: Path) -> About:
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
    about = About(name, shown(str(file.parent)), written, [], [])
    try:
        study = _study(file, _version(file))
    except InputError as error:
        return replace(about, error=str(error))
    return replace(about, systems=[*study.systems], sets=[*study.sets])


def _version(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=_KNOWN)
def _study(file: Path, version: tuple[int, int]) -> Study:
    if version[1] > _LARGEST_BYTES:
        raise DamagedReport(f"{file} has {version[1] / 1e6:,.0f} MB, more than is shown here: open its report.html")
    try:
        study = Study(load(file))
    except InputError as error:
        raise DamagedReport(str(error)) from error
    cells = len(study.results["cells"])
    if cells > _MOST_CELLS:
        raise DamagedReport(f"{file} has {cells:,} cells, more than is shown here: open its report.html")
    return study


def _tables(study: Study, top: str) -> Iterable[Table]:
    yield from tables_in(top)
    if study.overviews and study.measures:
        yield from tables_in(tables(study))
        for part in judged(study):
            yield from tables_in(part)


@dataclass(frozen=True, slots=True)
class _Made:
    """A report, but for its name."""

    verdict: list[str]
    tables: list[Table]
    drawings: list[Drawing]
    note: str


_making = Lock()


def _made(file: Path) -> _Made:
    """Return a report; one thread makes one at a time, for the library that draws has settings for all."""
    if not _making.acquire(timeout=_PATIENCE_S):
        raise StillDrawing("another report is being made; ask again in a moment")
    try:
        return _new(file, _version(file))
    finally:
        _making.release()


@lru_cache(maxsize=_KNOWN)
def _new(file: Path, version: tuple[int, int]) -> _Made:
    study = _study(file, version)
    top = verdict(study)
    told = [title(study), *lead_in(top), *caveats(dict(study.results))]
    return _Made(told, [*_tables(study, top)], *_drawn(study))


def _drawn(study: Study) -> tuple[list[Drawing], str]:
    """Return the drawings, or why there is none."""
    try:
        from assay.bench.page.figures import drawn
    except ModuleNotFoundError as error:
        return [], str(MissingExtra("plots", str(error.name), "bench"))
    return [*drawings_in(drawn(study))], ""


@lru_cache(maxsize=1)
def _colours() -> str:
    """Return the colours of a report, for light and dark."""
    style = resources.files("assay.bench.page").joinpath("style.css").read_text("utf-8")
    return style.partition("* {")[0] + "svg { color: var(--ink); font-family: system-ui, sans-serif; }"
