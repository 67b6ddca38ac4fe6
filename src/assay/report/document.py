"""A report as a value: sections of words, tables, figures, panels that a switch shows, entries that a filter finds.

It is written as JSON and read back: whoever shows a report needs these values, and no markup.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from assay.errors import InputError
from assay.io.fields import as_json, read_value
from assay.report.figure import Bars, Curves, Dots, Heat, Scatter, WinsAndLosses
from assay.report.table import Phrase, Table

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words one after another; what comes out leads, a note is quiet."""

    parts: tuple[Phrase, ...]
    role: Literal["plain", "lead", "note", "heading"] = "plain"
    kind: Literal["paragraph"] = "paragraph"

    def __str__(self) -> str:
        """Return the words alone."""
        return "".join(part.text for part in self.parts)


@dataclass(frozen=True, slots=True)
class Bullets:
    """Points under a heading; as a warning they stand out."""

    title: str
    items: tuple[Paragraph, ...]
    warning: bool = False
    kind: Literal["bullets"] = "bullets"


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A command or a program, as it is."""

    text: str
    kind: Literal["verbatim"] = "verbatim"


@dataclass(frozen=True, slots=True)
class Fold:
    """A table behind a title that opens it."""

    title: str
    table: Table
    kind: Literal["fold"] = "fold"


@dataclass(frozen=True, slots=True)
class Choice:
    """One control of a switch or a filter; `options` are values with what they are called."""

    name: str
    label: str
    options: Mapping[str, str]
    radio: bool = False


Leaf = Paragraph | Bullets | Verbatim | Fold | Table | Scatter | Dots | WinsAndLosses | Curves | Heat | Bars


@dataclass(frozen=True, slots=True)
class Panel:
    """What is shown for one state of the controls; a control that it does not name does not matter to it."""

    title: str
    subtitle: str
    state: Mapping[str, str]
    blocks: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Panels:
    """Panels of which a switch shows some; without a script all stand one below another."""

    choices: tuple[Choice, ...]
    panels: tuple[Panel, ...]
    kind: Literal["panels"] = "panels"


@dataclass(frozen=True, slots=True)
class Detail:
    """A term with what belongs to it; `ordered` items are numbered."""

    term: Phrase
    items: tuple[Phrase, ...]
    ordered: bool = False
    more: int = 0
    """Items that are left out."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One of many things to read, folded: its line, and what is inside."""

    title: str
    about: str
    badges: tuple[str, ...]
    status: str
    """How it went, before the dots of whom that is of."""
    dots: tuple[Phrase, ...]
    state: Mapping[str, tuple[str, ...]]
    """By control of the filter, the values that it fits."""
    details: tuple[Detail, ...]
    text: str = ""
    """A program, or what else is to be read whole."""


@dataclass(frozen=True, slots=True)
class Entries:
    """Things to read with a filter above; `name` tells its controls from others, `noun` is what is counted."""

    name: str
    noun: str
    choices: tuple[Choice, ...]
    entries: tuple[ListEntry, ...]
    kind: Literal["entries"] = "entries"


Block = Leaf | Panels | Entries


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report; `short` is what the contents call it, an untitled one begins a report."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    short: str = ""
    untitled: bool = False
    appendix: bool = False
    """It is for whoever repeats it: left out where there is little room."""


@dataclass(frozen=True, slots=True)
class Report:
    """All of it."""

    title: str
    eyebrow: str
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    footer: str = ""
    systems: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    """What was compared, and on what: a list of reports says so."""
    format: int = FORMAT


def words(text: str, role: Literal["plain", "lead", "note", "heading"] = "plain") -> Paragraph:
    """Return a paragraph of one phrase."""
    return Paragraph((Phrase(text),), role)


def as_json_text(report: Report) -> str:
    """Return a report as JSON text."""
    return json.dumps(as_json(report), ensure_ascii=False, allow_nan=False) + "\n"


def load_report(file: Path) -> Report:
    """Read a report that somebody wrote; what is none is an error that says where."""
    try:
        value = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the report {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not a report: {error}; write it again") from error
    try:
        report = read_value(Report, value)
    except InputError as error:
        raise InputError(f"{file} is not a report that can be shown: {error}; write it again") from error
    if report.format != FORMAT:
        raise InputError(f"{file} is a report of format {report.format}, wanted {FORMAT}: write it again")
    return report
