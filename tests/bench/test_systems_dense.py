# ruff: noqa: E402  what may be missing is asked for before it is imported
from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the hf extra is not installed")
transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")

from assay.bench.system_corpus import SystemCorpus
from assay.bench.systems.dense_system import DenseSystem
from assay.errors import InputError
from assay.types import Query

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "send", "mail", "address", "server"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model that nobody wrote a recipe for."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("model")
    (path / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(vocab=str(path / "vocab.txt")).save_pretrained(path)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    transformers.BertModel(transformers.BertConfig(vocab_size=len(WORDS), **sizes)).save_pretrained(path)
    return path


def test_a_model_without_a_recipe_is_refused_unless_its_pooling_is_said(model: Path, postbox: SystemCorpus):
    with pytest.raises(InputError, match="no recipe is known"):
        DenseSystem(f"hf:{model}").prepare(postbox, {})
    for pooling in ("mean", "pooler"):
        searcher = DenseSystem(f"hf:{model}?pooling={pooling}").prepare(postbox, {})
        assert len(searcher.search([Query("1", "send mail")], 2)[0]) == 2
