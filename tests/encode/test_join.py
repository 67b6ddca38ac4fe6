# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")

from assay.encode.bags import TokenBags
from assay.encode.join_words import centred, completed, join, narrowed
from assay.encode.stages import sums
from assay.encode.static import StaticEncoder, load_static, save_static
from assay.encode.train_join import train_joined
from assay.encode.train_settings import JoinSettings
from assay.encode.training_pairs import TrainingPair
from assay.encode.vectors import unit
from assay.encode.word_vectors import TableAndWords, WordVectors, read_word_vectors
from assay.errors import InputError

torch.set_num_threads(1)  # tables of a few rows are not worth a second one

ENTRIES = ["##s", *sorted("close file folder open parse read remove socket table write".split())]
RANDOM = np.random.default_rng(0)
TABLE = RANDOM.standard_normal((len(ENTRIES), 6)).astype(np.float32)
TOKENS = ["write", "s", "close", "file", "folder", "open", "read", "unheard"]
WORDS = WordVectors("words of a test", TOKENS, RANDOM.standard_normal((len(TOKENS), 9)).astype(np.float32))
KNOWN = [place for place, entry in enumerate(ENTRIES) if entry in TOKENS]
VERBS, THINGS = "open close read write remove parse".split(), "file folder socket table".split()
PAIRS = [
    TrainingPair(f"{verb} the {thing}", f"{thing} {verb} handle", f"package{number % 6}", "doc")
    for number, (verb, thing) in enumerate((verb, thing) for verb in VERBS for thing in THINGS)
]
SETTINGS = JoinSettings(dimension=5, batch=8, held_out=("package1",), held_out_one_in=0, read_pairs=10)


@pytest.fixture
def before(tmp_path: Path) -> StaticEncoder:
    save_static(tmp_path / "before", ENTRIES, TABLE, {"version": "first", "teacher": "a teacher"})
    encoder = load_static(str(tmp_path / "before"))
    assert isinstance(encoder, StaticEncoder)
    return encoder


def test_a_word_that_both_know_keeps_the_direction_of_each():
    joined = join(TABLE, ENTRIES, WORDS, SETTINGS)
    assert (joined[:, :6] == TABLE).all()
    own = centred(WORDS.vectors)[[TOKENS.index(ENTRIES[place]) for place in KNOWN]]
    np.testing.assert_allclose(unit(joined[KNOWN, 6:]), own, atol=1e-6)


def test_the_other_models_half_is_as_long_as_the_weight_says():
    joined = join(TABLE, ENTRIES, WORDS, JoinSettings(weight=0.3))
    lengths = np.linalg.norm(TABLE, axis=1)
    np.testing.assert_allclose(np.linalg.norm(joined[KNOWN, 6:], axis=1), 0.3 * lengths[KNOWN], rtol=1e-5)


def test_a_piece_that_continues_a_word_is_not_the_word_of_these_letters():
    assert WORDS.places_of(["##s", "s", "file", "nobody"]).tolist() == [-1, 1, 3, -1]


def test_a_word_that_only_the_table_knows_is_told_by_ridge_regression():
    """Where the other model is a linear map of the table, the map is found; a strong penalty tells nothing."""
    rows, turn = unit(RANDOM.standard_normal((40, 6)).astype(np.float32)), RANDOM.standard_normal((6, 9))
    vectors = (rows @ turn).astype(np.float32)
    places = np.where(np.arange(40) < 30, np.arange(40), -1)
    np.testing.assert_allclose(completed(rows, vectors, places, 1e-4), vectors, atol=1e-2)
    weak = completed(rows, vectors, places, 1e6)
    assert (weak[:30] == vectors[:30]).all()
    assert np.abs(weak[30:]).max() < 1e-3


def test_narrowing_keeps_the_similarities_of_texts_that_need_no_more_directions():
    table = np.hstack([TABLE, TABLE @ RANDOM.standard_normal((6, 4)).astype(np.float32)])
    texts = TokenBags([RANDOM.integers(0, len(ENTRIES), 3).tolist() for _ in range(30)])
    narrow = narrowed(table, texts, 6)
    assert narrow.shape == (len(ENTRIES), 6)
    wide_sums, narrow_sums = sums(table, texts), sums(narrow, texts)
    np.testing.assert_allclose(narrow_sums @ narrow_sums.T, wide_sums @ wide_sums.T, atol=1e-5)


