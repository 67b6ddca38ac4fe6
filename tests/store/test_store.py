"""What an index is stored as: strings, arrays, segments, catalogs and vectors come back as they were put in."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import DamagedIndex, InputError
from assay.store.arrays import Strings, concatenated, read_arrays, write_arrays
from assay.store.bucket import access_error
from assay.store.catalog import Catalog, FileRecord, Identity, Manifest
from assay.store.copies import SharedPlace
from assay.store.index_location import bucket_place, is_bucket
from assay.store.merge import merge
from assay.store.postings import TermTable, term_hashes
from assay.store.segment import build, read_segment, write_segment
from assay.store.snapshot import Snapshot
from assay.store.vectors import MIN_LISTED_CHUNKS, build_lists, products, quantised, restored
from assay.values import KINDS, Chunk

WORDS = st.sampled_from(["parseArgs", "parse_args", "HTTPServer2", "naïve", "x", "retry", "_", "42", "Ω", "日本"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
PLACE = {"language": ["python", ""], "path": ["a.py", "lib/b.py", "ü.py"], "kind": KINDS}
FIELDS = {name: st.sampled_from(values) for name, values in PLACE.items()}
FIELDS |= {"start_line": st.integers(0, 9), "end_line": st.integers(0, 99)}
FIELDS |= dict.fromkeys("text symbol parent doc signature description".split(), TEXTS)
CHUNKS = st.builds(Chunk, id=st.uuids().map(str), **FIELDS)
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


@settings(max_examples=40)
@given(PARTS)
def test_joining_segments_is_building_one_of_their_living_chunks(parts):
    segments, living, rows = [], [], []
    for number, part in enumerate(parts):
        given_vectors = vectors(len(part), 1000 * number)
        live = np.array([alive for _, alive in part], dtype=bool)
        segments.append((build([chunk for chunk, _ in part], given_vectors), live))
        living += [chunk for chunk, alive in part if alive]
        rows.append(given_vectors[live])
    joined = merge(segments)
    assert_same(joined, build(living, np.concatenate(rows)))
    assert joined.chunks(list(range(len(joined)))) == living


def test_a_segment_survives_its_file_with_the_descriptions_it_has(tmp_path):
    plain = build([Chunk(str(n), f"def one_{n}(): pass", "python", f"{n}.py", n, n + 1) for n in range(9)], vectors(9))
    described = build([Chunk("1", "x"), Chunk("2", "y", description="Says why.")], vectors(2))
    for name, segment in (("plain", plain), ("described", described)):
        write_segment(tmp_path / name, segment)
        assert_same(segment, read_segment(tmp_path / name))
    assert "descriptions" not in read_arrays(tmp_path / "plain")
    assert read_segment(tmp_path / "described").described.tolist() == [False, True]
    assert read_segment(tmp_path / "described").postings("say")[1].tolist() == [[0, 0, 0, 1, 0]]


def test_postings_hold_chunks_and_counts_by_field_up_to_a_limit():
    retries = Chunk("3", "Retries", doc="retries")
    segment = build([Chunk("1", "retry retry", symbol="retry"), Chunk("2", "nothing here"), retries], vectors(3))
    numbers, counts = segment.postings("retri")
    assert numbers.tolist() == [0, 2]
    assert counts.tolist() == [[1, 0, 0, 0, 2], [0, 0, 0, 1, 1]]
    assert len(segment.postings("absent")[0]) == 0
    long = build([Chunk("1", "word " * 70_000)], vectors(1))
    assert long.postings("word")[1].tolist() == [[0, 0, 0, 0, 255]]
    assert long.lengths[0, 4] == 65_535


ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()), max_size=3) | st.text(st.sampled_from("ab/é\0"))


@given(st.lists(ANY_TEXT, max_size=12), ANY_TEXT, st.data())
def test_strings_keep_every_text_and_find_it_wherever_it_stands(strings, sought, data):
    column = Strings.of(strings)
    assert column.all() == strings == [column[i] for i in range(len(strings))]
    keep = sorted(data.draw(st.sets(st.integers(0, len(strings) - 1)))) if strings else []
    assert column.take(np.array(keep, dtype=np.intp)).all() == [strings[i] for i in keep]
    assert concatenated([column, column]).all() == strings * 2
    for wanted in (sought, *strings[:1]):
        assert column.positions(wanted) == [at for at, text in enumerate(strings) if text == wanted]
        known = column_of(strings)
        assert known.find(wanted) == (known.all().index(wanted) if wanted in strings else -1)


def column_of(terms: list[str]) -> Strings:
    """Return terms as a segment has them: sorted by their bytes, each once."""
    return Strings.of_bytes(sorted({term.encode("utf-8", "surrogatepass") for term in terms}))


TERMS = st.text(st.sampled_from("ab/é\0\ud800"), max_size=4)


@given(st.lists(st.lists(TERMS, max_size=8), min_size=1, max_size=6), TERMS)
def test_a_term_is_found_in_each_column_that_holds_it(columns: list[list[str]], term: str):
    found = [(which, column_of(terms).find(term)) for which, terms in enumerate(columns)]
    table = TermTable([column_of(terms) for terms in columns])
    assert list(table.holders(term)) == [(which, at) for which, at in found if at >= 0]


def test_terms_have_the_numbers_they_have_alone_and_letters_decide_where_two_have_one():
    terms = [f"term{number}" * 9 for number in range(3000)] + ["x" * 70_000, "", "y"]
    together = term_hashes(Strings.of(terms))
    assert together.tolist() == [int(term_hashes(Strings.of([term]))[0]) for term in terms]
    assert len(set(together.tolist())) == len(terms)
    table = TermTable([column_of(["one", "two"]), column_of(["two"])])
    table._hashes[:] = term_hashes(Strings.of(["two"]))[0]
    assert list(table.holders("two")) == [(0, 1), (1, 0)]
    assert list(table.holders("three")) == []


def test_a_cut_off_file_is_found_out(tmp_path):
    write_arrays(tmp_path / "file", {"one": np.arange(100), "none": np.zeros((0, 3))})
    whole = (tmp_path / "file").read_bytes()
    for cut in (0, 5, 40, 200, -1):
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


def unit(rows, width=64, seed=0):
    drawn = np.random.default_rng(seed).standard_normal((rows, width)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def test_quantised_vectors_are_smaller_and_near_and_products_those_of_what_is_kept():
    for how, bytes_a_dimension, cosine in (("none", 4, 0.99999), ("int8", 1, 0.9999)):
        held, query = unit(500), unit(3, seed=1)
        stored = quantised(held, how)
        back = restored(stored)
        assert stored.nbytes == 500 * 64 * bytes_a_dimension, how
        np.testing.assert_allclose(np.linalg.norm(back, axis=1), 1.0, atol=1e-5)
        assert (back * held).sum(axis=1).min() > cosine, how
        whole = products(query, stored)
        np.testing.assert_allclose(whole, query @ back.T, atol=1e-6)
        for chosen in (slice(1, 70), slice(33, 34), [9, 68, 2]):  # whatever lies beside a row
            assert np.array_equal(products(query[:1], stored[chosen])[0], products(query[:1], stored)[0][chosen]), how
        assert products(query, quantised(np.zeros((0, 64), np.float32), how)).shape == (3, 0)
    assert not products(unit(2), quantised(np.zeros((3, 64), np.float32), "int8")).any()  # no known word, near nothing


def test_a_segment_keeps_quantised_vectors_on_disk_and_when_merged(tmp_path):
    chunks, held, query = [Chunk(f"c{n}", f"word{n}", "python", f"{n}.py") for n in range(6)], unit(6), unit(1, seed=2)
    whole = build(chunks, quantised(held, "int8"))
    write_segment(tmp_path / "s", whole)
    halves = [build(chunks[part], quantised(held[part], "int8")) for part in (slice(2), slice(2, 6))]
    joined = merge([(half, np.ones(len(half), dtype=bool)) for half in halves])
    wanted = query @ restored(quantised(held, "int8")).T
    for parts in ([whole], [read_segment(tmp_path / "s")], [joined], halves):
        snapshot = Snapshot([(part, None) for part in parts])
        np.testing.assert_allclose(snapshot.near(query[0]), wanted[0], atol=1e-6)
        np.testing.assert_allclose(query @ snapshot.vectors(np.array([1, 4])).T, wanted[:, [1, 4]], atol=1e-6)


SIZE, WIDTH = MIN_LISTED_CHUNKS + 2_000, 16


def points(count, seed):
    chance = np.random.default_rng(seed)
    centers = chance.standard_normal((40, WIDTH))[chance.integers(0, 40, count)]
    rows = centers + chance.standard_normal((count, WIDTH)) / 2
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a segment large enough for inverted lists, read from its file, and the vectors in it."""
    held, path = points(SIZE, 1), tmp_path_factory.mktemp("lists") / "large.segment"
    write_segment(path, build([Chunk(str(n), "x", path=f"{n % 7}.py") for n in range(SIZE)], held))
    return read_segment(path), held, path


