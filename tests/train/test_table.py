# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")

from assay.encode.static import StaticEncoder, load_static, save_static
from assay.encode.vectors import HashedEncoder, unit
from assay.errors import InputError
from assay.train import table_exam, table_stages
from assay.train.card import table_card
from assay.train.pairs import TrainingPair, is_held_out
from assay.train.settings import DistillSettings, JoinSettings
from assay.train.table import (
    Teacher,
    WordVectors,
    choose_entries,
    distill,
    join_words,
    read_word_vectors,
    usable_pieces,
)
from assay.train.table_stages import Questions, Texts, TokenBags, contrast, fit, join, sums

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
SETTINGS = DistillSettings(
    dimension=32,
    entries=60,
    fit_texts=120,
    fit_epochs=2,
    epochs=2,
    batch=16,
    held_out=("package1", "package2", "package3"),
)


def test_a_run_writes_an_encoder_that_learns_and_a_seed_repeats_it(tmp_path: Path) -> None:
    said: list[str] = []
    scores = {score.system: score for score in distill(PAIRS, TEACHER, tmp_path / "one", SETTINGS, said.append)}
    assert list(scores) == ["BM25", "teacher", "distilled", "fitted", "trained", "mean of the three"]
    assert all(score.low <= score.mrr <= score.high for score in scores.values())
    assert scores["distilled"].agreement > 0.5
    about = json.loads((tmp_path / "one" / "encoder.json").read_text())
    assert about["settings"]["seed"] == 0
    page = table_card("static:mine", about)
    assert "Teacher: a teacher." in page
    assert "| trained | 0." in page or "| trained | 1." in page
    assert load_static(str(tmp_path / "one")).encode(["open the file"], "query").shape == (1, 32)
    assert any("search 2/2" in line for line in said)
    distill(PAIRS, TEACHER, tmp_path / "two", SETTINGS, said.append)
    assert json.loads((tmp_path / "two" / "encoder.json").read_text()) == about
    with pytest.raises(InputError, match="too few"):
        distill(PAIRS[:1], TEACHER, tmp_path / "three", SETTINGS, said.append)


def test_held_out_sources_are_named_and_entries_are_pieces_and_frequent_words() -> None:
    settings = DistillSettings(held_out=("mine",))
    assert is_held_out("mine", settings)
    share = sum(is_held_out(f"package{number}", settings) for number in range(1200)) / 1200
    assert 0.05 < share < 0.12
    assert not any(is_held_out(f"package{number}", DistillSettings(held_out_one_in=0)) for number in range(1200))
    texts = (("alpha beta", "gamma", "one"), ("alpha", "gamma", "two"), ("alpha", "x", "two"))
    pairs = [TrainingPair(*each, "doc") for each in texts]
    assert choose_entries(["the", "##s"], pairs, DistillSettings(entries=4)) == ["##s", "alpha", "gamma", "the"]
    assert choose_entries(["the", "##s"], pairs, DistillSettings(entries=3)) == ["##s", "alpha", "the"]
    assert usable_pieces(["[CLS]", "word", "##s", "404", "é", "a b", "Word"]) == ("##s", "404", "word")


def test_fitting_brings_sums_to_where_the_teacher_put_the_texts() -> None:
    random = np.random.default_rng(0)
    bags = TokenBags([random.integers(0, 30, 4).tolist() for _ in range(64)])
    table, hidden = random.standard_normal((2, 30, 8)).astype(np.float32)
    targets = unit(np.stack([hidden[bags.take(np.array([text]))[0]].sum(0) for text in range(64)]))
    said: list[str] = []
    settings = DistillSettings(fit_epochs=60, fit_rate=3e-2)
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
    settings = DistillSettings(epochs=40, batch=10, rate=5e-2, hide=1.0)
    trained = contrast(table, questions, texts, settings, lambda _: None)
    scores = unit(trained[:10].copy()) @ unit(trained[10:20].copy()).T
    assert (scores.argmax(1) == np.arange(10)).all()


def test_ties_count_against_a_system_and_hidden_pairs_lose_their_shared_rows_only() -> None:
    assert table_exam.reciprocal_ranks(np.ones((3, 3), np.float32)).tolist() == [1 / 3] * 3
    scores = table_exam.bm25(["common rare"], ["common words", "rare words", "common things"])
    assert scores[0].argmax() == 1
    rows, owners = TokenBags([[1], [], [2, 3]]).take(np.array([2, 1, 0]))
    assert (rows.tolist(), owners.tolist()) == ([2, 3, 1], [0, 0, 2])
    taken = TokenBags([[1, 2, 3], [1, 2]]).take(np.array([0, 1]))
    others = TokenBags([[2, 9], [2]]).take(np.array([0, 1]))
    assert taken[0][table_stages.without_shared(taken, others, np.array([True, False]))].tolist() == [1, 3, 1, 2]


