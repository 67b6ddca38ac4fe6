"""Targets of labels to lines as their files are now, and lines to the name of what stands there.

A name outlives lines that are added above it. It means what the bench takes it to mean (`target_places`): all that is
declared under it, in prose a section by its heading.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from assay.corpus.blocks import lines_of
from assay.corpus.walked_files import decoded
from assay.errors import InputError
from assay.measure.line_spans import Span, span_of
from assay.truth.formats.shared import fault_of_target
from assay.truth.target_places import declared, lines_of_symbol

_LARGEST_BYTES = 1_000_000
"""Of a file that may be a target; no larger one is searched."""
_KEPT = 512
"""Files whose names are kept."""

Declared = tuple[tuple[int, int, str], ...]


class Targets:
    """What targets mean in the files of one root, each looked at once."""

    def __init__(self, look: Callable[[str], Path]) -> None:
        """Take what opens a path of the root, or says why it may not be a target."""
        self._look = look
        self._files: dict[str, Path | InputError] = {}
        self._lengths: dict[str, int] = {}

    def span(self, target: str) -> Span:
        """Return the lines of a target, a whole file without any, or say why there are none."""
        if fault := fault_of_target(target):
            raise InputError(fault)
        path, colons, symbol = target.partition("::")
        if colons:
            return self._symbol(path, symbol)
        span = span_of(target)
        size = self._length(span.path)
        if span.end > size:
            raise InputError(f"'{span.path}' ends at line {size:,}, before '{target}'")
        return span

    def lines(self, target: str) -> str:
        """Return a target as lines, `path:start-end`, or a whole file as its path; empty where it is no more."""
        try:
            return str(self.span(target))
        except (InputError, OSError):
            return ""

    def lasting(self, span: Span) -> str:
        """Return a target that outlives changes elsewhere in its file, where lines are one named unit; else lines."""
        if not span.start or "::" in span.path:
            return str(span)
        names = {name for first, last, name in self._declared(span.path) if span.start <= first and last <= span.end}
        targets = (f"{span.path}::{name}" for name in names)
        fitting = [each for each in targets if not fault_of_target(each) and self.lines(each) == str(span)]
        return fitting[0] if len(fitting) == 1 else str(span)

    def _symbol(self, path: str, symbol: str) -> Span:
        span = lines_of_symbol(path, symbol, self._declared(path))
        if span is None:
            raise InputError(f"'{path}' declares no '{symbol}'")
        return span

    def _declared(self, path: str) -> Declared:
        file = self._open_target(path)
        stat = file.stat()
        return _declared(file, path, (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))

    def _length(self, path: str) -> int:
        if path not in self._lengths:
            self._lengths[path] = len(lines_of(_text(self._open_target(path))))
        return self._lengths[path]

    def _open_target(self, path: str) -> Path:
        if path not in self._files:
            try:
                self._files[path] = self._look(path)
            except InputError as error:
                self._files[path] = error
        found = self._files[path]
        if isinstance(found, InputError):
            raise found
        return found


@lru_cache(_KEPT)
def _declared(file: Path, path: str, _stat: tuple[int, ...]) -> Declared:
    """Return first line, last line and full name of all that a file declares; of prose, of its sections."""
    return tuple(declared(path, _text(file)))


def _text(file: Path) -> str:
    if file.stat().st_size > _LARGEST_BYTES:
        raise InputError(f"'{file.name}' is larger than what is searched")
    text = decoded(file.read_bytes())
    if text is None:
        raise InputError(f"'{file.name}' is binary")
    return text
