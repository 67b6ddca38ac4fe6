"""What operations ask about: a root that can be searched, a place in it, and all roots that are open.

A server keeps roots open for many clients, the command line for one question; operations know only these protocols.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from assay.errors import InputError
from assay.operations.requests import LONGEST_GLOB, MOST_GLOBS
from assay.settings import Settings


class NotServed(InputError):
    """What was asked about is not there, or lies outside of what is served."""


@dataclass(frozen=True, slots=True)
class Place:
    """What was asked about: a root, and the part of it to keep to."""

    engine: Any
    """What keeps the root open."""
    inside: str = ""
    """A file or folder below the root, or empty for all of it."""

    def globs(self, within: Collection[str] = ()) -> tuple[str, ...]:
        """Return what keeps to this place and to some globs, which are relative to it."""
        check_globs(within)
        if not self.inside:
            return tuple(within)
        here = "/" + _literal(self.inside)
        keeping = [f"{here}/{_below(glob)}" for glob in within if not glob.startswith("!")]
        return (*(keeping or [here]), *(f"!{here}/{_below(glob[1:])}" for glob in within if glob.startswith("!")))


class Roots(Protocol):
    """The roots that can be asked about."""

    everything: Any
    """All of them, to be searched as one."""

    @property
    def roots(self) -> Mapping[Path, Settings]:
        """The folders, each with its settings."""

    @property
    def are_several(self) -> bool:
        """Whether more than one folder is open."""

    def place(self, asked: str = "") -> Place:
        """Return the place of a path or URL; what may not be asked about is refused."""


def check_globs(globs: Collection[str]) -> None:
    """Refuse more or longer globs than anybody needs."""
    if len(globs) > MOST_GLOBS or any(len(glob) > LONGEST_GLOB for glob in globs):
        raise InputError(f"at most {MOST_GLOBS} globs of {LONGEST_GLOB} characters are allowed")


def _literal(path: str) -> str:
    """Return a path as a glob that matches it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def _below(glob: str) -> str:
    """Return a glob as it is below a folder: one without a slash is of any file there."""
    anywhere = "/" not in glob.rstrip("/")
    return f"**/{glob}" if anywhere else str(PurePosixPath(glob.lstrip("/").removeprefix("./")))
