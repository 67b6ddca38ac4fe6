"""A causal language model small enough to be made in a test: GPT-2 over bytes, with random weights."""

from __future__ import annotations

from pathlib import Path

import pytest

END = "<|end|>"
WINDOW = 256


def write_causal(folder: Path) -> None:
    """Save the model and a tokenizer that has a token a byte."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: at for at, letter in enumerate([*alphabet, END])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([END])
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END, unk_token=END).save_pretrained(folder)
    config = GPT2Config(
        vocab_size=257,
        n_positions=WINDOW,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=256,
        eos_token_id=256,
        initializer_range=0.3,  # so that some letters are likelier than others
        resid_pdrop=0.05,  # so that training has random numbers to keep
        embd_pdrop=0.0,
        attn_pdrop=0.0,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)


@pytest.fixture(scope="session")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the model."""
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    pytest.importorskip("transformers", reason="the hf extra is not installed")
    torch.set_num_threads(1)  # more would wait for one another longer than this model takes
    folder = tmp_path_factory.mktemp("causal")
    write_causal(folder)
    return folder
