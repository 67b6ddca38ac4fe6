"""`assay judge`: label pairs of a query and a code, and look at how that went; one file a command."""

from __future__ import annotations

import click

from assay.cli.lazy import Lazy

COMMANDS = ("run", "agreement", "prefer", "accounts", "replay", "export")


@click.command(cls=Lazy, names=COMMANDS, modules="assay.cli.judge_", short_help="Label pairs of a query and a code.")
def judge() -> None:
    """Label pairs of a query and a code: by test-driven agents, or by evidence without a model."""
