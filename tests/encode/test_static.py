from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.encode.static import DEFAULT_FOLDER, StaticEncoder, load_static, save_static
from assay.errors import InputError
from assay.protocols import Encoder

DEFAULT = load_static()
SMALL = ["##s", "apple", "banana", "code"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_static(tmp_path, SMALL, np.array([[0, 0.1], [1, 0], [0.9, 0.1], [0, 3]], np.float32), {"version": "small"})
    return tmp_path


def test_default_is_an_encoder_that_names_its_version() -> None:
    assert isinstance(DEFAULT, Encoder)
    assert DEFAULT.name.startswith("static:default@")
    assert load_static(DEFAULT.name.removeprefix("static:")).name == DEFAULT.name


def test_a_version_that_is_not_shipped_is_refused() -> None:
    with pytest.raises(InputError, match="index again"):
        load_static("default@of-another-release")


def test_default_fits_the_package_and_its_vocabulary_is_sorted() -> None:
    assert sum(file.stat().st_size for file in DEFAULT_FOLDER.iterdir()) <= 16_000_000
    assert isinstance(DEFAULT, StaticEncoder)
    entries = list(DEFAULT.vocabulary.entries)
    assert entries == sorted(set(entries))


def test_default_knows_what_words_mean() -> None:
    near, far = "delete the file", "paint a picture"
    query = DEFAULT.encode(["remove a document from disk"], "query")
    scores = (DEFAULT.encode([near, far], "code") @ query.T).ravel()
    assert scores[0] > scores[1] + 0.1


def test_a_text_is_the_unit_sum_of_its_rows(folder: Path) -> None:
    vectors = load_static(str(folder)).encode(["apple code", "apple apple code", "nothing known", ""], "query")
    sums = np.array([[1, 3], [2, 3]]) / np.linalg.norm([[1, 3], [2, 3]], axis=1, keepdims=True)
    np.testing.assert_allclose(vectors[:2], sums, atol=0.01)
    assert not vectors[2:].any()


def test_longer_rows_count_more(folder: Path) -> None:
    fruit, mixed = load_static(str(folder)).encode(["apple", "apple code"], "code")
    assert fruit @ mixed < 0.5


def test_words_have_rows_of_their_own(folder: Path) -> None:
    encoder = load_static(str(folder))
    assert isinstance(encoder, StaticEncoder)
    apple, banana, code = encoder.rows(["apple", "banana", "code"])
    assert apple @ banana > 0.9
    assert apple @ code < 0.1


def test_no_texts_give_no_rows() -> None:
    assert DEFAULT.encode([], "query").shape == (0, DEFAULT.dimension)


@given(st.lists(st.text(alphabet="abcdef gh_IJ12é", max_size=60), max_size=20))
def test_vectors_do_not_depend_on_the_batch(texts: list[str]) -> None:
    together = DEFAULT.encode(texts, "code")
    assert all((DEFAULT.encode([text], "code")[0] == row).all() for text, row in zip(texts, together, strict=True))
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@pytest.mark.parametrize("broken", ["encoder.json", "vocabulary.txt", "table.npy", "scales.npy"])
def test_a_folder_without_a_file_is_refused(folder: Path, broken: str) -> None:
    (folder / broken).unlink()
    with pytest.raises(InputError, match="assay train encoder"):
        load_static(str(folder))


def test_a_torn_folder_is_refused(folder: Path) -> None:
    (folder / "vocabulary.txt").write_text("apple\nbanana", "utf-8")
    with pytest.raises(InputError, match="torn"):
        load_static(str(folder))


def test_loading_imports_nothing_heavy() -> None:
    heavy = "{'torch', 'transformers', 'tokenizers', 'onnxruntime', 'httpx', 'pyarrow'}"
    code = f"import sys, assay.encode.static as s; s.load_static(); print({heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
