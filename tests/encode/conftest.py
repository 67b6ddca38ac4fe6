"""A transformer small enough to be made in the test: random weights, a dozen words."""

from __future__ import annotations

from pathlib import Path

import pytest

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] where are retries handled query passage a :".split()


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a saved BERT."""
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    transformers = pytest.importorskip("transformers", reason="the hf extra is not installed")
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("tiny")
    (path / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(vocab=str(path / "vocab.txt")).save_pretrained(path)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    transformers.BertModel(config).eval().save_pretrained(path)
    return path
