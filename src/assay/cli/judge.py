"""`assay judge`: label pairs of a query and a code, and look at how that went; one file a command."""

from __future__ import annotations

import click

from assay.cli.lazy import Lazy

COMMANDS = {
    "run": "Label pairs; continue an interrupted run.",
    "label": "Let people label pairs on a page.",
    "agreement": "Compare labels with the truth and with one another.",
    "prefer": "Vote blindly between two sets of answers.",
    "accounts": "Print what records cost, and what more pairs would.",
    "replay": "Compute verdicts again from their records.",
    "export": "Write records as a benchmark.",
}


@click.command(cls=Lazy, names=COMMANDS, modules="assay.cli.judge_")
def judge() -> None:
    """Label pairs of a query and a code: by test-driven agents, by evidence without a model, or by people."""
