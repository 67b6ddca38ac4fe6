# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")

from assay.encode.bags import TokenBags, without_shared
from assay.encode.card import card
from assay.encode.examine import bm25, reciprocal_ranks
from assay.encode.hashed import HashedEncoder
from assay.encode.split_pairs import is_held_out
from assay.encode.stages import Questions, Texts, contrast, fit
from assay.encode.static import load_static
from assay.encode.train_settings import TrainSettings
from assay.encode.train_static import Teacher, choose_entries, train, usable_pieces
from assay.encode.training_pairs import TrainingPair
from assay.encode.vectors import unit
from assay.errors import InputError

torch.set_num_threads(1)  # tables of a few rows are not worth a second one

VERBS = "open close read write send parse check sort merge split".split()
THINGS = "file socket header message table token queue image record folder".split()
PAIRS = [
    TrainingPair(
        f"{verb} the {thing} of the caller", f"function {thing} {verb} handle{number}", f"package{number % 23}", "doc"
    )
    for number, (verb, thing) in enumerate((verb, thing) for verb in VERBS for thing in THINGS)
]
TEACHER = Teacher(
    "a teacher", HashedEncoder("96"), usable_pieces([*VERBS, *THINGS, "the", "of", "##s", "[CLS]", "é", "!", "7"])
)
SETTINGS = TrainSettings(
    dimension=32,
    entries=60,
    fit_texts=120,
    fit_epochs=2,
    epochs=2,
    batch=16,
    held_out=("package1", "package2", "package3"),
)


def test_a_run_writes_an_encoder_and_learns(tmp_path: Path) -> None:
    said: list[str] = []
    scores = {score.system: score for score in train(PAIRS, TEACHER, tmp_path, SETTINGS, said.append)}
    assert list(scores) == ["BM25", "teacher", "distilled", "fitted", "trained", "mean of the three"]
    assert all(score.low <= score.mrr <= score.high for score in scores.values())
    assert scores["distilled"].agreement > 0.5
    about = json.loads((tmp_path / "encoder.json").read_text())
    assert about["settings"]["seed"] == 0
    page = card("static:mine", about)
    assert "Teacher: a teacher." in page
    assert "| trained | 0." in page or "| trained | 1." in page
    assert load_static(str(tmp_path)).encode(["open the file"], "query").shape == (1, 32)
    assert any("search 2/2" in line for line in said)


def test_the_same_seed_gives_the_same_table(tmp_path: Path) -> None:
    for name in ("one", "two"):
        train(PAIRS, TEACHER, tmp_path / name, SETTINGS, lambda _: None)
    one, two = (json.loads((tmp_path / name / "encoder.json").read_text()) for name in ("one", "two"))
    assert one == two


def test_held_out_sources_are_named_ones_and_one_in_twelve() -> None:
    settings = TrainSettings(held_out=("mine",))
    assert is_held_out("mine", settings)
    share = sum(is_held_out(f"package{number}", settings) for number in range(1200)) / 1200
    assert 0.05 < share < 0.12
    assert not any(is_held_out(f"package{number}", TrainSettings(held_out_one_in=0)) for number in range(1200))


def test_fitting_brings_sums_to_where_the_teacher_put_the_texts() -> None:
    random = np.random.default_rng(0)
    bags = TokenBags([random.integers(0, 30, 4).tolist() for _ in range(64)])
    table, hidden = random.standard_normal((2, 30, 8)).astype(np.float32)
    targets = unit(np.stack([hidden[bags.take(np.array([text]))[0]].sum(0) for text in range(64)]))
    said: list[str] = []
    settings = TrainSettings(fit_epochs=60, fit_rate=3e-2)
    fit(table, Texts(bags, torch.from_numpy(targets)), settings, said.append)
    first, last = (float(line.split()[-1]) for line in (said[0], said[-1]))
    assert last < first / 4


def test_searching_is_learned_without_the_words_that_both_sides_share() -> None:
    """Rows 0-9 ask, 10-19 answer, and row 20 is in all texts."""
    random = np.random.default_rng(0)
    table = random.standard_normal((21, 8)).astype(np.float32)
    questions = Questions(
        TokenBags([[n % 10, 20] for n in range(40)]), TokenBags([[10 + n % 10, 20] for n in range(40)])
    )
    texts = Texts(questions.queries, torch.zeros(40, 8))
    settings = TrainSettings(epochs=40, batch=10, rate=5e-2, hide=1.0)
    trained = contrast(table, questions, texts, settings, lambda _: None)
    scores = unit(trained[:10].copy()) @ unit(trained[10:20].copy()).T
    assert (scores.argmax(1) == np.arange(10)).all()


def test_too_few_pairs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="too few"):
        train(PAIRS[:1], TEACHER, tmp_path, SETTINGS, lambda _: None)


def test_the_words_that_most_texts_use_enter_the_vocabulary() -> None:
    pairs = [
        TrainingPair("alpha beta", "gamma", "one", "doc"),
        TrainingPair("alpha", "gamma", "two", "doc"),
        TrainingPair("alpha", "x", "two", "doc"),
    ]
    assert choose_entries(["the", "##s"], pairs, TrainSettings(entries=4)) == ["##s", "alpha", "gamma", "the"]
    assert choose_entries(["the", "##s"], pairs, TrainSettings(entries=3)) == ["##s", "alpha", "the"]


def test_pieces_are_latin_words_continuations_and_numbers() -> None:
    assert usable_pieces(["[CLS]", "word", "##s", "404", "é", "a b", "Word"]) == ("##s", "404", "word")


def test_hidden_pairs_lose_their_shared_rows_only() -> None:
    rows, owners = TokenBags([[1, 2, 3], [1, 2]]).take(np.array([0, 1]))
    others = TokenBags([[2, 9], [2]]).take(np.array([0, 1]))
    assert rows[without_shared((rows, owners), others, np.array([True, False]))].tolist() == [1, 3, 1, 2]


def test_bags_are_taken_in_any_order() -> None:
    rows, owners = TokenBags([[1], [], [2, 3]]).take(np.array([2, 1, 0]))
    assert (rows.tolist(), owners.tolist()) == ([2, 3, 1], [0, 0, 2])


def test_ties_count_against_a_system() -> None:
    assert reciprocal_ranks(np.ones((3, 3), np.float32)).tolist() == [1 / 3] * 3


def test_bm25_prefers_rare_words() -> None:
    scores = bm25(["common rare"], ["common words", "rare words", "common things"])
    assert scores[0].argmax() == 1
