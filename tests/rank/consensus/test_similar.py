"""How alike programs are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.rank.consensus.canon import of_text
from assay.rank.consensus.paths import bags
from assay.rank.consensus.similar import likeness

texts = st.lists(st.text("abc ", max_size=12), min_size=1, max_size=8)


@given(texts)
def test_it_is_jaccard_of_the_paths(sources: list[str]):
    held = bags([of_text(source) for source in sources])
    found = likeness(held, np.ones(held.width, bool), np.arange(len(sources)))
    sets = [set(held.paths[held.rows == row].tolist()) for row in range(len(sources))]
    wanted = [[len(one & other) / len(one | other) for other in sets] for one in sets]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_only_the_columns_asked_for_count():
    held = bags([of_text("a b"), of_text("b a")])
    words = likeness(held, held.lengths == 1, np.arange(2))
    assert words[0, 1] == 1.0
    assert likeness(held, np.ones(held.width, bool), np.arange(2))[0, 1] < 1.0


def test_blocks_make_no_difference():
    held = bags([of_text(f"a b c{row % 7} d") for row in range(600)])
    found = likeness(held, np.ones(held.width, bool), np.arange(14))
    np.testing.assert_array_equal(found[:7], found[588:595])
