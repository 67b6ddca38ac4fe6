"""`assay rank train`: train a neural ranker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.errors import InputError
from assay.io.terminal import say_problems
from assay.parameters import Options, argument, flag, option, verbose
from assay.settings import changed
from assay.values import Problem

if TYPE_CHECKING:
    from assay.rank.dataset.rows import Example


class RankTrainOptions(Options):
    """Options of `assay rank train`."""

    files: tuple[Path, ...] = argument("DATA...", required=True)
    out: Path = option("--out FOLDER", "Where the ranker goes.", required=True)
    base: str = option("--base MODEL", "The model to start from.", default="microsoft/codebert-base")
    task: str = option("--task", "What it learns to predict.", default="T", choices=("B", "T", "I", "E", "E+L"))
    recipe: str = option(
        "--recipe", "The settings that --set changes.", default="default", choices=("default", "paper")
    )
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting. Repeatable.")
    resume: bool = flag("--resume", "Continue an interrupted run.")
    onnx: bool = flag("--onnx", "Also write model.onnx, which ranks without torch.")
    int8: bool = flag("--int8", "With --onnx: weights of 8 bits, a quarter of the size, less exact.")
    verbose: bool = verbose("Name every problem; show the traceback of an error.")


@command(RankTrainOptions, example="assay rank train data.parquet --task T --out runs/ternary")
def train(given: RankTrainOptions) -> None:
    """Train a neural ranker: a transformer that reads a task and a program, and predicts how the program fails.

    DATA are files that 'assay rank data' wrote, with rows to learn from and rows to validate on. They are read line by
    line, and only their tokens are kept in memory. MODEL is any encoder or decoder, by its name on the hub or its
    folder. The tasks are those of the paper: B is right or wrong, T tells wrong answers from errors, I and E tell the
    kinds of wrong answers and of errors, E+L also tells the line.

    --recipe paper trains as the paper does; the default also weighs tasks alike and stops when nothing gets better. The
    settings are in docs/ranking.md. For several processes, a GPU each: accelerate launch -m assay rank train ...

    Use it with --ranker neural:FOLDER. Beside the ranker, FOLDER has the figures of each step in log.jsonl.
    """
    from assay.rank.neural.settings import RECIPES, NeuralSettings
    from assay.train.settings import extra_of

    if given.int8 and not given.onnx:
        raise InputError("--int8 is about model.onnx; add --onnx")
    base = given.base.removeprefix("hf:")
    settings = changed(NeuralSettings(base=base, task=given.task, **RECIPES[given.recipe]), given.changes)
    for file in given.files:
        if not file.exists():
            raise InputError(f"no such file: '{file}'")
    with extra_of("training a ranker"):
        from assay.encode.hub import check_is_there
    check_is_there(settings.base)  # before a library of seconds is loaded
    with extra_of("training a ranker"):
        from assay.train.neural import train as run
        from assay.train.run import is_main_process
    if given.onnx:  # what is missing is named before the training, not after it
        from assay.rank.neural.model import check_export, export

        check_export()
    found = run(_examples(given.files, every=given.verbose), given.out, settings, print_line, resume=given.resume)
    if not is_main_process():  # another of several speaks
        return
    click.echo("held out: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()))
    if given.onnx:
        click.echo(f"model.onnx: at most {export(given.out, int8=given.int8):.1e} off from torch")
    click.echo(f"written to {given.out}; use it with --ranker neural:{given.out}")


def _examples(files: Sequence[Path], *, every: bool) -> Iterator[Example]:
    """Yield the rows of all files, and name those that cannot be used."""
    from assay.rank.dataset.formats import stream

    for file in files:
        problems = list[Problem]()
        yield from stream(file, problems)
        say_problems(problems, every=every)
