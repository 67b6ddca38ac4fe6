"""`assay index`: build, update and describe indexes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from assay.cli.adapter import command
from assay.cli.options import SettingsOptions
from assay.errors import InputError, UnwritableIndex, counted, printable
from assay.io.files import dumps
from assay.io.terminal import say, say_problems
from assay.parameters import Options, argument, flag, form, option, shared
from assay.runs import options
from assay.runs.options import ClusterOptions

if TYPE_CHECKING:
    from assay.operations.workspace import Workspace
    from assay.search.descriptions import DescribeReport
    from assay.settings import ClusterSettings


class IndexOptions(Options):
    """Options of `assay index`."""

    roots: tuple[str, ...] = argument("[PATH]...")
    describe: str = option(
        "--describe CHAT", "Have a language model, PROVIDER:MODEL, describe every unit of code in a sentence."
    )
    dry_run: bool = flag("--dry-run", "With --describe, print an estimate of its cost, and describe nothing.")
    budget: str = options.budget("that --describe may")
    rate: str = options.rate("that --describe may ask")
    workers: int = option("--workers N", "Concurrent prompts of --describe.", least=1, default=8)
    where: ClusterOptions = shared(ClusterOptions)
    gpus: float = option(
        "--gpus N",
        "With --on, GPUs per worker; with 0.5, two workers share one.",
        least=0,
        default=0,
    )
    prune: bool = flag("--prune", "Remove the indexes in the cache whose folders are gone, and index nothing.")
    form: str = form("text", "json")
    settings_options: SettingsOptions = shared(SettingsOptions)


@command(IndexOptions, example="assay index .")
def index(options: IndexOptions) -> int:
    """Build or update an index.

    A search does this by itself. This command does it beforehand, reads all of an index, and rebuilds it if it is
    corrupt. Each PATH is a folder or the URL of a git repository, by default the current folder.

    With --describe, the code is sent to a language model, which describes each unit; descriptions are searched with
    the code. No unit is described twice; an interrupted run describes the rest.

    An interrupted first index continues from what it last kept, some seconds before; the first index of a git worktree
    begins with that of another worktree of its repository. --prune removes the indexes of folders that are gone.

    With --on ray, several repositories are indexed by the machines of a cluster, one each at a time; all of them need
    the same file system.

    Exits 0 if there is something to search, 1 if there is nothing or --describe stopped early, 2 on an error, 3 if no
    machine of the cluster is left.
    """
    from assay.operations.workspace import summary

    if options.prune:
        return _pruned(options)
    cluster = _checked_cluster(options)
    opened = _indexed_there(options, cluster) if cluster else _opened(options.roots or (".",), options.settings_options)
    if options.describe and options.dry_run:
        _echo_forecast(opened, options)
        return 0
    reports: list[DescribeReport] = []
    if options.describe:
        opened, reports = _described(opened, options)
    elif not cluster:
        opened = _with_known_descriptions(opened)
    if options.form == "json":
        rows = [asdict(report) | {"refused": len(report.refused)} for report in reports]
        click.echo(dumps(_about(opened) | ({"descriptions": rows} if rows else {})))
    else:
        for one in opened:
            click.echo(f"{one.name}: {summary(one.report)}")
        for one, report in zip(opened, reports, strict=False):
            click.echo(f"{one.name}: {', '.join(_text(report))}")
    is_whole = all(one.report.files for one in opened) and not any(report.stopped for report in reports)
    return 0 if is_whole else 1


def _pruned(options: IndexOptions) -> int:
    """Remove the indexes of folders that are gone, and list them."""
    from assay.operations.indexes import prune_indexes

    if options.roots or options.describe or options.where.cluster or options.settings_options.location:
        raise InputError("--prune goes through all indexes in the cache: leave out PATH, --index, --describe and --on")
    pruned = prune_indexes()
    if options.form == "json":
        click.echo(dumps({"pruned": [one._asdict() for one in pruned]}))
        return 0
    for one in pruned:
        click.echo(f"{printable(one.root)} is gone: its index was removed, {one.freed_bytes / 1e6:.1f} MB freed")
    if not pruned:
        click.echo("no index in the cache is of a missing folder")
    return 0


def _checked_cluster(options: IndexOptions) -> ClusterSettings | None:
    """Return the cluster on which to index, or None; refuse options that need another one."""
    cluster = options.where.cluster
    if options.gpus and not cluster:
        raise InputError("--gpus is for --on ray: give that, too")
    if options.describe and cluster:
        raise InputError("--describe waits for its model, and a cluster does not help: leave out --on")
    if not options.describe and (options.budget or options.rate or options.dry_run):
        raise InputError("--budget, --rate and --dry-run are for --describe CHAT: give that, too")
    return cluster


def _indexed_there(options: IndexOptions, cluster: ClusterSettings) -> list[Workspace]:
    """Index on a cluster; repositories that fail are listed, and the exit status is 1."""
    from assay.cli.progress import progress
    from assay.operations.cluster import index_on_cluster

    with progress() as watch:
        opened, problems = index_on_cluster(
            options.roots or (".",), options.settings_options.settings, cluster, say, gpus=options.gpus, progress=watch
        )
    for one in opened if problems else ():
        say(f"{one.name}: {counted(one.report.chunks, 'chunk')}")
    say_problems(problems, every=True)
    if problems:
        raise InputError(
            f"{len(problems):,} of {len(problems) + len(opened):,} repositories were not indexed, as named above"
        )
    return opened


def _described(opened: list[Workspace], options: IndexOptions) -> tuple[list[Workspace], list[DescribeReport]]:
    """Describe the units of indexes, and list those that were refused."""
    from assay.cli.progress import progress
    from assay.operations.describe_index import describe_indexes

    with progress() as watch:
        described = describe_indexes(
            opened, options.describe, budget=options.budget, rate=options.rate, workers=options.workers, progress=watch
        )
    say_problems(
        [problem for _, report in described for problem in report.refused], every=options.settings_options.verbose
    )
    return [one for one, _ in described], [report for _, report in described]


def _with_known_descriptions(opened: list[Workspace]) -> list[Workspace]:
    """Add descriptions to indexes that the user's cache has received since they were built."""
    from assay.operations.indexes import descriptions_file

    if not descriptions_file().exists():
        return opened
    from assay.operations.describe_index import take_descriptions

    taken = list(opened)
    for at, one in enumerate(opened):
        if one.settings.index.refresh and not (one.index.folder.shared or one.report.stale):
            with suppress(UnwritableIndex, BlockingIOError):  # it is searched as it is
                taken[at] = take_descriptions([one], patience_s=0.0)[0]
    return taken


