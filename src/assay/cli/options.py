"""The options that commands share, so that one name means one thing everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.parameters import Options, flag, option, verbose

if TYPE_CHECKING:
    from assay.settings import Settings


class SettingsOptions(Options):
    """What the options say about settings."""

    location: str | None = option(
        "--index PLACE", "Where the index is: a folder, or s3://BUCKET/PREFIX.  [default: in the user's cache]"
    )
    encoder: str | None = option("--encoder SPEC", "The encoder, such as hf:NAME.  [default: static:default]")
    config: Path | None = option("--config FILE", "The settings file.  [default: assay.toml in the searched folder]")
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change a setting, as in search.limit=5. Repeatable.")
    verbose: bool = verbose()

    def settings(self, root: Path | None, *, limit: int | None = None) -> Settings:
        """Return the settings of a root; without one, those for what others wrote, whose own file is never read."""
        from assay.operations.root_settings import UserSettings, root_settings
        from assay.store.place import located

        named = {
            "index.location": located(self.location, Path.cwd()) if self.location else None,
            "encoder.spec": self.encoder,
            "search.limit": limit,
        }
        options = {key: value for key, value in named.items() if value is not None}
        return root_settings(root, UserSettings(self.config, self.changes, options))


class RootsOptions(Options):
    """Options that select roots."""

    places: tuple[str, ...] = option(
        "--roots FILE|GLOB",
        "Search the folders and URLs that FILE lists, one a line, or the folders that match GLOB. Repeatable.",
    )

    def roots(self, paths: Sequence[str]) -> list[str]:
        """Return the roots to search, by default the current folder."""
        from assay.operations.workspace import roots_in

        return [*paths, *roots_in(self.places)] or ["."]


def no_refresh() -> Any:
    """Declare the option that takes an index as it is."""
    return flag("--no-refresh", help="Search the index as it is, without updating it.")
