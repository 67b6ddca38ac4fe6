"""Encoders without a transformer: tables of vectors by word, hashed words, and vectors that were computed once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.encode.cached_encoder import CachedEncoder
from assay.encode.static import DEFAULT_FOLDER, StaticEncoder, Vocabulary, load_static, save_static
from assay.encode.vectors import HashedEncoder
from assay.errors import InputError, StorageError
from assay.protocols import Encoder, Role, Vectors

DEFAULT = load_static()
FEW = settings(max_examples=40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table = np.array([[0, 0.1], [1, 0], [0.9, 0.1], [0, 3]], np.float32)
    save_static(tmp_path, ["##s", "apple", "banana", "code"], table, {"version": "small"})
    return tmp_path


def test_default_is_an_encoder_that_names_its_version_and_fits_the_package() -> None:
    assert isinstance(DEFAULT, Encoder)
    assert isinstance(DEFAULT, StaticEncoder)
    assert DEFAULT.name.startswith("static:default@")
    assert load_static(DEFAULT.name.removeprefix("static:")).name == DEFAULT.name
    assert sum(file.stat().st_size for file in DEFAULT_FOLDER.iterdir()) <= 16_000_000
    assert list(DEFAULT.vocabulary.entries) == sorted(set(DEFAULT.vocabulary.entries))
    assert DEFAULT.encode([], "query").shape == (0, DEFAULT.dimension)
    with pytest.raises(InputError, match="index again"):
        load_static("default@of-another-release")


def test_default_knows_what_words_mean() -> None:
    near, far = "delete the file", "paint a picture"
    query = DEFAULT.encode(["remove a document from disk"], "query")
    scores = (DEFAULT.encode([near, far], "code") @ query.T).ravel()
    assert scores[0] > scores[1] + 0.1


def test_a_text_is_the_unit_sum_of_its_rows_and_longer_rows_count_more(folder: Path) -> None:
    encoder = load_static(str(folder))
    vectors = encoder.encode(["apple code", "apple apple code", "nothing known", ""], "query")
    sums = np.array([[1, 3], [2, 3]]) / np.linalg.norm([[1, 3], [2, 3]], axis=1, keepdims=True)
    np.testing.assert_allclose(vectors[:2], sums, atol=0.01)
    assert not vectors[2:].any()
    assert isinstance(encoder, StaticEncoder)
    apple, banana, code = encoder.rows(["apple", "banana", "code"])
    assert apple @ banana > 0.9
    assert apple @ code < 0.1


@given(st.lists(st.text(alphabet="abcdef gh_IJ12é", max_size=60), max_size=20))
@FEW
def test_vectors_do_not_depend_on_the_batch(texts: list[str]) -> None:
    together = DEFAULT.encode(texts, "code")
    assert all((DEFAULT.encode([text], "code")[0] == row).all() for text, row in zip(texts, together, strict=True))
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


def test_a_folder_that_is_not_whole_is_refused(folder: Path) -> None:
    for name in ("encoder.json", "vocabulary.txt", "table.npy", "scales.npy"):
        kept = (folder / name).read_bytes()
        (folder / name).unlink()
        with pytest.raises(InputError, match="assay train encoder"):
            load_static(str(folder))
        (folder / name).write_bytes(kept)
    (folder / "vocabulary.txt").write_text("apple\nbanana", "utf-8")
    with pytest.raises(InputError, match="truncated"):
        load_static(str(folder))


def test_loading_imports_nothing_heavy() -> None:
    heavy = "{'torch', 'transformers', 'tokenizers', 'onnxruntime', 'httpx', 'pyarrow'}"
    code = f"import sys, assay.encode.static as s; s.load_static(); print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


VOCABULARY = Vocabulary(sorted(["retry", "time", "timeout", "out", "##out", "re", "##try", "##r", "t", "http", "2"]))


def test_a_text_is_cut_into_words_and_unknown_words_into_the_longest_pieces() -> None:
    cut = {
        "timeout retry": ["timeout", "retry"],
        "HTTPRetry2 time_out": ["http", "retry", "2", "time", "out"],
        "retryout": ["retry", "##out"],
        "timer": ["time", "##r"],
        "retryzout zzz": ["retry", "##out"],  # letters that start no piece are passed over
    }
    assert {text: [VOCABULARY.entries[row] for row in VOCABULARY.rows(text)] for text in cut} == cut


@given(st.text())
@FEW
def test_any_text_has_rows_inside_the_table_and_the_same_ones_again(text: str) -> None:
    rows = VOCABULARY.rows(text)
    assert all(0 <= row < len(VOCABULARY) for row in rows)
    assert VOCABULARY.rows(text) == rows == Vocabulary(VOCABULARY.entries).rows(text)


def test_words_met_are_forgotten_before_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.encode.static._WORD_CACHE_SIZE", 1_000)
    vocabulary = Vocabulary(["send", "mail", "##s"])
    wanted = vocabulary.rows("send_mail mails")
    for start in range(0, 2_000, 400):
        vocabulary.rows(" ".join(f"w{number}" for number in range(start, start + 400)))
    assert len(vocabulary._met) <= 1_000
    assert vocabulary.rows("send_mail mails") == wanted


def test_hashed_words_bring_texts_together_whatever_their_spelling() -> None:
    encoder = HashedEncoder("32")
    assert isinstance(encoder, Encoder)
    assert (encoder.name, encoder.dimension) == ("hash:32", 32)
    query, same, other = HashedEncoder().encode(["parse the headers", "parseHeader", "draw circles"], "query")
    assert query @ same > 0.5 > query @ other
    assert HashedEncoder("8").encode(["retry"], "code").tolist() == [[0, 0, 0, 1, 0, 0, 0, 0]]  # in every process
    assert not HashedEncoder().encode(["", "  ..."], "code").any()
    for width in ("", "wide", "0", "-1"):
        with pytest.raises(InputError, match="hash:256"):
            HashedEncoder(width)


class Counted:
    """An encoder that remembers what it was asked."""

    def __init__(self, name: str = "counted") -> None:
        self.name = name
        self.dimension = 64
        self.asked: list[tuple[str, Role]] = []

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        self.asked += [(text, role) for text in texts]
        return HashedEncoder("64").encode(texts, role)


def test_each_text_is_encoded_once_a_role_and_encoder_even_across_processes(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "cache.sqlite"
    one, two = Counted("one"), Counted("two")
    first = CachedEncoder(one, file).encode(["a b", "c d", "a b"], "code")
    again = CachedEncoder(one, file).encode(["c d", "e f"], "code")
    assert one.asked == [("a b", "code"), ("c d", "code"), ("e f", "code")]
    np.testing.assert_allclose(first[1], again[0])
    for inner in (one, two):
        CachedEncoder(inner, file).encode(["a b"], "query")
    assert (one.asked[3:], two.asked) == ([("a b", "query")], [("a b", "query")])


def test_what_comes_back_is_what_the_encoder_says(tmp_path: Path) -> None:
    cached = CachedEncoder(Counted(), tmp_path / "cache.sqlite")
    assert isinstance(cached, Encoder)
    assert (cached.name, cached.dimension) == ("counted", 64)
    assert cached.encode([], "code").shape == (0, 64)
    texts = [f"word{number} other{number}" for number in range(1200)]
    fresh, stored = cached.encode(texts, "code"), cached.encode(texts, "code")
    np.testing.assert_allclose(fresh, HashedEncoder("64").encode(texts, "code"), atol=1e-3)
    np.testing.assert_allclose(stored, fresh, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(stored, axis=1), 1, atol=1e-5)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_text("not a database, only text that is long enough to be looked at" * 20)
    with pytest.raises(StorageError, match=r"cache\.sqlite cannot be used"):
        CachedEncoder(Counted(), tmp_path / "cache.sqlite")