def _text(report: DescribeReport) -> Iterator[str]:
    yield f"{counted(report.described, 'unit')} described now"
    if report.refused:
        yield f"{len(report.refused):,} refused"
    if report.remaining:
        yield f"{report.remaining:,} left, which the same command describes"
    yield f"{report.tokens:,} tokens, {_usd(report.usd)}"
    if report.stopped:
        yield f"stopped: {report.stopped}"


def _usd(cost: float) -> str:
    return "cost unknown" if isnan(cost) else f"${cost:.4f}"


def _echo_forecast(opened: list[Workspace], options: IndexOptions) -> None:
    from assay.operations.describe_index import describe_forecast

    plans, usd = describe_forecast(opened, options.describe)
    if options.form == "json":
        click.echo(dumps({"forecasts": list(map(asdict, plans)), "usd": None if isnan(usd) else round(usd, 4)}))
        return
    for one, plan in zip(opened, plans, strict=True):
        work = f"{counted(plan.units, 'unit')} to describe"
        click.echo(f"{one.name}: {work}, about {plan.tokens_in:,} tokens in and {plan.tokens_out:,} out")
    click.echo(f"{_usd(usd)} by the listed price of {options.describe}")


def _opened(paths: Sequence[str], settings_options: SettingsOptions) -> list[Workspace]:
    """Open every root, check every byte of its index, and print the notes on it."""
    from assay.cli.progress import progress
    from assay.operations.local_roots import LocalRoots
    from assay.operations.open_roots import RootOpening

    with progress() as watch:
        how = RootOpening(settings_options.settings, progress=watch, check_all=True, strict=True)
        return list(LocalRoots(paths, how, say, is_full=settings_options.verbose).opened().workspaces)


def _about(opened: Sequence[Workspace]) -> dict[str, Any]:
    """Return a summary of the indexes of some roots for JSON: their totals, then each."""
    roots = list(map(_as_dict, opened))
    return {**{key: sum(root[key] for root in roots) for key in ("files", "chunks")}, "roots": roots}


def _as_dict(workspace: Workspace) -> dict[str, Any]:
    index, report = workspace.index, workspace.report
    return {
        "root": str(index.root),
        "location": index.location,
        "encoder": index.encoder.name,
        "files": report.files,
        "chunks": report.chunks,
        "described": report.described,
        **report.changed.counts(),
        "skipped": len(report.skipped),
        "notes": len(report.notes),
        "rebuilt_because": report.rebuilt_because,
        "stale": report.stale,
        "seconds": round(report.seconds, 3),
    }
