# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.encode.hf import HfEncoder
from assay.encode.open_hf import open_hf
from assay.encode.pooled_model import PooledModel
from assay.encode.recipes import Recipe
from assay.errors import InputError, ModelUnavailable
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
    encoder = HfEncoder(f"{tiny_bert}?pooling={pooling}&batch=3")
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
    ids = pooled.tokens_of(["where a", "a"])["input_ids"]
    assert [pooled.tokenizer.convert_ids_to_tokens(row) for row in ids] == [
        ["[CLS]", "query", "[SEP]", "where", "a", "[SEP]"],
        ["[CLS]", "query", "[SEP]", "a", "[SEP]", "[PAD]"],
    ]


def test_long_texts_are_cut_to_what_the_recipe_allows(tiny_bert: Path) -> None:
    pooled = PooledModel(str(tiny_bert), Recipe("mean", max_tokens=6, opening=("query",)), "cpu")
    assert pooled.tokens_of(["a " * 50])["input_ids"].shape == (1, 6)


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
    with pytest.raises(InputError) as refused:
        open_hf(str(tmp_path))
    assert str(refused.value) == (
        f"no model '{tmp_path}': it has no config.json; wanted a folder that save_pretrained wrote"
    )
    with pytest.raises(InputError, match="there is no such folder; give a folder, or a name on the hub"):
        open_hf(str(tmp_path / "none"))


def offline(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python where nobody answers for the hub."""
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    nobody = {"HF_ENDPOINT": "http://127.0.0.1:9", **environment}
    return subprocess.run(
        [sys.executable, "-c", script], env={**kept, **nobody}, capture_output=True, text=True, check=False
    )


ASKED = """
import sys, time
from assay import plugins
from assay.errors import AssayError
before = time.process_time()
try:
    encoder = plugins.make("encoder", sys.argv[1] if sys.argv[1:] else "hf:some/model")
    print(encoder.name, encoder.dimension)
except AssayError as error:
    print(error)
print("torch" in sys.modules)
"""


def test_offline_a_name_on_the_hub_fails_at_once_and_says_what_to_do(tmp_path: Path) -> None:
    ran = offline(ASKED, HF_HOME=str(tmp_path))
    assert ran.stdout == (
        "no model 'some/model': not in the cache of the hub, and http://127.0.0.1:9 does not answer; "
        "go online once, or give a folder (hf:FOLDER)\nFalse\n"
    )
    ran = offline(ASKED, HF_HOME=str(tmp_path), HF_HUB_OFFLINE="1")
    assert "and HF_HUB_OFFLINE is set; go online once" in ran.stdout


def test_offline_a_cached_name_is_opened(tiny_bert: Path, tmp_path: Path) -> None:
    model = tmp_path / "hub" / "models--some--model"
    shutil.copytree(tiny_bert, model / "snapshots" / "0123")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0123")
    ran = offline(ASKED, HF_HOME=str(tmp_path))
    assert ran.stdout.splitlines() == ["hf:some/model?pooling=mean 16", "True"], ran.stderr


def test_precision_and_length_change_the_vectors_and_the_name(tiny_bert: Path) -> None:
    plain = HfEncoder(f"{tiny_bert}?pooling=mean&dtype=fp32").encode(TEXTS, "query")
    half = HfEncoder(f"{tiny_bert}?dtype=bf16&device=cpu")
    assert half.name == f"hf:{tiny_bert}?pooling=mean&dtype=bf16"
    np.testing.assert_allclose(half.encode(TEXTS, "query"), plain, atol=0.05)
    assert not np.array_equal(half.encode(TEXTS, "query"), plain)
    short = HfEncoder(f"{tiny_bert}?length=3")
    assert np.array_equal(*short.encode(["a where are", "a retries"], "query")) == np.array_equal(
        *short.encode(["a", "a"], "query")
    )


def test_a_device_that_is_not_there_is_said(tiny_bert: Path) -> None:
    with pytest.raises(InputError, match=r"'device' of hf:.* is 'cuda:99', and torch .* here; wanted cpu, cuda or"):
        HfEncoder(f"{tiny_bert}?device=cuda:99")
    with pytest.raises(InputError, match=r"'device' of hf:.* is 'gpu'"):
        HfEncoder(f"{tiny_bert}?device=gpu")


def test_a_model_of_a_later_library_says_which_one_it_wants(tiny_bert: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny_bert, tmp_path / "late")
    config = json.loads((tmp_path / "late/config.json").read_text())
    (tmp_path / "late/config.json").write_text(
        json.dumps({**config, "model_type": "unheard-of", "transformers_version": "99.1.0"})
    )
    with pytest.raises(ModelUnavailable) as refused:
        HfEncoder(str(tmp_path / "late"))
    told = str(refused.value)
    assert told.endswith("; transformers 99.1.0 wrote it: pip install 'transformers>=99.1.0'")
    assert "\n" not in told


def test_pickled_weights_are_refused_in_one_line(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_bert, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"are pickled \(pytorch_model.bin\) and could run code"):
        HfEncoder(str(folder))
