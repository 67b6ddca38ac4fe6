from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("tokenizers", reason="the onnx extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.dataset.rows import Example
from assay.rank.neural.data import Reader, layout_of, learning_data, open_data

ENDS = {"eos_token": "<|end|>", "bos_token": "<|end|>"}
RIGHT = Example("t", "p", "add", "def f(a):\n    return a\n", Fault.CORRECT, split="train")
BROKEN = replace(
    RIGHT, fault=Fault.NAME_ERROR, line=2, n=3, message="NameError: name 'b' is not defined", ran_all=False
)


@pytest.fixture
def reader(byte_level_tokenizer: object) -> Reader:
    """Return what turns programs into tokens."""
    return Reader(byte_level_tokenizer, layout_of(byte_level_tokenizer, ENDS, window=64, code_least=16))


def held(examples: list[Example]) -> list[Example]:
    return [*examples, replace(RIGHT, task_id="v", prompt="", split="valid")]


def test_what_is_written_is_read_again(reader: Reader, tmp_path: Path) -> None:
    data = learning_data(held([RIGHT, BROKEN]), reader, tmp_path)
    wanted = reader.rows("add", [RIGHT.source])[0]
    assert [data.train[0], data.train[1]] == [wanted, wanted]
    assert data.train.faults() == [Fault.CORRECT, Fault.NAME_ERROR]
    about = data.train.about[1]
    assert (about["line"], about["n"], about["ran_all"], about["place"]) == (2, 3, 0, wanted.newlines[2])
    assert data.shapes == {"NameError: name '…' is not defined": 1}
    assert (len(data.valid), data.unasked) == (1, 1)
    assert open_data(tmp_path / "tokens").digest == data.digest
    assert data.train.part(1, 2)[0] == data.train[1]


def test_tokens_of_the_same_data_are_not_made_again(reader: Reader, tmp_path: Path) -> None:
    learning_data(held([RIGHT]), reader, tmp_path, data="a hash")
    again = learning_data(iter(()), reader, tmp_path, data="a hash")
    assert len(again.train) == 1
    with pytest.raises(InputError, match="no row of split 'train' among 0"):
        learning_data(iter(()), reader, tmp_path, data="another")


def test_no_more_than_a_block_of_programs_is_in_memory(reader: Reader, tmp_path: Path) -> None:
    most = 0

    def many() -> Iterator[Example]:
        nonlocal most
        for at in range(6_000):
            if at in {3_999, 5_999}:
                most = max(most, sum(type(each) is Example for each in gc.get_objects()))
            yield replace(RIGHT, program_id=str(at), split="valid" if at == 0 else "train", task_id=str(at == 0))

    data = learning_data(many(), reader, tmp_path)
    assert len(data.train) == 5_999
    assert most < 3_000


def test_data_that_show_nothing_leave_nothing(reader: Reader, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 tasks are in more than one split, 't' first"):
        learning_data([RIGHT, replace(RIGHT, split="valid")], reader, tmp_path)
    assert not (tmp_path / "tokens").exists()
