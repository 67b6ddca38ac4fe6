from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import records
from assay.errors import StorageError
from assay.settings import Settings

RECORDS = st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), max_size=5)


@given(first=RECORDS, second=RECORDS, cut=st.integers(min_value=0))
def test_whatever_a_crash_cuts_off_only_its_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, first: list[dict], second: list[dict], cut: int
):
    file = tmp_path_factory.mktemp("records") / "run.jsonl"
    records.append(file, first)
    whole = file.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    file.write_bytes(kept)
    survivors = first[: kept.count(b"\n")]
    assert list(records.read(file)) == survivors
    records.append(file, second)
    assert list(records.read(file)) == survivors + second


def test_a_cut_line_longer_than_what_is_read_at_once_is_taken_out(tmp_path: Path):
    file = tmp_path / "run.jsonl"
    records.append(file, [{"n": 1}])
    with file.open("ab") as lines:
        lines.write(b'{"text": "' + b"x" * 200_000)
    records.append(file, [{"n": 2}])
    assert file.read_text() == '{"n": 1}\n{"n": 2}\n'


def test_a_file_that_is_not_there_has_no_records(tmp_path: Path):
    assert list(records.read(tmp_path / "none.jsonl")) == []


@pytest.mark.parametrize(("line", "said"), [("{broken}", "not JSON"), ("[1]", "a JSON list, wanted an object")])
def test_a_whole_line_that_is_no_record_is_named(tmp_path: Path, line: str, said: str):
    file = tmp_path / "run.jsonl"
    file.write_text(f'{{"n": 1}}\n{line}\n')
    with pytest.raises(StorageError, match=rf"run\.jsonl:2: {said}"):
        list(records.read(file))


def test_what_cannot_be_written_is_said(tmp_path: Path):
    with pytest.raises(StorageError, match=r"cannot write .*: Is a directory"):
        records.append(tmp_path, [{}])


def test_a_manifest_says_what_a_repetition_needs():
    manifest = records.manifest(Settings(), seed=7, corpus=["a", "b"])
    assert json.loads(json.dumps(manifest)) == manifest
    assert manifest["settings"]["search"]["limit"] == 10
    assert (manifest["seed"], manifest["corpus"]) == (7, records.digest(["b", "a"]))
    assert manifest["corpus"] != records.digest(["a"])
    assert {"assay", "python", "hypothesis", "click"} <= manifest["versions"].keys()
    assert manifest["hardware"]["cores"] >= 1


def test_a_manifest_lies_beside_the_results(tmp_path: Path):
    records.write_manifest(tmp_path, Settings(), seed=7)
    assert json.loads((tmp_path / "manifest.json").read_text())["seed"] == 7
