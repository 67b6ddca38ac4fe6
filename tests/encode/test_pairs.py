from __future__ import annotations

from pathlib import Path

import pytest

from assay.encode.training_pairs import TrainingPair, read_pairs, write_pairs
from assay.errors import InputError


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    pairs = [TrainingPair("où?", 'a "quoted"\nline', "package", "doc"), TrainingPair("q", "c", "other", "rest")]
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    assert list(read_pairs(tmp_path / "pairs.jsonl")) == pairs


def test_source_and_kind_may_be_missing_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"query": "q", "code": "c"}\n\n')
    assert list(read_pairs(tmp_path / "mine.jsonl")) == [TrainingPair("q", "c", "mine", "given")]


@pytest.mark.parametrize("line", ['{"query": "q"}', "[1]", "{", "null"])
def test_a_line_that_is_no_pair_is_named_by_number(tmp_path: Path, line: str) -> None:
    (tmp_path / "mine.jsonl").write_text('{"query": "q", "code": "c"}\n' + line)
    with pytest.raises(InputError, match=r"mine\.jsonl:2: not a pair"):
        list(read_pairs(tmp_path / "mine.jsonl"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read pairs"):
        list(read_pairs(tmp_path / "none.jsonl"))
