"""`assay rank`: order candidate programs, and everything that rankers are made and measured with."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.lazy import Lazy
from assay.errors import nearest

COMMANDS = {
    "order": "Order candidate programs: best first.",
    "eval": "Measure orders: ranked pass@k beside unranked.",
    "data": "Make a dataset from samples.",
    "mix": "Mix datasets into one, or convert one.",
    "sample": "Let a model write programs for tasks.",
    "train": "Train a neural ranker.",
    "compare": "Compare rankers over sets, models and prompts.",
}
DEFAULT = "order"


class _Ranking(Lazy):
    """Commands, the first of which is meant where none is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the default command in front of what is no command; a name of nothing is left to be told."""
        first = args[0] if args else "--help"
        is_path = Path(first).suffix or "/" in first or Path(first).exists()
        if first not in {*COMMANDS, "-h", "--help"} and (first.startswith("-") or is_path):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the arguments, or say that they name neither samples nor a command."""
        if args[0] not in COMMANDS:
            ctx.fail(f"no file or folder '{args[0]}', and no command of that name; {nearest(args[0], list(COMMANDS))}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=_Ranking, names=COMMANDS, modules="assay.cli.rank_", subcommand_metavar="SAMPLES | COMMAND [ARGS]..."
)
def rank() -> None:
    """Order candidate programs by how likely each is right, without running them.

    'assay rank SAMPLES' is short for 'assay rank order SAMPLES'. The other commands make the data of a ranker, train
    one, and measure how good an order is.
    """
