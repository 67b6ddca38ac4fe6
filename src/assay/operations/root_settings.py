"""Decide which settings apply to a root.

From the weakest to the strongest: defaults, the user's own `assay.toml` in the configuration folder, that of the root
or the file given instead of it, `--set`, options. The file of a root was written by whoever wrote the repository: of it
count the harmless settings, and the others only if the user trusts exactly these bytes (`assay trust`). Of what was
fetched from a URL no settings are read at all.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import platformdirs

from assay.errors import InputError, SettingsNotUsed
from assay.io.files import alone, read_regular, write_json
from assay.settings import (
    FILE,
    USER_ONLY,
    Settings,
    by_name,
    changed,
    parse_table,
    read_table,
    with_options,
    with_table,
)

_MAX_FILE_BYTES = 65_536
_MAX_VALUE_CHARS = 120
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The settings of the person who runs a command or calls a function."""

    config: Path | None = None
    """A file to read instead of the one of the root."""
    changes: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Values by dotted name."""


def root_settings(root: Path | None, user: UserSettings) -> Settings:
    """Return the settings of a root; None is a root whose own settings file never counts.

    What a root asks for and does not get is one warning, SettingsNotUsed.
    """
    own = platformdirs.user_config_path("assay") / FILE
    settings = with_table(Settings(), read_table(own), own) if os.path.isfile(own) else Settings()  # noqa: PTH113  no error where nobody may look
    if user.config is not None:
        settings = with_table(settings, read_table(user.config), user.config)
    elif root is not None and (root_file := read_root_file(root)) is not None:
        settings = _with_root_file(settings, root_file, user)
    return with_options(changed(settings, user.changes), user.options)


@dataclass(frozen=True, slots=True)
class RootFile:
    """The settings file of a root, as it was read."""

    path: Path
    table: Mapping[str, Any]
    sha256: str

    def needs_trust(self, settings: Settings) -> dict[str, Any]:
        """Return the settings in it that only the user may change, if they differ from some settings."""
        asked, now = by_name(with_table(settings, self.table, self.path)), by_name(settings)
        return {name: asked[name] for name in USER_ONLY if asked[name] != now[name]}


def read_root_file(root: Path) -> RootFile | None:
    """Read the settings file of a root; None if there is none, it cannot be read, or the root was fetched from a URL.

    Raises InputError for a file that is not TOML.
    """
    file = root / FILE
    if not os.path.lexists(file) or root.resolve().is_relative_to(platformdirs.user_cache_path("assay").resolve()):
        return None
    try:
        data = read_regular(file, _MAX_FILE_BYTES)
        data.decode()
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            why: str | None = f"not valid UTF-8: {error.reason} at byte {error.start}"
        else:
            why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
        warnings.warn(f"cannot read {_display_name(file)}: {why}; the defaults are used", SettingsNotUsed, stacklevel=2)
        return None
    return RootFile(file, parse_table(data, file), sha256(data).hexdigest())


def _with_root_file(settings: Settings, file: RootFile, user: UserSettings) -> Settings:
    """Return settings changed by the file of a root, as far as it is allowed."""
    needs = file.needs_trust(settings)
    merged = with_table(settings, file.table, file.path)
    if not needs or is_trusted(file):
        return merged
    now = by_name(settings)
    allowed = with_options(merged, {name: now[name] for name in needs})
    final = by_name(with_options(changed(allowed, user.changes), user.options))
    if refused := {name: value for name, value in needs.items() if final[name] == now[name]}:
        text = ", ".join(f"{name} = {as_toml(value)}" for name, value in refused.items())
        here = "." if file.path.parent == Path.cwd() else shlex.quote(str(file.path.parent))
        message = f"{_display_name(file.path)} asks for {text}; not used: see `assay trust {here}`"
        warnings.warn(message, SettingsNotUsed, stacklevel=2)
    return allowed


def as_toml(value: Any) -> str:
    """Return a value as TOML writes it, shortened."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"


def _display_name(file: Path) -> str:
    return FILE if file.parent == Path.cwd() else str(file)


def trusted_files() -> dict[str, str]:
    """Return the paths of the files that the user trusts, each with the hash of its content then."""
    store = trust_store()
    try:
        kept = json.loads(store.read_bytes())
        return {str(path): str(digest) for path, digest in kept.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not written by assay trust"
        warnings.warn(f"cannot read {store}: {why}; no file is trusted", SettingsNotUsed, stacklevel=2)
        return {}


def is_trusted(file: RootFile) -> bool:
    """Return whether the user trusts the present content of a file."""
    return trusted_files().get(_key(file.path)) == file.sha256


def trust(file: RootFile) -> None:
    """Trust a file until its content changes."""
    _keep({_key(file.path): file.sha256})


def revoke(root: Path) -> bool:
    """Stop trusting the file of a root; return whether it was trusted."""
    key = _key(root / FILE)
    known = key in trusted_files()
    if known:
        _keep({}, without=key)
    return known


def trust_store() -> Path:
    """Return the file in the user's data folder that lists the trusted files."""
    return platformdirs.user_data_path("assay") / "trusted.json"


def _key(file: Path) -> str:
    return str(file.parent.resolve() / file.name)


def _keep(more: Mapping[str, str], without: str = "") -> None:
    store = trust_store()
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {store}: {error.strerror}") from error
    with alone(store.with_name(f"{store.name}.lock")):
        kept = {path: digest for path, digest in trusted_files().items() if path != without}
        write_json(store, kept | dict(more))
