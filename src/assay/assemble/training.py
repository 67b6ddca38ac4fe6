"""Train a part into a folder: an encoder from pairs, ranking weights from judged queries, a judge from labels.

An encoder has a teacher beside its pairs: another encoder, or the words of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from assay import plugins
from assay.assemble.indexes import encoder_of
from assay.assemble.pipeline import dictionary
from assay.encode.static import StaticEncoder
from assay.encode.train_settings import JoinSettings, TableSettings, TrainSettings
from assay.errors import InputError, MissingExtra
from assay.io import files
from assay.protocols import Say
from assay.runs.run_manifest import write_manifest
from assay.search.harvest import LEFT_OUT
from assay.search.ranking_examples import foreign_queries, gather, judged_queries
from assay.search.ranking_train_settings import RankingTrainSettings
from assay.settings import EncoderSettings, Settings, changed

if TYPE_CHECKING:
    from assay.encode.examine import Score
    from assay.encode.training_pairs import TrainingPair
    from assay.encode.word_vectors import TableAndWords
    from assay.judge.judge_train_settings import JudgeTrainSettings
    from assay.judge.train_signals import TrainedSignals
    from assay.search.trained_ranking import SystemFigures, TrainedRanking

Kind = TypeVar("Kind", bound=TableSettings)


def train_settings(kind: type[Kind], changes: Sequence[str]) -> Kind:
    """Return how a part is trained: what ground truths are about is left out unless `changes` say otherwise."""
    return changed(kind(left_out=tuple(sorted(LEFT_OUT))), changes)


def train_encoder(
    pairs: Sequence[TrainingPair], spec: str, folder: Path, settings: TrainSettings, say: Say
) -> list[Score]:
    """Train a static encoder, a teacher's spec given, into a folder with its manifest; return how each stage does."""
    with extra_of("train encoder"):
        from assay.encode.train_static import Teacher, train, usable_pieces
    encoder = plugins.make("encoder", spec)
    tokenizer = getattr(getattr(encoder, "runner", None), "tokenizer", None)
    named = Path(spec.partition(":")[2])
    teacher = Teacher(
        named.name if named.is_dir() else spec, encoder, usable_pieces(tokenizer.get_vocab()) if tokenizer else ()
    )
    scores = train(pairs, teacher, folder, settings, say)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=map(astuple, pairs))
    return scores


def table_of(spec: str) -> StaticEncoder:
    """Return the table of words that a spec names, to go on from."""
    encoder = plugins.make("encoder", spec)
    if not isinstance(encoder, StaticEncoder):
        raise InputError(f"'{spec}' is not a table that Assay trained: give --from static:default or static:FOLDER")
    return encoder


def join_encoder(
    pairs: Sequence[TrainingPair], parts: TableAndWords, folder: Path, settings: JoinSettings, say: Say
) -> list[Score]:
    """Join words to a table, into a folder with its manifest; return how each stage does."""
    with extra_of("train encoder"):
        from assay.encode.train_join import train_joined
    scores = train_joined(pairs, parts, folder, settings, say)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=map(astuple, pairs))
    return scores


def train_ranking(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    truths: Sequence[Path],
    checkouts: Path,
    folder: Path,
    settings: RankingTrainSettings,
    say: Say,
    *,
    foreign: Sequence[Path] = (),
    ablate: bool = False,
) -> tuple[list[TrainedRanking], list[SystemFigures]]:
    """Train a ranking of code, of documentation or of both into a folder; return how well each does."""
    queries = judged_queries(truths, checkouts)
    with extra_of("train ranking"):
        from assay.search.learn_ranking import train_all
    encoder = encoder_of(Settings(encoder=EncoderSettings(settings.encoder)))
    examples = gather(queries, checkouts, encoder, dictionary, say, foreign_queries(foreign))
    return train_all(examples, folder, settings, say, ablate=ablate)


def train_judge(  # noqa: PLR0913, PLR0917  what is learned from, how, where to, and who hears of it
    sources: Sequence[str], left_out: Sequence[Path], spec: str, folder: Path, settings: JudgeTrainSettings, say: Say
) -> TrainedSignals:
    """Train the judge without a model into a folder with card and manifest; return how well it carries over."""
    from importlib.util import find_spec

    from assay.judge.labelled_pairs import read_sources
    from assay.judge.signals import WEIGHTS
    from assay.judge.signals_card import card, reliability_figure
    from assay.judge.train_signals import learn
    from assay.report.web_page import write_picture

    read = read_sources(sources, left_out)
    encoder = plugins.make("encoder", spec) if spec else None
    trained = learn(read, settings, say, encoder=encoder, spec=spec)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / WEIGHTS, trained.weights)
    files.write(folder / "README.md", card(trained, settings))
    if find_spec("matplotlib"):
        write_picture(reliability_figure(trained), folder / "reliability.svg")
    pairs = (astuple(one) for each in read.values() for one in each)
    write_manifest(folder / "manifest.json", settings, seed=0, corpus=pairs)
    return trained


@contextmanager
def extra_of(part: str) -> Iterator[None]:
    """Name the extra that brings the library whose import failed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(part, str(error.name), "train") from error
