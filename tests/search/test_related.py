from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.search.related_chunks import chunk_at, related
from assay.types import Chunk

ORDER = "def place_order(cart):\n    total = sum_prices(cart)\n    return charge(total)\n"
CHUNKS = (
    Chunk("order", ORDER, "python", "shop/order.py", 1, 3, "place_order", "function"),
    Chunk("cancel", "def cancel(order):\n    refund(order)", "python", "shop/order.py", 5, 6, "cancel", "function"),
    Chunk("sum", "def sum_prices(cart): ...", "python", "shop/price.py", 1, 1, "sum_prices", "function"),
    Chunk("charge", "def charge(total): ...", "python", "shop/pay.py", 1, 1, "charge", "function"),
    Chunk("recharge", "def charge_battery(): ...", "python", "car/power.py", 1, 1, "charge_battery", "function"),
    Chunk("checkout", "def checkout(cart):\n    place_order(cart)", "python", "web.py", 1, 2, "checkout", "function"),
    Chunk("test", "def test_it():\n    place_order([])", "python", "tests/test_order.py", 1, 2, "test_it", "test"),
    Chunk("paint", "def paint(): ...", "python", "art/paint.py", 1, 1, "paint", "function"),
)
CUTS = pytest.mark.parametrize("cut", [0, 1, 4, 8])


@CUTS
def test_what_is_called_and_what_calls_is_found_and_explained(snapshot_of, cut):
    hits = {hit.chunk.id: hit for hit in related(snapshot_of(CHUNKS[:cut], CHUNKS[cut:]), "shop/order.py", 2, 20)}
    assert {name for name, hit in hits.items() if "is called" in hit.why} == {"sum", "charge"}
    assert {name for name, hit in hits.items() if "calls" in hit.why} == {"checkout", "test"}
    assert all("meaning" in hit.why for hit in hits.values())


@CUTS
def test_a_unit_is_not_among_what_is_related_to_it_nor_are_the_dead(snapshot_of, cut):
    snapshot = snapshot_of(CHUNKS[:cut], CHUNKS[cut:], dead={"sum", "paint"})
    found = [hit.chunk.id for hit in related(snapshot, "shop/order.py", 1, 20)]
    assert sorted(found) == ["cancel", "charge", "checkout", "recharge", "test"]


def test_a_score_is_the_sum_of_its_parts_less_what_sets_tests_back(snapshot_of):
    hits = related(snapshot_of(CHUNKS), "shop/order.py", 1, 20)
    for hit in hits:
        back = 0.1 if hit.chunk.id == "test" else 0.0
        assert hit.score == pytest.approx(sum(hit.why.values()) - back, abs=1e-6)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_from_a_test_other_tests_are_as_good_as_anything(snapshot_of):
    more = Chunk("more", "def test_more():\n    cancel(1)", "python", "tests/test_more.py", 1, 2, "test_more", "test")
    hits = {hit.chunk.id: hit for hit in related(snapshot_of([*CHUNKS, more]), "tests/test_order.py", 1, 20)}
    assert hits["more"].score == pytest.approx(sum(hits["more"].why.values()))
    assert "is called" in hits["order"].why


def test_a_name_that_many_have_links_nothing(snapshot_of):
    many = [Chunk(f"c{n}", "def charge(): ...", "python", f"{n}.py", 1, 1, "charge", "method") for n in range(30)]
    hits = related(snapshot_of([*CHUNKS, *many]), "shop/order.py", 1, 50)
    assert {hit.chunk.id for hit in hits if "is called" in hit.why} == {"sum"}


@pytest.mark.parametrize("k", [0, 1, 3])
def test_at_most_k_are_returned(snapshot_of, k):
    assert len(related(snapshot_of(CHUNKS), "shop/order.py", 1, k)) == k


def test_the_smallest_chunk_that_holds_a_line_is_meant(snapshot_of):
    whole = Chunk("file", "everything", "python", "shop/order.py", 1, 99, "", "module")
    snapshot = snapshot_of([whole], CHUNKS)
    places = {line: snapshot.chunk(chunk_at(snapshot, "shop/order.py", line)).id for line in (1, 3, 4, 5, 6, 50)}
    assert places == {1: "order", 3: "order", 4: "file", 5: "cancel", 6: "cancel", 50: "file"}


def test_an_unknown_path_is_an_error_that_says_so(snapshot_of):
    with pytest.raises(InputError, match=r"'shop/none.py' is not indexed"):
        related(snapshot_of(CHUNKS), "shop/none.py", 1, 5)


def test_a_file_that_is_gone_is_unknown(snapshot_of):
    with pytest.raises(InputError, match="not indexed"):
        related(snapshot_of(CHUNKS, dead={"paint"}), "art/paint.py", 1, 5)


@pytest.mark.parametrize("line", [0, 4, 7, -1])
def test_a_line_without_code_is_an_error_that_says_how_far_the_file_goes(snapshot_of, line):
    with pytest.raises(InputError, match=rf"no code at 'shop/order.py:{line}'; the file's last line of text is 6"):
        related(snapshot_of(CHUNKS), "shop/order.py", line, 5)
