"""`assay truth`: make, check, clean and translate ground truth; one file a command, loaded when it runs."""

from __future__ import annotations

import click

from assay.cli.lazy import Lazy

COMMANDS = {
    "mine": "Extract ground truth from a repository.",
    "write": "Have a language model write questions.",
    "check": "Find places that are wrong or gone.",
    "audit": "Find duplicates and contradictions.",
    "convert": "Convert between formats.",
    "pool": "Collect results without a judgment.",
    "correct": "Find right answers that it lacks.",
}


@click.command(cls=Lazy, names=COMMANDS, modules="assay.cli.truth_")
def truth() -> None:
    """Extract, write, check, correct and convert ground truth: queries, and the places that answer them."""
