"""`assay rank train`: programs with their outcomes in, a neural ranker out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.command import PATH, argument, command, flag, option, verbose
from assay.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from assay.rank.dataset.examples import Example

_TOLD = 5


@dataclass(frozen=True, slots=True)
class RankTrainOptions:
    """Options of `assay rank train`."""

    files: tuple[Path, ...] = argument("DATA...", nargs=-1, required=True, type=PATH)
    out: Path = option("--out", type=PATH, required=True, metavar="FOLDER", help="Where the ranker goes.")
    base: str = option("--base", default="microsoft/codebert-base", metavar="MODEL", help="The model to start from.")
    task: str = option(
        "--task", default="T", type=click.Choice(["B", "T", "I", "E", "E+L"]), help="What it learns to predict."
    )
    changes: tuple[str, ...] = option(
        "--set", multiple=True, metavar="KEY=VALUE", help="Change one setting. Repeatable."
    )
    resume: bool = flag("--resume", help="Continue an interrupted run.")
    onnx: bool = flag("--onnx", help="Also write model.onnx, which ranks without torch.")
    int8: bool = flag("--int8", help="With --onnx: weights of 8 bits, a quarter of the size, less exact.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(RankTrainOptions, example="assay rank train data.parquet --task T --out runs/ternary")
def train(given: RankTrainOptions) -> None:
    """Train a neural ranker: a transformer that reads a task and a program, and predicts how the program fails.

    DATA are files that 'assay rank data' wrote, with rows to learn from and rows to validate on. MODEL is any encoder
    or decoder, by its name on the hub or its folder. The tasks are those of the paper: B is right or wrong, T tells
    wrong answers from errors, I and E tell the kinds of wrong answers and of errors, E+L also tells the line.

    Use it with --ranker neural:FOLDER. Beside the ranker, FOLDER has the figures of each step in log.jsonl.
    """
    from assay.rank.neural.neural_settings import NeuralSettings
    from assay.settings import changed

    if given.int8 and not given.onnx:
        raise InputError("--int8 is about model.onnx; add --onnx")
    settings = changed(NeuralSettings(base=given.base, task=given.task), given.changes)
    run, write_onnx = _parts(onnx=given.onnx)
    examples = list(_examples(given.files))
    found = run(examples, given.out, settings, lambda line: click.echo(line, err=True), resume=given.resume)
    click.echo("held out: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    if given.onnx:
        click.echo(f"model.onnx: at most {write_onnx(given.out, int8=given.int8):.1e} off from torch")
    click.echo(f"written to {given.out}; use it with --ranker neural:{given.out}")


def _parts(*, onnx: bool) -> tuple[Any, Any]:
    """Return what trains and what exports; a library that is missing is told before the training, not after."""
    try:
        from assay.rank.neural.train_neural import train as run
    except ModuleNotFoundError as error:
        raise MissingExtra("training a ranker", error.name or "torch", "train") from error
    if not onnx:
        return run, None
    from assay.rank.neural.export_ranker import export

    return run, export


def _examples(files: tuple[Path, ...]) -> Iterator[Example]:
    """Yield the rows of all files; those that cannot be used are told."""
    from assay.rank.dataset.dataset_formats import read

    for file in files:
        dataset = read(file)
        for problem in dataset.problems[:_TOLD]:
            click.echo(f"assay: {problem}", err=True)
        if len(dataset.problems) > _TOLD:
            click.echo(f"assay: {file}: {len(dataset.problems) - _TOLD:,} more rows left out", err=True)
        yield from dataset.examples
