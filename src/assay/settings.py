"""What was asked: TOML and `--set key=value` into frozen values, whose defaults live here and nowhere else.

An unknown key is an error with the nearest known one beside it. Secrets have no key: they come
from the environment, read by the part that needs them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import InputError, nearest

Values = TypeVar("Values")

_WANTED = {int: "a whole number", float: "a number", str: "text", tuple: "a list of texts"}

FILE = "assay.toml"
"""The settings of a root, read where it lies in that root."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where an index lies."""

    location: str = ""
    """A folder, or `lance:` and a path or URI; empty means a folder for each root, in the user's cache."""


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What turns text into vectors."""

    spec: str = "static:default"


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How much is answered."""

    limit: int = 10
    excerpt_lines: int = 8

    def __post_init__(self) -> None:
        """Refuse what asks for nothing."""
        for key in ("limit", "excerpt_lines"):
            if getattr(self, key) < 1:
                raise InputError(f"setting 'search.{key}' is {getattr(self, key)}; wanted 1 or more")


@dataclass(frozen=True, slots=True)
class Settings:
    """All of them, by section."""

    index: IndexSettings = field(default_factory=IndexSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    search: SearchSettings = field(default_factory=SearchSettings)


def load(file: Path | None = None, changes: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Settings:
    """Return the defaults, changed by a TOML file, by `section.key=value` texts, by options, in that order."""
    settings: Settings = Settings() if file is None else _merged(Settings(), _read(file), f"in {file}", ())
    settings = changed(settings, changes)
    for key, value in (options or {}).items():
        settings = _merged(settings, _nested(key, value), "in an option", ())
    return settings


def changed(settings: Values, changes: Iterable[str]) -> Values:
    """Return settings, of any kind, with each `key=value` text made true."""
    for change in changes:
        settings = _merged(settings, _parsed(change), "in --set", ())
    return settings


def file_of(root: Path, config: Path | None = None) -> Path | None:
    """Return the settings file to read: the one that was named, or `assay.toml` in the root."""
    if config is not None:
        return config
    return root / FILE if (root / FILE).is_file() else None


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        raise InputError(f"cannot read the settings file {file}: {error.strerror}") from error


def _parsed(change: str) -> dict[str, Any]:
    """Turn `search.limit=20` into `{"search": {"limit": 20}}`; what is no TOML value is text."""
    key, equals, text = change.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set takes section.key=value, not '{change}'")
    try:
        value: Any = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    return _nested(key.strip(), value)


def _nested(key: str, value: Any) -> dict[str, Any]:
    """Turn `a.b` and a value into `{"a": {"b": value}}`."""
    first, _, rest = key.partition(".")
    return {first: _nested(rest, value) if rest else value}


def _merged(settings: Any, changes: dict[str, Any], where: str, path: tuple[str, ...]) -> Any:
    """Return settings with each change made, section by section."""
    known = [each.name for each in fields(settings)]
    made = {}
    for name, value in changes.items():
        key = ".".join((*path, name))
        if name not in known:
            raise InputError(f"unknown setting '{key}' {where}; {nearest(name, known)}")
        made[name] = _checked(getattr(settings, name), value, where, (*path, name))
    return replace(settings, **made)


def _checked(old: Any, new: Any, where: str, path: tuple[str, ...]) -> Any:
    """Return the new value if it has the type of the old one."""
    key = ".".join(path)
    if is_dataclass(old):
        if not isinstance(new, dict):
            raise InputError(f"setting '{key}' {where} is a section, not a value: write '{key}.NAME = VALUE'")
        return _merged(old, new, where, path)
    if isinstance(old, float) and type(new) is int:
        return float(new)
    if isinstance(old, tuple) and isinstance(new, list) and all(isinstance(each, str) for each in new):
        return tuple(new)
    if type(new) is not type(old):
        raise InputError(f"setting '{key}' {where} is {new!r}; wanted {_WANTED[type(old)]}")
    return new
