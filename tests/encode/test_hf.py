"""Transformers as encoders and as scorers of pairs, and as ONNX without torch."""
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

from assay import plugins
from assay.bench.system import SystemCorpus
from assay.bench.systems.baseline_systems import DenseSystem
from assay.encode.hf import CrossEncoder, HfEncoder, PooledModel
from assay.encode.models import Recipe
from assay.encode.openers import open_hf
from assay.encode.view import source
from assay.errors import InputError, ModelUnavailable
from assay.protocols import Encoder, Scorer
from assay.values import Chunk, Query

TEXTS = ["where are retries handled", "a", "handled a where", "a a a a a a a a a a"]


def by_hand(tiny_bert: Path, text: str, pooling: str) -> np.ndarray:
    """One text alone, without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_bert)
    with torch.no_grad():
        output = transformers.AutoModel.from_pretrained(tiny_bert)(**tokenizer(text, return_tensors="pt"))
    tokens, pooler = output.last_hidden_state[0], output.pooler_output[0]
    vector = {"mean": tokens.mean(0), "cls": tokens[0], "last": tokens[-1], "pooler": pooler}[pooling].numpy()
    return vector / np.linalg.norm(vector)


def test_pooling_is_what_one_computes_by_hand_whatever_the_padding(tiny_bert: Path) -> None:
    for pooling in ("mean", "cls", "last", "pooler"):
        vectors = HfEncoder(f"{tiny_bert}?pooling={pooling}&batch=3").encode(TEXTS, "query")
        wanted = np.stack([by_hand(tiny_bert, text, pooling) for text in TEXTS])
        np.testing.assert_allclose(vectors, wanted, atol=1e-5, err_msg=pooling)


def test_it_is_an_encoder_that_names_its_undocumented_pooling_and_puts_prefixes_by_role(tiny_bert: Path) -> None:
    encoder = HfEncoder(str(tiny_bert))
    assert isinstance(encoder, Encoder)
    assert (encoder.name, encoder.dimension) == (f"hf:{tiny_bert}?pooling=mean", 16)
    assert encoder.encode([], "code").shape == (0, 16)
    encoder.recipe = Recipe("mean", "query: ", "passage: ")
    np.testing.assert_allclose(encoder.encode(["a"], "query")[0], by_hand(tiny_bert, "query: a", "mean"), atol=1e-5)
    np.testing.assert_allclose(encoder.encode(["a"], "code")[0], by_hand(tiny_bert, "passage: a", "mean"), atol=1e-5)


def test_tokens_of_a_mode_stand_after_the_first_one_and_long_texts_are_cut(tiny_bert: Path) -> None:
    pooled = PooledModel(str(tiny_bert), Recipe("mean", opening=("query", "[SEP]")), "cpu")
    ids = pooled.tokens_of(["where a", "a"])["input_ids"]
    assert [pooled.tokenizer.convert_ids_to_tokens(row) for row in ids] == [
        ["[CLS]", "query", "[SEP]", "where", "a", "[SEP]"],
        ["[CLS]", "query", "[SEP]", "a", "[SEP]", "[PAD]"],
    ]
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


def test_a_folder_without_a_model_and_a_device_that_is_not_there_are_named(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        open_hf(str(tmp_path))
    wanted = "it has no config.json; wanted a folder that save_pretrained wrote"
    assert str(refused.value) == f"no model '{tmp_path}': {wanted}"
    with pytest.raises(InputError, match="there is no such folder; give a folder, or a name on the hub"):
        open_hf(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"'device' of hf:.* is 'cuda:99', and torch .* here; wanted cpu, cuda or"):
        HfEncoder(f"{tiny_bert}?device=cuda:99")
    with pytest.raises(InputError, match=r"'device' of hf:.* is 'gpu'"):
        HfEncoder(f"{tiny_bert}?device=gpu")


ASK = """
import sys
from assay import plugins
from assay.errors import AssayError
for name in sys.argv[1:]:
    try:
        encoder = plugins.make("encoder", name)
        print(encoder.name, encoder.dimension)
    except AssayError as error:
        print(error)
    print("torch" in sys.modules)
