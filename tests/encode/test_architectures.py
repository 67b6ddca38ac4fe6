"""A tiny model of each architecture of CoSQA+'s table V, random weights, opened by its name as the real one is."""
# ruff: noqa: E402  what may be missing is asked for before it is imported

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the hf extra is not installed")
safetensors = pytest.importorskip("safetensors.torch", reason="the hf extra is not installed")

from assay.encode.openers import open_hf
from assay.errors import InputError

WORDS = "send mail retry letter box price def return".split()
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
TEXTS = ["send mail", "def send ( letter ) return box", "price"]


def save_tokenizer(folder: Path, special: dict[str, str], *more: str) -> int:
    """Write a tokenizer of words that opens and closes a text with its special tokens; return how many words it has."""
    words = [*dict.fromkeys(special.values()), *more, *WORDS]
    numbers = {word: at for at, word in enumerate(words)}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=special["unk_token"]))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    first, last = special["cls_token"], special["sep_token"]
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, words.index(first)), (last, words.index(last))]
    )
    transformers.PreTrainedTokenizerFast(tokenizer_object=inner, **special).save_pretrained(folder)
    return len(words)


BERT = dict(zip("pad unk cls sep mask".split(), "[PAD] [UNK] [CLS] [SEP] [MASK]".split(), strict=True))
ROBERTA = dict(zip("bos pad eos unk cls sep mask".split(), "<s> <pad> </s> <unk> <s> </s> <mask>".split(), strict=True))


def special(names: dict[str, str]) -> dict[str, str]:
    return {f"{name}_token": token for name, token in names.items()}


def save(folder: Path, config: Any, model: Callable[[Any], Any], names: dict[str, str], *more: str) -> None:
    """Write a random model with its tokenizer."""
    torch.manual_seed(0)
    config.vocab_size = save_tokenizer(folder, special(names), *more)
    config.pad_token_id = list(dict.fromkeys(names.values())).index(names["pad"])
    model(config).eval().save_pretrained(folder)


def roberta(folder: Path, *more: str, kind: str = "Roberta") -> None:
    config = getattr(transformers, f"{kind}Config")(**SIZES, max_position_embeddings=600)
    save(folder, config, getattr(transformers, f"{kind}Model"), ROBERTA, *more)


def minilm(folder: Path) -> None:
    save(folder, transformers.BertConfig(**SIZES), transformers.BertModel, BERT)


T5_CONFIGURATION = """
from transformers.configuration_utils import PretrainedConfig


class TinyT5Config(PretrainedConfig):
    model_type = "tiny_t5_embedding"
    attribute_map = {"hidden_size": "d_model", "num_attention_heads": "num_heads", "num_hidden_layers": "num_layers"}

    def __init__(self, vocab_size=32, d_model=16, embed_dim=8, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
                 pad_token_id=0, eos_token_id=2, is_encoder_decoder=False, use_cache=True, **more):
        self.vocab_size, self.d_model, self.embed_dim, self.d_kv, self.d_ff = vocab_size, d_model, embed_dim, d_kv, d_ff
        self.num_layers, self.num_heads, self.dropout_rate, self.layer_norm_epsilon = num_layers, num_heads, 0.1, 1e-6
        self.relative_attention_num_buckets, self.relative_attention_max_distance = 8, 32
        self.initializer_factor, self.feed_forward_proj, self.use_cache = 1.0, "relu", use_cache
        self.dense_act_fn, self.is_gated_act = "relu", False
        super().__init__(pad_token_id=pad_token_id, eos_token_id=eos_token_id,
                         is_encoder_decoder=is_encoder_decoder, **more)
"""
T5_MODEL = """
import torch
from torch.nn import functional
from transformers import T5EncoderModel

from .configuration_tiny import TinyT5Config


class TinyT5Embedding(T5EncoderModel):
    config_class = TinyT5Config

    def __init__(self, config):
        super().__init__(config)
        self.proj = torch.nn.Linear(config.d_model, config.embed_dim)

    def forward(self, input_ids=None, attention_mask=None, **more):
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return functional.normalize(self.proj(states[:, 0, :]), dim=-1)
"""


