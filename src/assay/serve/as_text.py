"""Records of answers to text for a model: places above the lines they are about, in far fewer tokens than JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import singledispatch
from typing import Any

from assay.serve.read_tools import OutlineAnswer, PatternAnswer, PatternPlace
from assay.serve.responses import FoundAnswer, FoundUnit
from assay.serve.search_tools import Order, Status


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
    return _joined([*notes, *map(_hit, answer.hits)], answer.cursor)


@as_text.register
def _(answer: OutlineAnswer) -> str:
    blocks = ["\n".join((file.path, *file.signatures)) for file in answer.files]
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
    rows = [
        f"{answer.root}: {answer.files} files, {answer.chunks} chunks, {answer.size_mb} MB, {answer.encoder}",
        f"looked at {answer.checked_s:g} s ago" if answer.checked_s >= 0 else "not looked at by this server yet",
        *([f"rebuilt: {answer.rebuilt}"] if answer.rebuilt else []),
        *([f"chunks by language: {_counted(answer.languages)}"] if answer.languages else []),
        _stale(answer),
        *(f"left out {count}: {reason}" for reason, count in answer.left_out.items()),
    ]
    return "\n".join(rows)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _stale(answer: Status) -> str:
    counts = {"added": answer.added, "changed": answer.changed, "removed": answer.removed}
    found = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
    return f"files since then: {found}; a search sees to them" if found else "up to date with the files"


@as_text.register
def _(answer: Order) -> str:
    lines = (f", line {each.line}" if each.line > 0 else "" for each in answer.programs)
    rows = [
        f"{place}. program {each.index}: {each.score:.3f} {each.fault}{line}".rstrip()
        for place, (each, line) in enumerate(zip(answer.programs, lines, strict=True), 1)
    ]
    return "\n".join(rows)


def _hit(hit: FoundUnit) -> str:
    named = f"{hit.kind} {hit.symbol}".strip()
    part = "" if hit.complete else " (a part)"
    why = f"\n  {_why(hit.why)}" if hit.why else ""
    path = f"{hit.root}/{hit.path}" if hit.root else hit.path
    return f"{path}:{hit.start_line}-{hit.end_line} {named}{part} {hit.score:.2f}{why}\n{_body(hit.text)}"


def _match(match: PatternPlace) -> str:
    part = "" if match.complete else " (its first lines)"
    return f"{match.path}:{match.start_line}-{match.end_line}{part}\n{_body(match.text)}"


def _why(why: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in why.items())


def _body(text: str) -> str:
    return text.rstrip("\n")


def _joined(blocks: list[str], cursor: str) -> str:
    return "\n\n".join(_with_cursor(blocks, cursor))


def _with_cursor(blocks: list[str], cursor: str) -> Iterator[str]:
    yield from blocks
    if cursor:
        yield f"more with cursor {cursor}"
