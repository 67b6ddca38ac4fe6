"""`assay rank train`: train a neural ranker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.command import Options, argument, command, flag, option, verbose
from assay.cli.progress import print_line
from assay.errors import InputError, MissingExtra
from assay.io.terminal import say_problems
from assay.values import Problem

if TYPE_CHECKING:
    from assay.rank.dataset.rows import Example


class RankTrainOptions(Options):
    """Options of `assay rank train`."""

    files: tuple[Path, ...] = argument("DATA...", required=True)
    out: Path = option("--out FOLDER", "Where the ranker goes.", required=True)
    base: str = option("--base MODEL", "The model to start from.", default="microsoft/codebert-base")
    task: str = option(
        "--task", "What it learns to predict.", default="T", type=click.Choice(["B", "T", "I", "E", "E+L", "M"])
    )
    recipe: str = option(
        "--recipe", "The settings that --set changes.", default="default", type=click.Choice(["default", "paper"])
    )
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting. Repeatable.")
    resume: bool = flag("--resume", "Continue an interrupted run.")
    onnx: bool = flag("--onnx", "Also write model.onnx, which ranks without torch.")
    int8: bool = flag("--int8", "With --onnx: weights of 8 bits, a quarter of the size, less exact.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(RankTrainOptions, example="assay rank train data.parquet --task T --out runs/ternary")
def train(given: RankTrainOptions) -> None:
    """Train a neural ranker: a transformer that reads a task and a program, and predicts how the program fails.

    DATA are files that 'assay rank data' wrote, with rows to learn from and rows to validate on. They are read line by
    line, and FOLDER holds their tokens while it learns. MODEL is any encoder or decoder, by its name on the hub or its
    folder. The tasks are those of the paper: B is right or wrong, T tells wrong answers from errors, I and E tell the
    kinds of wrong answers and of errors, E+L also tells the line; M tells errors by what their message says.

    --recipe paper trains as the paper does; the default also weighs tasks alike and stops when nothing gets better. The
    settings are in docs/ranking.md. For several processes, a GPU each: accelerate launch -m assay rank train ...

    Use it with --ranker neural:FOLDER. Beside the ranker, FOLDER has the figures of each step in log.jsonl.
    """
    from assay.rank.neural.settings import RECIPES, NeuralSettings
    from assay.settings import changed

    if given.int8 and not given.onnx:
        raise InputError("--int8 is about model.onnx; add --onnx")
    base = given.base.removeprefix("hf:")
    settings = changed(NeuralSettings(base=base, task=given.task, **RECIPES[given.recipe]), given.changes)
    digest = _check_inputs(given.files, settings.base)
    run, write_onnx = _parts(onnx=given.onnx)
    found = run(_examples(given.files), given.out, settings, print_line, resume=given.resume, data=digest)
    from assay.train.run import is_main_process

    if not is_main_process():  # another of several speaks
        return
    click.echo("held out: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    if given.onnx:
        click.echo(f"model.onnx: at most {write_onnx(given.out, int8=given.int8):.1e} off from torch")
    click.echo(f"written to {given.out}; use it with --ranker neural:{given.out}")


def _check_inputs(files: Sequence[Path], base: str) -> str:
    """Return a hash of the data; what is not there is told before a library of seconds is loaded."""
    from assay.rank.dataset.formats import digest_of

    digest = digest_of(files)
    try:
        from assay.encode.hub import check_is_there
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    check_is_there(base)
    return digest


def _missing(error: ModuleNotFoundError) -> MissingExtra:
    return MissingExtra("training a ranker", error.name or "torch", "train")


def _parts(*, onnx: bool) -> tuple[Any, Any]:
    """Return what trains and what exports; a library that is missing is told before the training, not after."""
    try:
        from assay.train.neural import train as run
    except ModuleNotFoundError as error:
        raise _missing(error) from error
    if not onnx:
        return run, None
    from assay.rank.neural.model import check_export, export

    check_export()
    return run, export


def _examples(files: Sequence[Path]) -> Iterator[Example]:
    """Yield the rows of all files, and name those that cannot be used."""
    from assay.rank.dataset.formats import stream

    for file in files:
        problems = list[Problem]()
        yield from stream(file, problems)
        say_problems(problems, every=False)
