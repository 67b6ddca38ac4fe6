"""`assay train judge`: train the judge `signals` from labelled pairs."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli import options
from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.parameters import Options, argument, option, verbose
from assay.settings import changed


class TrainJudgeOptions(Options):
    """What the judge is learned from, and where its weights go."""

    sources: tuple[str, ...] = argument("SOURCE...", required=True)
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE",
        "Pairs to report on later: what shares a query or a code with them is not learned from. Repeatable.",
    )
    encoder: str = options.signals_encoder(
        "--encoder", "An encoder, such as onnx:FOLDER, whose cosine takes the place of all features."
    )
    out: Path = option("--out FOLDER", "Where the weights go.", required=True)
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting of the training. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(
    TrainJudgeOptions, example="assay train judge web=web.jsonl forum=forum.jsonl --leave-out test.jsonl --out weights"
)
def judge(given: TrainJudgeOptions) -> None:
    """Train the weights of the judge signals from labeled pairs.

    SOURCE is NAME=FILE, a file of rows with query, code and label (1 if the code answers the query, else 0). Give pairs
    of different origin as sources of their own: each is judged by weights learned from the others, and these figures
    say how the judge will do on pairs of another origin. What is written was learned from all of them.

    Use it with assay judge run --judge signals:FOLDER.
    """
    from assay.train.judge import JudgeTrainSettings, interval_text, train_judge

    settings = changed(JudgeTrainSettings(), given.changes)
    figures = train_judge(given.sources, given.left_out, given.encoder, given.out, settings, print_line)
    width = max(len(name) for name in ("held out", *(one.name for one in figures))) + 2
    click.echo(f"{'held out':<{width}}{'pairs':>7}  {'AUC':<22}{'accuracy':<22}{'Brier':<7}cosine alone, AUC")
    for one in figures:
        auc, accuracy = interval_text(one.roc_auc), interval_text(one.accuracy)
        click.echo(f"{one.name:<{width}}{one.pairs:>7,}  {auc:<22}{accuracy:<22}{one.brier:<7.3f}{one.cosine:.3f}")
    encoder = f" --encoder {given.encoder}" if given.encoder else ""
    click.echo(f"written to {given.out}; use it with --judge signals:{given.out}{encoder}")
