"""`assay rank mix`: mix datasets into one, or convert one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.cli.adapter import command
from assay.errors import InputError, counted, nearest
from assay.io.terminal import say, say_problems
from assay.parameters import Options, argument, flag, form, option, verbose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.rank.dataset.rows import Example


class MixOptions(Options):
    """What is mixed, and where it goes."""

    files: tuple[Path, ...] = argument("DATA...", required=True)
    out: Path = option("--out PLACE", "Where the dataset goes: .jsonl or .parquet.", required=True)
    size: str = option(
        "--size",
        "large: all rows; small: a random part of each, in total as many as one has.",
        choices=("large", "small"),
        default="large",
    )
    models: tuple[str, ...] = option("--model NAME", "Keep only programs of this model. Repeatable.")
    train: float = option("--train FRACTION", "The fraction of the training tasks to keep.", default=1.0)
    strip_examples: bool = flag("--strip-examples", "Leave the example tests out of the prompts.")
    seed: int = option("--seed N", "The random seed that draws the rows.", default=0)
    plot: Path | None = option("--plot FILE", "Draw how frequent each class is, as SVG or PNG.")
    format: str = form("text", "json")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(MixOptions, example="assay rank mix mbpp.parquet apps.jsonl --out mixed.parquet")
def mix(given: MixOptions) -> None:
    """Mix datasets into one: mixed-large has all rows, mixed-small as many as one of them has.

    DATA are datasets in any format that is read here: JSON lines, .parquet, or a folder in the format of
    CodeRanker's code. With a single one, this command converts it to the format of PLACE. Tasks keep their split; a
    task that would be in two splits is an error.
    """
    from assay.cli.rank_data import show
    from assay.rank.dataset import formats
    from assay.rank.dataset.rows import leaks, mix

    formats.check_place(given.out)
    sets = {}
    for file in given.files:
        if str(file) in sets:
            raise InputError(f"'{file}' is named twice")
        held = formats.read(file)
        say_problems(held.problems, every=given.verbose)
        sets[str(file)] = _chosen(given, file, held.examples)
    rows = mix(sets, given.size, seed=given.seed)
    if leaked := leaks(rows):
        what = f"{counted(len(leaked), 'task')} would stand in two splits ({', '.join(leaked[:3])})"
        raise InputError(f"{what}: make the data sets with one --seed")
    formats.write(given.out, rows)
    show(rows, given.format, given.plot)
    say(f"{counted(len(rows), 'program')} written to {given.out}")


def _chosen(given: MixOptions, file: Path, rows: Sequence[Example]) -> list[Example]:
    """Return the rows of a dataset that were asked for, with the prompts that were asked for."""
    from assay.rank.dataset.rows import fewer_tasks, without_examples

    known = sorted({row.model for row in rows})
    for name in given.models:
        if name not in known:
            raise InputError(f"'{file}' has no program of the model '{name}'; {nearest(name, known)}")
    rows = fewer_tasks([row for row in rows if not given.models or row.model in given.models], given.train, given.seed)
    return [replace(row, prompt=without_examples(row.prompt)) for row in rows] if given.strip_examples else list(rows)
