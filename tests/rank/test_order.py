from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.rank.order import best_first
from assay.types import Program, Ranked

RANKED = st.lists(
    st.builds(
        lambda source, score: Ranked(Program("t", source), score),
        st.sampled_from("abcdef"),
        st.sampled_from((0.0, 0.5, 1.0)),
    ),
    max_size=12,
)


@given(RANKED, st.randoms())
def test_the_order_of_the_input_decides_nothing(ranked: list[Ranked], chance: object) -> None:
    shuffled = list(ranked)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [(r.score, r.program.source) for r in best_first(ranked)] == [
        (r.score, r.program.source) for r in best_first(shuffled)
    ]


@given(RANKED)
def test_higher_scores_come_first_and_nothing_is_lost(ranked: list[Ranked]) -> None:
    scores = [each.score for each in best_first(ranked)]
    assert scores == sorted((each.score for each in ranked), reverse=True)


def test_another_seed_draws_other_lots() -> None:
    ranked = [Ranked(Program("t", letter), 0.0) for letter in "abcdefgh"]
    orders = {tuple(r.program.source for r in best_first(ranked, seed=seed)) for seed in range(5)}
    assert len(orders) == 5
