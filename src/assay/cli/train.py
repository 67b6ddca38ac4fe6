"""`assay train`: data in, a part of the product that was learned from it out."""

from __future__ import annotations

import click

from assay.cli.lazy import Lazy

COMMANDS = {
    "encoder": "Train a static encoder, or fine-tune a transformer.",
    "generator": "Fine-tune a language model that writes programs.",
    "judge": "Train the weights of the judge that asks no model.",
    "ranking": "Train the weights of the ranking.",
}


@click.command(cls=Lazy, names=COMMANDS, modules="assay.cli.train_")
def train() -> None:
    """Train a part on data of your own."""
