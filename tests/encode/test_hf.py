# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.encode.hf import HfEncoder, PooledModel
from assay.encode.recipes import Recipe
from assay.errors import InputError
from assay.protocols import Encoder

TEXTS = ["where are retries handled", "a", "handled a where", "a a a a a a a a a a"]


def by_hand(tiny_bert: Path, text: str, pooling: str) -> np.ndarray:
    """One text alone, without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    with torch.no_grad():
        output = transformers.AutoModel.from_pretrained(tiny_bert)(**tokenizer(text, return_tensors="pt"))
    tokens, pooler = output.last_hidden_state[0], output.pooler_output[0]
    vector = {"mean": tokens.mean(0), "cls": tokens[0], "last": tokens[-1], "pooler": pooler}[pooling].numpy()
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("pooling", ["mean", "cls", "last", "pooler"])
def test_pooling_is_what_one_computes_by_hand_whatever_the_padding(tiny_bert: Path, pooling: str) -> None:
    encoder = HfEncoder(f"{tiny_bert}?pooling={pooling}", batch=3)
    vectors = encoder.encode(TEXTS, "query")
    wanted = np.stack([by_hand(tiny_bert, text, pooling) for text in TEXTS])
    np.testing.assert_allclose(vectors, wanted, atol=1e-5)


def test_it_is_an_encoder_that_names_its_undocumented_pooling(tiny_bert: Path) -> None:
    encoder = HfEncoder(str(tiny_bert))
    assert isinstance(encoder, Encoder)
    assert encoder.name == f"hf:{tiny_bert}?pooling=mean"
    assert encoder.dimension == 16
    assert encoder.encode([], "code").shape == (0, 16)


def test_prefixes_follow_the_role(tiny_bert: Path) -> None:
    encoder = HfEncoder(str(tiny_bert))
    encoder.recipe = Recipe("mean", "query: ", "passage: ")
    np.testing.assert_allclose(encoder.encode(["a"], "query")[0], by_hand(tiny_bert, "query: a", "mean"), atol=1e-5)
    np.testing.assert_allclose(encoder.encode(["a"], "code")[0], by_hand(tiny_bert, "passage: a", "mean"), atol=1e-5)


def test_tokens_of_a_mode_stand_after_the_first_one(tiny_bert: Path) -> None:
    pooled = PooledModel(str(tiny_bert), Recipe("mean", opening=("query", "[SEP]")), "cpu")
    ids = pooled._inputs(["where a", "a"])["input_ids"]
    assert [pooled.tokenizer.convert_ids_to_tokens(row) for row in ids] == [
        ["[CLS]", "query", "[SEP]", "where", "a", "[SEP]"],
        ["[CLS]", "query", "[SEP]", "a", "[SEP]", "[PAD]"],
    ]


def test_long_texts_are_cut_to_what_the_recipe_allows(tiny_bert: Path) -> None:
    pooled = PooledModel(str(tiny_bert), Recipe("mean", max_tokens=6, opening=("query",)), "cpu")
    assert pooled._inputs(["a " * 50])["input_ids"].shape == (1, 6)


def test_a_configuration_beside_the_model_is_followed(tiny_bert: Path, tmp_path: Path) -> None:
    for file in tiny_bert.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    kinds = ("Transformer", "Pooling")
    modules = [{"path": f"{n}_{kind}" if n else "", "type": f"st.{kind}"} for n, kind in enumerate(kinds)]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    encoder = HfEncoder(str(tmp_path))
    assert encoder.name == f"hf:{tmp_path}"
    np.testing.assert_allclose(encoder.encode(["a"], "query")[0], by_hand(tiny_bert, "a", "cls"), atol=1e-5)


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model"):
        HfEncoder(str(tmp_path))
