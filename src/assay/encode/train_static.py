"""Training pairs and a teacher to a static table: distil the teacher's words, fit them to texts, then learn to search.

Reads top to bottom: data, vocabulary, teacher, three stages, evaluation, saving. The teacher's knowledge of
general English is kept through the last stage by a second loss, since what is trained on code alone forgets it and then
misses the questions that share no word with their answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
import torch

from assay.encode.bags import TokenBags
from assay.encode.examine import Examination, Score
from assay.encode.stages import Questions, Texts, contrast, fit, mean_table, project, rarity_weights
from assay.encode.static import save_static
from assay.encode.train_settings import TrainSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.vocabulary import CONTINUES, Vocabulary
from assay.errors import InputError
from assay.protocols import Encoder, Say, Vectors
from assay.terms import WORD, parts

_HELD_OUT_ONE_IN = 12
_TESTED_KINDS = ("doc", "given")
_TESTED_SOURCES = 8  # at least, so that no source decides the figures
_PIECE = re.compile(r"(##)?([a-z]+|[0-9]+)")
_LATIN = re.compile(r"[a-z]{2,24}")


@dataclass(frozen=True, slots=True)
class Teacher:
    """A contextual encoder and the word pieces of its tokenizer."""

    name: str
    """What people call it: a hub name, not a folder of this machine."""
    encoder: Encoder
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EncoderPairs:
    """Pairs to learn from, and pairs of other sources to be examined on."""

    learned: list[TrainingPair]
    tested: list[TrainingPair]


def train(
    pairs: Sequence[TrainingPair], teacher: Teacher, folder: Path, settings: TrainSettings, say: Say
) -> list[Score]:
    """Train a table, write it and its record to a folder, and return how each stage does on held-out sources."""
    random = np.random.default_rng(settings.seed)

    # --- data: whole sources are held out, since functions of one package resemble each other
    data = split(pairs, settings)
    say(f"{len(data.learned)} pairs to learn, {len(data.tested)} of {len(pairs) - len(data.learned)} held out")

    # --- vocabulary
    entries = choose_entries(teacher.pieces, data.learned, settings)
    vocabulary = Vocabulary(entries)
    queries = TokenBags([vocabulary.rows(pair.query) for pair in data.learned])
    questions = Questions(queries, TokenBags([vocabulary.rows(pair.code) for pair in data.learned]))
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
    save_static(folder, entries, table, _record(data, teacher, settings, table, scores))
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


# --- data and vocabulary --------------------------------------------------------------------------------------------


def split(pairs: Sequence[TrainingPair], settings: TrainSettings) -> EncoderPairs:
    """Return the pairs in two parts that share no source."""
    learned = [pair for pair in pairs if not is_held_out(pair.source, settings)]
    tested = _tested([pair for pair in pairs if is_held_out(pair.source, settings)], settings)
    if not learned or len(tested) < 2:
        raise InputError(f"{len(learned)} pairs to learn, {len(tested)} held out: too few; add sources or --pairs")
    return EncoderPairs(learned, tested)


def is_held_out(source: str, settings: TrainSettings) -> bool:
    """Tell whether a source is only evaluated on: named ones, and one in twelve of the others."""
    return source in settings.held_out or crc32(source.encode()) % _HELD_OUT_ONE_IN == 0


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


def _tested(held: Sequence[TrainingPair], settings: TrainSettings) -> list[TrainingPair]:
    """Return held-out pairs of documentation and code in a fixed order, no text twice, few of one source."""
    most = max(settings.evaluated // _TESTED_SOURCES, 1)
    chosen: list[TrainingPair] = []
    taken: Counter[str] = Counter()
    texts: set[str] = set()
    for pair in sorted(held, key=lambda pair: sha256(f"{settings.seed} {pair.query} {pair.code}".encode()).digest()):
        if pair.kind in _TESTED_KINDS and not {pair.query, pair.code} & texts and taken[pair.source] < most:
            texts.update((pair.query, pair.code))
            taken[pair.source] += 1
            chosen.append(pair)
    return chosen[: settings.evaluated]


def _texts_to_fit(pairs: Sequence[TrainingPair], settings: TrainSettings, random: np.random.Generator) -> list[str]:
    """Return as many different texts as asked for, questions and answers alike, cut to what is quick to read."""
    texts = sorted({text[: settings.fit_characters] for pair in pairs for text in (pair.query, pair.code)})
    chosen = random.permutation(len(texts))[: settings.fit_texts]
    return [texts[place] for place in chosen]


def _record(
    data: EncoderPairs, teacher: Teacher, settings: TrainSettings, table: Vectors, scores: Sequence[Score]
) -> dict[str, object]:
    """Return what a model card is made of; the version changes when any number of the table does."""
    return {
        "version": sha256(table.astype(np.float16).tobytes()).hexdigest()[:12],
        "entries": len(table),
        "teacher": teacher.name,
        "sources": len({pair.source for pair in data.learned}),
        "pairs": dict(sorted(Counter(pair.kind for pair in data.learned).items())),
        "held_out": dict(sorted(Counter(pair.source for pair in data.tested).items())),
        "left_out": sorted(settings.left_out),
        "settings": asdict(settings),
        "scores": [asdict(score) for score in scores],
    }