ENTRIES = ["##s", *sorted("close file folder open parse read remove socket table write".split())]
RANDOM = np.random.default_rng(0)
TABLE = RANDOM.standard_normal((len(ENTRIES), 6)).astype(np.float32)
TOKENS = ["write", "s", "close", "file", "folder", "open", "read", "unheard"]
WORDS = WordVectors("words of a test", TOKENS, RANDOM.standard_normal((len(TOKENS), 9)).astype(np.float32))
KNOWN = [place for place, entry in enumerate(ENTRIES) if entry in TOKENS]
JOINED_PAIRS = [
    TrainingPair(f"{verb} the {thing}", f"{thing} {verb} handle", f"package{number % 6}", "doc")
    for number, (verb, thing) in enumerate(
        (verb, thing)
        for verb in "open close read write remove parse".split()
        for thing in "file folder socket table".split()
    )
]
JOIN = JoinSettings(dimension=5, batch=8, held_out=("package1",), held_out_one_in=0, read_pairs=10)


@pytest.fixture
def before(tmp_path: Path) -> StaticEncoder:
    save_static(tmp_path / "before", ENTRIES, TABLE, {"version": "first", "teacher": "a teacher"})
    encoder = load_static(str(tmp_path / "before"))
    assert isinstance(encoder, StaticEncoder)
    return encoder


def test_a_word_that_both_know_keeps_the_direction_of_each_and_the_weight_says_how_long_the_other_is() -> None:
    for settings, weight in ((JOIN, JOIN.weight), (JoinSettings(weight=0.3), 0.3)):
        joined = join(TABLE, WORDS.places_of(ENTRIES), WORDS.vectors, WORDS.name, settings)
        assert (joined[:, :6] == TABLE).all()
        own = table_stages.centred(WORDS.vectors)[[TOKENS.index(ENTRIES[place]) for place in KNOWN]]
        np.testing.assert_allclose(unit(joined[KNOWN, 6:]), own, atol=1e-6)
        lengths = weight * np.linalg.norm(TABLE[KNOWN], axis=1)
        np.testing.assert_allclose(np.linalg.norm(joined[KNOWN, 6:], axis=1), lengths, rtol=1e-5)
    assert WORDS.places_of(["##s", "s", "file", "nobody"]).tolist() == [-1, 1, 3, -1]  # a piece is not the word
    strange = WordVectors("strange words", ["Ä", "File"], np.ones((2, 3), np.float32))
    with pytest.raises(InputError, match="none of the 2 words of 'strange words' is in the table"):
        join(TABLE, strange.places_of(ENTRIES), strange.vectors, strange.name, JOIN)


def test_a_word_that_only_the_table_knows_is_told_by_ridge_regression():
    """Where the other model is a linear map of the table, the map is found; a strong penalty tells nothing."""
    rows, turn = unit(RANDOM.standard_normal((40, 6)).astype(np.float32)), RANDOM.standard_normal((6, 9))
    vectors = (rows @ turn).astype(np.float32)
    places = np.where(np.arange(40) < 30, np.arange(40), -1)
    np.testing.assert_allclose(table_stages.completed(rows, vectors, places, 1e-4), vectors, atol=1e-2)
    weak = table_stages.completed(rows, vectors, places, 1e6)
    assert (weak[:30] == vectors[:30]).all()
    assert np.abs(weak[30:]).max() < 1e-3


def test_narrowing_keeps_the_similarities_of_texts_that_need_no_more_directions() -> None:
    table = np.hstack([TABLE, TABLE @ RANDOM.standard_normal((6, 4)).astype(np.float32)])
    texts = TokenBags([RANDOM.integers(0, len(ENTRIES), 3).tolist() for _ in range(30)])
    narrow = table_stages.narrowed(table, texts, 6)
    assert narrow.shape == (len(ENTRIES), 6)
    wide_sums, narrow_sums = sums(table, texts), sums(narrow, texts)
    np.testing.assert_allclose(narrow_sums @ narrow_sums.T, wide_sums @ wide_sums.T, atol=1e-5)
    found = sums(TABLE, TokenBags([[], [1, 2, 1], []]))
    np.testing.assert_allclose(found[1], unit(TABLE[[1, 2, 1]].sum(0, keepdims=True))[0], atol=1e-6)
    assert not found[[0, 2]].any()
    with pytest.raises(InputError, match=r"2 texts of 6 numbers have fewer than 5 directions: add pairs, or --set dim"):
        table_stages.narrowed(TABLE, TokenBags([[1], [2]]), 5)