def test_every_chunk_of_a_large_segment_is_in_one_list_and_damaged_codes_are_refused(large, tmp_path):
    segment, held, path = large
    lists, again = segment.lists, build_lists(held)
    assert sorted(lists.chunks.tolist()) == list(range(SIZE))
    assert np.abs(lists.codes * lists.steps[:, None] - held[lists.chunks]).max() < 0.01
    assert np.diff(lists.starts).min() >= 0
    assert np.array_equal(lists.chunks, again.chunks)
    assert np.array_equal(lists.centroids, again.centroids)
    write_segment(tmp_path / "small.segment", build([Chunk("1", "x")], points(1, 7)))
    assert read_segment(tmp_path / "small.segment").lists is None
    data = bytearray(path.read_bytes())
    data[bytes(data).find(lists.codes.tobytes()[:4096]) + 100] ^= 1
    (tmp_path / "bad.segment").write_bytes(data)
    with pytest.raises(DamagedIndex, match="corrupt in block"):
        read_segment(tmp_path / "bad.segment").lists.estimates(np.arange(len(lists.centroids)), points(1, 8)[0])


def test_the_nearest_are_known_and_exact_and_what_a_filter_keeps_is_found_however_little_it_is(large):
    segment, held, _ = large
    small = points(500, 2)
    snapshot = Snapshot([(build([Chunk(str(n), "x") for n in range(500)], small), None), (segment, None)])
    exact, numbers = np.concatenate([small, held]), np.arange(0, SIZE, 997)
    for vector in points(5, 3):
        cosines, wanted = snapshot.near(vector), products(vector[None, :], exact)[0]
        known = ~np.isnan(cosines)
        assert known[:500].all()
        assert known.sum() < 2_000
        assert np.array_equal(cosines[known], wanted[known])
        assert known[np.argsort(-wanted)[:50]].mean() > 0.9
        assert np.array_equal(snapshot.cosines(vector, numbers), wanted[numbers])
        for every in (5, 50):
            keep = np.arange(SIZE) % every == 0
            found = ~np.isnan(Snapshot([(segment, None)]).near(vector, [keep]))
            assert found[np.argsort(-np.where(keep, held @ vector, -2))[:50]].mean() > 0.9
            assert not (found & ~keep).any()


