"""`assay train encoder`: train an encoder from documented code or judged pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.errors import InputError, counted
from assay.io.terminal import say, say_problems
from assay.parameters import Options, flag, option, verbose
from assay.settings import changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.train.pairs import TrainingPair
    from assay.train.table_stages import Score

TEACHER = "hf:sentence-transformers/all-MiniLM-L6-v2"
BEFORE = "static:default"


class TrainEncoderOptions(Options):
    """Options of `assay train encoder`."""

    out: Path = option("--out FOLDER", "Where the encoder goes.", required=True)
    from_environment: bool = flag("--from-environment", "Learn from installed packages and the standard library.")
    roots: tuple[str, ...] = option("--repository PATH", "Learn from a repository. Repeatable.")
    files: tuple[Path, ...] = option("--pairs FILE", "Learn from the pairs in FILE. Repeatable.")
    left_out: tuple[Path, ...] = option(
        "--leave-out FILE", "Take out pairs with a query or code that FILE judges, to measure on it. Repeatable."
    )
    base: str = option("--base SPEC", "Fine-tune this transformer (hf:NAME or hf:FOLDER), not a table.")
    lora: int | None = option(
        "--lora RANK", "With --base: train LoRA matrices of this rank alone, and merge them.", least=1
    )
    onnx: bool = flag("--onnx", "With --base: also write FOLDER/onnx, which runs without torch, in 8 bits.")
    curve: Path | None = option(
        "--curve FILE", "With --base: draw loss and MRR over the steps (.svg or .png).", kind="file"
    )
    fresh: bool = flag("--fresh", "With --base: start again; what is in FOLDER is moved to FOLDER.old.")
    teacher: str = option("--teacher SPEC", "The encoder to distill first.", show=TEACHER)
    words: Path | None = option(
        "--join FILE", "Join word vectors of another model (.npz) to a table; distill nothing.", kind="file"
    )
    before: str = option("--from SPEC", "The table that --join starts from.", show=BEFORE)
    changes: tuple[str, ...] = option("--set KEY=VALUE", "Change one setting. Repeatable.")
    verbose: bool = verbose("Show the traceback of an error.")


@command(TrainEncoderOptions, example="assay train encoder --from-environment --repository . --out encoder")
def encoder(given: TrainEncoderOptions) -> None:
    """Train a static encoder, a table of words that needs nothing but numpy, or fine-tune a transformer.

    A table learns from documented functions, from sections below their headings, and from any other pairs: FILE holds
    a query, a code, its label and perhaps its source in each row, as JSON lines or list (CoSQA's too), CSV or parquet;
    or it holds records of assay judge run, or ground truth with its corpus. One source in twelve is held out, and the
    figures are of those. Pairs of label 0 are refused.

    With --join, FILE holds the words of another model as `tokens` and their vectors as `vectors`; the result has the
    words of the table that it starts from, and what both models know of them.

    With --base, a transformer learns from right pairs against each other and against codes that have label 0 for the
    same query. Of the queries, one tenth chooses the best model and one tenth tests it beside the base. A killed run
    goes on when the same command is given again.

    Use a table with --encoder static:FOLDER, a transformer with --encoder hf:FOLDER.
    """
    _refuse_mixtures(given)
    if given.base:
        _tune(given)
        return
    scores = _train_table(given)
    click.echo(f"{'held out':<18}MRR    95% interval")
    for score in scores:
        click.echo(f"{score.system:<18}{score.mrr:.3f}  {score.low:.3f}-{score.high:.3f}")
    click.echo(f"written to {given.out}; use it with --encoder static:{given.out}")


def _refuse_mixtures(given: TrainEncoderOptions) -> None:
    """Refuse options that have no effect beside others."""
    if given.words and given.teacher:
        raise InputError("--join starts from a table and reads no teacher: leave out --teacher, or --join")
    if given.before and not given.words:
        raise InputError("--from names the table that --join starts from: add --join FILE, or leave out --from")
    of_table = {"--teacher": given.teacher, "--join": given.words, "--from": given.before}
    of_base = {"--lora": given.lora, "--onnx": given.onnx, "--curve": given.curve, "--fresh": given.fresh}
    name = next((name for name, value in (of_table if given.base else of_base).items() if value), "")
    if name and given.base:
        raise InputError(f"{name} is about a table, and --base fine-tunes a transformer: leave one of them out")
    if name:
        raise InputError(f"{name} is about a transformer: add --base hf:NAME, or leave it out")


def _tune(given: TrainEncoderOptions) -> None:
    """Fine-tune a transformer and say what it is worth."""
    from assay.report.web_page import check_picture, write_picture
    from assay.train.card import base_of
    from assay.train.harvest import LEFT_OUT
    from assay.train.settings import TuneSettings, extra_of

    if given.curve:
        check_picture(given.curve)
    base, settings = base_of(given.base), changed(TuneSettings(lora=given.lora or 0), given.changes)
    pairs = _pairs(given, sorted(LEFT_OUT))
    with extra_of("train encoder --base"):
        from assay.train.encoder import curve_of, tune_encoder
    record = tune_encoder(pairs, base, given.out, settings, print_line, onnx=given.onnx, fresh=given.fresh)
    if record is None:  # another process of several writes it
        return
    if given.curve:
        write_picture(curve_of(record), given.curve)
    figures = record["figures"]
    click.echo(f"{record['test_queries']:,} queries of the test part, {record['test_codes']:,} codes")
    click.echo(f"{'':<18}MRR    95% interval")
    for name, what in (("before", "base"), ("after", "fine-tuned")):
        click.echo(f"{what:<18}{figures[name]:.3f}  {figures[f'{name}_low']:.3f}-{figures[f'{name}_high']:.3f}")
    click.echo(f"{'difference':<18}{figures['difference']:+.3f} {figures['low']:+.3f} to {figures['high']:+.3f}")
    click.echo(f"written to {given.out}; use it with --encoder hf:{given.out}")
    if record["onnx"]:
        click.echo(f"without torch: --encoder onnx:{given.out}/onnx")


def _train_table(given: TrainEncoderOptions) -> list[Score]:
    """Distill a table from a teacher, or join word vectors to one; what ground truths are about is left out."""
    from assay.train.harvest import LEFT_OUT
    from assay.train.pairs import refuse_wrong_pairs
    from assay.train.settings import DistillSettings, JoinSettings, extra_of

    with extra_of("train encoder"):
        from assay.train.table import distill, join_words, read_word_vectors, table_of, teacher_of
    left_out = tuple(sorted(LEFT_OUT))
    if given.words:
        joining = changed(JoinSettings(left_out=left_out), given.changes)
        words = table_of(given.before or BEFORE), read_word_vectors(given.words)
        pairs = _pairs(given, joining.left_out)  # they take minutes
        refuse_wrong_pairs(pairs)
        return join_words(pairs, *words, given.out, joining, print_line)
    settings = changed(DistillSettings(left_out=left_out), given.changes)
    pairs = _pairs(given, settings.left_out)
    refuse_wrong_pairs(pairs)
    return distill(pairs, teacher_of(given.teacher or TEACHER), given.out, settings, print_line)


def _pairs(given: TrainEncoderOptions, left_out: Sequence[str]) -> list[TrainingPair]:
    """Return all pairs that --leave-out does not judge; without any there is nothing to do."""
    from assay.operations.indexes import root_of
    from assay.train.harvest import environment, harvest, repository
    from assay.train.pairs import leave_out, read_pairs

    sources = [repository(root_of(root)) for root in given.roots]
    if given.from_environment:
        sources += environment()
    found = read_pairs(given.files)
    say_problems(found.problems, every=given.verbose)
    if found.undecided:
        say(f"{counted(found.undecided, 'undecided pair')} left out")
    pairs = [*found.pairs, *harvest(sources, left_out=left_out)]
    if not pairs:
        raise InputError("nothing to learn from: give --from-environment, --repository PATH or --pairs FILE")
    if not given.left_out:
        return pairs
    kept = leave_out(pairs, given.left_out)
    say(f"{counted(len(pairs) - len(kept), 'pair')} of {len(pairs):,} left out: --leave-out judges their texts")
    if not kept:
        raise InputError("--leave-out leaves nothing to learn from: it judges a text of every pair")
    return kept