def test_a_joined_table_has_both_steps_on_record_and_comes_again(before: StaticEncoder, tmp_path: Path) -> None:
    said: list[str] = []
    for name in ("one", "two"):
        scores = join_words(JOINED_PAIRS, before, WORDS, tmp_path / name, JOIN, said.append)
    assert [score.system for score in scores] == ["BM25", "before", "joined", "tuned", "mean of the two"]
    about = json.loads((tmp_path / "one" / "encoder.json").read_text())
    assert about["joined"] == {"name": "words of a test", "words": 8, "dimension": 9, "known": len(KNOWN)}
    assert about["before"] == {"version": "first", "teacher": "a teacher"}
    assert about["held_out"] == {"package1": 4}
    table = load_static(str(tmp_path / "one"))
    assert isinstance(table, StaticEncoder)
    assert (list(table.vocabulary.entries), table.dimension) == (ENTRIES, 5)
    assert said[0] == "20 pairs to learn, 4 of 4 held out"
    scale = np.abs(TABLE).max()
    np.testing.assert_allclose(before.table() * scale / 127, TABLE, atol=scale / 100)
    for file in ("encoder.json", "table.npy", "scales.npy", "vocabulary.txt"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_file_of_words_is_read(tmp_path: Path):
    np.savez(tmp_path / "w.npz", tokens=np.array(TOKENS), vectors=np.ones((8, 3), np.int8), name=np.array("by hand"))
    words = read_word_vectors(tmp_path / "w.npz")
    assert (words.name, list(words.tokens), words.vectors.dtype) == ("by hand", TOKENS, np.float32)
    np.savez(tmp_path / "plain.npz", tokens=np.array(TOKENS), vectors=np.ones((8, 3)))
    assert read_word_vectors(tmp_path / "plain.npz").name == "plain"


def test_a_file_that_holds_no_words_is_refused(tmp_path: Path) -> None:
    for arrays, problem in (
        ({"words": np.array(["a"])}, "no `tokens` and no `vectors`"),
        ({"tokens": np.array(["a"])}, "no `vectors`"),
        ({"tokens": np.array([1]), "vectors": np.ones((1, 2))}, "`tokens` holds int64 of shape (1,), not texts"),
        ({"tokens": np.array([["a"]]), "vectors": np.ones((1, 2))}, "`tokens` holds <U1 of shape (1, 1), not texts"),
        ({"tokens": np.array(["a"]), "vectors": np.ones(2)}, "`vectors` holds float64 of shape (2,), not rows"),
        ({"tokens": np.array(["a"]), "vectors": np.ones((1, 0))}, "`vectors` holds float64 of shape (1, 0), not rows"),
        ({"tokens": np.array(["a"]), "vectors": np.array([["b"]])}, "`vectors` holds <U1 of shape (1, 1), not rows"),
        ({"tokens": np.array(["a", "b"]), "vectors": np.ones((3, 2))}, "2 tokens, but 3 vectors"),
        ({"tokens": np.array(["a"]), "vectors": np.array([[1, np.nan]])}, "a number that is not finite"),
        ({"tokens": np.array(["a"]), "vectors": np.array([[1e300, 1]])}, "larger than 32 bits hold"),
        ({"tokens": np.array(["a"], object), "vectors": np.ones((1, 2))}, "Object arrays cannot be loaded"),
    ):
        np.savez(tmp_path / "words.npz", **arrays)
        with pytest.raises(InputError) as error:
            read_word_vectors(tmp_path / "words.npz")
        assert problem in str(error.value)
        assert "\n" not in str(error.value)
        assert str(error.value).endswith("as benchmarks/sources.py words writes it")
    file = tmp_path / "words.npz"
    for content in (None, b"", b"PK\x03\x04 cut", b"plain text", b"\x93NUMPY"):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(InputError, match=r"cannot read word vectors from .*words\.npz: .*; wanted an .npz file"):
            read_word_vectors(file)
    np.save(tmp_path / "words.npy", np.ones((2, 2)))
    with pytest.raises(InputError, match="cannot read word vectors"):
        read_word_vectors(tmp_path / "words.npy")
