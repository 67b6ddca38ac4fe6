"""Segments hold what was put in, and joining them is the same as building one."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DamagedIndex
from assay.store.arrays import read_arrays, write_arrays
from assay.store.catalog import Catalog, FileRecord
from assay.store.merge import merge
from assay.store.segment import build
from assay.store.segment_file import read_segment, write_segment
from assay.store.strings import Strings, concatenated
from assay.types import KINDS, Chunk

WORDS = st.sampled_from(["parseArgs", "parse_args", "HTTPServer2", "naïve", "x", "retry", "_", "42", "Ω", "日本"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
CHUNKS = st.builds(
    Chunk,
    id=st.uuids().map(str),
    text=TEXTS,
    language=st.sampled_from(["python", ""]),
    path=st.sampled_from(["a.py", "lib/b.py", "ü.py"]),
    start_line=st.integers(0, 9),
    end_line=st.integers(0, 99),
    symbol=TEXTS,
    kind=st.sampled_from(KINDS),
    parent=TEXTS,
    doc=TEXTS,
    signature=TEXTS,
    description=TEXTS,
)
PARTS = st.lists(st.lists(st.tuples(CHUNKS, st.booleans()), max_size=6), min_size=1, max_size=4)


def vectors(count, first=0):
    return np.arange(first, first + count * 3, dtype=np.float32).reshape(count, 3)


def assert_same(one, other):
    for field in fields(one):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if isinstance(mine, Strings):
            assert mine.all() == theirs.all(), field.name
        else:
            assert mine.dtype == theirs.dtype, field.name
            assert np.array_equal(mine, theirs), field.name


@settings(max_examples=150, deadline=None)
@given(PARTS)
def test_joining_segments_is_building_one_of_their_living_chunks(parts):
    segments, living, rows = [], [], []
    for number, part in enumerate(parts):
        given_vectors = vectors(len(part), 1000 * number)
        live = np.array([alive for _, alive in part], dtype=bool)
        segments.append((build([chunk for chunk, _ in part], given_vectors), live))
        living += [chunk for chunk, alive in part if alive]
        rows.append(given_vectors[live])
    assert_same(merge(segments), build(living, np.concatenate(rows)))


@settings(max_examples=50, deadline=None)
@given(st.lists(CHUNKS, max_size=8))
def test_chunks_come_back_as_they_were_given(chunks):
    segment = build(chunks, vectors(len(chunks)))
    assert [segment.chunk(number) for number in range(len(segment))] == chunks


def test_a_segment_survives_its_file(tmp_path):
    chunks = [
        Chunk(str(n), f"def one_{n}(): pass", "python", f"{n}.py", n, n + 1, f"one_{n}", "function") for n in range(9)
    ]
    segment = build(chunks, vectors(9))
    write_segment(tmp_path / "one", segment)
    assert_same(segment, read_segment(tmp_path / "one"))
    assert "descriptions" not in read_arrays(tmp_path / "one")


def test_so_do_its_descriptions(tmp_path):
    segment = build([Chunk("1", "x"), Chunk("2", "y", description="Says why.")], vectors(2))
    write_segment(tmp_path / "one", segment)
    assert_same(segment, read_segment(tmp_path / "one"))
    assert read_segment(tmp_path / "one").described.tolist() == [False, True]
    assert read_segment(tmp_path / "one").postings("say")[1].tolist() == [[0, 0, 0, 1, 0]]


def test_postings_hold_chunks_and_counts_by_field():
    chunks = [
        Chunk("1", "retry retry", symbol="retry"),
        Chunk("2", "nothing here"),
        Chunk("3", "Retries", doc="retries"),
    ]
    numbers, counts = build(chunks, vectors(3)).postings("retri")
    assert numbers.tolist() == [0, 2]
    assert counts.tolist() == [[1, 0, 0, 0, 2], [0, 0, 0, 1, 1]]
    assert len(build(chunks, vectors(3)).postings("absent")[0]) == 0


def test_a_count_stops_at_its_limit():
    segment = build([Chunk("1", "word " * 70_000)], vectors(1))
    assert segment.postings("word")[1].tolist() == [[0, 0, 0, 0, 255]]
    assert segment.lengths[0, 4] == 65_535


STRINGS = st.lists(st.text(alphabet=st.characters(exclude_categories=()), max_size=5), max_size=12)


@given(STRINGS, st.data())
def test_strings_keep_every_text(strings, data):
    column = Strings.of(strings)
    assert column.all() == strings == [column[i] for i in range(len(strings))]
    keep = sorted(data.draw(st.sets(st.integers(0, len(strings) - 1)))) if strings else []
    assert column.take(np.array(keep, dtype=np.intp)).all() == [strings[i] for i in keep]
    assert concatenated([column, column]).all() == strings * 2


@given(st.sets(st.text(max_size=4), max_size=20), st.text(max_size=4))
def test_find_agrees_with_a_search_one_by_one(strings, wanted):
    column = Strings.of(sorted(strings, key=str.encode))
    assert column.find(wanted) == (column.all().index(wanted) if wanted in strings else -1)


@pytest.mark.parametrize("cut", [0, 5, 40, 200, -1])
def test_a_cut_off_file_is_found_out(tmp_path, cut):
    write_arrays(tmp_path / "file", {"one": np.arange(100), "none": np.zeros((0, 3))})
    whole = (tmp_path / "file").read_bytes()
    (tmp_path / "file").write_bytes(whole[:cut])
    with pytest.raises(DamagedIndex, match="file"):
        read_arrays(tmp_path / "file")


def test_a_catalog_keeps_its_records(tmp_path):
    records = [
        FileRecord("z.py", 5, 1, 8, 2**64 - 1, b"d" * 16, 3, note="a line is too long"),
        FileRecord("a\nb.py", 0, 2**62, 9, 4, skipped="binary"),
        FileRecord("ü.py", 7, 3, 3, 5, b"e" * 16, 1),
    ]
    write_arrays(tmp_path / "catalog", Catalog.of(records).arrays)
    catalog = Catalog(read_arrays(tmp_path / "catalog"))
    assert catalog.records() == sorted(records, key=lambda record: record.path)
    assert dict(catalog.texts_of("skipped")) == {"a\nb.py": "binary"}
    assert dict(catalog.texts_of("note")) == {"z.py": "a line is too long"}
    assert (len(catalog), catalog.texts, catalog.chunks) == (3, 2, 4)
    assert Catalog.of([]).records() == []
