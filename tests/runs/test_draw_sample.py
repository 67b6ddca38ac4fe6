from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.runs.options import SampleDraw, draw, draw_within

KEYS = [f"k{number}" for number in range(200)]


def test_the_order_of_keys_decides_nothing_and_the_seed_does():
    assert draw(KEYS, 20, 7) == draw(KEYS[::-1], 20, 7)
    assert draw(KEYS, 20, 7) != draw(KEYS, 20, 8)
    assert draw(KEYS, 20, 7) < draw(KEYS, 50, 7)
    times = Counter(key for seed in range(400) for key in draw(KEYS, 50, seed))
    assert 60 < min(times.values()) <= max(times.values()) < 145, "each key is as likely"


def test_all_are_taken_where_no_sample_is_asked_for_and_no_more_than_there_are():
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
