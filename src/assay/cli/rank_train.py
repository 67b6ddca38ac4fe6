"""`assay rank train`: programs with their outcomes in, a neural ranker out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from assay.rank.rows.data import Example

_TOLD = 5


@click.command(short_help="Train a neural ranker.")
@click.argument("files", metavar="DATA...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FOLDER", help="Where to write it.")
@click.option(
    "--base", default="microsoft/codebert-base", show_default=True, metavar="MODEL", help="The model to start from."
)
@click.option(
    "--task",
    default="T",
    show_default=True,
    type=click.Choice(["B", "T", "I", "E", "E+L"]),
    help="What it learns to predict.",
)
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change one setting. Repeatable.")
@click.option("--resume", is_flag=True, help="Go on with a run that was cut off.")
@click.option("--onnx", is_flag=True, help="Also write model.onnx, which ranks without torch.")
@click.option("--int8", is_flag=True, help="With --onnx: weights of 8 bits, a quarter of the size, less exact.")
@click.option("-v", "--verbose", is_flag=True, expose_value=False, help="Show the traceback of an error.")
def train(
    files: tuple[Path, ...],
    out: Path,
    base: str,
    task: str,
    changes: tuple[str, ...],
    *,
    resume: bool,
    onnx: bool,
    int8: bool,
) -> None:
    """Train a neural ranker: a transformer that reads a task and a program, and predicts how the program fails.

    DATA are files that 'assay rank data' wrote, with rows to learn from and rows to validate on. MODEL is any encoder
    or decoder, by its name on the hub or its folder. The tasks are those of the paper: B is right or wrong, T tells
    wrong answers from errors, I and E tell the kinds of wrong answers and of errors, E+L also tells the line.

    Use it with --ranker neural:FOLDER. Beside the ranker, FOLDER has the figures of each step in log.jsonl.
    """
    from assay.rank.neural.settings import NeuralSettings
    from assay.settings import changed

    if int8 and not onnx:
        raise InputError("--int8 is about model.onnx; add --onnx")
    settings = changed(NeuralSettings(base=base, task=task), changes)
    run, write_onnx = _parts(onnx=onnx)
    examples = list(_examples(files))
    found = run(examples, out, settings, lambda line: click.echo(line, err=True), resume=resume)
    click.echo("held out: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    if onnx:
        click.echo(f"model.onnx: at most {write_onnx(out, int8=int8):.1e} off from torch")
    click.echo(f"written to {out}; use it with --ranker neural:{out}")


def _parts(*, onnx: bool) -> tuple[Any, Any]:
    """Return what trains and what exports; a library that is missing is told before the training, not after."""
    try:
        from assay.rank.neural.train import train as run
    except ModuleNotFoundError as error:
        raise MissingExtra("training a ranker", error.name or "torch", "train") from error
    if not onnx:
        return run, None
    from assay.rank.neural.export import export

    return run, export


def _examples(files: tuple[Path, ...]) -> Iterator[Example]:
    """Yield the rows of all files; those that cannot be used are told."""
    from assay.rank.rows.formats import read

    for file in files:
        dataset = read(file)
        for problem in dataset.problems[:_TOLD]:
            click.echo(f"assay: {problem}", err=True)
        if len(dataset.problems) > _TOLD:
            click.echo(f"assay: {file}: {len(dataset.problems) - _TOLD:,} more rows left out", err=True)
        yield from dataset.examples
