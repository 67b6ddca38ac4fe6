from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace

import pytest

pytest.importorskip("tokenizers", reason="the onnx extra is not installed")

from assay.errors import InputError
from assay.faults import Fault
from assay.rank.datasets import Example
from assay.rank.neural_data import FAULTS, Reader, layout_of, learning_data

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


def test_labeled_programs_are_rows_with_what_is_known_of_them(reader: Reader) -> None:
    data = learning_data(held([RIGHT, BROKEN]), reader)
    wanted = reader.rows("add", [RIGHT.source])[0]
    assert [list(row.ids) for row in data.train.rows] == [wanted.ids] * 2
    about = {name: of.tolist() for name, of in data.train.about.items()}
    assert [FAULTS[at] for at in about["fault"]] == [Fault.CORRECT, Fault.NAME_ERROR]
    assert (about["line"], about["n"], about["ran_all"]) == ([-1, 2], [1, 3], [-1, 0])
    assert about["place"] == [wanted.newlines[0], wanted.newlines[2]]
    assert (len(data.valid.rows), data.without_prompt) == (1, 1)
    assert (
        learning_data(held([RIGHT, BROKEN]), reader).digest
        == data.digest
        != learning_data(held([RIGHT]), reader).digest
    )


def test_no_more_than_a_block_of_programs_is_in_memory(reader: Reader) -> None:
    most = 0

    def many() -> Iterator[Example]:
        nonlocal most
        for at in range(6_000):
            if at in {3_999, 5_999}:
                most = max(most, sum(type(each) is Example for each in gc.get_objects()))
            yield replace(RIGHT, program_id=str(at), split="valid" if at == 0 else "train", task_id=str(at == 0))

    data = learning_data(many(), reader)
    assert len(data.train.rows) == 5_999
    assert most < 3_000


def test_data_that_show_nothing_are_refused(reader: Reader) -> None:
    with pytest.raises(InputError, match="1 tasks are in more than one split, 't' first"):
        learning_data([RIGHT, replace(RIGHT, split="valid")], reader)
    with pytest.raises(InputError, match="no row of split 'train' among 0"):
        learning_data([], reader)
