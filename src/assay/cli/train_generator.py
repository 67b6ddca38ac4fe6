"""`assay train generator`: fine-tune a language model on right programs."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.parameters import Options, argument, flag, option, verbose
from assay.settings import changed


class TrainGeneratorOptions(Options):
    """Options of `assay train generator`."""

    data: tuple[Path, ...] = argument("DATA...", required=True)
    base: str = option("--base SPEC", "The causal language model to start from: hf:NAME or hf:FOLDER.", required=True)
    out: Path = option("--out FOLDER", "Where the generator goes.", required=True)
    tasks: Path | None = options.tasks()
    fresh: bool = flag("--fresh", "Start again; what is in FOLDER is moved to FOLDER.old.")
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainGeneratorOptions,
    example="assay train generator MBPP.jsonl --base hf:SmolLM2-135M --out runs/generator --set batch=64",
)
def generator(given: TrainGeneratorOptions) -> None:
    """Fine-tune a causal language model on programs that are right, to sample with it.

    DATA are tasks with references, or rows of assay rank data, of which the correct ones count; --tasks names the tasks
    of such rows, for their functions and starter code. The defaults are those of the paper: 2 epochs, a rate of 1e-5,
    256 programs a step, the checkpoint with the lowest validation loss. Only the program is learned, not the task's
    text. With --set lora=16, matrices of that rank are trained and merged. A killed run continues when the same command
    is given again.

    Sample with it through a server, such as vllm serve FOLDER: assay rank sample TASKS --model completions:FOLDER
    --template apps.
    """
    from assay.train.generator import GeneratorSettings, train_generator

    settings = changed(GeneratorSettings(), given.changes)
    places = given.data, given.base, given.out
    record = train_generator(*places, settings, print_line, tasks=given.tasks, fresh=given.fresh)
    if record is None:  # another process of several writes it
        return
    click.echo(
        f"{record['programs']:,} programs, {record['valid']:,} to choose by: loss of a token {record['before']:.4f} "
        f"before, {record['loss']:.4f} at step {record['step']:,}, which is kept"
    )
    click.echo(
        f"written to {given.out}; serve it, as with vllm serve {given.out}, and use it with assay rank sample TASKS "
        f"--model completions:{given.out} --template {record['template']}"
    )