"""


def offline(folder: Path, *names: str, **environment: str) -> list[str]:
    """Return what a process prints for which nobody answers for the hub."""
    kept = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    around = {**kept, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(folder), **environment}
    ran = subprocess.run([sys.executable, "-c", ASK, *names], env=around, capture_output=True, text=True, check=False)
    return ran.stdout.splitlines()


def test_offline_a_cached_name_of_the_hub_is_opened_and_another_says_what_to_do(
    tiny_bert: Path, tmp_path: Path
) -> None:
    model = tmp_path / "hub" / "models--some--model"
    shutil.copytree(tiny_bert, model / "snapshots" / "0123")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("0123")
    why = "no model 'other/model': not in the cache of the hub, and {}; go online once, or give a folder (hf:FOLDER)"
    told = offline(tmp_path, "hf:other/model")
    assert told == [why.format("http://127.0.0.1:9 does not answer"), "False"]
    told = offline(tmp_path, "hf:other/model", "hf:some/model", HF_HUB_OFFLINE="1")
    assert told == [why.format("HF_HUB_OFFLINE is set"), "False", "hf:some/model?pooling=mean 16", "True"]


def test_precision_and_length_change_the_vectors_and_the_name(tiny_bert: Path) -> None:
    plain = HfEncoder(f"{tiny_bert}?pooling=mean&dtype=fp32").encode(TEXTS, "query")
    half = HfEncoder(f"{tiny_bert}?dtype=bf16&device=cpu")
    assert half.name == f"hf:{tiny_bert}?pooling=mean&dtype=bf16"
    np.testing.assert_allclose(half.encode(TEXTS, "query"), plain, atol=0.05)
    assert not np.array_equal(half.encode(TEXTS, "query"), plain)
    short = HfEncoder(f"{tiny_bert}?length=3")
    assert np.array_equal(*short.encode(["a where are", "a retries"], "query"))


def test_a_model_of_a_later_library_says_which_one_and_pickles_are_refused(tiny_bert: Path, tmp_path: Path) -> None:
    folder = tmp_path / "late"
    shutil.copytree(tiny_bert, folder)
    config = json.loads((folder / "config.json").read_text())
    late = {**config, "model_type": "unheard-of", "transformers_version": "99.1.0"}
    (folder / "config.json").write_text(json.dumps(late))
    with pytest.raises(ModelUnavailable) as refused:
        HfEncoder(str(folder))
    told = str(refused.value)
    assert told.endswith("; transformers 99.1.0 wrote it: pip install 'transformers>=99.1.0'")
    assert "\n" not in told
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(InputError, match=r"are pickled \(pytorch_model.bin\) and could run code"):
        HfEncoder(str(folder))


QUERY = Query("1", "where are retries handled")
CHUNKS = [Chunk(f"c{n}", text) for n, text in enumerate(["retries handled", "a", "where a passage : a a a", "query"])]


def classifier(tiny_bert: Path, folder: Path, outputs: int) -> str:
    """Save a classifier of random weights; return its spec."""
    torch.manual_seed(outputs)
    config = transformers.AutoConfig.from_pretrained(tiny_bert, num_labels=outputs)
    transformers.BertForSequenceClassification(config).eval().save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tiny_bert).save_pretrained(folder)
    return f"cross:{folder}"


def logits_by_hand(folder: Path, chunk: Chunk) -> list[float]:
    """One pair alone, without padding."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(QUERY.text, source(chunk), return_tensors="pt")).logits[0].tolist()


def test_scores_of_a_classifier_are_those_of_each_pair_alone(tiny_bert: Path, tmp_path: Path) -> None:
    for outputs in (1, 2):
        scorer = plugins.make("scorer", classifier(tiny_bert, tmp_path, outputs))
        assert isinstance(scorer, Scorer)
        alone = [logits_by_hand(tmp_path, chunk) for chunk in CHUNKS]
        wanted = [logits[0] if outputs == 1 else logits[1] - logits[0] for logits in alone]
        assert len(set(wanted)) == len(wanted)
        assert scorer.score(QUERY, CHUNKS) == pytest.approx(wanted, abs=1e-5)
        assert CrossEncoder(str(tmp_path), batch=2).score(QUERY, CHUNKS) == pytest.approx(wanted, abs=1e-5)
        assert scorer.score(QUERY, []) == []
        assert np.isfinite(scorer.score(QUERY, [Chunk("long", "a " * 3000)])).all()


def test_what_is_no_classifier_is_refused(tiny_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is BertModel .* wanted a classifier with 1 or 2"):
        CrossEncoder(str(tiny_bert))
    classifier(tiny_bert, tmp_path, 3)
    with pytest.raises(InputError, match="with 3 outputs"):
        CrossEncoder(str(tmp_path))
    with pytest.raises(InputError, match="no model"):
        CrossEncoder(str(tmp_path / "none"))


def test_an_exported_model_says_what_the_model_says(tiny_bert: Path, tmp_path: Path) -> None:
    for library in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(library, reason="the onnx extra is not installed")
    from assay.encode.hf import export_onnx
    from assay.encode.onnx import OnnxEncoder

    encoder = HfEncoder(str(tiny_bert))
    encoder.recipe = Recipe("mean", "query: ", "passage: ")
    export_onnx(encoder, tmp_path)
    onnx = OnnxEncoder(str(tmp_path))
    assert isinstance(onnx, Encoder)
    assert (onnx.name, onnx.dimension) == (f"onnx:{tmp_path}", 16)
    assert onnx.encode([], "code").shape == (0, 16)
    for role in ("query", "code"):
        np.testing.assert_allclose(
            onnx.encode([*TEXTS, ""], role), encoder.encode([*TEXTS, ""], role), atol=1e-5, err_msg=role
        )
    for name in ("model.onnx", "tokenizer.json"):
        kept = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        with pytest.raises(InputError, match=f"no {name}"):
            OnnxEncoder(str(tmp_path))
        (tmp_path / name).write_bytes(kept)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InputError, match="not an ONNX model"):
        OnnxEncoder(str(tmp_path))
    with pytest.raises(InputError, match="pooled by cls"):
        export_onnx(HfEncoder(f"{tiny_bert}?pooling=cls"), tmp_path)


def test_a_model_without_a_recipe_is_no_system_unless_its_pooling_is_said(tiny_bert: Path, tmp_path: Path) -> None:
    (tmp_path / "mail.py").write_text("def send(mail):\n    return mail\n")
    (tmp_path / "box.md").write_text("# A box\n\nOf letters.\n")
    corpus = SystemCorpus("c", tmp_path, digest="d")
    with pytest.raises(InputError, match="no recipe is known"):
        DenseSystem(f"hf:{tiny_bert}").prepare(corpus, {})
    searcher = DenseSystem(f"hf:{tiny_bert}?pooling=pooler").prepare(corpus, {})
    assert len(searcher.search([Query("1", "send mail")], 2)[0]) == 2
