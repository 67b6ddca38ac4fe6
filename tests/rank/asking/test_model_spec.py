"""The spec of a ranker that asks a model: its options beside those of the model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.rank.asking.model_spec import WAYS, ModelRankerOptions, model_spec
from assay.rank.specs import asks, executes, parts_of, ranker_of

OPTIONS = st.builds(
    ModelRankerOptions,
    st.sampled_from(sorted(WAYS)),
    st.integers(1, 99),
    st.integers(1, 9),
    st.floats(0, 9, allow_nan=False),
    st.sampled_from(["consensus", "examples+consensus", "chat:openai:m?way=pairwise&votes=2"]),
)


def test_options_of_the_model_are_left_to_it():
    spec, options = model_spec("openai:m@http://127.0.0.1:1/v1?temperature=0&way=pairwise&seed=1&top=7")
    assert spec == "openai:m@http://127.0.0.1:1/v1?temperature=0&seed=1"
    assert options == ModelRankerOptions("pairwise", 7)
    assert model_spec("scripted:a.jsonl?votes=2") == ("scripted:a.jsonl", ModelRankerOptions(votes=2))
    assert [ModelRankerOptions(way).most for way in WAYS] == [20, 5]


@given(OPTIONS)
def test_options_are_read_as_they_are_written(options: ModelRankerOptions):
    spec = f"chat:openai:m?{options}"
    assert model_spec(spec.removeprefix("chat:")) == ("openai:m", options)
    assert parts_of(spec) == [spec]
    assert executes(spec) == ("examples" in options.first)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("", "names no model; write chat:PROVIDER:MODEL"),
        ("openai:m?way=pointwize", "unknown way 'pointwize'; did you mean 'pointwise'"),
        ("openai:m?top=0", "option 'top' in 'chat:openai:m.top=0' is 0; wanted 1 or more"),
        ("openai:m?votes=two", "is 'two'; wanted a number"),
        ("openai:m?weight=-1", "is -1; wanted 0 or more"),
        ("openai:m?weight=nan", "is nan; wanted 0 or more"),
    ],
)
def test_options_that_say_nothing_are_errors(spec: str, why: str):
    with pytest.raises(InputError, match=why):
        model_spec(spec)


def test_a_spec_says_whether_a_model_is_asked():
    assert asks("examples+chat:openai:m")
    assert not asks("examples+consensus")
    with pytest.raises(InputError, match="unknown ranker 'nobody'"):
        executes("chat:openai:m?first=nobody")
    with pytest.raises(InputError, match="here none can be asked"):
        ranker_of("chat:openai:m")
