"""A table, word vectors of another model and training pairs to a table of the same words that knows what both know.

Reads top to bottom: data, join, one stage, evaluation, saving; `train_static` made the table that this starts from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from assay.encode.bags import TokenBags
from assay.encode.examine import Examination, Score
from assay.encode.join_words import join, narrowed
from assay.encode.split_pairs import split
from assay.encode.stages import Questions, Texts, contrast, mean_table, sums
from assay.encode.static import save_static
from assay.encode.train_record import record
from assay.encode.train_settings import JoinSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.word_vectors import TableAndWords
from assay.protocols import Say, Vectors


def train_joined(
    pairs: Sequence[TrainingPair], parts: TableAndWords, folder: Path, settings: JoinSettings, say: Say
) -> list[Score]:
    """Join words to a table, write the table and its record to a folder, and return how each stage does."""
    # --- data
    data = split(pairs, settings)
    say(f"{len(data.learned)} pairs to learn, {len(data.tested)} of {len(pairs) - len(data.learned)} held out")
    before, words = parts.before, parts.words
    vocabulary, entries = before.vocabulary, before.vocabulary.entries
    read = TokenBags([vocabulary.rows(text) for text in _texts_to_read(data.learned, settings)])

    # --- join
    joined = join(before.table(), entries, words, settings)
    known = int((words.places_of(entries) >= 0).sum())
    say(f"{known} of {len(entries)} words and pieces are known to both; {len(read)} texts choose the directions")

    # --- the stages
    examination = Examination(data.tested, vocabulary, before)
    scores = [examination.of_bm25(), examination.of_teacher("before")]
    for stage, table in _stages(joined, read, Questions.of(data.learned, vocabulary), settings, say):
        scores.append(examination.of_table(stage, table))

    # --- save
    of_words = {"name": words.name, "words": len(words.tokens), "dimension": words.vectors.shape[1], "known": known}
    about = record(data, settings, table, scores, joined=of_words, before=dict(before.about))
    save_static(folder, entries, table, about)
    return scores


def _stages(
    joined: Vectors, read: TokenBags, questions: Questions, settings: JoinSettings, say: Say
) -> Iterator[tuple[str, Vectors]]:
    """Yield the table after each stage, and at last the one that ships."""
    # --- stage 1, join: principal directions of the sums of real texts
    narrow = narrowed(joined, read, settings.dimension)
    yield "joined", narrow

    # --- stage 2, search: pairs against the batch's other answers, still near the joined table's own sums
    tuned = contrast(narrow, questions, Texts(read, torch.from_numpy(sums(narrow, read))), settings, say)
    yield "tuned", tuned

    # --- what ships is the mean of the two, as in `train_static`
    yield "mean of the two", mean_table((narrow, tuned))


def _texts_to_read(pairs: Sequence[TrainingPair], settings: JoinSettings) -> Iterator[str]:
    """Yield the questions, then the answers, of as many pairs as asked for, in the order in which they came."""
    chosen = np.sort(np.random.default_rng(settings.seed).permutation(len(pairs))[: settings.read_pairs])
    yield from (pairs[place].query for place in chosen)
    yield from (pairs[place].code for place in chosen)
