# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

for library in ("torch", "transformers", "onnx", "onnxruntime", "tokenizers"):
    pytest.importorskip(library, reason="the hf and onnx extras are not installed")

from assay.encode.hf import HfEncoder
from assay.encode.onnx import OnnxEncoder
from assay.encode.onnx_export import export_onnx
from assay.encode.recipes import Recipe
from assay.errors import InputError
from assay.protocols import Encoder

TEXTS = ["where are retries handled", "a", "", "a a a a a a a a a a handled"]


@pytest.fixture(scope="module")
def exported(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    encoder = HfEncoder(str(tiny_bert))
    encoder.recipe = Recipe("mean", "query: ", "passage: ")
    export_onnx(encoder, folder)
    return folder


@pytest.mark.parametrize("role", ["query", "code"])
def test_an_exported_model_says_what_the_model_says(tiny_bert: Path, exported: Path, role: str) -> None:
    encoder = HfEncoder(str(tiny_bert))
    encoder.recipe = Recipe("mean", "query: ", "passage: ")
    onnx = OnnxEncoder(str(exported))
    np.testing.assert_allclose(onnx.encode(TEXTS, role), encoder.encode(TEXTS, role), atol=1e-5)


def test_it_is_an_encoder_named_by_its_folder(exported: Path) -> None:
    onnx = OnnxEncoder(str(exported))
    assert isinstance(onnx, Encoder)
    assert (onnx.name, onnx.dimension) == (f"onnx:{exported}", 16)
    assert onnx.encode([], "code").shape == (0, 16)


def test_only_mean_pooling_is_exported(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pooled by cls"):
        export_onnx(HfEncoder(f"{tiny_bert}?pooling=cls"), tmp_path)


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_file_is_refused(exported: Path, tmp_path: Path, missing: str) -> None:
    for file in exported.iterdir():
        if file.name != missing:
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError, match=f"no {missing}"):
        OnnxEncoder(str(tmp_path))


def test_a_file_that_is_no_model_is_named(exported: Path, tmp_path: Path) -> None:
    for file in exported.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match="not an ONNX model"):
        OnnxEncoder(str(tmp_path))
