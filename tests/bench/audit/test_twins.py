from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.truth.twins import clusters, jaccard, joined, numbered, tokens, twins, twins_of
from assay.values import Chunk

FUNCTION = """def wait(server, seconds):
    '''Block until it answers.'''
    end = now() + seconds  # not wall time
    while not server.ready() and now() < end:
        sleep(0.1)
    return server.ready()
"""


def code(*texts: str, language: str = "python") -> list[Chunk]:
    return [Chunk(str(place), text, language=language) for place, text in enumerate(texts)]


def shingles(text: list[int]) -> set[tuple[int, ...]]:
    return {tuple(text[at : at + 5]) for at in range(max(len(text) - 4, 1))}


def pair_by_pair(texts: list[list[int]], threshold: float) -> list[int]:
    """Compare every text with every other one, and take chains together."""
    groups = list(range(len(texts)))
    sets = [shingles(text) for text in texts]
    for one in range(len(texts)):
        for other in range(one):
            if len(sets[one] & sets[other]) >= threshold * len(sets[one] | sets[other]) - 1e-9:
                low, high = sorted((groups[one], groups[other]))
                groups = [low if group == high else group for group in groups]
    return groups


@st.composite
def families(draw: st.DrawFn) -> list[list[int]]:
    """Texts, and copies of them with a few tokens changed."""
    chance = random.Random(draw(st.integers(0, 10**6)))
    texts: list[list[int]] = []
    for _ in range(draw(st.integers(0, 6))):
        words, length = draw(st.sampled_from([3, 30])), draw(st.sampled_from([0, 1, 4, 5, 6, 20, 60]))
        base = [chance.randrange(words) for _ in range(length)]
        for _ in range(draw(st.integers(1, 6))):
            copy = list(base)
            for _ in range(chance.randrange(3) if copy else 0):
                copy[chance.randrange(len(copy))] = chance.randrange(30)
            texts.append(copy)
    return texts


@given(families(), st.sampled_from([0.3, 0.5, 0.8, 0.95, 1.0]))
@settings(max_examples=60, deadline=None)
def test_the_join_finds_what_comparing_all_pairs_finds(texts: list[list[int]], threshold: float):
    found = joined([np.array(text, np.int32) for text in texts], threshold)
    assert found.tolist() == pair_by_pair(texts, threshold)


def test_twins_are_found_when_a_stranger_stands_between_them_at_every_shingle():
    one = list(range(24))
    filler = list(range(1000, 1019))
    strangers = [[*one[at : at + 5], *filler] for at in range(20)]
    texts = [one, *strangers, [*one[:-1], 99]]
    found = joined([np.array(text, np.int32) for text in texts], 0.8)
    assert found.tolist() == [0, *range(1, 21), 0]


def test_a_large_group_of_near_twins_costs_a_chain_not_all_pairs():
    texts = code(*(" ".join([*(f"w{at}" for at in range(60)), f"own{place}"]) for place in range(5000)), language="")
    assert set(twins_of(texts).near.tolist()) == {0}


def test_equal_texts_name_the_first_of_them_and_shingles_are_counted():
    assert twins(["a", "b", "a", "c", "b", "a"]).tolist() == [0, 1, 0, 3, 1, 0]
    assert twins([]).tolist() == []
    one, other = np.arange(10, dtype=np.int32), np.arange(12, dtype=np.int32)
    assert (jaccard(one, other), jaccard(one, one)) == (6 / 8, 1)


def test_the_three_kinds_hold_one_another():
    layout = (
        FUNCTION.replace("    ", "\t").replace("  # not wall time", "").replace("'''Block until it answers.'''", "")
    )
    near = layout.replace("0.1", "0.2")
    other = "def add(a, b):\n    return a + b\n"
    found = twins_of(code(other, FUNCTION, layout, FUNCTION, near), threshold=0.5)
    assert found.exact.tolist() == [0, 1, 2, 1, 4]
    assert found.plain.tolist() == [0, 1, 1, 1, 4]
    assert found.near.tolist() == [0, 1, 1, 1, 1]


def test_texts_of_a_few_tokens_are_like_their_equals_only():
    found = twins_of(code("a b c", "a b d", "a  b c", "", " ", "x"))
    assert found.near.tolist() == [0, 1, 0, 3, 3, 5]


def test_comments_are_not_code():
    for language, text, kept in (
        ("python", "x = '# no comment'  # but this is", "x = ' # no comment '"),
        ("python", 'def f():\n    """Say."""\n    return """x"""', 'def f ( ) : return " " " x " " "'),
        ("PYTHON", "x  # y", "x"),
        ("go", 'x := "// no" // yes\n/* all\n of it */ y', 'x : = " / / no " y'),
        ("sql", "select 1 -- one", "select 1"),
        ("markdown", "# Title", "# Title"),
        ("python", "# only a comment", "# only a comment"),
    ):
        assert tokens(text, language) == kept.split()


def test_clusters_come_largest_first_and_numbers_mean_the_same_in_every_text():
    assert clusters(np.array([0, 1, 0, 3, 1, 1, 6])) == [[1, 4, 5], [0, 2]]
    assert clusters(np.array([], np.int64)) == []
    one, other = numbered(code("a b a", "b c"))
    assert (one.tolist(), other.tolist()) == ([0, 1, 0], [1, 2])