def test_sums_of_texts_are_of_unit_length_and_of_an_empty_one_zero():
    found = sums(TABLE, TokenBags([[], [1, 2, 1], []]))
    np.testing.assert_allclose(found[1], unit(TABLE[[1, 2, 1]].sum(0, keepdims=True))[0], atol=1e-6)
    assert not found[[0, 2]].any()


def test_a_run_writes_a_table_with_both_steps_on_record(before: StaticEncoder, tmp_path: Path):
    said: list[str] = []
    scores = train_joined(PAIRS, TableAndWords(before, WORDS), tmp_path / "out", SETTINGS, said.append)
    assert [score.system for score in scores] == ["BM25", "before", "joined", "tuned", "mean of the two"]
    about = json.loads((tmp_path / "out" / "encoder.json").read_text())
    assert about["joined"] == {"name": "words of a test", "words": 8, "dimension": 9, "known": len(KNOWN)}
    assert about["before"] == {"version": "first", "teacher": "a teacher"}
    assert about["held_out"] == {"package1": 4}
    table = load_static(str(tmp_path / "out"))
    assert isinstance(table, StaticEncoder)
    assert (list(table.vocabulary.entries), table.dimension) == (ENTRIES, 5)
    assert said[0] == "20 pairs to learn, 4 of 4 held out"


def test_the_same_run_gives_the_same_table(before: StaticEncoder, tmp_path: Path):
    for name in ("one", "two"):
        train_joined(PAIRS, TableAndWords(before, WORDS), tmp_path / name, SETTINGS, lambda _: None)
    for file in ("encoder.json", "table.npy", "scales.npy", "vocabulary.txt"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_table_is_taken_up_as_it_was_shipped(before: StaticEncoder):
    scale = np.abs(TABLE).max()
    np.testing.assert_allclose(before.table() * scale / 127, TABLE, atol=scale / 100)


def test_words_of_which_the_table_has_none_are_refused():
    strange = WordVectors("strange words", ["Ä", "File"], np.ones((2, 3), np.float32))
    with pytest.raises(InputError, match="none of the 2 words of 'strange words' is in the table"):
        join(TABLE, ENTRIES, strange, SETTINGS)


def test_too_few_texts_for_the_dimensions_are_refused():
    with pytest.raises(InputError, match=r"2 texts of 6 numbers have fewer than 5 directions: add pairs, or --set dim"):
        narrowed(TABLE, TokenBags([[1], [2]]), 5)


def test_a_file_of_words_is_read(tmp_path: Path):
    np.savez(tmp_path / "w.npz", tokens=np.array(TOKENS), vectors=np.ones((8, 3), np.int8), name=np.array("by hand"))
    words = read_word_vectors(tmp_path / "w.npz")
    assert (words.name, list(words.tokens), words.vectors.dtype) == ("by hand", TOKENS, np.float32)
    np.savez(tmp_path / "plain.npz", tokens=np.array(TOKENS), vectors=np.ones((8, 3)))
    assert read_word_vectors(tmp_path / "plain.npz").name == "plain"


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
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
    ],
)
def test_a_file_that_holds_something_else_is_refused(tmp_path: Path, arrays, problem: str):
    np.savez(tmp_path / "words.npz", **arrays)
    with pytest.raises(InputError) as error:
        read_word_vectors(tmp_path / "words.npz")
    assert problem in str(error.value)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith("as benchmarks/word_vectors.py writes it")


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut", b"plain text", b"\x93NUMPY"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes | None):
    if content is not None:
        (tmp_path / "words.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read word vectors from .*words\.npz: .*; wanted an .npz file"):
        read_word_vectors(tmp_path / "words.npz")


def test_one_array_is_no_archive(tmp_path: Path):
    np.save(tmp_path / "words.npy", np.ones((2, 2)))
    with pytest.raises(InputError, match="cannot read word vectors"):
        read_word_vectors(tmp_path / "words.npy")
