"""`assay truth`: make, check, clean and translate ground truth; one file a command, loaded when it runs."""

from __future__ import annotations

import click

from assay.cli.lazy import Lazy

COMMANDS = ("mine", "check", "audit", "convert", "pool")


@click.command(
    cls=Lazy, names=COMMANDS, modules="assay.cli.truth_", short_help="Make, check and translate ground truth."
)
def truth() -> None:
    """Make, check, clean and translate ground truth: queries, and what answers them."""
