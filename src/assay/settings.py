"""Settings as frozen values: their defaults, and how TOML and `--set key=value` change them.

Some settings only say how something is cut, weighed or shown: those a repository's own `assay.toml` may set. All
others name a place, an address, a model or a folder of weights, or say what is not refreshed; they count only where the
user gives them (`operations.root_settings`). An unknown key is an error with the nearest known one beside it. Secrets
have no key: they come from the environment, read by the part that needs them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from assay.errors import InputError, nearest

Values = TypeVar("Values")

_TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list of texts"}

QUANTISATIONS = ("none", "int8")
READINGS = ("auto", "view", "source")
RANKINGS = ("learned", "fused", "keywords", "vectors")
FUSIONS = ("rrf", "linear")

PATIENCE_S = 600.0
"""Seconds that a run waits while no machine of a cluster works for it."""
FILE = "assay.toml"
"""The name of the settings file of a root, and of the user's own in the configuration folder."""
HARMLESS = frozenset(
    "index.chunk_lines index.section_lines index.quantisation index.encoding encoder.reads search.limit"
    " search.excerpt_lines search.ranking search.fusion search.vector_weight search.keyword_weight"
    " search.rerank_depth".split()
)
"""Settings that the file of a repository may set; any other only if the user trusts that file."""
USER_ONLY = {
    "index.location": "where the index is written and read",
    "index.refresh": "whether the index follows the files, or is shown as it is",
    "index.open_ignored": "whether .assayignore may bring in files that git ignores, and keys",
    "index.describe": "the model whose descriptions of code are searched",
    "index.cache_gb": "how much of your cache copies of indexes in buckets may take",
    "encoder.spec": "the model that reads the files and every question, and the server it may be on",
    "search.weights": "a folder of weights that orders the answers",
    "search.reranker": "the model that reads every question and its hits, and the server it may be on",
}
"""The other settings, each with what it decides."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where an index lies and how it is built."""

    location: str = ""
    """A folder, or a place in a bucket such as `s3://BUCKET/PREFIX`; empty means a folder for each root, in the user's
    cache."""
    chunk_lines: int = 50
    """The most lines of a chunk of code; measured: 120 finds no more within as many lines read."""
    section_lines: int = 50
    """The most lines of a chunk of prose; measured on documentation queries."""
    quantisation: str = "none"
    encoding: str = ""
    """The encoding of files that are not UTF-8 and do not declare one, such as `cp1251`; empty: it is guessed."""
    refresh: bool = True
    """Whether searches and servers bring it up to date; if not, it is only read, and its files need not be here."""
    open_ignored: bool = False
    """Whether rules of `.assayignore` may bring in files that git ignores, and those that usually hold keys."""
    describe: str = ""
    """The author of descriptions to search: a chat, or `none`; empty means the newest of any author."""
    cache_gb: float = 20.0
    """The size of copies of indexes in buckets in the user's cache; copies used in the last hour stay."""

    def __post_init__(self) -> None:
        """Refuse values with which no index can be built."""
        at_least(self, {"chunk_lines": 1, "section_lines": 1, "cache_gb": 0}, "index.")
        one_of("index.quantisation", self.quantisation, QUANTISATIONS)
        _names_encoding("index.encoding", self.encoding)


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """The encoder of texts."""

    spec: str = "static:default"
    reads: str = "auto"
    """What it reads of a chunk."""

    def __post_init__(self) -> None:
        """Refuse values that no encoder can use."""
        one_of("encoder.reads", self.reads, READINGS)


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How hits are found, and how many are returned."""

    limit: int = 10
    excerpt_lines: int = 8
    ranking: str = "learned"
    weights: str = ""
    """A folder that `assay train ranking` wrote; empty means the weights that ship."""
    fusion: str = "rrf"
    vector_weight: float = 0.7
    keyword_weight: float = 0.3
    reranker: str = ""
    """The spec of a scorer; empty means none."""
    rerank_depth: int = 50

    def __post_init__(self) -> None:
        """Refuse contradictory values."""
        at_least(self, {"limit": 1, "excerpt_lines": 1, "rerank_depth": 1}, "search.")
        at_least(self, {"vector_weight": 0, "keyword_weight": 0}, "search.")
        one_of("search.ranking", self.ranking, RANKINGS)
        one_of("search.fusion", self.fusion, FUSIONS)


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """Where work runs that does not run on this machine, for `--on`."""

    address: str = ""
    """`HOST:PORT` of a Ray cluster; empty means the one that this machine belongs to."""
    patience_s: float = PATIENCE_S
    """Seconds that a run waits while no machine works for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings, by section."""

    index: IndexSettings = field(default_factory=IndexSettings)
    encoder: EncoderSettings = field(default_factory=EncoderSettings)
    search: SearchSettings = field(default_factory=SearchSettings)


def load(file: Path | None = None, changes: Iterable[str] = (), options: Mapping[str, Any] | None = None) -> Settings:
    """Return the defaults, changed by a TOML file, by `section.key=value` texts, by options, in that order."""
    settings = changed(Settings() if file is None else with_table(Settings(), read_table(file), file), changes)
    return with_options(settings, options or {})


def with_options(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """Return settings with values by dotted name."""
    for key, value in options.items():
        settings = _merged(settings, _nested(key, value), "in an option", ())
    return settings


def with_table(settings: Settings, table: Mapping[str, Any], file: Path) -> Settings:
    """Return settings changed by the table of a TOML file."""
    merged: Settings = _merged(settings, table, f"in {file}", ())
    return merged


def changed(settings: Values, changes: Iterable[str]) -> Values:
    """Return settings, of any kind, changed by `key=value` texts."""
    for change in changes:
        settings = _merged(settings, _parsed(change), "in --set", ())
    return settings


def by_name(settings: Settings) -> dict[str, Any]:
    """Return every setting by its dotted name."""
    return {
        f"{section.name}.{each.name}": getattr(getattr(settings, section.name), each.name)
        for section in fields(settings)
        for each in fields(getattr(settings, section.name))
    }


def at_least(settings: object, least: Mapping[str, int], section: str = "") -> None:
    """Refuse settings with a value below the minimum of its key."""
    for key, wanted in least.items():
        value = getattr(settings, key)
        if not value >= wanted:  # not even a number may be
            raise InputError(f"setting '{section}{key}' is {value}; wanted {wanted} or more")


def above_zero(settings: object, *keys: str) -> None:
    """Refuse settings with a value of these keys that is not above 0."""
    for key in keys:
        if not getattr(settings, key) > 0:
            raise InputError(f"setting '{key}' is {getattr(settings, key)}; wanted more than 0")


def one_of(key: str, value: str, known: Sequence[str]) -> None:
    """Refuse an unknown value."""
    if value not in known:
        raise InputError(f"setting '{key}' is '{value}'; wanted one of {', '.join(known)}")


def _names_encoding(key: str, value: str) -> None:
    """Refuse a value that is not the name of an encoding."""
    try:
        b"text".decode(value or "utf-8")
    except (LookupError, ValueError) as error:
        wanted = "wanted the name of an encoding of text, such as cp1251 or shift_jis"
        raise InputError(f"setting '{key}' is '{value}'; {wanted}") from error


def read_table(file: Path) -> dict[str, Any]:
    """Read a settings file that the user named."""
    try:
        return parse_table(file.read_bytes(), file)
    except OSError as error:
        raise InputError(f"cannot read the settings file {file}: {error.strerror}") from error


def parse_table(data: bytes, file: Path) -> dict[str, Any]:
    """Parse the bytes of a settings file."""
    try:
        return tomllib.loads(data.decode())
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file}: not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not valid UTF-8: {error.reason} at byte {error.start}") from error
    except (RecursionError, ValueError) as error:
        why = "nested too deep" if isinstance(error, RecursionError) else "a number has too many digits"
        raise InputError(f"{file}: not valid TOML: {why}") from error


def _parsed(change: str) -> dict[str, Any]:
    """Parse `search.limit=20` into `{"search": {"limit": 20}}`; what is not a TOML value is text."""
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


def _merged(settings: Any, changes: Mapping[str, Any], where: str, path: tuple[str, ...]) -> Any:
    """Return settings with each change applied, section by section."""
    known = [each.name for each in fields(settings)]
    values = {}
    for name, value in changes.items():
        if name not in known:
            key = ".".join((*path, name))
            sections = [f"{each}.{name}" for each in known if hasattr(getattr(settings, each), name)]
            hint = f"did you mean '{' or '.join(sections)}'?" if sections else nearest(name, known)
            raise InputError(f"unknown setting '{key}' {where}; {hint}")
        values[name] = _checked(getattr(settings, name), value, where, (*path, name))
    return replace(settings, **values)


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
        raise InputError(f"setting '{key}' {where} is {new!r}; wanted {_TYPE_NAMES[type(old)]}")
    return new
