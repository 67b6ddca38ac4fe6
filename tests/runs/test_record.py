"""Lines of runs, their manifests and samples: kept over a crash, by one process, of one run."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError, StorageError
from assay.runs.options import SampleDraw
from assay.runs.record import (
    Batches,
    Journal,
    append_lines,
    begin,
    digest,
    is_begun,
    manifest,
    manifest_of,
    read_lines,
    sole_writer,
    start_fresh,
    stored_settings,
)
from assay.runs.seeded_sample import draw, draw_within
from assay.settings import Settings

RECORDS = st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), max_size=5)


@settings(max_examples=40)
@given(first=RECORDS, second=RECORDS, cut=st.integers(min_value=0))
def test_whatever_a_crash_cuts_off_only_its_line_is_lost(
    tmp_path_factory: pytest.TempPathFactory, first: list[dict], second: list[dict], cut: int
):
    file = tmp_path_factory.mktemp("records") / "run.jsonl"
    append_lines(file, first)
    whole = file.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    file.write_bytes(kept)
    survivors = first[: kept.count(b"\n")]
    assert list(read_lines(file)) == survivors
    append_lines(file, second)
    assert list(read_lines(file)) == survivors + second


def test_a_long_cut_line_is_taken_out_and_a_whole_line_that_is_no_record_is_named(tmp_path: Path):
    file = tmp_path / "run.jsonl"
    assert list(read_lines(file)) == []
    append_lines(file, [{"n": 1}])
    with file.open("ab") as lines:
        lines.write(b'{"text": "' + b"x" * 200_000)
    append_lines(file, [{"n": 2}])
    assert file.read_text() == '{"n": 1}\n{"n": 2}\n'
    for line, said in (("{broken}", "not JSON"), ("[1]", "a JSON list, wanted an object")):
        file.write_text(f'{{"n": 1}}\n{line}\n')
        with pytest.raises(StorageError, match=rf"run\.jsonl:2: {said}"):
            list(read_lines(file))
    with pytest.raises(StorageError, match="is not a regular file"):
        append_lines(tmp_path, [{}])


def test_a_manifest_beside_the_lines_says_what_a_repetition_needs(tmp_path: Path):
    made = manifest(Settings(), seed=7, corpus=["a", "b"])
    assert json.loads(json.dumps(made)) == made
    assert made["settings"]["search"]["limit"] == 10
    assert (made["seed"], made["corpus"]) == (7, digest(["b", "a"]))
    assert made["corpus"] != digest(["a"])
    assert {"assay", "python", "hypothesis", "click"} <= made["versions"].keys()
    assert made["hardware"]["cores"] >= 1
    out = tmp_path / "deep" / "run.jsonl"
    begin(out, Decides(2, ("a",)), "lines", seed=7)
    assert json.loads(manifest_of(out).read_text())["seed"] == 7
    assert stored_settings(out) == {"depth": 2, "parts": ["a"], "later": "as it was"}
    assert [each.name for each in out.parent.iterdir()] == ["run.jsonl.manifest.json"]


@dataclass(frozen=True)
class Decides:
    """What decides about a run of these tests."""

    depth: int = 1
    parts: tuple[str, ...] = ()
    later: str = "as it was"


def test_lines_of_other_or_unknown_settings_are_refused(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    begin(out, Decides(), "lines")
    begin(out, Decides(2, ("b",)), "lines")  # nothing is there yet
    append_lines(out, [{"n": 1}])
    said = r"run.jsonl holds lines of another run: depth \(2, now 1\), parts differ; give another --out, or --fresh"
    with pytest.raises(InputError, match=said):
        begin(out, Decides(), "lines")
    begin(out, Decides(2, ("b",)), "lines")
    manifest_of(out).write_text(json.dumps({"settings": {"depth": 2, "parts": ["b"]}}))
    with pytest.raises(InputError, match="later differ"):
        begin(out, Decides(2, ("b",)), "lines")
    for written in (None, "", "[]", '{"settings": 3}'):
        manifest_of(out).write_text(written) if written is not None else manifest_of(out).unlink()
        with pytest.raises(InputError, match="lacks their settings: give another --out, or --fresh"):
            begin(out, Decides(), "lines")
    assert list(read_lines(out)) == [{"n": 1}]


def test_lines_wait_for_others_or_for_time_and_are_written_whatever_ends_the_run(tmp_path: Path):
    out, now = tmp_path / "run.jsonl", [0.0]
    with Batches(out, lines=3, seconds=2.0, clock=lambda: now[0]) as lines:
        for number in range(4):
            lines.add({"n": number})
        assert len(list(read_lines(out))) == 3
        now[0] = 2.5
        lines.add({"n": 4})
        assert len(list(read_lines(out))) == 5
        lines.add({"n": 5})
    assert [line["n"] for line in read_lines(out)] == [0, 1, 2, 3, 4, 5]
    out = tmp_path / "interrupted.jsonl"
    with suppress(KeyboardInterrupt), Batches(out) as lines:
        lines.add({"n": 1})
        assert not is_begun(out)
        raise KeyboardInterrupt
    assert is_begun(out)


def test_a_journal_finds_the_steps_that_were_on_disk_when_it_was_opened(tmp_path: Path):
    file = tmp_path / "steps.jsonl"
    append_lines(file, [{"settings": 1}])
    first = Journal(file, lambda number, _: number > 1)
    first.put({"key": "a", "n": 1}, {"key": "é", "n": 2})
    first.put({"key": "a", "n": 3})
    with file.open("ab") as lines:
        lines.write(b'{"key": "cut')
    again = Journal(file, lambda number, _: number > 1)
    assert (first.get("a"), again.get("é"), again.get("cut")) == (None, {"key": "é", "n": 2}, None)
    assert again.get("a") == {"key": "a", "n": 3}, "the last one counts"
    append_lines(file, [{"no key": 1}])
    with pytest.raises(StorageError, match=r"steps\.jsonl:5: no record .*; take the line out to go on"):
        Journal(file, lambda number, _: number > 1)


def test_a_fresh_run_moves_the_earlier_one_aside_and_one_process_writes(tmp_path: Path):
    out = tmp_path / "run.jsonl"
    start_fresh(out)
    assert not list(tmp_path.iterdir())
    for depth in (1, 2, 3):
        start_fresh(out)
        begin(out, Decides(depth), "lines")
        append_lines(out, [{"depth": depth}])
    old = tmp_path / "run.jsonl.old"
    assert list(read_lines(old)) == [{"depth": 2}]
    assert (stored_settings(old) or {})["depth"] == 2
    out = tmp_path / "deep" / "run.jsonl"
    with sole_writer(out), pytest.raises(InputError, match=r"another run writes to .*run.jsonl"), sole_writer(out):
        pass
    append_lines(out, [{"n": 1}])
    with sole_writer(out), pytest.raises(InputError, match="another run writes"):
        start_fresh(out)
    assert is_begun(out)


KEYS = [f"k{number}" for number in range(200)]


def test_a_sample_depends_on_the_seed_alone_and_is_no_larger_than_what_there_is():
    assert draw(KEYS, 20, 7) == draw(KEYS[::-1], 20, 7)
    assert draw(KEYS, 20, 7) != draw(KEYS, 20, 8)
    assert draw(KEYS, 20, 7) < draw(KEYS, 50, 7)
    times = Counter(key for seed in range(400) for key in draw(KEYS, 50, seed))
    assert 60 < min(times.values()) <= max(times.values()) < 145, "each key is as likely"
    assert draw(KEYS, 0, 1) == draw(KEYS, 200, 1) == set(KEYS)
    with pytest.raises(InputError, match="--sample 201: there are only 200 queries; leave --sample out"):
        draw(KEYS, 201, 1)


@given(st.dictionaries(st.text(), st.sampled_from("abcde"), min_size=1), st.data(), st.integers())
def test_each_stratum_has_its_part(strata: dict[str, str], data: st.DataObject, seed: int):
    size = data.draw(st.integers(1, len(strata)))
    found = draw_within(strata, size, seed)
    assert len(found) == size
    assert found <= strata.keys()
    all_of, drawn = Counter(strata.values()), Counter(strata[key] for key in found)
    assert all(abs(drawn[name] - size * count / len(strata)) < 1 for name, count in all_of.items())


def test_what_a_manifest_says():
    assert (str(SampleDraw()), str(SampleDraw(size=400, seed=3))) == ("", "400 by query, seed 3")
    assert str(SampleDraw(size=400, by="label")) == "400 by pair within label, seed 0"
