"""Commands that train a part on data of your own: an encoder, a generator, the judge `signals`, the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from assay.cli.adapter import command
from assay.cli.progress import print_line
from assay.errors import InputError, counted
from assay.io.terminal import say, say_problems
from assay.settings import changed
from assay.train.settings import BEFORE, TEACHER, EncoderRequest, GeneratorRequest, RankingRequest, SignalsRequest

if TYPE_CHECKING:
    from assay.train.pairs import TrainingPair
    from assay.train.table_exam import Score


@command(EncoderRequest, example="assay train encoder --from-environment --repository . --out encoder")
def encoder(request: EncoderRequest) -> None:
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
    _refuse_mixtures(request)
    if request.base:
        _tune_encoder(request)
        return
    scores = _train_table(request)
    click.echo(f"{'held out':<18}MRR    95% interval")
    for score in scores:
        click.echo(f"{score.system:<18}{score.mrr:.3f}  {score.low:.3f}-{score.high:.3f}")
    click.echo(f"written to {request.out}; use it with --encoder static:{request.out}")


def _refuse_mixtures(request: EncoderRequest) -> None:
    """Refuse options that have no effect beside others."""
    if request.words and request.teacher:
        raise InputError("--join starts from a table and reads no teacher: leave out --teacher, or --join")
    if request.before and not request.words:
        raise InputError("--from names the table that --join starts from: add --join FILE, or leave out --from")
    of_table = {"--teacher": request.teacher, "--join": request.words, "--from": request.before}
    of_base = {"--onnx": request.onnx, "--fresh": request.fresh}
    name = next((name for name, value in (of_table if request.base else of_base).items() if value), "")
    if name and request.base:
        raise InputError(f"{name} is for a table, and --base fine-tunes a transformer: leave one of them out")
    if name:
        raise InputError(f"{name} is for a transformer: add --base hf:NAME, or leave it out")


def _tune_encoder(request: EncoderRequest) -> None:
    """Fine-tune a transformer and print its measures."""
    from assay.train.card import base_of
    from assay.train.harvest import LEFT_OUT
    from assay.train.settings import TuneSettings, extra_of

    base, settings = base_of(request.base), changed(TuneSettings(), request.changes)
    pairs = _training_pairs(request, sorted(LEFT_OUT))
    with extra_of("train encoder --base"):
        from assay.train.encoder import tune_encoder
    record = tune_encoder(pairs, base, request.out, settings, print_line, onnx=request.onnx, fresh=request.fresh)
    click.echo(f"{record['test_queries']:,} queries of the test part, {record['test_codes']:,} codes")
    for measure, rows in record["figures"].items():
        click.echo(f"{measure:<18}value  95% interval")
        for name, what in (("before", "base"), ("after", "fine-tuned"), ("difference", "difference")):
            click.echo("{:<18}{:.3f}  {:.3f} to {:.3f}".format(what, *rows[name]))
    click.echo(f"written to {request.out}; use it with --encoder hf:{request.out}")
    if record["onnx"]:
        click.echo(f"without torch: --encoder onnx:{request.out}/onnx")


def _train_table(request: EncoderRequest) -> list[Score]:
    """Distill a table from a teacher, or join word vectors to one; the subjects of ground truths are left out."""
    from assay.train.harvest import LEFT_OUT
    from assay.train.pair_files import refuse_wrong_pairs
    from assay.train.settings import DistillSettings, JoinSettings, extra_of

    with extra_of("train encoder"):
        from assay.train.table import distill, join_words, read_word_vectors, table_of, teacher_of
    left_out = tuple(sorted(LEFT_OUT))
    if request.words:
        joining = changed(JoinSettings(left_out=left_out), request.changes)
        words = table_of(request.before or BEFORE), read_word_vectors(request.words)
        pairs = _training_pairs(request, joining.left_out)  # they take minutes
        refuse_wrong_pairs(pairs)
        return join_words(pairs, *words, request.out, joining, print_line)
    settings = changed(DistillSettings(left_out=left_out), request.changes)
    pairs = _training_pairs(request, settings.left_out)
    refuse_wrong_pairs(pairs)
    return distill(pairs, teacher_of(request.teacher or TEACHER), request.out, settings, print_line)


def _training_pairs(request: EncoderRequest, left_out: Sequence[str]) -> list[TrainingPair]:
    """Return all pairs without texts that --leave-out judges; raise an error if there are none."""
    from assay.operations.indexes import root_of
    from assay.train.harvest import environment, harvest, repository
    from assay.train.pair_files import leave_out, read_pairs

    sources = [repository(root_of(root)) for root in request.roots]
    if request.from_environment:
        sources += environment()
    found = read_pairs(request.files)
    say_problems(found.problems, every=request.verbose)
    if found.undecided:
        say(f"{counted(found.undecided, 'undecided pair')} left out")
    pairs = [*found.pairs, *harvest(sources, left_out=left_out)]
    if not pairs:
        raise InputError("nothing to learn from: give --from-environment, --repository PATH or --pairs FILE")
    if not request.left_out:
        return pairs
    kept = leave_out(pairs, request.left_out)
    say(f"{counted(len(pairs) - len(kept), 'pair')} of {len(pairs):,} left out: --leave-out judges their texts")
    if not kept:
        raise InputError("--leave-out leaves nothing to learn from: it judges a text of every pair")
    return kept


@command(
    GeneratorRequest,
    example="assay train generator --base hf:FOLDER --data MBPP.jsonl --leave-out HumanEval.jsonl --out generator",
)
def generator(request: GeneratorRequest) -> None:
    """Fine-tune a causal language model on right programs, to sample with it.

    Two epochs, a rate of 1e-5 and 256 programs a step, as in the paper on CodeRanker; the loss is that of the program's
    tokens alone. Of the tasks, one tenth chooses the checkpoint: that of the lowest validation loss is kept. Rows of
    assay rank data are learned from where they are right and of the split train; give their tasks as --data, too.
    Tasks of --leave-out and of the other splits, the same by id, text or program, are never learned from.

    FOLDER is in the layout of Hugging Face, with safetensors, tokenizer and a card. A killed run goes on when the same
    command is given again. The settings are in docs/ranking.md.
    """
    from assay.train.settings import GeneratorSettings, extra_of

    settings = changed(GeneratorSettings(), request.changes)
    with extra_of("train generator"):
        from assay.train.generator import train_generator
    about = train_generator(request, settings, print_line)
    click.echo("validation loss {before:.4f} before, {loss:.4f} at step {step:,}, which is kept".format_map(about))
    sampled = f"assay rank sample TASKS --model vllm:{request.out} --complete --template {request.template}"
    click.echo(f"written to {request.out}; serve it with vllm serve {request.out}, and sample it with {sampled}")


@command(
    SignalsRequest, example="assay train judge web=web.jsonl forum=forum.jsonl --leave-out test.jsonl --out weights"
)
def judge(request: SignalsRequest) -> None:
    """Train the weights of the judge signals from labeled pairs.

    SOURCE is NAME=FILE, a file of rows with query, code and label (1 if the code answers the query, else 0). Give pairs
    of different origin as sources of their own: each is judged by weights learned from the others, and these figures
    say how the judge will do on pairs of another origin. What is written was learned from all of them.

    Use it with assay judge run --judge signals:FOLDER.
    """
    from assay.train.judge import JudgeTrainSettings, interval_text, train_judge

    settings = changed(JudgeTrainSettings(), request.changes)
    figures = train_judge(request.sources, request.left_out, request.encoder, request.out, settings, print_line)
    width = max(len(name) for name in ("held out", *(one.name for one in figures))) + 2
    click.echo(f"{'held out':<{width}}{'pairs':>7}  {'AUC':<22}{'accuracy':<22}{'Brier':<7}cosine alone, AUC")
    for one in figures:
        auc, accuracy = interval_text(one.roc_auc), interval_text(one.accuracy)
        click.echo(f"{one.name:<{width}}{one.pairs:>7,}  {auc:<22}{accuracy:<22}{one.brier:<7.3f}{one.cosine:.3f}")
    encoder = f" --encoder {request.encoder}" if request.encoder else ""
    click.echo(f"written to {request.out}; use it with --judge signals:{request.out}{encoder}")


@command(
    RankingRequest,
    example="assay train ranking benchmarks/truth/*.csv --foreign benchmarks/truth/foreign/learned.csv "
    "--checkouts CHECKOUTS --out weights",
)
def ranking(request: RankingRequest) -> None:
    """Train the weights of the learned ranking from judged queries.

    TRUTH is a ground truth of one repository, in any format that `assay truth` reads; a query is about documentation if
    prose alone answers it. The figures are cross-validated: each query is scored by weights that were learned on the
    other repositories, so give two or more. What is written was learned from all of them.

    A truth that names whole files teaches the order of the list alone. Use the weights with --set
    search.weights=FOLDER. The example, with benchmarks/truth/manners/*.csv and the files of semble's benchmark, makes
    the shipped weights.
    """
    from assay.train.settings import RankingSettings, extra_of

    with extra_of("train ranking"):
        from assay.train.ranking import train_ranking
    settings = changed(RankingSettings(encoder=request.encoder), request.changes)
    trained = train_ranking(
        request.truths, request.checkouts, request.out, settings, print_line, foreign=request.foreign
    )
    for one in trained:
        click.echo(f"{one.name}: {one.queries:,} queries of {len(one.repositories)} repositories, cross-validated")
        click.echo(f"{'':<12}mean   95% interval")
        for figure in one.figures:
            click.echo(f"{figure.name:<12}{figure.value:<7.3f}{figure.low:.3f} to {figure.high:.3f}")
        for which, rejected in (("another repository", one.rejected), ("no repository", one.foreign_rejected)):
            if rejected is not None:
                click.echo(f"of questions that {which} answers, {rejected:.1%} are rejected")
    click.echo(f"written to {request.out}; use it with --set search.weights={request.out}")
