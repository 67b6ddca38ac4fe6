"""Describe the units of open indexes with a language model, or add descriptions that are already stored.

The index is whole at any time: units are described while it answers as it did, kept as they come, and then the files
that they stand in are indexed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from assay.io.files import alone
from assay.llm.endpoint import price_of
from assay.operations.indexes import descriptions_file
from assay.operations.open_chat import budget_of, chat_name, open_chat
from assay.operations.workspace import Workspace
from assay.protocols import Progress
from assay.search.descriptions import (
    DescribeForecast,
    DescribeReport,
    Descriptions,
    author_of,
    describe,
    forecast,
    to_describe,
)


def describe_indexes(  # noqa: PLR0913  who describes, and at what cost
    opened: Sequence[Workspace],
    chat: str,
    *,
    budget: str = "",
    rate: str = "",
    workers: int = 8,
    progress: Progress | None = None,
) -> list[tuple[Workspace, DescribeReport]]:
    """Describe the units of workspaces, which share the budget; return each workspace, and the result.

    `budget` is as `5usd` or `2Mtok`, `rate` a minute as `500req` or `200ktok`, empty for none; `workers` counts prompts
    at a time.
    """
    snapshots = [workspace.snapshot for workspace in opened]  # refused here, before anything is paid for
    with ExitStack() as stack:
        store = stack.enter_context(closing(Descriptions(descriptions_file())))
        model = open_chat(chat, stack, budget=budget_of(budget) if budget else None, rate=rate)
        reports = []
        for workspace, snapshot in zip(opened, snapshots, strict=True):
            with alone(_lock(workspace)):  # another process may describe the same, which would be paid for twice
                units = to_describe(snapshot.living(), store, author_of(model.name))
                reports.append(describe(units, model, store, workers=workers, progress=progress))
    return [*zip(take_descriptions(opened, progress), reports, strict=True)]


def take_descriptions(
    opened: Sequence[Workspace], progress: Progress | None = None, *, patience_s: float | None = None
) -> list[Workspace]:
    """Return workspaces whose indexes hold the stored descriptions; no model is called."""
    held = [one.index.describe(progress, patience_s=patience_s) for one in opened]
    return [
        replace(one, report=replace(one.report, chunks=now.chunks, described=now.described))
        for one, now in zip(opened, held, strict=True)
    ]


def describe_forecast(opened: Sequence[Workspace], chat: str) -> tuple[list[DescribeForecast], float]:
    """Estimate what describing each workspace would take, and the cost in USD of all; nan if no price is known."""
    author = author_of(chat_name(chat))
    with closing(Descriptions(descriptions_file())) as store:
        plans = [forecast(to_describe(workspace.snapshot.living(), store, author)) for workspace in opened]
    price = price_of(chat)
    return plans, price.of(sum(plan.tokens_in for plan in plans), sum(plan.tokens_out for plan in plans))


def _lock(workspace: Workspace) -> Path:
    digest = sha256(str(workspace.index.root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return descriptions_file().with_name(f"describe-{digest}.lock")
