"""The options that commands share, so that one name means one thing everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.parameters import Options, flag, option, verbose

if TYPE_CHECKING:
    from assay.settings import Settings
    from assay.values import Mode, Query


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
    repositories: tuple[str, ...] = option(
        "--repo GLOB", "Search only repositories whose name or path matches; !GLOB excludes. Repeatable."
    )

    def roots(self, paths: Sequence[str]) -> list[str]:
        """Return the roots to search, by default the current folder."""
        from assay.operations.many_roots import roots_in

        return [*paths, *roots_in(self.places)] or ["."]

    def are_several(self, paths: Sequence[str]) -> bool:
        """Say whether several roots are meant, even if one is left."""
        return len(paths) > 1 or bool(self.places or self.repositories)


class FilterOptions(Options):
    """What the options say about the corpus to keep."""

    languages: tuple[str, ...] = option(
        "--lang NAME",
        "Search only a language, by name or file extension: python, py. Repeatable.",
        names="languages",
    )
    paths: tuple[str, ...] = option("--path GLOB", "Search only files that match; !GLOB excludes. Repeatable.")
    kinds: tuple[str, ...] = option(
        "--kind NAME",
        "Search only a kind of unit: function, method, class, section, … Repeatable.",
        names="kinds",
    )
    mode: Mode | None = option(
        "--mode",
        "Search code, prose, or both.  [default: code; with other filters, all]",
        choices=("all", "code", "docs"),
    )

    def queries(self, texts: Sequence[str]) -> list[Query]:
        """Return checked queries that keep this."""
        from assay.operations.answer import queries_of

        return queries_of(texts, mode=self.mode, languages=self.languages, paths=self.paths, kinds=self.kinds)


def limit() -> Any:
    """Declare the option that says how many hits are wanted."""
    return option("-k", "--limit", least=1, metavar="N", help="Print at most N hits.  [default: 10]")


def no_refresh() -> Any:
    """Declare the option that takes an index as it is."""
    return flag("--no-refresh", help="Search the index as it is, without updating it.")
