"""Write answers as text, for a terminal or a model: what was found, then what is to be known about it."""

from __future__ import annotations

from functools import singledispatch
from itertools import count
from typing import Any

from assay.errors import counted
from assay.operations.commits import commits_text
from assay.operations.log import LogAnswer
from assay.operations.rank import Order
from assay.operations.read import OutlineAnswer, PatternAnswer, PatternPlace, UnitText
from assay.operations.related import RelatedFound, related_code_of
from assay.operations.sizing import FoundAnswer, rooted_path, unit_text, with_line_numbers
from assay.operations.status import Status
from assay.search.related import related_text


@singledispatch
def as_text(answer: Any) -> str:
    """Return an answer as text."""
    raise TypeError(f"no text for {type(answer).__name__}")


@as_text.register
def _(answer: FoundAnswer) -> str:
    notes = []
    if not answer.hits:
        notes.append("nothing found")
    elif not answer.relevant:
        notes.append("nothing relevant here, it seems; these are only the nearest")
    if answer.corrected:
        how = f"read as {answer.language}" if answer.language else "spelling corrected"
        notes.append(f"{how}: {'; '.join(answer.corrected)}")
    notes += answer.notes
    notes += [f"not searched: {problem}" for problem in answer.problems]
    if answer.stale:
        notes.append("files changed that are not in the index yet; ask again for what is in them")
    if answer.matches >= 0:
        notes.append(f"{counted(answer.matches, 'match')} in {counted(answer.matched_files, 'file')}")
    units = list(map(unit_text, answer.hits))
    names_only = answer.hits and not any(hit.text for hit in answer.hits)
    return _joined([*notes, *(["\n".join(units)] if names_only else units)], answer.cursor)


@as_text.register
def _(answer: LogAnswer) -> str:
    if not answer.commits:
        return f"no commit found, of {answer.indexed}"
    return commits_text(answer.commits).rstrip("\n")


@as_text.register
def _(answer: UnitText) -> str:
    named = f" {answer.kind} {answer.name}".rstrip() if answer.name else ""
    more = "" if answer.complete else f"\n… the budget ends here; read on from line {answer.end_line + 1}"
    head = f"{answer.path}:{answer.start_line}-{answer.end_line} of {answer.lines}{named}"
    return f"{head}\n{with_line_numbers(answer.text, count(answer.start_line))}{more}"


@as_text.register
def _(answer: OutlineAnswer) -> str:
    blocks = ["\n".join((rooted_path(file.root, file.path), *file.signatures)) for file in answer.files]
    return _joined(blocks or ["no file there declares anything"], answer.cursor)


@as_text.register
def _(answer: PatternAnswer) -> str:
    blocks = list(map(_match, answer.matches)) or [f"no match in {answer.files} files"]
    return _joined([*blocks, *([answer.note] if answer.note else [])], answer.cursor)


@as_text.register
def _(answer: Status) -> str:
    if answer.damage:
        return f"{answer.root}: the index is damaged ({answer.damage}); a search rebuilds it"
    if not answer.indexed:
        return f"{answer.root}: not indexed yet; a search makes the index"
    counts = {"added": answer.added, "changed": answer.changed, "removed": answer.removed}
    stale = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    left_out = ", ".join(f"{name} {count}" for name, count in answer.left_out.items())
    rows = (
        f"{answer.root}: {answer.files} files, {answer.chunks} chunks, {answer.encoder}",
        f"files since then: {stale}; a search sees to them" if stale else "up to date with the files",
        *([f"left out: {left_out}"] if left_out else []),
    )
    return "\n".join(rows)


@as_text.register
def _(answer: Order) -> str:
    rows = []
    for place, each in enumerate(answer.programs, 1):
        line = f", line {each.line}" if each.line > 0 else ""
        rows.append(f"{place}. program {each.index}: {each.score:.3f} {each.fault}{line}".rstrip())
    return "\n".join(rows)


@as_text.register
def _(answer: RelatedFound) -> str:
    return related_text(related_code_of(answer)) + (f"more with cursor {answer.cursor}\n" if answer.cursor else "")


def _match(match: PatternPlace) -> str:
    part = "" if match.complete else " (its first lines)"
    place = f"{rooted_path(match.root, match.path)}:{match.start_line}-{match.end_line}{part}"
    return f"{place}\n{with_line_numbers(match.text, count(match.start_line))}"


def _joined(blocks: list[str], cursor: str) -> str:
    return "\n\n".join([*blocks, *([f"more with cursor {cursor}"] if cursor else [])])
