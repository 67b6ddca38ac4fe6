"""What is learned from to trained parts: pairs and a teacher to a static encoder, judged queries to ranking weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from assay import plugins
from assay.assemble.indexes import encoder_of
from assay.assemble.pipeline import dictionary
from assay.encode.train_settings import TrainSettings
from assay.errors import MissingExtra
from assay.protocols import Say
from assay.runs.run_manifest import write_manifest
from assay.search.harvest import LEFT_OUT
from assay.search.ranking_examples import gather, judged_queries
from assay.search.ranking_train_settings import RankingTrainSettings
from assay.settings import EncoderSettings, Settings, changed

if TYPE_CHECKING:
    from assay.encode.examine import Score
    from assay.encode.training_pairs import TrainingPair
    from assay.search.trained_ranking import TrainedRanking


def train_settings(changes: Sequence[str]) -> TrainSettings:
    """Return how an encoder is trained: what ground truths are about is left out unless `changes` say otherwise."""
    return changed(TrainSettings(left_out=tuple(sorted(LEFT_OUT))), changes)


def train_encoder(
    pairs: Sequence[TrainingPair], spec: str, folder: Path, settings: TrainSettings, say: Say
) -> list[Score]:
    """Train a static encoder, a teacher's spec given, into a folder with its manifest; return how each stage does."""
    try:
        from assay.encode.train_static import Teacher, train, usable_pieces
    except ModuleNotFoundError as error:
        raise MissingExtra("train encoder", str(error.name), "train") from error
    encoder = plugins.make("encoder", spec)
    tokenizer = getattr(getattr(encoder, "runner", None), "tokenizer", None)
    named = Path(spec.partition(":")[2])
    teacher = Teacher(
        named.name if named.is_dir() else spec, encoder, usable_pieces(tokenizer.get_vocab()) if tokenizer else ()
    )
    scores = train(pairs, teacher, folder, settings, say)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=map(astuple, pairs))
    return scores


def train_ranking(  # noqa: PLR0913  what is learned from, how, where to, and who hears of it
    truths: Sequence[Path],
    checkouts: Path,
    folder: Path,
    settings: RankingTrainSettings,
    say: Say,
    *,
    ablate: bool,
) -> list[TrainedRanking]:
    """Train a ranking of code, of documentation or of both into a folder; return how well each does."""
    queries = judged_queries(truths, checkouts)
    try:
        from assay.search.learn_ranking import train_all
    except ModuleNotFoundError as error:
        raise MissingExtra("train ranking", str(error.name), "train") from error
    encoder = encoder_of(Settings(encoder=EncoderSettings(settings.encoder)))
    return train_all(gather(queries, checkouts, encoder, dictionary, say), folder, settings, say, ablate=ablate)
