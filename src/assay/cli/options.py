"""The options that commands share, so that one name means one thing everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from assay.settings import Settings
    from assay.types import Mode, Query

VERBOSE = frozenset({"-v", "--verbose"})

Command = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the options say about settings."""

    location: str | None
    encoder: str | None
    config: Path | None
    changes: tuple[str, ...]
    verbose: bool

    def settings(self, root: Path, *, limit: int | None = None) -> Settings:
        """Return the settings of a root: its file, then `--set`, then the options that have a name of their own."""
        from assay.settings import file_of, load
        from assay.store.place import located

        named = {
            "index.location": located(self.location, Path.cwd()) if self.location else None,
            "encoder.spec": self.encoder,
            "search.limit": limit,
        }
        options = {key: value for key, value in named.items() if value is not None}
        return load(file_of(root, self.config), self.changes, options)


@dataclass(frozen=True, slots=True)
class Filters:
    """What the options say about the corpus to keep."""

    mode: Mode | None
    languages: tuple[str, ...]
    paths: tuple[str, ...]
    kinds: tuple[str, ...]

    def queries(self, texts: Sequence[str]) -> list[Query]:
        """Return checked queries that keep this."""
        from assay.assemble import queries_of

        return queries_of(texts, mode=self.mode, languages=self.languages, paths=self.paths, kinds=self.kinds)


@dataclass(frozen=True, slots=True)
class Judging:
    """What the options say about who judges what nobody judged."""

    spec: str
    depth: int
    budget: str


def form(*forms: str) -> Callable[[Command], Command]:
    """Return the option that chooses between output formats; the first is the default."""
    return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help="How to print.")


def corpus(command: Command) -> Command:
    """Add the option that says where the checkout of a ground truth lies."""
    text = "The checkout that FILE speaks of."
    return click.option("--corpus", type=click.Path(path_type=Path), metavar="FOLDER", help=text)(command)


def source(command: Command) -> Command:
    """Add the option that says how a ground truth is written, handed over as `source`."""
    text = "The format of FILE.  [default: what it looks like]"
    return click.option("--from", "source", default="", metavar="FORM", help=text)(command)


def limit(command: Command) -> Command:
    """Add the option that says how many hits are wanted."""
    text = "Print at most N hits.  [default: 10]"
    return click.option("-k", "--limit", type=click.IntRange(min=1), metavar="N", help=text)(command)


def no_refresh(command: Command) -> Command:
    """Add the option that takes an index as it is."""
    return click.option("--no-refresh", is_flag=True, help="Search the index as it is; changed files are not read.")(
        command
    )


def with_settings(command: Command) -> Command:
    """Add the options that decide what a command runs with, handed over as `chosen`."""

    @wraps(command)
    def bundled(*args: Any, **given: Any) -> None:
        chosen = Chosen(**{name: given.pop(name) for name in Chosen.__slots__})
        command(*args, chosen=chosen, **given)

    return _all(
        bundled,
        click.option("--index", "location", metavar="PLACE", help="A folder, or lance:URI; else the user's cache."),
        click.option("--encoder", metavar="SPEC", help="What turns text into vectors.  [default: static:default]"),
        click.option("--config", type=click.Path(path_type=Path), metavar="FILE", help="Read FILE, not assay.toml."),
        click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change one setting. Repeatable."),
        click.option("-v", "--verbose", is_flag=True, help="Say more; show the traceback of an error."),
    )


def with_filters(command: Command) -> Command:
    """Add the options that say what to keep of a corpus, handed over as `filters`."""

    @wraps(command)
    def bundled(*args: Any, **given: Any) -> None:
        filters = Filters(**{name: given.pop(name) for name in Filters.__slots__})
        command(*args, filters=filters, **given)

    return _all(
        bundled,
        click.option("--lang", "languages", multiple=True, metavar="NAME", help="Keep a language. Repeatable."),
        click.option(
            "--path", "paths", multiple=True, metavar="GLOB", help="Keep paths; !GLOB leaves out. Repeatable."
        ),
        click.option("--kind", "kinds", multiple=True, metavar="NAME", help="Keep a kind of chunk. Repeatable."),
        click.option(
            "--mode",
            type=click.Choice(["all", "code", "docs"]),
            help="Find code (the default), prose, or both (the default with other filters).",
        ),
    )


def unseen(command: Command) -> Command:
    """Add the options that have unjudged answers judged, handed over as `judging`."""

    @wraps(command)
    def bundled(*args: Any, **given: Any) -> None:
        names = {"spec": "judge_unseen", "depth": "judge_depth", "budget": "judge_budget"}
        judging = Judging(**{name: given.pop(option) for name, option in names.items()})
        command(*args, judging=judging, **given)

    depth = click.IntRange(min=1)
    text = "Have unjudged answers judged, and measure with these labels, too: signals, or CONFIG:CHAT."
    return _all(
        bundled,
        click.option("--judge-unseen", default="", metavar="SPEC", help=text),
        click.option("--judge-depth", type=depth, default=10, show_default=True, metavar="N", help="Of each query."),
        click.option("--judge-budget", default="", metavar="AMOUNT", help="Stop before more is spent: 5usd, 2Mtok."),
    )


def _all(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