def codet5p(folder: Path) -> None:
    """Write a T5 encoder with a layer of its own, whose code lies beside it and knows nothing of transformers 5."""
    folder.mkdir(parents=True, exist_ok=True)
    words = save_tokenizer(folder, special(ROBERTA))
    (folder / "configuration_tiny.py").write_text(T5_CONFIGURATION)
    (folder / "modeling_tiny.py").write_text(T5_MODEL)
    names = {"AutoConfig": "configuration_tiny.TinyT5Config", "AutoModel": "modeling_tiny.TinyT5Embedding"}
    about = {"model_type": "tiny_t5_embedding", "vocab_size": words, "auto_map": names, "pad_token_id": 1}
    about |= {"architectures": ["TinyT5Embedding"], "transformers_version": "4.21.3"}
    (folder / "config.json").write_text(json.dumps(about))
    torch.manual_seed(0)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "relative_attention_num_buckets": 8}
    config = transformers.T5Config(vocab_size=words, **sizes)
    weights = transformers.T5EncoderModel(config).state_dict()
    projection = torch.nn.Linear(16, 8)
    weights |= {"proj.weight": projection.weight.data, "proj.bias": projection.bias.data}
    weights.pop("encoder.embed_tokens.weight")  # the same as shared.weight
    whole = {name: weight.clone().contiguous() for name, weight in weights.items()}
    safetensors.save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})


JINA = '''
from sentence_transformers.models import Transformer


class TaskTransformer(Transformer):
    """Adds to each token what its task has learned."""

    def forward(self, features, task=None, **more):
        features = super().forward(features)
        shift = {"retrieval.query": 1.0, "retrieval.passage": -1.0}[task]
        features["token_embeddings"] = features["token_embeddings"] + shift
        return features
'''


def jina(folder: Path) -> None:
    """Write an encoder that sentence-transformers runs by code beside it, which has to be told a task."""
    roberta(folder, "query:", "passage:", kind="XLMRoberta")
    (folder / "custom_st.py").write_text(JINA)
    kinds = {"": "custom_st.TaskTransformer", "1_Pooling": "sentence_transformers.models.Pooling"}
    rows = enumerate(kinds.items())
    modules = [{"idx": at, "name": str(at), "path": path, "type": kind} for at, (path, kind) in rows]
    modules[0]["kwargs"] = ["task"]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "do_lower_case": False}))
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(pooling))
    prompts = {"retrieval.query": "send ", "retrieval.passage": "mail "}
    (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": prompts}))


MODELS: dict[str, Callable[[Path], None]] = {
    "codebert-base": roberta,
    "unixcoder-base": lambda folder: roberta(folder, "<encoder-only>"),
    "codet5p-110m-embedding": codet5p,
    "all-MiniLM-L12-v2": minilm,
    "all-mpnet-base-v2": lambda folder: roberta(folder, kind="MPNet"),
    "multilingual-e5-large": lambda folder: roberta(folder, "query:", "passage:", kind="XLMRoberta"),
    "jina-embeddings-v3": jina,
}
BRINGS_CODE = {"codet5p-110m-embedding", "jina-embeddings-v3"}
TELLS_ROLES_APART = {"multilingual-e5-large", "jina-embeddings-v3"}


@pytest.mark.parametrize("name", MODELS)
def test_a_copy_of_each_model_is_opened_and_used_by_its_recipe(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    MODELS[name](folder)
    if name in BRINGS_CODE:
        with pytest.raises(InputError, match="remote_code=yes"):
            open_hf(str(folder))
    encoder = open_hf(f"{folder}?remote_code=yes" if name in BRINGS_CODE else str(folder))
    vectors = encoder.encode(TEXTS, "query")
    assert vectors.shape == (3, 8 if name == "codet5p-110m-embedding" else 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    alone = np.concatenate([encoder.encode([text], "query") for text in TEXTS])
    np.testing.assert_allclose(vectors, alone, atol=1e-4)
    assert encoder.name == f"hf:{folder}"
    assert np.allclose(vectors, encoder.encode(TEXTS, "code"), atol=1e-4) != (name in TELLS_ROLES_APART)
    if name == "unixcoder-base":  # its mode is read first
        ids = encoder.runner.tokens_of(["send mail"])["input_ids"][0]
        words = encoder.runner.tokenizer.convert_ids_to_tokens(ids)
        assert words == ["<s>", "<encoder-only>", "</s>", "send", "mail", "</s>"]


def test_the_oldest_versions_that_are_tested_are_those_that_are_allowed() -> None:
    top = Path(__file__).parents[2]
    extras = tomllib.loads((top / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    allowed = dict(re.findall(r"([\w-]+)>=([\d.]+),<", " ".join(extras["hf"] + extras["onnx"] + extras["train"])))
    tested = dict(re.findall(r"^([\w-]+)==([\d.]+)$", (top / ".ci/oldest.txt").read_text(), re.MULTILINE))
    assert allowed == tested
