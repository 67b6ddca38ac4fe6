"""The default search end to end over chunks in memory: the same answers however they are kept, and the right ones."""

from __future__ import annotations

import random

import numpy as np

from assay.encode.static import default_static
from assay.encode.view import view
from assay.operations.corpus_search import CorpusSearch
from assay.search.hybrid import LearnedSearcher, _top
from assay.search.retrievers import IndexGuard
from assay.settings import SearchSettings
from assay.store.snapshot import ChunkOrder, Snapshot
from assay.values import Chunk, Query

WORDS = [f"{first}{second}" for first in ("ka", "lo", "mi", "tu", "re") for second in "nt rk sp ld st nd".split()]
QUESTIONS = ("kant lork", "misp", "tuld rest kand mirk", "kant_lork", "absent")


def random_corpus(seed):
    dice = random.Random(seed)
    kinds = {"python": ("function", "class", "test", ""), "markdown": ("section",)}
    languages = dice.choices(list(kinds), k=60)
    return [
        Chunk(
            str(n),
            " ".join(dice.choices(WORDS, k=dice.randint(3, 50))),
            language,
            dice.choice(["", f"{WORDS[n // 6]}/{WORDS[-n // 6]}.py", f"tests/test_{n // 6}.py"]),
            n,
            n + dice.randint(0, 30),
            "_".join(dice.choices(WORDS, k=dice.randint(0, 3))),
            dice.choice(kinds[language]),
            doc=" ".join(dice.choices(WORDS, k=dice.randint(0, 6))),
        )
        for n, language in enumerate(languages)
    ]


def answers(snapshot, encoder, k=100, mode="all"):
    queries = [Query(str(n), text, mode) for n, text in enumerate(QUESTIONS)]
    return LearnedSearcher(snapshot, encoder).search(queries, k)


def test_equal_hits_are_in_the_order_of_files(snapshot_of, encoder):
    same = [Chunk(f"{path}{line}", "paint", "python", path, line, line) for path in ("b.py", "a.py") for line in (3, 1)]
    for hits in answers(snapshot_of([*random_corpus(2), *same]), encoder):
        keys = [(-hit.score, hit.chunk.path, hit.chunk.start_line) for hit in hits]
        assert keys == sorted(keys)
        assert all(0 <= hit.score <= 1 for hit in hits)


def test_fewer_hits_are_the_first_of_more(snapshot_of, encoder):
    snapshot = snapshot_of(random_corpus(3))
    all_of_them = answers(snapshot, encoder, 40, "code")
    for k in (0, 1, 5, 40):
        for some, every in zip(answers(snapshot, encoder, k, "code"), all_of_them, strict=True):
            assert [(hit.chunk, hit.score) for hit in some] == [(hit.chunk, hit.score) for hit in every[:k]]


def test_an_empty_question_and_a_corpus_of_the_dead_have_no_hits(snapshot_of, encoder):
    for snapshot in (snapshot_of([Chunk("1", "retry")], dead={"1"}), snapshot_of([Chunk("1", "paint it")])):
        queries = [Query("1", text) for text in ("retry", "", "the", "?!")]
        assert LearnedSearcher(snapshot, encoder).search(queries, 10) == [[]] * 4


def test_a_mode_keeps_its_side_and_all_is_both(snapshot_of, encoder):
    snapshot = snapshot_of(random_corpus(4))
    code, docs, both = (answers(snapshot, encoder, mode=mode) for mode in ("code", "docs", "all"))
    for some, others, every in zip(code, docs, both, strict=True):
        assert {hit.chunk.language for hit in some} <= {"python"}
        assert {hit.chunk.language for hit in others} <= {"markdown"}
        for side in (some, others):  # one query's probabilities for both, as likely as either side answers it
            ids = {hit.chunk.id for hit in side}
            assert [hit.chunk.id for hit in every if hit.chunk.id in ids] == [hit.chunk.id for hit in side]
        assert len(every) == len(some) + len(others)


