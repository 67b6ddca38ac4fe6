"""Training pairs and a teacher to a static table: distil the teacher's words, fit them to texts, then learn to search.

Reads top to bottom: data, vocabulary, teacher, three stages, evaluation, saving. The teacher's knowledge of
general English is kept through the last stage by a second loss, since what is trained on code alone forgets it and then
misses the questions that share no word with their answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from assay.encode.bags import TokenBags
from assay.encode.examine import Examination, Score
from assay.encode.split_pairs import split
from assay.encode.stages import Questions, Texts, contrast, fit, mean_table, project, rarity_weights
from assay.encode.static import save_static
from assay.encode.train_record import record
from assay.encode.train_settings import TrainSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.vocabulary import CONTINUES, Vocabulary
from assay.protocols import Encoder, Say, Vectors
from assay.terms import WORD, parts

_PIECE = re.compile(r"(##)?([a-z]+|[0-9]+)")
_LATIN = re.compile(r"[a-z]{2,24}")


@dataclass(frozen=True, slots=True)
class Teacher:
    """A contextual encoder and the word pieces of its tokenizer."""

    name: str
    """What people call it: a hub name, not a folder of this machine."""
    encoder: Encoder
    pieces: tuple[str, ...]


def train(
    pairs: Sequence[TrainingPair], teacher: Teacher, folder: Path, settings: TrainSettings, say: Say
) -> list[Score]:
    """Train a table, write it and its record to a folder, and return how each stage does on held-out sources."""
    random = np.random.default_rng(settings.seed)

    # --- data
    data = split(pairs, settings)
    say(f"{len(data.learned)} pairs to learn, {len(data.tested)} of {len(pairs) - len(data.learned)} held out")

    # --- vocabulary
    entries = choose_entries(teacher.pieces, data.learned, settings)
    vocabulary = Vocabulary(entries)
    questions = Questions.of(data.learned, vocabulary)
    say(f"{len(entries)} words and pieces, {len(teacher.pieces)} of the teacher")

    # --- teacher: every entry alone, some real texts, the held-out pairs
    texts = _texts_to_fit(data.learned, settings, random)
    bags = TokenBags([vocabulary.rows(text) for text in texts])
    words = teacher.encoder.encode([entry.removeprefix(CONTINUES) for entry in entries], "code")
    told = teacher.encoder.encode(texts, "code")
    examination = Examination(data.tested, vocabulary, teacher.encoder)
    scores = [examination.of_bm25(), examination.of_teacher()]
    say(f"the teacher read {len(entries) + len(texts) + 2 * len(data.tested)} texts")

    # --- the stages
    targets, table = project(told, words, settings.dimension)
    known = Texts(bags, torch.from_numpy(targets))
    distilled = table * rarity_weights(bags, len(entries), settings.rarity)[:, None]
    for stage, table in _stages(distilled, known, questions, settings, say):
        scores.append(examination.of_table(stage, table))

    # --- save
    save_static(folder, entries, table, record(data, settings, table, scores, teacher=teacher.name))
    return scores


def _stages(
    distilled: Vectors, known: Texts, questions: Questions, settings: TrainSettings, say: Say
) -> Iterator[tuple[str, Vectors]]:
    """Yield the table after each stage, and at last the one that ships."""
    # --- stage 1, distil: principal directions of real texts, rare words count more
    yield "distilled", distilled

    # --- stage 2, fit: the sum of a text's rows should point where the teacher's vector does
    fitted = fit(distilled, known, settings, say)
    yield "fitted", fitted

    # --- stage 3, search: pairs against the batch's other answers, still near the teacher
    trained = contrast(fitted, questions, known, settings, say)
    yield "trained", trained

    # --- what ships is the mean of the three: on real questions it beats each, the last of which has learned too much
    yield "mean of the three", mean_table((distilled, fitted, trained))


# --- vocabulary --------------------------------------------------------------------------------------------


def choose_entries(pieces: Sequence[str], pairs: Sequence[TrainingPair], settings: TrainSettings) -> list[str]:
    """Return the teacher's pieces and the words that most texts use, sorted."""
    texts: Counter[str] = Counter()
    for pair in pairs:
        texts.update({part for word in set(WORD.findall(f"{pair.query} {pair.code}")) for part in parts(word)})
    known = set(pieces)
    common = (word for word, _ in sorted(texts.items(), key=lambda item: (-item[1], item[0])))
    new = (word for word in common if word not in known and _LATIN.fullmatch(word))
    return sorted(known | set(islice(new, max(settings.entries - len(known), 0))))


def usable_pieces(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the whole words and continuing pieces of a WordPiece vocabulary that our words can be made of."""
    return tuple(sorted({token for token in tokens if _PIECE.fullmatch(token)}))


def _texts_to_fit(pairs: Sequence[TrainingPair], settings: TrainSettings, random: np.random.Generator) -> list[str]:
    """Return as many different texts as asked for, questions and answers alike, cut to what is quick to read."""
    texts = sorted({text[: settings.fit_characters] for pair in pairs for text in (pair.query, pair.code)})
    chosen = random.permutation(len(texts))[: settings.fit_texts]
    return [texts[place] for place in chosen]
