"""An encoder and a decoder small enough to be made in the test, and programs whose fault can be read off them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from assay.faults import Fault
from assay.rank.datasets import Example
from byte_level import byte_level

WORDS = "[PAD] [UNK] [CLS] [SEP] def f g ( a ) : return boom x = 1 2 add the numbers".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789()=:[]_"


def write_encoder(folder: Path) -> None:
    """Save a BERT of random weights, whose tokenizer drops line breaks and blanks."""
    import torch
    import transformers

    torch.manual_seed(0)
    letters = [letter for letter in LETTERS if letter not in WORDS]
    vocabulary = [*WORDS, *letters, *(f"##{letter}" for letter in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary))
    words = "vocab" if int(transformers.__version__.partition(".")[0]) >= 5 else "vocab_file"
    transformers.BertTokenizerFast(**{words: str(folder / "vocab.txt")}).save_pretrained(folder)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    drops = {"hidden_dropout_prob": 0.05, "attention_probs_dropout_prob": 0.0}  # resuming has random numbers to keep
    config = transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=96, **sizes, **drops)
    transformers.BertModel(config).save_pretrained(folder)


def write_decoder(folder: Path) -> None:
    """Save a GPT-2 of random weights."""
    import torch
    import transformers

    torch.manual_seed(0)
    ends = {"eos_token": "<|end|>", "bos_token": "<|end|>", "unk_token": "<|end|>"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), **ends).save_pretrained(folder)
    config = transformers.GPT2Config(
        vocab_size=257, n_embd=32, n_layer=2, n_head=2, n_positions=160, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0
    )
    transformers.GPT2Model(config).save_pretrained(folder)


@pytest.fixture
def byte_level_tokenizer():
    """Return that tokenizer."""
    pytest.importorskip("tokenizers", reason="the onnx extra is not installed")
    return byte_level()


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of the two models."""
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")
    pytest.importorskip("transformers", reason="the hf extra is not installed")
    torch.set_num_threads(1)  # more would wait for one another longer than these models take
    folders = {name: tmp_path_factory.mktemp(name) for name in ("encoder", "decoder")}
    write_encoder(folders["encoder"])
    write_decoder(folders["decoder"])
    return folders


def program(fault: Fault, line: int, lines: int) -> str:
    """Return a program that says `boom` where it breaks, and `g` where it answers wrongly."""
    body = ["def f(a):", *["    x = 1"] * (lines - 2), "    return g" if fault.is_intent else "    return a"]
    if line > 0:
        body[line - 1] = "    boom"
    return "\n".join(body) + "\n"


@pytest.fixture(scope="session")
def examples() -> list[Example]:
    """Return 12 tasks with 6 programs each, the last 3 tasks held out."""
    draw = random.Random(0)
    rows = []
    for task in range(12):
        for at, fault in enumerate([Fault.CORRECT, Fault.INT_SMALL_ERROR, Fault.NAME_ERROR] * 2):
            lines = draw.randint(3, 5)
            line = draw.randint(2, lines) if fault.is_execution else -1
            split = "valid" if task >= 9 else "train"
            source = program(fault, line, lines) + "x" * at
            rows.append(Example(f"t{task}", f"t{task}#{at}", "add the numbers", source, fault, line, split=split))
    return rows