def test_a_typo_is_mended_and_found(snapshot_of, encoder):
    chunks = [Chunk("1", "receive a message", symbol="receive"), Chunk("2", "recite a poem", symbol="recite")]
    snapshot = snapshot_of(chunks)
    search = CorpusSearch(snapshot, encoder, SearchSettings(), IndexGuard(str, ""))
    assert search.speller.corrected("recieve it") == "receive it"
    assert search.speller.corrected("rexceivy") == "receive", "two edits, from eight letters on"
    assert search.speller.corrected("rexeivy") == "rexeivy"
    assert search.searcher.search([Query("1", "recieve")], 1) == [[]]
    assert search.search([Query("1", "recieve")], 1)[0][0].chunk.id == "1"


def test_a_filter_holds_for_what_is_asked_for_by_name_too(snapshot_of, encoder):
    there = Chunk("1", "def retry_request(): ...", "python", "src/a.py", 1, 1, "retry_request", "function")
    snapshot = snapshot_of([there, Chunk("2", "retry", "python", "lib/b.py", 1, 1, "paint", "function")])
    (hits,) = LearnedSearcher(snapshot, encoder).search([Query("1", "retry_request", paths=("lib",))], 10)
    assert [hit.chunk.id for hit in hits] == ["2"]


def test_loose_chunks_are_found_by_meaning():
    chunks = [
        Chunk("remove", "def rm(path): os.unlink(path)", symbol="remove_file", doc="Remove a file from disk."),
        Chunk("paint", "def draw(): ...", symbol="paint_picture", doc="Paint a picture."),
        Chunk("sum", "def add(a, b): return a + b", symbol="add_numbers", doc="Add numbers."),
    ]
    encoder = default_static()
    snapshot = Snapshot.of(chunks, encoder.encode([view(chunk) for chunk in chunks], "code"))
    (hits,) = LearnedSearcher(snapshot, encoder).search([Query("1", "delete documents", "code")], 3)
    assert hits[0].chunk.id == "remove"


def test_the_best_above_nought_are_candidates_whatever_the_floors():
    scores = np.random.default_rng(0).permutation(np.linspace(-1, 1, 1001)).astype(np.float32)
    allowed = np.arange(1001) % 2 == 0
    order = ChunkOrder([np.arange(1001)], ())
    for floors in ((), (0.9, 0.5), (0.1,)):
        assert sorted(scores[_top(scores, None, floors, order, 200)]) == sorted(scores)[-200:]
        assert sorted(scores[_top(scores, allowed, floors, order, 200)]) == sorted(scores[allowed])[-200:]
        assert len(_top(np.zeros(9, np.float32), None, floors, order, 200)) == 0


def test_parts_overloads_and_copies_are_one_place_and_sections_of_one_heading_are_not(snapshot_of, encoder):
    def part(start, text, signature="def send(letter)"):
        unit = ("python", "a.py", start, start + 9, "send", "method", "Box")
        return Chunk(f"a.py:{start}", text, *unit, signature=signature)

    def section(start):
        return Chunk(f"a.md:{start}", "busy retry", "markdown", "a.md", start, start + 9, "Sending", "section")

    chunks = [part(1, "def send(letter): busy"), part(11, "busy retry wait"), part(21, "busy", "def send(box)")]
    (hits,) = LearnedSearcher(snapshot_of(chunks), encoder).search([Query("1", "busy retry wait")], 10)
    (hit,) = hits
    assert (hit.chunk.start_line, sorted(other.start_line for other in hit.others)) == (11, [1, 21])
    far = [part(1, "busy retry"), part(301, "busy retry wait")]
    (hits,) = LearnedSearcher(snapshot_of(far), encoder).search([Query("1", "busy retry wait")], 10)
    assert [hit.chunk.start_line for hit in hits] == [301, 1], "a long function is several places"
    (hits,) = LearnedSearcher(snapshot_of([section(1), section(11)]), encoder).search([Query("1", "busy retry")], 10)
    assert len(hits) == 2
