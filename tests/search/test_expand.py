from __future__ import annotations

import pytest

from assay.search.expand import ExpandedSearcher
from assay.search.keywords import KeywordSearcher
from assay.types import Chunk, Query


def unit(name, path, line, symbol, text):
    return Chunk(name, text, "lua", path, line, line + 1, symbol, "function")


CHUNKS = [
    unit("before", "shop/pay.py", 1, "load_rates", "def load_rates():\n    return rates\n"),
    unit("seed", "shop/pay.py", 4, "charge_card", "def charge_card():\n    return add_taxes(amount)\n"),
    unit("after", "shop/pay.py", 7, "print_bill", "def print_bill():\n    return paper\n"),
    unit("far", "shop/pay.py", 10, "send_bill", "def send_bill():\n    return letter\n"),
    unit("callee", "shop/tax.py", 1, "add_taxes", "def add_taxes(x):\n    return x\n"),
    unit("caller", "web/buy.py", 1, "buy", "def buy():\n    return charge_card()\n"),
    unit("other", "art/paint.py", 1, "paint", "def paint():\n    return blue\n"),
]
LINKED = {"callee": "is called", "caller": "calls", "before": "beside", "after": "beside"}


def expanded(snapshot, number=10, weight=0.0, depth=50, k=20, **kept):
    inner = KeywordSearcher(snapshot)
    (hits,) = ExpandedSearcher(inner, snapshot, number, weight, depth).search(
        [Query("1", "amount of taxes", **kept)], k
    )
    return hits


def test_what_is_linked_comes_below_the_hits_and_says_by_what(snapshot_of):
    hits = expanded(snapshot_of(CHUNKS[:3], CHUNKS[3:]))
    assert [hit.chunk.id for hit in hits[:2]] == ["seed", "callee"]  # both share words with the question
    assert {hit.chunk.id: list(hit.why) for hit in hits[2:]} == {
        name: [link] for name, link in LINKED.items() if name != "callee"
    }
    assert all(hit.score == 0.0 for hit in hits[2:])


def test_the_stronger_linked_come_first(snapshot_of):
    """`between` is beside both hits, `caller` calls one of them."""
    chunks = [
        unit("one", "a.py", 1, "one_thing", "amount\n"),
        unit("between", "a.py", 4, "between", "nothing\n"),
        unit("two", "a.py", 7, "two_things", "amount\n"),
        unit("caller", "b.py", 1, "caller", "one_thing()\n"),
    ]
    snapshot = snapshot_of(chunks)
    assert [hit.chunk.id for hit in expanded(snapshot)][2:] == ["between", "caller"]
    assert [hit.chunk.id for hit in expanded(snapshot, number=1)][2:] == ["between"]


def test_what_the_better_hit_is_linked_to_comes_first(snapshot_of):
    chunks = [
        unit("second", "b.py", 1, "calls_worse", "worse_thing()\n"),
        unit("first", "c.py", 1, "calls_better", "better_thing()\n"),
        unit("worse", "d.py", 1, "worse_thing", "amount " + "padding " * 60),
        unit("better", "e.py", 1, "better_thing", "amount\n"),
    ]
    assert [hit.chunk.id for hit in expanded(snapshot_of(chunks))] == ["better", "worse", "first", "second"]


def test_within_the_depth_nothing_moves(snapshot_of):
    snapshot = snapshot_of(CHUNKS)
    (inner,) = KeywordSearcher(snapshot).search([Query("1", "amount of taxes")], 2)
    assert expanded(snapshot, depth=2, k=2) == inner
    assert [hit.chunk.id for hit in expanded(snapshot, number=1, depth=1, k=2)] == ["seed", "before"]


def test_with_a_weight_it_rises_by_itself(snapshot_of):
    hits = expanded(snapshot_of(CHUNKS), weight=0.9)
    scores = {hit.chunk.id: hit.score for hit in hits}
    assert scores["caller"] == pytest.approx(0.9 * scores["seed"])
    assert [hit.score for hit in hits] == sorted(scores.values(), reverse=True)


def test_filters_and_the_dead_hold_for_what_is_linked(snapshot_of):
    names = {hit.chunk.id for hit in expanded(snapshot_of(CHUNKS, dead={"caller"}), paths=("shop/", "web/"))}
    assert names == {"seed", "callee", "before", "after"}
    assert {hit.chunk.id for hit in expanded(snapshot_of(CHUNKS), paths=("!shop/tax.py", "!web/"))} == {
        "seed",
        "before",
        "after",
    }


def test_a_chunk_without_a_file_has_no_neighbours(snapshot_of):
    chunks = [Chunk("a", "amount\n"), Chunk("b", "nothing\n")]
    assert [hit.chunk.id for hit in expanded(snapshot_of(chunks))] == ["a"]