def test_mean_and_deviation_are_those_of_the_living(large):
    segment, held, _ = large
    live, small, vector = np.arange(SIZE) % 3 > 0, points(300, 5), points(1, 6)[0]
    snapshot = Snapshot([(segment, live), (build([Chunk(str(n), "x") for n in range(300)], small), None)])
    wanted = np.concatenate([held[live], small]) @ vector
    assert snapshot.cosine_statistics(vector, snapshot.near(vector)) == pytest.approx(
        (wanted.mean(), wanted.std()), abs=1e-5
    )


BUCKETS = {
    "s3://bucket": ("s3://bucket", "", "repos"), "s3://bucket/": ("s3://bucket", "", "repos"),
    "gs://b.c-d/some/prefix/": ("gs://b.c-d/some/prefix", "", "some/prefix/repos"),
    "az://box/p#github.com/owner/name": ("az://box/p", "github.com/owner/name", "p/repos"),
    "s3://bucket#x": ("s3://bucket", "x", "repos"),
}  # fmt: skip


def test_an_index_in_a_bucket_is_of_the_repository_that_made_it():
    made = Manifest(1, Identity("e", 1, "s"), "", 0, (), f"{'0' * 32}.catalog")
    ours = SharedPlace("s3://mine/code", None, None, origin="host.org/a")
    ours.refuse_another(replace(made, origin="host.org/a"))
    replace(ours, origin="").refuse_another(replace(made, origin="host.org/b"))  # whoever names a place knows it
    for origin in ("host.org/b", ""):
        with pytest.raises(InputError, match=r"this is host\.org/a: use another name"):
            ours.refuse_another(replace(made, origin=origin))


def test_what_a_bucket_refused_names_its_server_and_no_login():
    failed = OSError("error sending request for url (https://ann:secret@minio.example:9000/mine)")
    said = str(access_error(failed, bucket_place("s3://mine/code")))
    assert "cannot reach minio.example:9000" in said
    assert "secret" not in said


def test_locations_of_buckets_are_read_and_those_that_cannot_be_are_refused():
    for location, wanted in BUCKETS.items():
        place = bucket_place(location)
        assert is_bucket(location)
        assert (place.whole, place.name, place.repos) == wanted
        assert bucket_place(str(place)) == place
    for rest in ("", "/x", "b/a b", "b/../c", "b#", "b#a//b", "b/x#..", "b/x?y=1", "b\n"):
        with pytest.raises(InputError):
            bucket_place(f"s3://{rest}")
    assert not any(map(is_bucket, (".", "s3", "s3:/x", "/s3://", "https://host/x", "lance:s3://b/x", "")))
