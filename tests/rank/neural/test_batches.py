"""Labelled programs as rows of tokens, and rows as batches."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("tokenizers", reason="the onnx extra is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers  # noqa: TID253  asked for above

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.datasets import Example
from assay.rank.neural_data import (
    FAULTS,
    INDENT,
    NEWLINE,
    Reader,
    TokenLayout,
    by_length,
    layout_of,
    learning_data,
    lines_of,
    padded,
)

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz0123456789():=", "add", "return"]
SPECIAL = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}


def word_piece() -> Tokenizer:
    """A tokenizer that drops line breaks and blanks."""
    tokenizer = Tokenizer(models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    return tokenizer


def byte_level() -> Tokenizer:
    """A tokenizer that merges a line break with the blanks behind it, and has a token for each alone."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {letter: at for at, letter in enumerate([*alphabet, "ĠĠ", "ĊĠĠ", "<|end|>"])}
    tokenizer = Tokenizer(models.BPE(words, [("Ġ", "Ġ"), ("Ċ", "ĠĠ")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.add_special_tokens(["<|end|>"])
    return tokenizer


def reader(tokenizer: Tokenizer, special: dict[str, str], window: int = 40, code_least: int = 8) -> Reader:
    return Reader(tokenizer, layout_of(tokenizer, special, window=window, code_least=code_least))


def words_of(made: Reader, ids: list[int]) -> list[str]:
    return [made.tokenizer.id_to_token(token) for token in ids]


def test_a_tokenizer_has_tokens_for_line_breaks_or_is_given_some() -> None:
    made = reader(word_piece(), SPECIAL)
    (row,) = made.rows("add a", ["a:\n    b\n\n        c"])
    wanted = f"[CLS] add a [SEP] {NEWLINE} a : {NEWLINE} {INDENT} b {NEWLINE} {NEWLINE} {INDENT} {INDENT} c {NEWLINE}"
    assert words_of(made, row.ids) == f"{wanted} {NEWLINE} [SEP]".split()
    assert [row.ids[at] for at in row.newlines] == [made.layout.newline] * 6
    assert row.code_start == 4
    assert made.layout == TokenLayout((2,), 3, 3, 0, len(WORDS), len(WORDS) + 1, 40, 8)
    made = reader(byte_level(), {"eos_token": "<|end|>", "bos_token": "<|end|>"})
    (row,) = made.rows("a", ["b\n   c\n"])
    assert words_of(made, row.ids) == "<|end|> a <|end|> Ċ b Ċ ĠĠ Ġ c Ċ Ċ <|end|>".split()
    assert made.layout.indent == -1
    assert made.tokenizer.token_to_id(NEWLINE) is None


def test_the_prompt_is_kept_and_the_code_cut_but_for_a_least_part() -> None:
    made = reader(word_piece(), SPECIAL)
    (row,) = made.rows("add " * 20, ["a b c\n" * 50])
    assert len(row.ids) == made.layout.window
    assert words_of(made, row.ids).count("add") == 20
    assert (row.ids[-2:], len(row.newlines)) == ([made.layout.newline, made.layout.closing], 2 + 15 // 4)
    (row,) = made.rows("add " * 500, ["a " * 100])
    assert len(row.ids) == made.layout.window
    assert words_of(made, row.ids).count("a") == made.layout.code_least


def test_lines_have_places_and_what_looks_like_a_special_token_is_text() -> None:
    made = reader(word_piece(), SPECIAL)
    (row,) = made.rows("add", ["a\n" * 100])
    last = len(row.newlines) - 1
    assert (row.place_of(-1), row.place_of(1), row.place_of(100)) == (0, 1, last)
    assert [row.line_of(at) for at in (0, 1, last - 1, last)] == [-1, 1, last - 1, -1]
    made = reader(word_piece(), SPECIAL)
    (row,) = made.rows("add [SEP]", [f"a [SEP] {NEWLINE}"])
    assert (words_of(made, row.ids).count("[SEP]"), words_of(made, row.ids).count(NEWLINE)) == (2, 3)
    assert (lines_of("a\r\nb\rc\x0cd\u2028e\n"), lines_of("")) == (["a", "b", "c\x0cd\u2028e"], [])


@settings(max_examples=40)
@given(st.text(max_size=80), st.lists(st.text("ab \n\t():=", max_size=120), max_size=4), st.integers(16, 60))
def test_no_row_is_longer_than_the_window(prompt: str, sources: list[str], window: int) -> None:
    made = reader(word_piece(), SPECIAL, window=window)
    for row, source in zip(made.rows(prompt, sources), sources, strict=True):
        assert len(row.ids) <= window
        assert [row.ids[at] for at in row.newlines] == [made.layout.newline] * len(row.newlines)
        assert row.newlines == sorted(set(row.newlines))
        assert len(row.newlines) - 2 <= len(lines_of(source))


def test_rows_are_padded_and_newlines_marked() -> None:
    made = reader(word_piece(), SPECIAL)
    rows = made.rows("add", ["a\nb", "a"])
    batch = padded(rows, made.layout.padding)
    assert batch.ids.shape == (2, len(rows[0].ids))
    assert batch.mask.sum(1).tolist() == [len(row.ids) for row in rows]
    assert batch.newlines.sum(1).tolist() == [4, 3]
    assert batch.segments[0].tolist() == [0] * 3 + [1] * (len(rows[0].ids) - 3)
    assert list(by_length([len(row.ids) for row in rows], 1)) == [[1], [0]]
    assert padded([], 0).ids.shape == (0, 0)


ENDS = {"eos_token": "<|end|>", "bos_token": "<|end|>"}
RIGHT = Example("t", "p", "add", "def f(a):\n    return a\n", Fault.CORRECT, split="train")
BROKEN = replace(
    RIGHT, fault=Fault.NAME_ERROR, line=2, n=3, message="NameError: name 'b' is not defined", ran_all=False
)


def held(examples: list[Example]) -> list[Example]:
    return [*examples, replace(RIGHT, task_id="v", prompt="", split="valid")]


def test_labeled_programs_are_rows_with_what_is_known_of_them(byte_level_tokenizer: object) -> None:
    ends = reader(byte_level_tokenizer, ENDS, 64, 16)
    data = learning_data(held([RIGHT, BROKEN]), ends)
    wanted = ends.rows("add", [RIGHT.source])[0]
    assert [list(row.ids) for row in data.train.rows] == [wanted.ids] * 2
    about = {name: of.tolist() for name, of in data.train.about.items()}
    assert [FAULTS[at] for at in about["fault"]] == [Fault.CORRECT, Fault.NAME_ERROR]
    assert (about["line"], about["n"], about["ran_all"]) == ([-1, 2], [1, 3], [-1, 0])
    assert about["place"] == [wanted.newlines[0], wanted.newlines[2]]
    assert (len(data.valid.rows), data.without_prompt) == (1, 1)
    again, other = (learning_data(held(examples), ends) for examples in ([RIGHT, BROKEN], [RIGHT]))
    assert again.digest == data.digest != other.digest


def test_a_block_of_programs_is_in_memory_and_data_that_show_nothing_are_refused(byte_level_tokenizer: object) -> None:
    most = 0

    def many() -> Iterator[Example]:
        nonlocal most
        for at in range(6_000):
            if at in {3_999, 5_999}:
                most = max(most, sum(type(each) is Example for each in gc.get_objects()))
            yield replace(RIGHT, program_id=str(at), split="valid" if at == 0 else "train", task_id=str(at == 0))

    data = learning_data(many(), reader(byte_level_tokenizer, ENDS, 64, 16))
    assert len(data.train.rows) == 5_999
    assert most < 3_000
    ends = reader(byte_level_tokenizer, ENDS)
    with pytest.raises(InputError, match="1 tasks are in more than one split, 't' first"):
        learning_data([RIGHT, replace(RIGHT, split="valid")], ends)
    with pytest.raises(InputError, match="no row of split 'train' among 0"):
        learning_data([], ends)
