"""Declare the options that commands share, so that each has one meaning everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.parameters import Options, flag, option, parameters_of, verbose

if TYPE_CHECKING:
    from assay.corpus.addresses import CloneRules
    from assay.settings import Settings


class SettingsOptions(Options):
    """Options of settings."""

    location: str | None = option(
        "--index PLACE", "Where the index is: a folder, or s3://BUCKET/PREFIX.  [default: in the user's cache]"
    )
    encoder: str | None = option("--encoder SPEC", "The encoder, such as hf:NAME.  [default: static:default]")
    config: Path | None = option("--config FILE", "The settings file.  [default: assay.toml in the searched folder]")
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change a setting, as in search.limit=5. Repeatable.")
    verbose: bool = verbose()

    def settings(self, root: Path | None, *, limit: int | None = None) -> Settings:
        """Return the settings of a root; None is for files of others, whose own settings are never read."""
        from assay.operations.root_settings import UserSettings, root_settings
        from assay.store.index_location import located

        named = {
            "index.location": located(self.location, Path.cwd()) if self.location else None,
            "encoder.spec": self.encoder,
            "search.limit": limit,
        }
        options = {key: value for key, value in named.items() if value is not None}
        return root_settings(root, UserSettings(self.config, self.changes, options))

    def folders(self, roots: Sequence[str], verb: str) -> list[Path]:
        """Return the folders that were named, or the current one; refuse one index for several."""
        from assay.operations.indexes import root_of
        from assay.store.index_location import holds_many

        folders = list(dict.fromkeys(map(root_of, roots or (".",))))
        if self.location and len(folders) > 1 and not holds_many(self.location):
            raise InputError(f"--index names one index, and several paths were given: {verb} them one by one")
        return folders

    def served(self, roots: Sequence[str]) -> dict[Path, Settings]:
        """Return the roots to serve with their settings: folders, and folders that represent indexes in a bucket."""
        from assay.store.index_location import is_bucket

        places = [place for place in roots if is_bucket(place)]
        named = [root for root in roots if root not in places]
        found = {root: self.settings(root) for root in (self.folders(named, "serve") if named or not roots else ())}
        for place in places:
            from assay.operations.published import published_roots

            found |= published_roots(place, self.settings(Path(place)))
        return found


class RootsOptions(Options):
    """Options that select roots."""

    places: tuple[str, ...] = option(
        "--roots FILE|GLOB",
        "Search the folders and URLs that FILE lists, one a line, or the folders that match GLOB. Repeatable.",
    )

    def roots(self, paths: Sequence[str]) -> list[str]:
        """Return the roots to search, by default the current folder."""
        from assay.operations.open_roots import roots_in

        return [*paths, *roots_in(self.places)] or ["."]


def no_refresh() -> Any:
    """Declare the option that uses an index as it is."""
    return flag("--no-refresh", help="Search the index as it is, without updating it.")


MAX_WORKERS = 31


class CloneOptions(Options):
    """Options for repositories that clients name by URL."""

    clones: bool = flag("--clone", "Also search repositories that clients name by https URL; clone them.")
    hosts: tuple[str, ...] = option(
        "--clone-host GLOB", "With --clone, clone only from hosts that match, such as github.com. Repeatable."
    )

    @property
    def rules(self) -> CloneRules:
        """Return the rules of cloning for clients."""
        from assay.corpus.addresses import CloneRules

        if self.hosts and not self.clones:
            raise InputError("--clone-host is for --clone: give that, too")
        return CloneRules(("https",) if self.clones else (), self.hosts)


class ServerOptions(Options):
    """Options of a server."""

    host: str = option(
        "--host ADDRESS", "The address to listen on, or unix:PATH for a proxy on this machine.", default="127.0.0.1"
    )
    public_url: str = option(
        "--public-url URL",
        "Where people open it behind a proxy, as in https://code.example.com; then a token is required.",
    )
    trusted: tuple[str, ...] = option(
        "--trusted-proxy ADDRESS", "Trust X-Forwarded-For from this address or network. Repeatable."
    )
    tokens: Path | None = option(
        "--tokens FILE",
        "Require the token of a person in FILE, which assay token writes; instead of ASSAY_TOKEN.",
        kind="file",
    )
    rate: float = option(
        "--rate N",
        "Maximum requests per second of a person, or of an address without a personal token; 0: no limit.",
        least=0,
        default=100.0,
    )
    workers: int | None = option(
        "--workers N",
        "Answer with N processes, and index in another one; SIGHUP reloads.  [default: one process does all]",
        least=1,
        most=MAX_WORKERS,
    )
    access_log: str = option("--access-log FILE", "Log each request to FILE as a line of JSON; -: standard output.")
    log_queries: bool = flag("--log-queries", "Include queries in the access log.")

    def given_names(self) -> list[str]:
        """Return the options that differ from their defaults, by their names on the command line."""
        changed = (each for each in parameters_of(ServerOptions) if getattr(self, each.name) != each.default)
        return [each.parameter.flags[0] for each in changed]
