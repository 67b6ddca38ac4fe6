"""An open index and the spec of a language model in, the index with descriptions out, and what that took.

The index is whole at any time: units are described while it answers as it did, kept as they come, and then the files
that they stand in are indexed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from assay.assemble.indexes import descriptions_file
from assay.assemble.open_chat import budget_of, open_chat
from assay.assemble.workspace import Workspace
from assay.io.files import alone
from assay.llm.endpoint import price_of
from assay.protocols import Progress
from assay.search.descriptions import DescribeForecast, DescribeReport, Descriptions, describe, forecast, to_describe
from assay.search.folder_index import IndexReport


@dataclass(frozen=True, slots=True)
class DescribeOptions:
    """Who describes, and at what cost."""

    chat: str
    budget: str = ""
    """As `5usd` or `2Mtok`; empty is none."""
    rate: str = ""
    """A minute, as `500req` or `200ktok`; empty is none."""
    workers: int = 8
    """Prompts at a time."""


def describe_indexes(
    opened: Sequence[Workspace], options: DescribeOptions, progress: Progress | None = None
) -> list[tuple[Workspace, DescribeReport]]:
    """Return each workspace with its units described, and what came of it; they share the budget."""
    snapshots = [workspace.snapshot for workspace in opened]  # refused here, before anything is paid for
    with ExitStack() as stack:
        store = stack.enter_context(closing(Descriptions(descriptions_file())))
        budget = budget_of(options.budget) if options.budget else None
        chat = open_chat(options.chat, stack, budget=budget, rate=options.rate)
        reports = []
        for workspace, snapshot in zip(opened, snapshots, strict=True):
            with alone(_lock(workspace)):  # another process may describe the same, which would be paid for twice
                units = to_describe(snapshot.living(), store)
                reports.append(describe(units, chat, store, workers=options.workers, progress=progress))
    return [(_refreshed(one, progress), report) for one, report in zip(opened, reports, strict=True)]


def describe_forecast(opened: Sequence[Workspace], options: DescribeOptions) -> tuple[list[DescribeForecast], float]:
    """Return what describing each workspace would take, and the cost in USD of all; nan where no price is known."""
    with closing(Descriptions(descriptions_file())) as store:
        plans = [forecast(to_describe(workspace.snapshot.living(), store)) for workspace in opened]
    price = price_of(options.chat)
    return plans, price.of(sum(plan.tokens_in for plan in plans), sum(plan.tokens_out for plan in plans))


def _lock(workspace: Workspace) -> Path:
    digest = sha256(str(workspace.index.root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return descriptions_file().with_name(f"describe-{digest}.lock")


def _refreshed(workspace: Workspace, progress: Progress | None) -> Workspace:
    before, held = workspace.report, workspace.index.describe(progress)
    return replace(workspace, report=_joined(before, held))


def _joined(before: IndexReport, held: IndexReport) -> IndexReport:
    """Return what a refresh did, with what the index holds since."""
    return replace(before, chunks=held.chunks, described=held.described)
