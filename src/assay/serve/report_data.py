"""Turn reports of benchmarks into data: the sentences, tables and plots of a page.

A folder holds them as `report.json`, or a results.json of `assay bench` that they are made from. No markup of a report
is ever handed on; a drawing becomes an image of its own, with the colours of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain, count
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from assay.bench.bench_report import report_of
from assay.bench.results import load
from assay.corpus.walk import OWN_REPORTS
from assay.corpus.walked_files import as_utf8
from assay.errors import AssayError, InputError
from assay.operations.places import NotServed
from assay.operations.sizing import answer_type
from assay.report.document import Bullets, Entries, Figure, Leaf, Panels, Paragraph, Report, Section, Table, load_report
from assay.report.plain_text import cell_text
from assay.report.web_page import alone

FOLDER = OWN_REPORTS
"""Where `assay bench` writes, below the folder that it was started in."""
_NAMES = ("report.json", "results.json")
"""What a report is made from: its values, else what was measured."""
_KNOWN = 8
_PLOTS = 64
_LARGEST_BYTES = 100_000_000
_MOST_CELLS = 500
"""What is larger is read in its own page, which is written once."""
_NO_PLOTS = "plots need matplotlib, which is not installed where this is served: the extra `bench` brings it"
_PATIENCE_S = 5.0
"""How long a plot waits for another that is being drawn."""


class DamagedReport(InputError):
    """What should be results is none that this version wrote, or too large to be shown."""


class StillDrawing(AssayError):
    """Another plot is being drawn."""


@answer_type
class ReportSummary:
    """A report."""

    name: str
    folder: str
    written: str
    """When, as ISO 8601 has it."""
    systems: list[str]
    sets: list[str]
    error: str = ""
    """Why it cannot be read; empty where it can."""


@dataclass(frozen=True, slots=True)
class ReportList:
    """Reports, newest first."""

    reports: list[ReportSummary]


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text."""

    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, its caption, and where it is."""

    title: str
    alt: str
    src: str


@answer_type
class BenchReport:
    """What was measured."""

    name: str
    verdict: list[str]
    """What came out, in two sentences, and what to know before believing it."""
    tables: list[TextTable]
    plots: list[Plot]
    note: str = ""
    """Why there is no plot."""


@dataclass(frozen=True, slots=True)
class ReportSource:
    """Where a report may lie, and what it is called."""

    name: str
    folder: Path
    top: Path
    """The folder that its results must not lead out of."""


@dataclass(frozen=True, slots=True)
class Reports:
    """The reports of some folders, as they are at the time."""

    sources: Sequence[ReportSource]

    def listed(self) -> ReportList:
        """Return what there is, newest first; what cannot be read says why."""
        found = [_about(name, file) for name, file in self._files().items()]
        return ReportList(sorted(found, key=lambda about: about.written, reverse=True))

    def report(self, name: str) -> BenchReport:
        """Return one report."""
        found = _report(*self._file(name))
        shown = _leaves(*(section for section in found.sections if not section.appendix))
        tables = [_text_table(table, of) for of, table in shown if isinstance(table, Table)]
        places = (f"/api/bench/{quote(name, safe='')}/plots/{number}.svg" for number in count())
        figures, can_draw = _figures(found), find_spec("matplotlib") is not None
        plots = [Plot(each.title, each.caption, src) for each, src in zip(figures, places, strict=False) if can_draw]
        return BenchReport(name, [*_lead_texts(found)], tables, plots, "" if can_draw or not figures else _NO_PLOTS)

    def plot(self, name: str, number: int) -> str:
        """Return a drawing as a document of its own."""
        file, version = self._file(name)
        figures = _figures(_report(file, version))
        if number >= len(figures):
            raise NotServed(f"the report '{name}' has {len(figures)} plots, counted from 0")
        return _drawn(file, version, number)

    def _files(self) -> dict[str, Path]:
        """Return the results that are there, each by a name that no other has."""
        named: dict[str, ReportSource] = {}
        for source in self.sources:
            plain = re.sub(r"[^\w.+-]", "_", source.name, flags=re.ASCII) or "report"
            names = chain((plain,), (f"{plain}-{number}" for number in count(2)))
            named[next(name for name in names if name not in named)] = source
        found = {name: next(_files_of(each), None) for name, each in named.items()}
        return {name: file for name, file in found.items() if file}

    def _file(self, name: str) -> tuple[Path, tuple[int, int]]:
        file = self._files().get(name)
        if file is None:
            raise NotServed(f"no report '{name[:60]}'; /api/bench lists what there is")
        return file, _version(file)


def _files_of(source: ReportSource) -> Iterator[Path]:
    """Yield the files that a report can be made from; none of them leads out of what is served."""
    for file in (source.folder / name for name in _NAMES):
        if file.is_file() and file.resolve().is_relative_to(source.top.resolve()):
            yield file


def _about(name: str, file: Path) -> ReportSummary:
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).isoformat(timespec="seconds")
    about = ReportSummary(name, as_utf8(str(file.parent)), written, [], [])
    try:
        report = _report(file, _version(file))
    except InputError as error:
        return replace(about, error=str(error))
    return replace(about, systems=[*report.systems], sets=[*report.sets])


def _version(file: Path) -> tuple[int, int]:
    stat = file.stat()
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=_KNOWN)
def _report(file: Path, version: tuple[int, int]) -> Report:
    if version[1] > _LARGEST_BYTES:
        raise DamagedReport(f"{file} has {version[1] / 1e6:,.0f} MB, more than is shown here: open its report.html")
    try:
        if file.name == _NAMES[0]:
            return load_report(file)
        results = load(file)
    except InputError as error:
        raise DamagedReport(str(error)) from error
    if len(results.cells) > _MOST_CELLS:
        cells = f"{len(results.cells):,} cells"
        raise DamagedReport(f"{file} has {cells}, more than is shown here: open its report.html")
    return report_of(results)


def _leaves(*sections: Section) -> Iterator[tuple[str, Leaf]]:
    """Yield what stands in sections, each with the name of the panel that it is in."""
    for section in sections:
        above = ""
        for block in section.blocks:
            if isinstance(block, Panels):
                for panel in block.panels:
                    above = f"{panel.title} [{panel.subtitle}]" if panel.title else above
                    yield from ((above, leaf) for leaf in panel.blocks)
            elif not isinstance(block, Entries):
                yield "", block


def _figures(report: Report) -> list[Figure]:
    return [leaf for _, leaf in _leaves(*report.sections) if isinstance(leaf, Figure)]


def _lead_texts(report: Report) -> Iterator[str]:
    """Yield what came out, and what to know before believing it."""
    yield report.title
    for _, leaf in _leaves(*report.sections):
        if isinstance(leaf, Paragraph) and leaf.role == "lead":
            yield str(leaf)
        elif isinstance(leaf, Bullets) and leaf.warning:
            yield from map(str, leaf.items)


def _text_table(table: Table, of: str) -> TextTable:
    rows = [[cell_text(cell) for cell in row] for row in table.rows]
    columns = [": ".join(filter(None, (column.over, column.title))) for column in table.columns]
    return TextTable(": ".join(filter(None, (of, table.title))), columns, rows)


_drawing = Lock()


@lru_cache(maxsize=_PLOTS)
def _drawn(file: Path, version: tuple[int, int], number: int) -> str:
    """Return a drawing; one thread draws at a time, for the library that draws has settings for all."""
    if not _drawing.acquire(timeout=_PATIENCE_S):
        raise StillDrawing("another plot is being drawn; ask again in a moment")
    try:
        return alone(_figures(_report(file, version))[number])
    finally:
        _drawing.release()
