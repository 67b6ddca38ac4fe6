"""`assay rank mix`: data sets in, one out, in the same or another format."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import options
from assay.cli.rank_parts import tell, verbose_option


@click.command(short_help="Mix data sets to one, or write one in another format.")
@click.argument("files", metavar="DATA...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="PLACE", help="Where the data set goes.")
@click.option(
    "--size",
    type=click.Choice(["large", "small"]),
    default="large",
    show_default=True,
    help="All rows, or a random part of each, together as many as one has.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which rows are drawn.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw how frequent each class is.")
@options.form("text", "json")
@verbose_option
def mix(files: tuple[Path, ...], out: Path, size: str, seed: int, plot: Path | None, form: str, verbose: bool) -> None:
    """Mix data sets to one: mixed-large has all rows, mixed-small as many as one of them has.

    DATA are data sets in any format that is read here: JSON lines, .parquet, or a folder as the code of CodeRanker has
    it. With one of them this writes it in the format of PLACE. Tasks keep their split, and a task that would then stand
    in two splits is an error.
    """
    from assay.cli.rank_data import show
    from assay.cli.workspaces import counted, say
    from assay.errors import InputError
    from assay.rank.rows import formats, splits

    sets = {}
    for file in files:
        if str(file) in sets:
            raise InputError(f"'{file}' is named twice")
        held = formats.read(file)
        tell(held.problems, verbose=verbose)
        sets[str(file)] = held.examples
    rows = splits.mix(sets, size, seed=seed)
    leaked = splits.leaks(rows)
    if leaked:
        named = ", ".join(leaked[:3])
        raise InputError(
            f"{counted(len(leaked), 'task')} would stand in two splits ({named}): make the data sets with one --seed"
        )
    formats.write(out, rows)
    show(rows, form, plot)
    say(f"{counted(len(rows), 'program')} written to {out}")
