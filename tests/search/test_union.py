from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.search.union import union
from assay.types import Chunk, Hit

ANSWERS = st.lists(st.lists(st.tuples(st.integers(0, 9), st.floats(0, 9)), unique_by=lambda hit: hit[0]), max_size=4)


def hits(answer: list[tuple[int, float]]) -> list[Hit]:
    return [Hit(Chunk(str(number), ""), score) for number, score in answer]


def test_the_first_of_each_answer_come_first_by_score():
    first, second = hits([(1, 5.0), (2, 4.0)]), hits([(3, 9.0), (1, 8.0)])
    assert [hit.chunk.id for hit in union([first, second], 10)] == ["3", "1", "2"]


@given(answers=ANSWERS, k=st.integers(1, 20))
def test_nothing_is_lost_or_shown_twice_and_one_answer_stays_as_it_is(answers: list, k: int):
    ranked = [hits(answer) for answer in answers]
    united = union(ranked, k)
    ids = [hit.chunk.id for hit in united]
    everything = {hit.chunk.id for answer in ranked for hit in answer}
    assert len(set(ids)) == len(ids) == min(k, len(everything))
    assert set(ids) <= everything
    for answer in ranked:
        assert union([answer], k) == answer[:k]
