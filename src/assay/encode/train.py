"""Training pairs and a teacher to a static table: distil the teacher's words, fit them to texts, then learn to search.

Reads top to bottom: data, vocabulary, teacher, three stages, evaluation, saving. The teacher's knowledge of
general English is kept through the last stage by a second loss, since what is trained on code alone forgets it and then
misses the questions that share no word with their answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from zlib import crc32

import numpy as np
import torch

from assay.encode.bags import Bags
from assay.encode.examine import Examination, Score
from assay.encode.pairs import Pair
from assay.encode.stages import Questions, Texts, contrast, fit, mean_table, project, rarity_weights
from assay.encode.static import save_static
from assay.encode.train_settings import TrainSettings
from assay.encode.vocabulary import CONTINUES, Vocabulary
from assay.errors import InputError
from assay.protocols import Encoder, Say, Vectors
from assay.words import WORD, parts

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
class Data:
    """Pairs to learn from, and pairs of other sources to be examined on."""

    learned: list[Pair]
    tested: list[Pair]


def train(pairs: Sequence[Pair], teacher: Teacher, folder: Path, settings: TrainSettings, say: Say) -> list[Score]:
    """Train a table, write it and its record to a folder, and return how each stage does on held-out sources."""
    random = np.random.default_rng(settings.seed)

    # --- data: whole sources are held out, since functions of one package resemble each other
    data = split(pairs, settings)
    say(f"{len(data.learned)} pairs to learn, {len(data.tested)} of {len(pairs) - len(data.learned)} held out")

    # --- vocabulary
    entries = choose_entries(teacher.pieces, data.learned, settings)
    vocabulary = Vocabulary(entries)
    queries = Bags([vocabulary.rows(pair.query) for pair in data.learned])
    questions = Questions(queries, Bags([vocabulary.rows(pair.code) for pair in data.learned]))
    say(f"{len(entries)} words and pieces, {len(teacher.pieces)} of the teacher")

    # --- teacher: every entry alone, some real texts, the held-out pairs
    texts = _texts_to_fit(data.learned, settings, random)
    bags = Bags([vocabulary.rows(text) for text in texts])
    words = teacher.encoder.encode([entry.removeprefix(CONTINUES) for entry in entries], "code")
    told = teacher.encoder.encode(texts, "code")
    examination = Examination(data.tested, vocabulary, teacher.encoder)
    scores = [examination.of_bm25(), examination.of_teacher()]
    say(f"the teacher read {len(entries) + len(texts) + 2 * len(data.tested)} texts")

    # --- stage 1, distil: principal directions of real texts, rare words count more
    targets, table = project(told, words, settings.dimension)
    known = Texts(bags, torch.from_numpy(targets))
    distilled = table * rarity_weights(bags, len(entries), settings.rarity)[:, None]
    scores.append(examination.of_table("distilled", distilled))

    # --- stage 2, fit: the sum of a text's rows should point where the teacher's vector does
    fitted = fit(distilled, known, settings, say)
    scores.append(examination.of_table("fitted", fitted))

    # --- stage 3, search: pairs against the batch's other answers, still near the teacher
    trained = contrast(fitted, questions, known, settings, say)
    scores.append(examination.of_table("trained", trained))

    # --- what ships is the mean of the three: on real questions it beats each, the last of which has learned too much
    table = mean_table((distilled, fitted, trained))
    scores.append(examination.of_table("mean of the three", table))

    # --- save
    save_static(folder, entries, table, _record(data, teacher, settings, table, scores))
    return scores


# --- data and vocabulary --------------------------------------------------------------------------------------------


def split(pairs: Sequence[Pair], settings: TrainSettings) -> Data:
    """Return the pairs in two parts that share no source."""
    learned = [pair for pair in pairs if not is_held_out(pair.source, settings)]
    tested = _tested([pair for pair in pairs if is_held_out(pair.source, settings)], settings)
    if not learned or len(tested) < 2:
        raise InputError(f"{len(learned)} pairs to learn, {len(tested)} held out: too few; add sources or --pairs")
    return Data(learned, tested)


def is_held_out(source: str, settings: TrainSettings) -> bool:
    """Tell whether a source is only evaluated on: named ones, and one in twelve of the others."""
    return source in settings.held_out or crc32(source.encode()) % _HELD_OUT_ONE_IN == 0


def choose_entries(pieces: Sequence[str], pairs: Sequence[Pair], settings: TrainSettings) -> list[str]:
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


def _tested(held: Sequence[Pair], settings: TrainSettings) -> list[Pair]:
    """Return held-out pairs of documentation and code in a fixed order, no text twice, few of one source."""
    most = max(settings.evaluated // _TESTED_SOURCES, 1)
    chosen: list[Pair] = []
    taken: Counter[str] = Counter()
    texts: set[str] = set()
    for pair in sorted(held, key=lambda pair: sha256(f"{settings.seed} {pair.query} {pair.code}".encode()).digest()):
        if pair.kind in _TESTED_KINDS and not {pair.query, pair.code} & texts and taken[pair.source] < most:
            texts.update((pair.query, pair.code))
            taken[pair.source] += 1
            chosen.append(pair)
    return chosen[: settings.evaluated]


def _texts_to_fit(pairs: Sequence[Pair], settings: TrainSettings, random: np.random.Generator) -> list[str]:
    """Return as many different texts as asked for, questions and answers alike, cut to what is quick to read."""
    texts = sorted({text[: settings.fit_characters] for pair in pairs for text in (pair.query, pair.code)})
    chosen = random.permutation(len(texts))[: settings.fit_texts]
    return [texts[place] for place in chosen]


def _record(
    data: Data, teacher: Teacher, settings: TrainSettings, table: Vectors, scores: Sequence[Score]
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
